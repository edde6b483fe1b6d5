"""What the cache of sampled rows takes: how it grows, and in which precision."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
import torch

from tests.trainers.tiny_models import tiny_model
from trainers.backends.hf import HFBackend
from trainers.backends.row_cache import RowCache
from trainers.tokens.generation import Sampling

PROMPTS = [[*range(20, 90)], [30, 31, 32]]


@pytest.mark.parametrize("most", [None, 2010])
def test_it_grows_by_an_eighth_and_not_beyond_the_longest_sequence(most: int | None) -> None:
    cache = RowCache()
    for columns in (1900, 1930):
        cache.reserve(2, columns, most)
    assert cache.window.columns == (2176 if most is None else 2048)


def test_what_a_pass_reads_lies_in_one_piece() -> None:
    """Else torch copies it before each product in bfloat16 on a CPU."""
    backend = HFBackend(tiny_model("qwen2"))
    seen = []
    layer = type(RowCache().layer_class_to_replicate())
    whole = layer.update

    def watched(self: Any, *args: Any) -> Any:
        read = whole(self, *args)
        seen.extend(read)
        return read

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layer, "update", watched)
        backend.generate(PROMPTS, Sampling(80, 1.0), keys=[0, 1])
    widths = {store.shape[2] for store in seen}
    assert all(store.is_contiguous() for store in seen)
    assert len(widths) > 1 and max(widths) < 70 + 80 + 64


def test_a_frozen_head_is_given_the_last_states_alone_and_in_one_piece() -> None:
    """Else torch copies the head for each row of a pass over prompts."""
    model = tiny_model("qwen2").requires_grad_(False)
    given: list[torch.Tensor] = []
    head = model.get_output_embeddings()
    kept = head.register_forward_hook(lambda _head, args, _out: given.append(args[0]))
    HFBackend(model).generate(PROMPTS, Sampling(2, 1.0))
    kept.remove()
    assert given and all(states.is_contiguous() and states.shape[1] == 1 for states in given)
    assert not head._forward_pre_hooks


def test_under_autocast_keys_are_kept_in_its_precision_and_nothing_else_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def play() -> tuple[Any, torch.dtype]:
        lowered = partial(torch.autocast, "cpu", torch.bfloat16)
        backend = HFBackend(tiny_model("qwen2"), autocast=lowered)
        histories = [list(prompt) for prompt in PROMPTS]
        answers = []
        for _ in range(2):
            turns = backend.generate(histories, Sampling(6, 1.3), keys=[0, 1])
            for history, turn in zip(histories, turns, strict=True):
                history += [*turn.ids, *range(100, 120)]
            answers.append(turns)
        return answers, backend.rows.cache.layers[0].keys.dtype

    turns, dtype = play()
    assert dtype == torch.bfloat16
    layer = type(RowCache().layer_class_to_replicate())
    whole = layer.update
    # Values of keys' own precision leave the keys as they come.
    monkeypatch.setattr(
        layer, "update", lambda self, keys, values: whole(self, keys, values.to(keys.dtype))
    )
    assert play() == (turns, torch.float32)
