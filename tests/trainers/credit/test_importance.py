from __future__ import annotations

import math

import pytest
import torch

from tests.trainers.importance_by_hand import MODES, weights_by_hand
from trainers.credit.importance import ImportanceWeights, importance_weights

MASK = [1, 1, 0, 0, 1, 0]
"""Two turns, of two tokens and of one; observations between and behind them."""


def weights(
    delta: list[list[float]],
    mask: list[list[int]],
    *,
    mode: str,
    low: float | None = None,
    high: float | None = None,
) -> ImportanceWeights:
    sampled = torch.randn((len(delta), len(delta[0])), generator=torch.Generator().manual_seed(0))
    trained = sampled + torch.tensor(delta)
    return importance_weights(trained, sampled, torch.tensor(mask), mode=mode, low=low, high=high)


@pytest.mark.parametrize(
    ("mode", "shift", "expected"),
    [
        ("token_truncate", 3.0, [3.0, 3.0, 3.0]),
        ("token_truncate", -3.0, [math.exp(-3)] * 3),
        ("token_mask", 3.0, [0.0] * 3),
        ("token_mask", -3.0, [math.exp(-3)] * 3),
        ("turn_truncate", 3.0, [3.0] * 3),
        ("turn_truncate", -3.0, [math.exp(-6), math.exp(-6), math.exp(-3)]),
        ("turn_mask", 3.0, [0.0] * 3),
        ("turn_mask", -3.0, [math.exp(-6), math.exp(-6), math.exp(-3)]),
        ("sequence_truncate", 3.0, [3.0] * 3),
        ("sequence_truncate", -3.0, [math.exp(-9)] * 3),
        ("sequence_mask", 3.0, [0.0] * 3),
        ("sequence_mask", -3.0, [math.exp(-9)] * 3),
        ("geometric_mask", 3.0, [0.0] * 3),
        ("geometric_mask", -3.0, [1.0] * 3),
    ],
)
def test_a_constant_shift_has_the_weights_that_the_formulas_say(
    mode: str, shift: float, expected: list[float]
) -> None:
    """With TRL's own bounds: 3 above, none below."""
    # What stands at the environment's tokens is of no distribution.
    delta = [shift if m else 50.0 for m in MASK]
    weight = weights([delta], [MASK], mode=mode, high=3.0).weight[0]
    assert weight[torch.tensor(MASK).bool()].tolist() == pytest.approx(expected, rel=1e-5)
    assert weight[~torch.tensor(MASK).bool()].tolist() == [1.0] * 3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("low", "high"), [(None, 3.0), (0.5, 2.0), (0.9, 1.1), (0.8, None), (None, None)]
)
def test_rows_of_many_turns_have_the_weights_of_the_reference(
    mode: str, low: float | None, high: float | None
) -> None:
    generator = torch.Generator().manual_seed(1)
    masks = (torch.rand((40, 23), generator=generator) < 0.7).int().tolist()
    masks[0], masks[1] = [0] * 23, [1] * 23
    delta = (0.6 * torch.randn((40, 23), generator=generator)).tolist()
    result = weights(delta, masks, mode=mode, low=low, high=high)
    bounds = {"low": 0.0 if low is None else low, "high": math.inf if high is None else high}
    expected = [
        weights_by_hand(one, mask, mode=mode, **bounds)
        for one, mask in zip(delta, masks, strict=True)
    ]
    assert torch.allclose(result.weight, torch.tensor(expected), rtol=1e-4)
    free = [
        weights_by_hand(one, mask, mode=mode.replace("geometric_mask", "turn_mask"))
        for one, mask in zip(delta, masks, strict=True)
    ]
    if mode != "geometric_mask":
        changed = (torch.tensor(expected) - torch.tensor(free)).abs() > 1e-4
        assert torch.equal(result.is_outside, changed)
    else:
        assert torch.equal(result.is_outside, torch.tensor(expected) == 0)
    if low == 0.9:
        assert 0 < result.is_outside.float().mean() < 1


@pytest.mark.parametrize("mode", MODES)
def test_equal_probabilities_have_weight_one_to_the_bit(mode: str) -> None:
    result = weights([[0.0] * 6], [MASK], mode=mode, low=0.99, high=1.01)
    assert torch.equal(result.weight, torch.ones(1, 6))
    assert not result.is_outside.any()


def test_no_ratio_is_infinite() -> None:
    result = weights([[90.0] * 6], [MASK], mode="sequence_truncate")
    assert result.weight.isfinite().all()
    assert result.weight[0, 0] == pytest.approx(math.exp(20), rel=1e-5)
    assert weights([[90.0] * 6], [MASK], mode="token_truncate", high=3.0).weight.max() == 3.0
