import os
import signal
import sys
from pathlib import Path

import pytest

from benchmarks.sweep import command
from benchmarks.sweep.batches import Batch
from benchmarks.sweep.players import over_ray
from benchmarks.sweep.store import SweepFolder
from tests.benchmarks.sweep.samples import cell, in_this_process


@pytest.fixture(scope="module")
def cores():
    """All cores, so that one worker is started, and no Ray is left running behind."""
    ray = pytest.importorskip("ray", reason='needs Ray: pip install "agentgym-envs[ray]"')
    yield os.cpu_count() or 1
    ray.shutdown()


@pytest.mark.ray
def test_a_ray_cluster_plays_what_processes_play_and_tells_of_each_batch_before(tmp_path, cores):
    here, there, events = tmp_path / "here", tmp_path / "there", []
    for path in (here, there):
        SweepFolder(path).claim([cell()])
    play = over_ray("local", cores, 0)
    batches = [Batch(str(there), cell(), number) for number in range(3)]
    for batch, result in play(batches, lambda batch, played: events.append(batch.number)):
        assert result.failed == 0
        events.append(-batch.number - 1)
    assert list(dict.fromkeys(events)) == [0, -1, 1, -2, 2, -3]
    assert len(list(in_this_process([Batch(str(here), cell(), n) for n in range(3)]))) == 3
    theirs = [file.read_bytes() for file in SweepFolder(there).files(cell())]
    assert theirs == [file.read_bytes() for file in SweepFolder(here).files(cell())]


def actors():
    """Return the process ids of the actors that play, by the names that Ray gives them."""
    names = {path.parent.name: path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline")}
    return [int(pid) for pid, name in names.items() if name.startswith(b"ray::_RayWorker")]


@pytest.mark.ray
def test_the_batch_of_an_actor_that_dies_is_given_to_another(tmp_path, cores):
    folder = SweepFolder(tmp_path)
    folder.claim([cell()])
    killed = []

    def kill(batch, played):
        if batch.number == 1 and not killed:
            killed.extend(actors())
            os.kill(killed[0], signal.SIGKILL)

    batches = [Batch(str(tmp_path), cell(), number) for number in range(3)]
    played = dict(over_ray("local", cores, 0)(batches, kill))
    assert killed
    assert [result.failed for result in played.values()] == [0, 0, 0]
    assert folder.missing(cell()) == []


@pytest.mark.ray
def test_the_command_plays_on_ray(tmp_path, cores, capsys):
    words = ["--suite", "textcraft", "--policy", "random", "--max-turns", "1"]
    words += ["--ray", "local", "--ray-cpus", str(cores), "--out", str(tmp_path)]
    assert command.main(words) == 0
    assert "100 episodes played, 0 of them failed" in capsys.readouterr().out


def test_without_ray_the_option_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r'pip install "agentgym-envs\[ray\]"'):
        over_ray("local", 1, 0)
