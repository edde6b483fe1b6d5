"""The fault matrix of sweeps: a worker that breaks leaves no trace in what is played."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sweep import players
from benchmarks.sweep.batches import Batch, BatchOutcome
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.players import Play, over_processes, over_ray
from benchmarks.sweep.store import SweepFolder
from tests.benchmarks.sweep.samples import cell, in_this_process
from tests.faults.processes import kill, of_kind, stop

MOMENTS = ("set-up", "step", "between batches")
ACTIONS: dict[str, Callable[[int], bool]] = {"kill": kill, "stop": stop}
SETTINGS = (("action_format", "react"), ("wrapper", ["tests.faults.wrappers:Slow"]))


def long_cell() -> Cell:
    """A cell whose turns take a while, so that it can be hit amid a batch."""
    return cell(settings=SETTINGS)


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    path = tmp_path_factory.mktemp("undisturbed")
    return content(path, in_this_process)


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    module = pytest.importorskip("ray", reason='needs Ray: pip install "agentgym-envs[ray]"')
    yield module
    module.shutdown()


def content(
    path: Path, play: Play, follow: Callable[[Batch, BatchOutcome], None] = lambda *_: None
) -> list[bytes]:
    """Play a cell and return what its files hold."""
    folder = SweepFolder(path)
    folder.claim([long_cell()])
    batches = [Batch(str(path), long_cell(), number) for number in folder.missing(long_cell())]
    for _, result in play(batches, follow):
        assert result.failed == 0
    assert folder.missing(long_cell()) == []
    return [file.read_bytes() for file in folder.files(long_cell())]


class Breaker:
    """Breaks one of the workers that play, once.

    Args:
        workers: returns the ids of the processes that play.
        moment: when.
        action: how.
    """

    def __init__(self, workers: Callable[[], list[int]], moment: str, action: str) -> None:
        self.has_come = False
        self._workers, self._moment, self._action = workers, moment, ACTIONS[action]
        self._others = set(workers())
        self._begun: set[int] = set()

    def follow(self, batch: Batch, played: BatchOutcome) -> None:
        if batch.number in self._begun:
            return
        self._begun.add(batch.number)
        num_begun = len(self._begun)
        if num_begun == 1 and self._moment == "set-up":
            threading.Thread(target=self._break, daemon=True).start()
        if num_begun == 2 and self._moment == "between batches":
            self._break()
        if num_begun == 2 and self._moment == "step":
            threading.Timer(0.3, self._break).start()  # a batch takes longer

    def _break(self) -> None:
        end = time.monotonic() + 60
        while not (there := set(self._workers()) - self._others):
            assert time.monotonic() < end, "there is no worker"
            time.sleep(0.005)
        self.has_come = self._action(min(there))


def processes() -> list[int]:
    return of_kind("spawned", os.getpid())


def actors() -> list[int]:
    """Return Ray's actors that play; they are no children of this process."""
    return [int(p.parent.name) for p in Path("/proc").glob("[0-9]*/cmdline") if is_actor(p)]


def is_actor(command: Path) -> bool:
    try:
        return command.read_bytes().startswith(b"ray::_RayWorker")
    except OSError:  # it has ended
        return False


@pytest.mark.slow
@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("place", ["process", "actor"])
def test_a_worker_that_breaks_leaves_no_trace(
    place: str, moment: str, action: str, expected: list[bytes], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest,
) -> None:  # fmt: skip
    monkeypatch.setattr(players, "HUNG_SECONDS", 20.0)
    monkeypatch.setattr(players, "SET_UP_SECONDS", 40.0)
    if place == "actor":
        request.getfixturevalue("ray")
        play, workers = over_ray("local", os.cpu_count() or 1, 0), actors
    else:
        play, workers = over_processes(1, 1), processes
    breaker = Breaker(workers, moment, action)
    assert content(tmp_path, play, breaker.follow) == expected
    assert breaker.has_come
