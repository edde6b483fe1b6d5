"""A small cell, and what plays batches without starting processes."""

from concurrent.futures import Future

from benchmarks.sweep.plan import Cell
from benchmarks.sweep.players import result_of
from benchmarks.sweep.worker import BatchOutcome, Worker


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


def in_this_process(batches, follow=lambda batch, played: None):
    worker = Worker()
    for batch in batches:
        follow(batch, BatchOutcome())
        future = Future()
        try:
            future.set_result(worker.play(batch))
        except Exception as error:
            future.set_exception(error)
        yield batch, result_of(future)
    worker.close()
