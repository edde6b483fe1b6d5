"""Draws tokens from logits: with one generator for the batch, or with a stream for each row."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import torch

from trainers.tokens.generation import Sampling


class Sampler:
    """Draws tokens.

    One generator gives a batch its random numbers in the order of its prompts, so a sample depends
    on the other prompts. Under `seed_rows` it does not: each row then has a stream of its own,
    named by the seed and the row's key.

    Args:
        generator: draws for the batch, on the logits' device.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self.generator = generator
        self._seed: int | None = None
        self._streams: dict[int, np.random.Generator] = {}

    def seed_rows(self, seed: int | None) -> None:
        """Seed a stream for each row, named by its key, or go back to the generator (None).

        Batches of episodes with the same seed would have the same draws.
        """
        self._seed = seed
        self._streams.clear()

    def forget(self, keys: Sequence[int]) -> None:
        """Forget rows' streams."""
        for key in keys:
            self._streams.pop(key, None)

    def draws(self, keys: Sequence[int], limits: np.ndarray) -> torch.Tensor | None:
        """Draw all random numbers that the next turns may need, from the rows' streams.

        A row draws as many as its limit (B,) at every turn. Returns (B, T) float64 in 0..1, T the
        largest limit, or None without streams.
        """
        if self._seed is None:
            return None
        drawn = np.zeros((len(keys), int(limits.max())))
        for row, (key, limit) in enumerate(zip(keys, limits, strict=True)):
            if key not in self._streams:
                self._streams[key] = np.random.default_rng([self._seed, key])
            drawn[row, :limit] = self._streams[key].random(limit)
        return torch.from_numpy(drawn).to(self.generator.device)

    def pick(
        self,
        logits: torch.Tensor,
        sampling: Sampling,
        prompt_of: torch.Tensor,
        num_prompts: int,
        draws: torch.Tensor | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Sample (N,) ids and their logprobs from (N, V) logits.

        Draws are made for all prompts and taken by prompt, so that a sample does not depend on rows
        that have left or changed places. `prompt_of` is (N,), the prompt of each row. `draws` is
        (num_prompts,) float64 from the prompts' own streams; None draws here.
        """
        scores = logits / sampling.temperature if sampling.temperature else logits
        logprobs = torch.log_softmax(cut(scores, sampling) if sampling.is_cut else scores, dim=-1)
        if not sampling.temperature:
            picked = logits.argmax(-1)
        elif logits.is_cuda and draws is None:
            # The first of exponential clocks; cumulated sums differ from run to run on CUDA.
            clocks = logits.new_empty(num_prompts, logits.shape[-1])
            clocks.exponential_(generator=self.generator)
            picked = (logprobs.exp() / clocks[prompt_of]).argmax(-1)
        else:
            # Inverse transform sampling takes one draw a row, where clocks take one a token.
            summed = logprobs.exp().cumsum(-1, dtype=torch.float64)
            if draws is None:
                draws = torch.rand(num_prompts, dtype=torch.float64, generator=self.generator)
            drawn = draws[prompt_of, None] * summed[:, -1:]
            picked = torch.searchsorted(summed, drawn, right=True)[:, 0]
            picked = picked.clamp_(max=logits.shape[-1] - 1)
        return picked, logprobs.gather(-1, picked[:, None])[:, 0]


def cut(scores: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return (N, V) logits at the sampling temperature, -inf for tokens that are left out."""
    if sampling.min_p > 0:
        least = scores.amax(-1, keepdim=True) + math.log(sampling.min_p)
        scores = scores.masked_fill(scores < least, -torch.inf)
    if 0 < sampling.top_k < scores.shape[-1]:
        least = scores.topk(sampling.top_k).values[:, -1:]
        scores = scores.masked_fill(scores < least, -torch.inf)
    if sampling.top_p < 1:
        ordered, ids = scores.sort(dim=-1)
        summed = ordered.softmax(-1).cumsum(-1, dtype=torch.float64)
        is_out = summed <= 1 - sampling.top_p
        is_out[:, -1] = False  # rounding shall not leave out the likeliest one
        scores = scores.masked_fill(is_out.scatter(-1, ids, is_out), -torch.inf)
    return scores
