"""A small cell, and what plays batches without starting processes."""

from benchmarks.sweep.batches import BatchOutcome
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.worker import Worker


def cell(**changes):
    values = {
        "policy": "random",
        "env_id": "agentgym/TextCraft-v0",
        "split": "test",
        "digest": "",
        "max_turns": 4,
        "seed": 0,
        "samples": 2,
        "temperature": 1.0,
        "batch_size": 3,
        "settings": (("action_format", "react"),),
        "tasks": ("textcraft_1", "textcraft_2", "textcraft_3", "textcraft_9"),
    }
    return Cell(**{**values, **changes})


def episodes_of(folder, cell):
    """List the episodes of a cell's finished batches."""
    return [episode for batch, _ in folder.batches(cell) for episode in batch]


def outcome_of(worker, batch):
    """What became of a batch that is played alone; what broke is raised."""
    report = worker.play(batch)
    result = report.ended[batch.key]
    if isinstance(result, Exception):
        raise result
    return result


def in_this_process(batches, follow=lambda batch, played: None):
    worker = Worker()
    for batch in batches:
        follow(batch, BatchOutcome())
        yield batch, worker.play(batch).ended[batch.key]
    worker.close()
