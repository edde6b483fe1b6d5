"""Sweeps that nobody played, and their reports."""

import pytest

from agentgym_envs.trajectories.trajectory import ModelCall, Trajectory, Turn
from benchmarks.report import command, plots
from benchmarks.report.blocks import Picture
from benchmarks.report.plots import PICTURES
from benchmarks.report.results import read_sweep
from benchmarks.sweep.plan import grid
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.suite_files import find_suite
from benchmarks.sweep.suites import Suite

(TEXTCRAFT,) = find_suite("textcraft").panels
(SEARCHQA,) = find_suite("searchqa").panels


def played(cell, success, *, tokens=5, cost=None):
    """Write a cell's episodes; every `success`-th one succeeds."""
    call = None if cost is None else ModelCall(cost=cost)
    for number, tasks in enumerate(cell.batches):
        yield (
            number,
            [
                Trajectory(
                    cell.env_id,
                    task,
                    subtask="depth 1" if cell.env_id == TEXTCRAFT.env_id else "nq",
                    split=cell.split,
                    status="terminated",
                    success=place % success == 0,
                    turns=[Turn("o", "a", 0.0, True, 0.0, tokens, call=call)],
                    policy=cell.policy,
                )
                for place, task in enumerate(tasks)
            ],
        )


def textcraft_sweep(
    path, policies, *, seeds=(0,), seconds=2.0, tokens=lambda policy: 5, panel=TEXTCRAFT,
    cost=lambda policy: None, max_turns=(None,), temperature=1.0, fingerprints=None,
    batch_size=100, **settings,
):  # fmt: skip
    """Write a sweep of one panel, one episode a task and seed."""
    folder = SweepFolder(path)
    cells = grid(
        Suite("one", "", (panel,)), policies, max_turns=list(max_turns), seeds=list(seeds),
        samples=1, temperature=temperature, batch_size=batch_size, settings=settings,
        fingerprints=fingerprints,
    )  # fmt: skip
    folder.claim(cells)
    for cell in cells:
        for number, episodes in played(cell, 2, tokens=tokens(cell.policy), cost=cost(cell.policy)):
            folder.write(cell, number, episodes, seconds=seconds)
    return folder


def rows_of(folder):
    return {setting.name: setting for setting in read_sweep(folder.path).settings}


def undrawn(out, name, title, draw):
    """Stand in for a drawing: most of what a report takes is the time of its plots."""
    path = out / PICTURES / f"{name}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    return Picture(title, f"{PICTURES}/{name}")


def reported(folder):
    """Return the Markdown of a report without its drawings."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plots, "draw_picture", undrawn)
        assert command.main([str(folder.path)]) == 0
    return (folder.path / "report.md").read_text()
