import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from agentgym_envs.errors import EnvFailure
from benchmarks.sweep import runner
from benchmarks.sweep.batches import Batch, BatchOutcome
from benchmarks.sweep.plan import Cell, slug
from benchmarks.sweep.players import RETRIES, over_processes
from benchmarks.sweep.runner import MOST_BROKEN, in_turns, play_missing
from benchmarks.sweep.store import SweepFolder
from tests.benchmarks.sweep.samples import cell, episodes_of, in_this_process
from tests.faults.processes import kill, of_kind
from trainers.runs.progress_bar import EpisodeProgress


def content(folder):
    return {p.name: p.read_text() for p in sorted(folder.rglob("batch_*.jsonl"))}


def test_batches_hold_every_sample_of_every_task_in_order():
    played = [task for batch in cell().batches for task in batch]
    assert [len(batch) for batch in cell().batches] == [3, 3, 2]
    assert played == [task for task in cell().tasks for _ in range(2)]


def test_a_cell_survives_json():
    assert Cell.from_json(json.loads(json.dumps(cell().to_json()))) == cell()


def test_different_policies_have_different_folders():
    names = [
        "expert",
        "runs/a",
        "runs/b",
        "runs_a",
        "http://h:1/v1",
        "org/model",
        "...",
        "org\\model",
    ]
    assert len({slug(name) for name in names}) == len(names)
    assert all("/" not in slug(name) and slug(name).strip(".") for name in names)


def test_what_is_there_is_not_played_again(tmp_path):
    folder = SweepFolder(tmp_path)
    folder.claim([cell()])
    first = play_missing(folder, [cell()], in_this_process)
    times = {p: p.stat().st_mtime_ns for p in tmp_path.rglob("batch_*")}
    again = play_missing(folder, [cell()], in_this_process)
    assert (first.num_played, again.num_played) == (8, 0)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("batch_*")} == times
    assert [t.task_id for t in episodes_of(folder, cell())] == [
        t for t in cell().tasks for _ in "12"
    ]


def test_a_lost_batch_is_played_again_just_as_before(tmp_path):
    folder = SweepFolder(tmp_path)
    folder.claim([cell()])
    play_missing(folder, [cell()], in_this_process)
    before = content(tmp_path)
    next(tmp_path.rglob("batch_0001.jsonl")).unlink()
    play_missing(folder, [cell()], in_this_process)
    assert content(tmp_path) == before


def test_a_broken_batch_is_named_and_left_for_the_next_call(tmp_path):
    folder = SweepFolder(tmp_path)
    folder.claim([cell()])

    def broken_once(batches, follow):
        follow(batches[0], BatchOutcome())
        yield batches[0], EnvFailure("the simulator died")
        yield from in_this_process(batches[1:], follow)

    outcome = play_missing(folder, [cell()], broken_once)
    assert outcome.broken == [f"{cell().name}, batch 0: the simulator died"]
    assert play_missing(folder, [cell()], in_this_process).num_played == 3


class Shown(EpisodeProgress):
    """A progress that can be asked for."""

    present = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        Shown.present = self


def test_the_progress_is_each_policys_and_of_episodes_that_have_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "EpisodeProgress", Shown)
    cells = [
        cell(policy=f"runs/study/{name}/model", max_turns=limit, batch_size=9)
        for name, limit in (("a", None), ("b", 5))
    ]
    folder = SweepFolder(tmp_path)
    folder.costs.add(0.25, "runs/study/a/model")

    def two_at_once(batches, follow):
        first, second = batches
        follow(first, BatchOutcome(failed=1, scored=4, successes=1))
        assert Shown.present.facts() == {
            "a/model": "5 of 8 episodes, 1 won, 3 lost, 1 failed, 3 under way or to come, "
            "cost 0.25",
            "b/model": "0 of 8 episodes",
            "all": "5 of 16 episodes, 1 won, 3 lost, 1 failed, 11 under way or to come, "
            "cost 0.25, 0:00:00 left",
        }
        follow(first, BatchOutcome())  # its worker has died
        assert Shown.present.facts()["a/model"] == "0 of 8 episodes, cost 0.25"
        yield first, BatchOutcome(failed=0, scored=8, successes=2)
        follow(second, BatchOutcome(failed=0, scored=3, successes=3))
        yield second, EnvFailure("the simulator died")

    play_missing(folder, cells, two_at_once)
    assert Shown.present.facts() == {
        "a/model": "8 of 8 episodes, 2 won, 6 lost, cost 0.25",
        "b/model": "8 of 8 episodes",
        "all": "16 of 16 episodes, 2 won, 6 lost, cost 0.25, 0:00:00 left",
    }


def test_an_earlier_calls_episodes_are_counted_from_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "EpisodeProgress", Shown)
    folder = SweepFolder(tmp_path)
    folder.claim([cell()])
    play_missing(folder, [cell()], in_this_process)
    next(tmp_path.rglob("batch_0002.jsonl")).unlink()

    def nobody(batches, follow):
        assert Shown.present.facts() == {
            "random": "6 of 8 episodes, 0 won, 6 lost, 2 under way or to come"
        }
        yield from ()

    play_missing(folder, [cell()], nobody)


def test_processes_tell_of_a_batch_before_it_ends_and_of_its_episodes(tmp_path):
    folder, events, counts = SweepFolder(tmp_path), [], []
    folder.claim([cell()])
    batches = [Batch(str(tmp_path), cell(), number) for number in (0, 1)]

    def follow(batch, played):
        events.append(batch.number)
        counts.append(played)

    for batch, result in over_processes(1, 1)(batches, follow):
        events.append(-batch.number - 1)
        assert result == BatchOutcome(failed=0, scored=3, successes=0)
    assert list(dict.fromkeys(events)) == [0, -1, 1, -2]
    assert counts[0] == BatchOutcome() and BatchOutcome(0, 3, 0) in counts


def test_models_behind_servers_take_turns_and_others_play_in_one_go(tmp_path):
    def batches(policy, seeds=(0,)):
        of_policy = [cell(policy=policy, seed=seed) for seed in seeds]
        return [Batch("", one, n) for one in of_policy for n in range(len(one.batches))]

    served = "http://one/v1", "http://two/v1"
    mixed = [*batches("random"), *batches(served[0], (0, 1)), *batches(served[1], (0, 1))[1:]]
    order = [(batch.cell.policy, batch.cell.seed, batch.number) for batch in in_turns(mixed)]
    assert order == [
        (served[0], 0, 0),
        *((policy, 0, number) for number in (1, 2) for policy in served),
        *((policy, 1, number) for number in (0, 1, 2) for policy in served),
        *(("random", 0, number) for number in (0, 1, 2)),
    ]


class DiesAtFirst:
    """Kills a worker of the sweep when a batch has begun, so often."""

    def __init__(self, times):
        self.times, self.begun = times, set()
        self.others = of_kind("spawned", os.getpid())

    def __call__(self, batch, played):
        self.begun.add(batch.number)

    def watch(self, stop):
        killed = set()
        while len(killed) < self.times and not stop.wait(0.005):
            workers = set(of_kind("spawned", os.getpid())) - {*self.others, *killed}
            if self.begun and workers:
                kill(min(workers))
                killed.add(min(workers))


@pytest.mark.parametrize(("times", "is_given_up"), [(1, False), (RETRIES + 1, True)])
def test_the_batch_of_a_worker_that_dies_is_given_to_another(tmp_path, times, is_given_up):
    folder = SweepFolder(tmp_path)
    folder.claim([cell()])
    killer, stop = DiesAtFirst(times), threading.Event()
    thread = threading.Thread(target=killer.watch, args=(stop,))
    thread.start()
    batch = Batch(str(tmp_path), cell(), 0)
    try:
        ((played, result),) = over_processes(1, 1)([batch], killer)
    finally:
        stop.set()
        thread.join()
    assert played == batch
    assert killer.begun == {0}
    assert isinstance(result, EnvFailure) if is_given_up else result.failed == 0
    assert folder.missing(cell()) == ([0, 1, 2] if is_given_up else [1, 2])


def test_a_sweep_ends_where_one_batch_after_the_other_breaks(tmp_path):
    folder = SweepFolder(tmp_path)
    cells = [cell(seed=seed) for seed in range(3)]
    folder.claim(cells)

    def broken(batches, follow):
        for batch in batches:
            follow(batch, BatchOutcome())
            yield batch, EnvFailure("the server is gone")

    outcome = play_missing(folder, cells, broken)
    assert outcome.is_cut_short
    assert len(outcome.broken) == MOST_BROKEN < sum(len(folder.missing(one)) for one in cells)


# What the command does, without its seconds of imports.
SWEEP = """
import sys
from benchmarks.sweep.suite_files import find_suite
from benchmarks.sweep.plan import grid
from benchmarks.sweep.players import over_processes
from benchmarks.sweep.runner import play_missing
from benchmarks.sweep.store import SweepFolder

if __name__ == "__main__":
    cells = grid(
        find_suite("textcraft"), ["random", "expert"], max_turns=[6], seeds=[0], samples=2,
        temperature=1.0, batch_size=10, settings={},
    )
    folder = SweepFolder(sys.argv[1])
    folder.claim(cells)
    play_missing(folder, cells, over_processes(2, 1))
"""


def start_sweep(out):
    script = out.parent / "play_sweep.py"
    script.write_text(SWEEP)
    return subprocess.Popen([sys.executable, str(script), str(out)], stdout=subprocess.DEVNULL)


@pytest.mark.full
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_sweep_killed_three_times_ends_with_the_episodes_of_an_undisturbed_one(tmp_path):
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    assert start_sweep(undisturbed).wait(timeout=120) == 0
    for number in range(3):
        process = start_sweep(killed)
        deadline = time.monotonic() + 60
        while len(list(killed.rglob("batch_*.jsonl"))) < 4 + 8 * number:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.002)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    played = len(list(killed.rglob("batch_*.jsonl")))
    assert played < 40
    assert start_sweep(killed).wait(timeout=120) == 0
    assert content(killed) == content(undisturbed)
