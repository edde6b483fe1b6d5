import random
from typing import Any

import numpy as np
import pytest
import torch
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from tests.trainers.tiny_models import forward_logprobs, tiny_model
from trainers.backends import attention
from trainers.backends.hf import HFBackend
from trainers.backends.row_model import RowModel
from trainers.tokens.generation import Generated, Sampling

STOPS = tuple(range(12))
SAMPLING = Sampling(max_new_tokens=24, temperature=1.3, stop_ids=STOPS)


class Session:
    """Plays rows with a backend as the rollout engine does, and records every sampled token."""

    def __init__(self, backend, prompts, seed=0):
        self.backend = backend
        self.random = random.Random(seed)
        self.histories = {key: list(prompt) for key, prompt in enumerate(prompts)}
        self.sampled: dict[int, list[tuple[int, Generated]]] = {key: [] for key in self.histories}

    def turn(self, keys, sampling=SAMPLING, *, budgets=None):
        prompts = [self.histories[key] for key in keys]
        turns = self.backend.generate(prompts, sampling, keys=keys, budgets=budgets)
        for key, turn in zip(keys, turns, strict=True):
            self.sampled[key].append((len(self.histories[key]), turn))
            observation = [self.random.randrange(12, 400) for _ in range(self.random.randint(1, 9))]
            self.histories[key] = self.histories[key] + turn.ids + observation
        return turns

    def worst_error(self, model, temperature=1.3):
        errors = [0.0]
        for key, turns in self.sampled.items():
            expected = forward_logprobs(model, self.histories[key], temperature)
            for start, turn in turns:
                at = expected[start - 1 : start - 1 + len(turn.ids)]
                errors.append(float((at - torch.tensor(turn.logprobs)).abs().max()))
        return max(errors)


def prompts_of(lengths, seed=1):
    draws = random.Random(seed)
    return [[draws.randrange(12, 400) for _ in range(length)] for length in lengths]


@pytest.mark.parametrize("family", ["qwen3", "qwen2", "qwen2-sliding", "llama"])
@pytest.mark.parametrize("kv_heads", [1, 2, 4])
def test_logprobs_are_those_of_one_forward_pass(family, kv_heads):
    model = tiny_model(family, kv_heads=kv_heads)
    session = Session(HFBackend(model), prompts_of([1, 7, 30, 31, 64, 64, 90]))
    live = [0, 1, 2, 3, 4, 5, 6]
    for turn in range(5):
        session.turn(live)
        live.reverse()
        if turn in (1, 3):
            session.backend.finish([live.pop(1)])
    assert session.worst_error(model) < 1e-4


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_logprobs_hold_when_rows_come_and_go_at_random(seed):
    draws = random.Random(seed)
    model = tiny_model("qwen3")
    shared = prompts_of([40], seed)[0]
    prompts = prompts_of([draws.randint(1, 60) for _ in range(8)], seed)
    prompts += [shared + prompt for prompt in prompts[:4]] + [shared, shared, list(prompts[0])]
    session = Session(HFBackend(model), prompts, seed)
    waiting, live = list(range(len(prompts))), []
    draws.shuffle(waiting)
    while waiting or live:
        while waiting and len(live) < 6:
            live.append(waiting.pop())
        called = draws.sample(live, draws.randint(1, len(live)))
        budgets = [draws.randint(1, 24) for _ in called] if draws.random() < 0.5 else None
        turns = session.turn(called, budgets=budgets)
        for turn, budget in zip(turns, budgets or [24] * len(called), strict=True):
            assert len(turn.ids) == len(turn.logprobs) <= budget
            assert turn.stopped == (turn.ids[-1] in STOPS)
            assert turn.stopped or len(turn.ids) == budget
            assert not set(turn.ids[:-1]) & set(STOPS)
        for key in called:
            if draws.random() < 0.3:
                live.remove(key)
                session.backend.finish([key])
    assert session.worst_error(model) < 1e-4


@pytest.mark.parametrize("order", [1, -1])
def test_a_prompt_may_be_the_beginning_of_all_others(order):
    model = tiny_model("qwen3")
    shared, *others = prompts_of([40, 3, 5], 0)
    prompts = [shared, *(shared + other for other in others)][::order]
    session = Session(HFBackend(model), prompts, 0)
    session.turn([0, 1, 2])
    assert session.worst_error(model) < 1e-4


def test_a_prompt_that_does_not_extend_the_row_is_encoded_from_where_they_part():
    model = tiny_model("qwen3")
    session = Session(HFBackend(model), prompts_of([50, 50]))
    session.turn([0, 1])
    for key in (0, 1):
        del session.histories[key][20:35]
        session.sampled[key].clear()
    session.turn([0, 1])
    session.histories[0] = prompts_of([9], seed=5)[0]
    session.sampled[0].clear()
    session.turn([1, 0])
    assert session.worst_error(model) < 1e-4


@pytest.mark.parametrize("family", ["qwen3", "qwen2-sliding", "llama"])
def test_with_and_without_cache_the_greedy_ids_are_the_same(family):
    greedy = Sampling(max_new_tokens=20, temperature=0, stop_ids=STOPS)
    histories = []
    for cache in (True, False):
        backend = HFBackend(tiny_model(family), cache=cache)
        session = Session(backend, prompts_of([3, 40, 41, 70]))
        for _ in range(4):
            session.turn([0, 1, 2, 3], greedy)
        histories.append(session.histories)
        assert session.worst_error(tiny_model(family), temperature=1.0) < 1e-4
    assert histories[0] == histories[1]


def test_with_and_without_cache_the_samples_are_the_same():
    turns = []
    for cache in (True, False):
        backend = HFBackend(tiny_model(), cache=cache)
        session = Session(backend, prompts_of([3, 40, 41, 70]))
        turns.append([[t.ids for t in session.turn([0, 1, 2, 3])] for _ in range(2)])
    assert turns[0] == turns[1]


def test_equal_seeds_give_equal_samples_and_others_do_not():
    def sample(seed):
        generator = torch.Generator().manual_seed(seed)
        backend = HFBackend(tiny_model(), generator=generator)
        return Session(backend, prompts_of([20, 30])).turn([0, 1])

    assert sample(7) == sample(7)
    assert sample(7) != sample(8)


def test_samples_follow_the_distribution_at_the_temperature():
    model, prompt = tiny_model(), prompts_of([12])[0]
    for temperature in (0.7, 2.0):
        backend = HFBackend(model, generator=torch.Generator().manual_seed(3))
        num = 3000
        turns = backend.generate([prompt] * num, Sampling(1, temperature), keys=list(range(num)))
        backend.finish(list(range(num)))
        with torch.no_grad():
            logits = model(torch.tensor([prompt])).logits[0, -1].float()
        expected = torch.softmax(logits / temperature, -1).numpy()
        counts = np.bincount([turn.ids[0] for turn in turns], minlength=len(expected))
        likely = expected > 0.02
        spread = np.sqrt(expected * (1 - expected) / num)
        assert likely.any()
        assert (np.abs(counts / num - expected)[likely] < 5 * spread[likely]).all()
        assert turns[0].logprobs[0] == pytest.approx(np.log(expected[turns[0].ids[0]]), abs=1e-4)


def test_equal_prompts_are_encoded_once():
    model = tiny_model()
    widths = []
    hook = model.register_forward_pre_hook(
        lambda _, args, kwargs: widths.append(tuple(kwargs["input_ids"].shape)), with_kwargs=True
    )
    prompt = prompts_of([50])[0]
    backend = HFBackend(model)
    backend.generate([prompt] * 8, Sampling(2), keys=list(range(8)))
    backend.generate([prompt] * 2, Sampling(1), keys=[8, 9])
    hook.remove()
    assert widths == [(1, 50), (8, 1), (1, 1)]


def test_a_turn_costs_its_new_tokens_only():
    model = tiny_model()
    session = Session(HFBackend(model), prompts_of([60, 50]))
    session.turn([0, 1], Sampling(5))
    widths = []
    hook = model.register_forward_pre_hook(
        lambda _, args, kwargs: widths.append(kwargs["input_ids"].shape[1]), with_kwargs=True
    )
    session.turn([0, 1], Sampling(5))
    hook.remove()
    assert widths[0] <= 1 + 9  # the last sampled token and an observation
    assert widths[1:] == [1] * 4


def test_rows_that_stop_leave_the_batch():
    model = tiny_model()
    widths = []
    hook = model.register_forward_pre_hook(
        lambda _, args, kwargs: widths.append(len(kwargs["input_ids"])), with_kwargs=True
    )
    session = Session(HFBackend(model), prompts_of([20] * 10))
    session.turn(list(range(10)), Sampling(20), budgets=[*range(2, 20, 2), 20])
    hook.remove()
    assert widths[-1] == 1
    assert sum(widths) < 0.75 * 10 * len(widths)
    assert session.worst_error(model, temperature=1.0) < 1e-4


@pytest.mark.parametrize("cache", [True, False])
def test_a_row_without_room_ends_while_the_others_write_on(cache: bool):
    """One episode is near its context's end; so few rows ended do not leave the batch."""
    model = tiny_model()
    session = Session(HFBackend(model, cache=cache), prompts_of([200, *[10] * 19]))
    turns = session.turn(list(range(20)), Sampling(150), budgets=[2, *[150] * 19])
    assert [len(turn.ids) for turn in turns] == [2, *[150] * 19]
    session.turn(list(range(20)), Sampling(4))
    assert session.worst_error(model, temperature=1.0) < 1e-4


def test_sampling_leaves_the_model_as_it_was():
    model = tiny_model()
    model.train()
    model.model.layers[0].eval()
    model.gradient_checkpointing_enable()
    model.config.use_cache = False
    attention = model.config._attn_implementation
    try:
        session = Session(HFBackend(model), prompts_of([20]))
        session.turn([0])
        session.turn([0])
        assert model.training
        assert not model.model.layers[0].training
        assert model.model.layers[1].training
        assert model.is_gradient_checkpointing
        assert model.config.use_cache is False
        assert model.config._attn_implementation == attention
        model(input_ids=torch.tensor([[1, 2]]), labels=torch.tensor([[1, 2]])).loss.backward()
    finally:
        model.gradient_checkpointing_disable()
        model.config.use_cache = True
        model.zero_grad()
        model.eval()
    assert session.worst_error(model) < 1e-4


def test_eager_attention_gives_the_same_logprobs():
    model = tiny_model("llama")
    own = model.config._attn_implementation
    model.set_attn_implementation("eager")
    try:
        session = Session(HFBackend(model), prompts_of([20, 33]))
        session.turn([0, 1])
        session.turn([0, 1])
    finally:
        model.set_attn_implementation(own)
    assert session.worst_error(model) < 1e-4


def test_long_prompts_are_encoded_in_parts(monkeypatch):
    monkeypatch.setattr("trainers.backends.hf.PREFILL_COLUMNS", 16)
    monkeypatch.setattr("trainers.backends.hf.PREFILL_TOKENS", 40)
    model = tiny_model()
    session = Session(HFBackend(model), prompts_of([100, 3, 47, 48, 16]))
    session.turn([0, 1, 2, 3, 4])
    session.turn([0, 1, 2, 3, 4])
    assert session.worst_error(model) < 1e-4


def test_the_memory_is_freed_once_every_row_has_finished():
    backend = HFBackend(tiny_model())
    Session(backend, prompts_of([20, 20])).turn([0, 1])
    assert backend.rows.cache.layers
    backend.finish([0, 1])
    assert not backend.rows.cache.layers
    backend.finish([0])  # a second time does nothing


def test_new_weights_count_after_a_session_has_finished():
    model = tiny_model("qwen2", vocab_size=421)
    backend = HFBackend(model)
    session = Session(backend, prompts_of([30]))
    session.turn([0])
    backend.finish([0])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.1)
    session.sampled[0].clear()
    session.turn([0])
    assert session.worst_error(model) < 1e-4


@pytest.mark.parametrize(
    ("prompts", "keys", "budgets", "told"),
    [
        ([[]], [0], None, "empty"),
        ([[1], [2]], [0, 0], None, "keys"),
        ([[1], [2]], [0], None, "keys"),
        ([[1]], [0], [0], "budgets"),
    ],
)
def test_the_callers_mistakes_are_named(prompts, keys, budgets, told):
    with pytest.raises(ValueError, match=told):
        HFBackend(tiny_model()).generate(prompts, SAMPLING, keys=keys, budgets=budgets)


def test_a_call_without_keys_keeps_nothing():
    backend = HFBackend(tiny_model())
    assert len(backend.generate([[1, 2], [3]], Sampling(3))) == 2
    assert not backend.rows.cache.layers


def test_no_prompts_give_no_turns():
    assert HFBackend(tiny_model()).generate([], SAMPLING, keys=[]) == []


def test_diverged_weights_are_an_error():
    model = tiny_model("llama", vocab_size=422)
    with torch.no_grad():
        model.lm_head.weight.fill_(float("nan"))
    with pytest.raises(FloatingPointError, match="not finite"):
        HFBackend(model).generate([[1, 2]], SAMPLING, keys=[0])


@pytest.mark.parametrize("block", [1, 40, 10_000])
def test_attention_in_blocks_is_that_of_sdpa(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attention, "_BLOCK", block)
    generator = torch.Generator().manual_seed(0)
    query = torch.randn(3, 6, 20, 8, generator=generator)
    key, value = (torch.randn(3, 2, 31, 8, generator=generator) for _ in range(2))
    hidden = torch.rand(3, 1, 20, 31, generator=generator) < 0.5
    hidden[..., 0] = False
    mask = torch.zeros(hidden.shape).masked_fill(hidden, torch.finfo(torch.float32).min)
    module = torch.nn.Module()
    module.num_key_value_groups = 3
    module.is_causal = True
    ours, _ = attention.grouped_attention(module, query, key, value, mask)
    theirs, _ = sdpa_attention_forward(module, query, key, value, mask)
    assert ours.shape == theirs.shape
    assert torch.allclose(ours, theirs, atol=1e-6)


def test_on_a_cpu_rows_of_like_length_share_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    passes: list[tuple[int, ...]] = []
    encode = RowModel.encode

    def watch(self: Any, cache: Any, first: int, ids: Any, **kwargs: Any) -> torch.Tensor:
        passes.append(ids.shape)
        return encode(self, cache, first, ids, **kwargs)

    monkeypatch.setattr(RowModel, "encode", watch)
    backend = HFBackend(tiny_model("qwen2"))
    lengths = [200, 3, 210, 5, 190, 4]
    histories = [[10 + row, *range(20, 20 + length)] for row, length in enumerate(lengths)]
    for _ in range(2):
        turns = backend.generate(histories, Sampling(4, 1.0), keys=list(range(len(lengths))))
        for history, turn, length in zip(histories, turns, reversed(lengths), strict=True):
            history += [*turn.ids, *range(50, 50 + length)]
    tokens = sum(rows * columns for rows, columns in passes)
    assert tokens <= 1.25 * sum(len(history) for history in histories) + 64 * len(passes)
