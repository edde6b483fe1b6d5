"""Importance weights, which correct a loss for tokens sampled by another distribution.

With delta_t = log pi(t) - log mu(t), of the policy that is trained (as it was when the batch was
played) and of what sampled, in nats, a ratio is taken over a token, a turn or a sequence:

    token        exp(delta_t)                            arXiv 2510.26788
    turn         exp(sum of delta over the turn)
    sequence     exp(sum of delta over the sequence)
    geometric    exp(mean of delta over the sequence)

`truncate` clips the ratio to its bounds. `mask` makes it 0 outside them: IcePop for tokens. A
geometric mean is no importance ratio, so `geometric_mask` only chooses: 1 inside the bounds, 0
outside. A sequence is a row of the batch: an episode, or one of its token windows.

Tokens of an expert have no mu: `shaped_probabilities`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

LARGEST_LOG_RATIO = 20.0
"""Largest log-ratio, nats. It is clamped before anything else, so that no ratio is infinite."""
SHAPING = 0.1
"""Gamma of `shaped_probabilities`, LUFFY's."""


@dataclass(frozen=True)
class ImportanceWeights:
    """Factors of each token's loss.

    Attributes:
        ratio: (B, T) before bounds; 1 where the mask is 0.
        weight: (B, T) within them; 1 where the mask is 0.
        is_outside: (B, T) bool, the bounds have changed the weight.
    """

    ratio: torch.Tensor
    weight: torch.Tensor
    is_outside: torch.Tensor


def importance_weights(
    trained: torch.Tensor,
    sampled: torch.Tensor,
    mask: torch.Tensor,
    *,
    mode: str,
    low: float | None,
    high: float | None,
) -> ImportanceWeights:
    """Return the weights of a batch.

    Args:
        trained: (B, T) log-probabilities of the policy that is trained, nats.
        sampled: (B, T), of what sampled the tokens.
        mask: (B, T), 1 on sampled tokens.
        mode: a level and a rule at the bounds, such as `token_truncate`, `geometric_mask`.
        low: the lower bound of the ratio; None has none.
        high: the upper bound; None has none.
    """
    level, _, constraint = mode.partition("_")
    is_sampled = mask != 0
    delta = (trained - sampled).masked_fill(~is_sampled, 0.0)
    log_ratio = _of_level(delta, is_sampled, level)
    log_ratio = log_ratio.clamp(-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO)
    ratio = log_ratio.exp().masked_fill(~is_sampled, 1.0)
    least, most = -math.inf if low is None else low, math.inf if high is None else high
    is_outside = (ratio < least) | (ratio > most)
    if constraint == "truncate":
        weight = ratio.clamp(least, most)
    else:
        inside = torch.ones_like(ratio) if level == "geometric" else ratio
        weight = inside.masked_fill(is_outside, 0.0)
    return ImportanceWeights(ratio, weight, is_outside)


def shaped_probabilities(logprobs: torch.Tensor) -> torch.Tensor:
    """Return f(pi) = pi / (pi + 0.1), LUFFY's shaped ratio of an expert's tokens.

    LUFFY (arXiv 2504.14945, section 3) takes the ratio pi / pi_phi of off-policy tokens, pi_phi = 1
    where the probability of what wrote them is unknown, shapes it by f, and does not clip it. The
    gradient, 0.1 pi / (pi + 0.1)^2 times that of log pi, is largest at pi = 0.1: a token that the
    policy is sure of moves nothing.

    Args:
        logprobs: (B, T), of the policy that is trained, nats.
    """
    return torch.sigmoid(logprobs - math.log(SHAPING))  # without a quotient of two tiny numbers


def _of_level(delta: torch.Tensor, is_sampled: torch.Tensor, level: str) -> torch.Tensor:
    """Return (B, T) or (B, 1) sums, or means, of (B, T) differences over a ratio's tokens."""
    if level == "token":
        return delta
    if level == "turn":
        return _sums_of_turns(delta, is_sampled)
    total = delta.sum(dim=1, keepdim=True)
    if level == "geometric":
        return total / is_sampled.sum(dim=1, keepdim=True).clamp(min=1)
    return total


def _sums_of_turns(delta: torch.Tensor, is_sampled: torch.Tensor) -> torch.Tensor:
    """Return (B, T) sums over the turn of each token, which is a run of sampled tokens."""
    before = torch.nn.functional.pad(is_sampled, (1, 0))[:, :-1]
    turn = (is_sampled & ~before).cumsum(dim=1)  # (B, T), from 1 on; 0 before the first
    sums = delta.new_zeros((len(delta), delta.size(1) + 1)).scatter_add(1, turn, delta)
    return sums.gather(1, turn)
