from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from trl.kernels import chunked_logprob
from trl.trainer import utils

from tests.trainers.toys import episode, gradient, make_model, trace
from tests.trainers.trl_bridge.scripted import Scripted
from trainers.trl_bridge import passes as cpu_passes
from trainers.trl_bridge import run
from trainers.trl_bridge.passes import (
    checkpoint_large_passes,
    small_tiles,
)

CPU = torch.device("cpu")
PLAYED = [
    episode(reward, traces=[trace(4 + n, [1, 0, 0, 1] * (n + 2), seed=n)])
    for n, reward in enumerate((1.0, 0.0, 1.0, 0.0))
]
OPTIONS = {
    "per_device_train_batch_size": 2,
    "gradient_accumulation_steps": 2,
    "num_generations": 2,
    "max_steps": 1,
}


def scored_rows(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Return the list to which each call of TRL's head adds the shape of what it scores."""
    seen: list[tuple[int, ...]] = []
    apply = utils._ChunkedLogProbFunction.apply

    def watch(hidden: torch.Tensor, *args: Any) -> Any:
        seen.append((len(hidden), chunked_logprob.TOKEN_CHUNK_SIZE))
        return apply(hidden, *args)

    monkeypatch.setattr(utils._ChunkedLogProbFunction, "apply", watch)
    return seen


def test_a_step_scores_sampled_tokens_alone_in_small_tiles(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = scripted(PLAYED, **OPTIONS)
    seen = scored_rows(monkeypatch)
    before = (chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton)
    trainer.train()
    sampled = sum(sum(one.trace.action_mask) for one in PLAYED)
    assert sum(rows for rows, _ in seen) == sampled
    assert {tile for _, tile in seen} == {cpu_passes.TOKENS}
    assert (chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton) == before


def test_the_gradient_is_that_of_trls_tiles_over_all_tokens(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = gradient(scripted(PLAYED, **OPTIONS))
    monkeypatch.setattr(cpu_passes, "TOKENS", 3)  # so that rows end within a tile
    tiny_tiles = gradient(scripted(PLAYED, **OPTIONS))
    # As on an accelerator, where nothing is replaced.
    monkeypatch.setattr(run, "small_tiles", lambda _device: small_tiles(torch.device("meta")))
    theirs = gradient(scripted(PLAYED, **OPTIONS))
    assert torch.allclose(ours, theirs, atol=1e-7)
    assert torch.allclose(tiny_tiles, theirs, atol=1e-7)


def test_an_accelerator_keeps_trls_tiles() -> None:
    before = (chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton)
    with small_tiles(torch.device("cuda")):
        assert (chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton) == before
    with small_tiles(CPU):
        assert chunked_logprob.TOKEN_CHUNK_SIZE == cpu_passes.TOKENS
    assert (chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton) == before


def kept_bytes(model: torch.nn.Module, ids: torch.Tensor) -> int:
    """Return the bytes of tensors that a forward pass keeps for the backward pass."""
    kept: dict[int, int] = {}

    def keep(tensor: torch.Tensor) -> torch.Tensor:
        kept[tensor.data_ptr()] = tensor.nbytes
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        model(input_ids=ids, use_cache=False).logits.sum()
    return sum(kept.values())


def test_large_passes_alone_keep_less_and_have_the_same_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, model = make_model().train(), make_model().train()
    small, large = torch.arange(1, 9)[None], torch.arange(1, 65)[None]
    hidden = model.config.hidden_size * model.config.num_hidden_layers
    monkeypatch.setattr(cpu_passes, "LARGEST_ACTIVATIONS", 32 * hidden * cpu_passes._BYTES)
    checkpoint_large_passes(model)
    assert kept_bytes(model, small) == kept_bytes(plain, small)
    assert kept_bytes(model, large) < kept_bytes(plain, large)
    for one in (plain, model):
        one(input_ids=large, use_cache=False).logits.logsumexp(-1).sum().backward()
    for ours, theirs in zip(model.parameters(), plain.parameters(), strict=True):
        assert torch.equal(ours.grad, theirs.grad)  # type: ignore[arg-type]


def test_a_trainer_checkpoints_by_the_size_of_a_pass_unless_it_always_does(
    scripted: Callable[..., Scripted],
) -> None:
    hooks = {
        choice: len(trainer.model.base_model._forward_pre_hooks)
        for choice in (False, True)
        if (trainer := scripted(PLAYED, gradient_checkpointing=choice, **OPTIONS))
    }
    assert hooks == {False: 1, True: 0}


def test_a_trainer_gives_memory_back_around_each_optimizer_step(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = scripted(PLAYED, **{**OPTIONS, "max_steps": 2})
    steps: list[int] = []
    monkeypatch.setattr(
        cpu_passes, "give_back_memory", lambda: steps.append(trainer.state.global_step)
    )
    trainer.train()
    assert steps == [0, 1, 1, 2]
