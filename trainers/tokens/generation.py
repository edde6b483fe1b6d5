"""The protocol of backends: token ids in, token ids and log-probabilities out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True)
class Sampling:
    """Sampling parameters of one turn.

    Logprobs are of the distribution that is sampled from: at its temperature, cut by `min_p`, then
    `top_k`, then `top_p`, and renormalised, in vLLM's order. At temperature 0 nothing is cut, and
    they are those at temperature 1.

    Attributes:
        max_new_tokens: the turn's token budget.
        temperature: 0 takes the likeliest token.
        stop_ids: ids that end the turn; the one sampled is kept as the last id.
        top_k: leaves the k likeliest tokens, and those as likely as the last of them; 0
            leaves all.
        top_p: leaves the fewest likeliest tokens that have this share of the probability.
        min_p: leaves the tokens at least so likely as this share of the likeliest one's.
    """

    max_new_tokens: int = 512
    temperature: float = 1.0
    stop_ids: tuple[int, ...] = ()
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be >= 1, got {self.max_new_tokens}")
        if not self.temperature >= 0:
            raise ValueError(f"temperature must be >= 0, got {self.temperature}")
        if self.top_k < 0:
            raise ValueError(f"top_k must be >= 1, or 0 for all tokens, got {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, got {self.top_p}")
        if not 0 <= self.min_p <= 1:
            raise ValueError(f"min_p must be in 0..1, got {self.min_p}")

    @classmethod
    def from_args(cls, options: Any) -> Sampling:
        """Return how TRL's config, or a command's options, cut the distribution."""
        return cls(top_k=options.top_k, top_p=options.top_p, min_p=options.min_p or 0.0)

    @property
    def is_cut(self) -> bool:
        """Some tokens cannot be sampled."""
        return self.temperature > 0 and (self.top_k > 0 or self.top_p < 1 or self.min_p > 0)

    @property
    def vllm_options(self) -> dict[str, float]:
        """The distribution, in the names of vLLM's `SamplingParams` and of its server."""
        return {
            "temperature": self.temperature,
            "top_k": self.top_k,
            "top_p": self.top_p,
            "min_p": self.min_p,
        }


@dataclass(frozen=True)
class Generated:
    """One sampled turn.

    Attributes:
        ids: (N,) the sampled ids, the stop id included if it was sampled.
        logprobs: (N,) nats; NaN of a backend that gives none.
        stopped: a stop id was sampled; otherwise the budget ended the turn.
        weights_step: the optimizer step of the weights that sampled it; None if unknown.
    """

    ids: list[int]
    logprobs: list[float]
    stopped: bool
    weights_step: int | None = None


@runtime_checkable
class Backend(Protocol):
    """Continues token sequences.

    `keys` name rows across calls, so that a backend may keep what it computed for a row's earlier
    tokens; it must give the same distribution without.
    """

    max_length: int | None = None
    """Most tokens of a sequence, or None for no bound."""

    def generate(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        keys: Sequence[int],
        budgets: Sequence[int] | None = None,
    ) -> list[Generated]:
        """Continue each prompt, a row's whole token history.

        Args:
            prompts: one id sequence per row, of any lengths.
            sampling: how to sample.
            keys: the row's name, one per prompt; a row whose prompt extends what it had at its
                last call may reuse it.
            budgets: token budgets of single rows, where less is left to one than
                `sampling.max_new_tokens`; None where all have that.
        """

    def finish(self, keys: Sequence[int]) -> None:
        """Forget rows, whose keys may be used again."""

    def reseed(self, seed: int) -> None:
        """Restart the random numbers."""

    def sync_weights(self, global_step: int) -> None:
        """Sample from the trained weights as they are after `global_step` optimizer steps."""
