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


@pytest.mark.parametrize("most", [None, 1000])
def test_it_grows_by_half_and_not_beyond_the_longest_sequence(most: int | None) -> None:
    cache = RowCache()
    for columns in (700, 800):
        cache.reserve(2, columns, most)
    assert cache.window.columns == (1088 if most is None else 1024)


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
