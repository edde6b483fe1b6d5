"""A worker begins a batch while the last episodes of the one before wait for their answers."""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import EnvFailure
from benchmarks.sweep import worker as worker_module
from benchmarks.sweep.batches import Batch, BatchOutcome
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.players import over_processes
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.worker import Worker
from tests.benchmarks.sweep.samples import cell, episodes_of, outcome_of
from tests.faults.processes import kill, of_kind
from tests.serving import Failure, serving
from tests.trainers.policies.chat_server import message
from trainers.backends import json_client
from trainers.options.errors import BudgetSpent

CHAT = "/v1/chat/completions"
SETTINGS = (("action_format", "react"), ("api_model", "m"))


def served(url: str, **changes: Any) -> Cell:
    """A cell of two batches of two episodes of four turns, two requests at once."""
    settings = (*SETTINGS, *changes.pop("settings", (("max_requests", 2),)))
    return cell(policy=f"{url}/v1", settings=settings, samples=1, batch_size=2, **changes)


def batches_of(folder: Path, asked: Cell) -> list[Batch]:
    SweepFolder(folder).claim([asked])
    return [Batch(str(folder), asked, n, seat=n) for n in range(len(asked.batches))]


def episodes_in(folder: Path, asked: Cell) -> list[dict[str, Any]]:
    records = [episode.to_json() for episode in episodes_of(SweepFolder(folder), asked)]
    for record in records:
        for turn in record["turns"]:
            turn["call"]["seconds"] = 0
    return records


class Straggler:
    """Answers all requests but the first one, which waits until it is let go."""

    def __init__(self) -> None:
        self.let_go = threading.Event()
        self.seeds: list[int] = []
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.seeds.append(body["seed"])
            first = self.seeds[0]
        if body["seed"] == first:
            assert self.let_go.wait(timeout=120)
        return message(f"Thought: {body['seed']}\n\nAction: inventory")


def test_a_straggler_keeps_its_own_place_and_no_other(tmp_path: Path) -> None:
    answers = Straggler()
    with serving({CHAT: answers}) as server:
        asked = served(server.url)
        first, second = batches_of(tmp_path / "at_once", asked)
        worker = Worker()
        assert worker.play(first, more=True) == ({}, True)
        assert worker.play(second).ended == {second.key: BatchOutcome(0, 2, 0)}
        assert SweepFolder(tmp_path / "at_once").missing(asked) == [0]
        answers.let_go.set()
        assert worker.play(None).ended == {first.key: BatchOutcome(0, 2, 0)}
        assert server.most_at_once == 2
        worker.close()
        # One after the other they are the same.
        for batch in batches_of(tmp_path / "apart", asked):
            outcome_of(Worker(), batch)
    assert episodes_in(tmp_path / "at_once", asked) == episodes_in(tmp_path / "apart", asked)
    assert len(answers.seeds) == 2 * len(set(answers.seeds)) == 32


def test_who_asks_no_server_plays_one_batch_after_the_other(tmp_path: Path) -> None:
    asked = cell()
    first, *_ = batches_of(tmp_path, asked)
    report = Worker().play(first, more=True)
    assert report == ({first.key: BatchOutcome(0, 3, 0)}, True)


@pytest.mark.full
def test_there_is_no_room_while_a_broken_server_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(json_client, "FIRST_PAUSE", 0.01)
    with serving({CHAT: lambda body: Failure(500)}) as server:
        asked = served(server.url, settings=(("max_requests", 2), ("max_outage", 3.0)))
        first, _ = batches_of(tmp_path, asked)
        report = Worker().play(first, more=True)
    assert isinstance(report.ended[first.key], EnvFailure)


def test_a_spent_budget_ends_all_batches_of_the_worker(tmp_path: Path) -> None:
    answers = Straggler()
    policies = tmp_path / "policies.yaml"
    with serving({CHAT: answers}) as server:
        entry = {"name": "dear", "endpoint": f"{server.url}/v1", "model": "m"}
        policies.write_text(json.dumps([{**entry, "prices": {"prompt": 0, "completion": 5e5}}]))
        settings = (("max_requests", 2), ("policies", str(policies)), ("max_cost", 6.0))
        asked = served(server.url, settings=settings)
        asked = Cell(**{**vars(asked), "policy": "dear", "settings": settings + SETTINGS[:1]})
        first, second = batches_of(tmp_path / "out", asked)
        worker = Worker()
        assert worker.play(first, more=True) == ({}, True)
        ended = worker.play(second).ended
        answers.let_go.set()
        worker.close()
    assert set(ended) == {first.key, second.key}
    assert all(isinstance(error, BudgetSpent) for error in ended.values())
    paid = [file.read_text().count("\n") for file in (tmp_path / "out").rglob("*.answers")]
    assert sum(paid) == len(answers.seeds) >= 7  # the straggler's too, which came later


def test_ctrl_c_gives_up_every_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_pauses: Any) -> None:
        raise KeyboardInterrupt

    answers = Straggler()
    with serving({CHAT: answers}) as server:
        first, second = batches_of(tmp_path, served(server.url))
        worker = Worker()
        worker.play(first, more=True)
        monkeypatch.setattr(worker_module, "wait_for", interrupted)
        with pytest.raises(KeyboardInterrupt):
            worker.play(second)
        answers.let_go.set()
        time.sleep(0.5)
        num_asked = len(server.requests)
        time.sleep(0.5)
        assert len(server.requests) == num_asked
        assert worker.play(None) == ({}, True)


@pytest.mark.full
def test_a_workers_seconds_are_shared_out_among_its_batches(tmp_path: Path) -> None:
    with serving({CHAT: lambda body: time.sleep(0.05) or message("inventory")}) as server:
        asked = served(server.url, tasks=tuple(f"textcraft_{n}" for n in range(12)))
        waiting, worker = batches_of(tmp_path, asked), Worker()
        began = time.monotonic()
        num_ended, report = 0, worker.play(None)
        while num_ended < 6:
            batch = waiting.pop() if waiting and report.has_room else None
            report = worker.play(batch, more=bool(waiting))
            num_ended += len(report.ended)
        wall = time.monotonic() - began
        worker.close()
    seconds = [seconds for _, seconds in SweepFolder(tmp_path).batches(asked)]
    assert len(seconds) == 6
    assert 0.9 * wall < sum(seconds) <= wall + 0.01


# Over processes ---------------------------------------------------------------------------------


@pytest.mark.full
def test_what_a_worker_without_work_does_not_ask_the_others_do(tmp_path: Path) -> None:
    def slowly(body: dict[str, Any]) -> dict[str, Any]:
        time.sleep(0.3)
        return message("inventory")

    with serving({CHAT: slowly}) as server:
        many = tuple(f"textcraft_{n}" for n in range(16))
        settings = (*SETTINGS, ("max_requests", 4))
        asked = cell(
            policy=f"{server.url}/v1", settings=settings, samples=1, batch_size=15, tasks=many
        )
        batches = batches_of(tmp_path, asked)
        assert [len(asked.batches[batch.number]) for batch in batches] == [15, 1]
        results = dict(over_processes(2, 1)(batches, lambda batch, played: None))
        assert server.most_at_once == 4
    assert [results[batch].scored for batch in batches] == [15, 1]


@pytest.mark.full
def test_a_worker_that_dies_amid_two_batches_leaves_no_trace(tmp_path: Path) -> None:
    answers, begun, killed = Straggler(), set(), []
    others = set(of_kind("spawned", os.getpid()))

    def follow(batch: Batch, played: BatchOutcome) -> None:
        begun.add(batch.number)
        # One batch waits for its straggler, the other one has an episode that has ended.
        if begun == {0, 1} and batch.number == 1 and played.scored == 1 and not killed:
            (worker,) = set(of_kind("spawned", os.getpid())) - others
            killed.append(kill(worker))
            answers.let_go.set()

    def slow_end(body: dict[str, Any]) -> dict[str, Any]:
        if not killed and len(answers.seeds) >= 12:
            time.sleep(2.5)  # longer than between two looks of the sweep
        return answers(body)

    with serving({CHAT: slow_end}) as server:
        asked = served(server.url)
        batches = batches_of(tmp_path / "killed", asked)
        results = dict(over_processes(1, 1)(batches, follow))
        assert killed == [True]
        num_asked = len(answers.seeds)
        for batch in batches_of(tmp_path / "apart", asked):
            outcome_of(Worker(), batch)
    assert list(results.values()) == [BatchOutcome(0, 2, 0)] * 2
    assert episodes_in(tmp_path / "killed", asked) == episodes_in(tmp_path / "apart", asked)
    assert num_asked <= 16 + 2  # what had been answered is not asked again
