"""Tasks are drawn by how learnable they are, and a resumed run draws what it would have drawn."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

import pytest

from trainers.rollout.learnable import LEAST, LearnableTasks
from trainers.trl_bridge.sampler import learnable_order

NUM = 20
TASKS = [f"a_{n}" for n in range(NUM)]


def tasks(batch: int = 4, seed: int = 0) -> LearnableTasks:
    return LearnableTasks(TASKS, {"a": range(NUM)}, {"a": 1}, seed=seed, batch=batch)


def draws(of: LearnableTasks, count: int, start: int = 0) -> list[int]:
    return [of.row(place, num_draws=10_000) for place in range(start, start + count)]


def test_an_estimate_is_a_running_mean_from_one_half() -> None:
    learnable = tasks()
    learnable.record([("a_0", True), ("a_0", True), ("a_1", True), ("a_1", False)])
    assert learnable.success == {"a_0": 0.75, "a_1": 0.5}
    learnable.record([("a_0", False)])
    assert learnable.success["a_0"] == 0.375


def test_tasks_come_as_often_as_they_are_learnable() -> None:
    """Three kinds: half solved, always solved, and rarely; one draw a batch, so independent."""
    learnable = tasks(batch=1)
    p = {"a_0": 0.5, "a_1": 1.0, "a_2": 0.1}
    learnable.load_state_dict({"success": {**dict.fromkeys(TASKS, 1.0), **p}})
    seen = Counter(draws(learnable, 6000))
    total = 0.25 + 0.09 + LEAST * (NUM - 2)
    for row, weight in {0: 0.25, 2: 0.09, 1: LEAST}.items():
        assert seen[row] / 6000 == pytest.approx(weight / total, abs=0.03)
    assert len(seen) == NUM, "none is lost for good"


def test_no_task_comes_twice_in_a_batch() -> None:
    rows = draws(tasks(batch=8), 80)
    assert all(len(set(rows[first : first + 8])) == 8 for first in range(0, 80, 8))
    assert Counter(draws(tasks(batch=2 * NUM), 2 * NUM)).total() == 2 * NUM


def test_environments_keep_their_shares() -> None:
    names = {"a": range(10), "b": range(10, 20)}
    learnable = LearnableTasks(TASKS, names, {"a": 3, "b": 1}, seed=0, batch=4)
    assert sum(row < 10 for row in draws(learnable, 400)) == 300


def test_a_state_that_went_through_json_draws_on() -> None:
    whole, stopped = tasks(), tasks()
    for one in (whole, stopped):
        draws(one, 10)
        one.record([("a_3", True)])
    resumed = tasks()
    resumed.load_state_dict(json.loads(json.dumps(stopped.state_dict())))
    resumed.begin(0)
    # The draws before the record are those made then, not those that would be made now.
    assert draws(resumed, 30) == draws(whole, 30)
    assert draws(tasks(seed=1), 30) != draws(whole, 30)


def test_an_order_draws_when_asked_and_repeats_within_an_epoch() -> None:
    class State:
        epoch = 0.0

    learnable, state = tasks(), State()
    places = [0, 0, 1, 1, 2, 2]
    order = learnable_order(places, learnable, num_draws=3, state=lambda: state)  # type: ignore[arg-type, return-value]
    rows: Iterator[int] = iter(order)
    first = [next(rows), next(rows)]
    assert first[0] == first[1]
    assert len(learnable.state_dict()["drawn"]) == 1, "the others are not drawn yet"
    whole = first + list(rows)
    assert whole[::2] == whole[1::2]
    assert list(order) == whole
    state.epoch = 1.0
    assert list(order) != whole
    assert len(order) == 6
