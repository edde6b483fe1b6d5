"""What a backend is: token ids in, token ids and log-probabilities out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Sampling:
    """How to sample one turn.

    Attributes:
        max_new_tokens: the turn's token budget.
        temperature: 0 takes the likeliest token; logprobs are of the distribution at this
            temperature (at temperature 1 where it is 0).
        stop_ids: ids that end the turn; the one sampled is kept as the last id.
    """

    max_new_tokens: int = 512
    temperature: float = 1.0
    stop_ids: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.max_new_tokens < 1:
            raise ValueError(f"max_new_tokens must be >= 1, got {self.max_new_tokens}")
        if not self.temperature >= 0:
            raise ValueError(f"temperature must be >= 0, got {self.temperature}")


@dataclass(frozen=True)
class Generated:
    """One sampled turn.

    Attributes:
        ids: (N,) the sampled ids, the stop id included if it was sampled.
        logprobs: (N,) nats.
        stopped: a stop id was sampled; otherwise the budget ended the turn.
    """

    ids: list[int]
    logprobs: list[float]
    stopped: bool


class Backend(Protocol):
    """Continues token sequences.

    `keys` name rows across calls, so that a backend may keep what it computed for a row's earlier
    tokens; it must give the same distribution without.
    """

    max_length: int | None = None
    """Tokens of a sequence, at most; None has no bound."""

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
        """Forget rows; their keys may be used again."""

    def reseed(self, seed: int) -> None:
        """Start the random numbers anew."""

    def sync_weights(self, global_step: int) -> None:
        """Sample from the trained weights as they are now, after so many optimizer steps."""
