"""Steps over fixed tensors in few sizes, with a capture that the CPU can rehearse.

`make test-gpu` captures them in earnest.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from tests.trainers.backends.test_hf_backend import STOPS, Session, prompts_of
from tests.trainers.tiny_models import tiny_model
from trainers.backends import step_graphs
from trainers.backends.hf import HFBackend
from trainers.backends.step_graphs import num_columns, num_rows
from trainers.tokens.generation import Sampling

GREEDY = Sampling(max_new_tokens=20, temperature=0, stop_ids=STOPS)


class Rehearsed:
    """A graph's stand-in on the CPU: it computes again, into the same tensor."""

    def __init__(self, compute: Any) -> None:
        self.compute = compute
        self.result = compute()

    def replay(self) -> None:
        self.result.copy_(self.compute())


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> list[Rehearsed]:
    """The captured steps, in their order."""
    steps: list[Rehearsed] = []

    def capture(compute: Any, _device: torch.device) -> tuple[Rehearsed, torch.Tensor]:
        steps.append(Rehearsed(compute))
        return steps[-1], steps[-1].result

    monkeypatch.setattr(step_graphs, "can_capture", lambda _model: True)
    monkeypatch.setattr(step_graphs, "capture", capture)
    properties = SimpleNamespace(total_memory=2**34)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _device: properties)
    return steps


@pytest.mark.full
@pytest.mark.parametrize("family", ["qwen3", "qwen2-sliding", "llama"])
def test_replayed_logprobs_are_those_of_one_forward_pass(
    captured: list[Rehearsed], family: str
) -> None:
    model = tiny_model(family)
    session = Session(HFBackend(model), prompts_of([1, 7, 30, 31, 64, 64, 90, *[12] * 20]))
    live = list(session.histories)
    for turn in range(5):
        session.turn(live)
        live.reverse()
        if turn in (1, 3):
            session.backend.finish([live.pop(1)])
    assert session.worst_error(model) < 1e-4
    sizes = [len(step.result) for step in captured]
    assert max(sizes) == 32 and len(sizes) == len(set(sizes)) > 1


@pytest.mark.full
@pytest.mark.parametrize("seed", range(3))
def test_they_hold_when_rows_come_and_go_at_random(captured: list[Rehearsed], seed: int) -> None:
    draws = random.Random(seed)
    model = tiny_model("qwen3")
    session = Session(HFBackend(model), prompts_of([draws.randint(1, 60) for _ in range(24)], seed))
    waiting, live = list(session.histories), []
    while waiting or live:
        while waiting and len(live) < 12:
            live.append(waiting.pop())
        called = draws.sample(live, draws.randint(1, len(live)))
        session.turn(called)
        for key in called:
            if draws.random() < 0.3:
                live.remove(key)
                session.backend.finish([key])
    assert session.worst_error(model) < 1e-4
    assert captured


def test_greedy_ids_are_those_of_steps_run_from_python(
    monkeypatch: pytest.MonkeyPatch, captured: list[Rehearsed]
) -> None:
    histories = []
    for works in (True, False):
        monkeypatch.setattr(step_graphs, "can_capture", lambda _model, works=works: works)
        session = Session(HFBackend(tiny_model()), prompts_of([3, 40, 41, 70]))
        for _ in range(4):
            session.turn([0, 1, 2, 3], GREEDY)
        histories.append(session.histories)
    assert histories[0] == histories[1]


def test_weights_that_change_in_place_keep_the_graphs_and_weights_that_move_do_not(
    captured: list[Rehearsed],
) -> None:
    model = tiny_model()
    backend = HFBackend(model)

    def play(key: int) -> None:
        session = Session(backend, prompts_of([20, 30]))
        session.turn([0, 1])
        assert session.worst_error(model) < 1e-4
        backend.finish([0, 1])

    play(0)
    before = len(captured)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(0.9)
    play(1)
    assert len(captured) == before  # the emptied cache is kept, too
    with torch.no_grad():
        for weight in model.parameters():
            weight.data = weight * 1.1
    play(2)
    assert len(captured) > before


def test_a_cache_that_grows_is_captured_anew(captured: list[Rehearsed]) -> None:
    model = tiny_model()
    session = Session(HFBackend(model), prompts_of([500, 20]))
    session.turn([0, 1], Sampling(24, 1.3))
    assert len(captured) == 2
    assert session.worst_error(model) < 1e-4


def test_a_large_cache_is_freed_with_its_last_row(
    monkeypatch: pytest.MonkeyPatch, captured: list[Rehearsed]
) -> None:
    properties = SimpleNamespace(total_memory=1000)
    monkeypatch.setattr(torch.cuda, "get_device_properties", lambda _device: properties)
    backend = HFBackend(tiny_model())
    backend.generate([[20, 30]], Sampling(4, 1.0), keys=[0])
    assert backend.rows.cache.layers
    backend.finish([0])
    assert captured and not backend.rows.cache.layers


def test_a_step_that_cannot_be_captured_is_run_from_python_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, captured: list[Rehearsed]
) -> None:
    def refuse(*_args: Any) -> None:
        raise RuntimeError("operation not permitted when stream is capturing\nmore")

    monkeypatch.setattr(step_graphs, "capture", refuse)
    model = tiny_model()
    session = Session(HFBackend(model), prompts_of([20, 30]))
    with pytest.warns(UserWarning, match="not permitted when stream is capturing$"):
        session.turn([0, 1])
    session.turn([0, 1])
    assert session.worst_error(model) < 1e-4
    assert not captured


@pytest.mark.parametrize("off", [0.05, float("nan")])
def test_a_graph_whose_logits_are_not_the_steps_is_dropped_at_the_next_batch(
    captured: list[Rehearsed], off: float
) -> None:
    model = tiny_model("qwen2")
    session = Session(HFBackend(model), prompts_of([20, 30]))
    session.turn([0, 1])
    for step in captured:
        step.compute = lambda compute=step.compute: compute() + off
    with pytest.warns(UserWarning, match=f"{off} off those of the step itself$"):
        session.turn([0, 1])
    session.turn([0, 1])
    assert session.worst_error(model) < 1e-4


def test_sizes_are_few_and_hold_what_is_asked() -> None:
    assert sorted({num_rows(rows) for rows in range(1, 300)}) == [8, 16, 32, 64, 128, 256, 384]
    assert all(rows <= num_rows(rows) for rows in range(1, 2000))
    sizes = sorted({num_columns(columns, None) for columns in range(1, 4000)})
    assert sizes == [511, 1023, 2047, 4095]
    assert all(columns <= num_columns(columns, 3000) <= 3000 for columns in range(1, 3001))
    assert num_columns(40, 16) == 40  # more than is allowed is refused elsewhere
