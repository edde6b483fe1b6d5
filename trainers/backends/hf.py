"""Samples turns from a transformers model, computing each token of an episode once.

Rows are named by keys. Between calls the keys and values of a row's earlier tokens stay in a
`RowCache`, so a turn costs its new tokens only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

import numpy as np
import torch
from transformers import PreTrainedModel

from trainers.backends.row_model import RowModel
from trainers.backends.rows import LiveRows, Rows, common_length
from trainers.backends.sampler import Sampler
from trainers.backends.step_graphs import num_columns, num_rows
from trainers.options.backends import BACKENDS
from trainers.tokens.generation import Generated, Sampling

PREFILL_TOKENS = 16384
"""Tokens of one forward pass over prompts, padding included, which bounds its memory."""

PREFILL_COLUMNS = 1024
"""Prompt tokens per row of one such pass, which bounds its attention mask."""

_WORTH_SHARING = 32
"""Tokens that fresh prompts must share for their beginning to be encoded on its own."""

_PADDED = {"cpu": (1.25, 64)}
"""By device, the factor and the constant that bound a padded pass, against its tokens.

A CPU computes padding as slowly as tokens, so rows of similar length are batched there.
"""
_PADDED_ELSEWHERE = (2.0, 512)


class HFBackend:
    """`Backend` on a transformers model, on CPU or CUDA.

    Rows that sampled a stop id leave the batch. Prompts that share a beginning, as the episodes of
    one group do, are encoded once. The model is in evaluation mode while it samples and afterwards
    as it was before. Keys and values are kept until `finish`; call it for every row before the
    weights change.

    Args:
        model: a causal language model with full or sliding-window attention.
        generator: draws the samples; None makes one with seed 0 on the model's device.
        cache: False encodes a row's whole history at every turn; the samples are the same.
        max_length: tokens of a sequence, at most, and of the cache's rows; None has no bound.
        autocast: the context of a trainer's passes, so that sampling matches training.
        cuda_graphs: False launches each kernel from Python on CUDA, too; see `StepGraphs`.

    Raises:
        ValueError: the model has layers that cannot be cached by position.
    """

    spec = BACKENDS["hf"]

    def __init__(
        self,
        model: PreTrainedModel,
        *,
        generator: torch.Generator | None = None,
        cache: bool = True,
        max_length: int | None = None,
        autocast: Callable[[], AbstractContextManager[None]] | None = None,
        cuda_graphs: bool = True,
    ) -> None:
        self.model = model
        self.max_length = max_length
        self.cache = cache
        self.generator = generator or torch.Generator(model.device).manual_seed(0)
        self._sampler = Sampler(self.generator)
        self._model = RowModel(model, autocast, cuda_graphs=cuda_graphs)
        self.rows = Rows()

    def seed_rows(self, seed: int | None) -> None:
        """Give each row random numbers of its own, independent of the rest of the batch.

        Rounding remains: a row's logits depend in their last bits on the rows computed beside it.

        Args:
            seed: identifies a row's stream together with its key. Give another one for every batch
                of episodes; None goes back to the generator.
        """
        self._sampler.seed_rows(seed)

    def reseed(self, seed: int) -> None:
        """Restart the random numbers, of each row and of calls without keys."""
        self.generator.manual_seed(seed)
        self.seed_rows(seed)

    def sync_weights(self, global_step: int) -> None:
        """Do nothing: the model that samples is the one that is trained."""

    def generate(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        keys: Sequence[int] | None = None,
        budgets: Sequence[int] | None = None,
    ) -> list[Generated]:
        """Continue each prompt, as in `Backend.generate`.

        Without `keys` the rows are forgotten when the call returns.

        Raises:
            ValueError: a prompt is empty, a budget is below 1, or keys repeat.
            FloatingPointError: the model's logits are not finite.
        """
        if not prompts:
            return []
        has_names = keys is not None
        keys = range(-len(prompts), 0) if keys is None else keys
        limits = _limits(prompts, sampling, keys, budgets)
        draws = self._sampler.draws(keys, limits) if has_names and sampling.temperature else None
        with self._model.sampling():
            logits = self._prefill([np.asarray(p) for p in prompts], keys, limits)
            generated = self._decode(logits, prompts, keys, sampling, limits, draws)
        if not (has_names and self.cache):
            self._drop(keys)
        return generated

    def finish(self, keys: Sequence[int]) -> None:
        """Forget rows, and free the memory once none is left."""
        self._sampler.forget(keys)
        self._drop(keys)

    def _drop(self, keys: Sequence[int]) -> None:
        for key in keys:
            self.rows.drop(key)
        if not len(self.rows) and not self._model.graphs.keeps(self.rows.cache):
            self.rows = Rows()

    def _reserve(self, rows: int, columns: int) -> None:
        if self._model.graphs.works:  # which are captured for a few sizes
            rows, columns = num_rows(rows), num_columns(columns, self.max_length)
        self.rows.reserve(rows, columns, self.max_length)

    # Prompts ----------------------------------------------------------------------------------

    def _prefill(
        self, prompts: list[np.ndarray], keys: Sequence[int], limits: np.ndarray
    ) -> torch.Tensor:
        """Encode the new tokens of each prompt.

        Returns:
            (B, V) float32, the logits after each prompt, in the order of the rows.
        """
        rows = self.rows
        known = [key for key in keys if key in rows]
        groups: dict[bytes, list[int]] = {}  # the fresh keys by prompt
        for key, prompt in zip(keys, prompts, strict=True):
            if key not in rows:
                groups.setdefault(prompt.tobytes(), []).append(key)
        on_cpu = self.model.device.type == "cpu"
        if on_cpu:
            new = {
                key: len(prompt) - (int(rows.lengths[rows.row(key)]) if key in rows else 0)
                for key, prompt in zip(keys, prompts, strict=True)
            }
            known.sort(key=new.__getitem__)
            groups = dict(sorted(groups.items(), key=lambda item: new[item[1][0]]))
        fresh = [group[0] for group in groups.values()]
        repeated = [key for group in groups.values() for key in group[1:]]
        self._reserve(len(rows) + len(fresh) + len(repeated), max(map(len, prompts)))
        rows.move_to_front(known, [*fresh, *repeated])
        if on_cpu:
            rows.order_front(known)
        order = np.argsort([rows.row(key) for key in keys])
        by_row = [prompts[index] for index in order]
        first, last = len(known), len(known) + len(fresh)
        for row in range(first):
            rows.keep_prefix(row, by_row[row])
        self._share(by_row[first:last], first)
        logits = [*self._encode(by_row, 0, first), *self._encode(by_row, first, last)]
        at = last
        for row, group in zip(range(first, last), groups.values(), strict=True):
            copies = list(range(at, at + len(group) - 1))
            if copies:
                rows.repeat(row, copies)
                logits += [logits[row]] * len(copies)
            at += len(copies)
        return torch.stack(logits)

    def _share(self, prompts: list[np.ndarray], first: int) -> None:
        """Copy into fresh rows, from `first` on, the prefixes that other rows hold."""
        if not prompts:
            return
        self.rows.copy_shared_prefix(first, prompts[0])
        # A prompt's last token is always computed in its own row, for its logits.
        shared = min(common_length(prompts), len(prompts[0]) - 1) if len(prompts) > 1 else 0
        if shared - self.rows.lengths[first] >= _WORTH_SHARING:
            self._encode([prompts[0][:shared]], first, first + 1, offset=first)
        for row, prompt in enumerate(prompts[1:], first + 1):
            self.rows.copy_shared_prefix(row, prompt)

    def _encode(
        self, prompts: list[np.ndarray], first: int, last: int, *, offset: int = 0
    ) -> list[torch.Tensor]:
        """Encode the rest of the prompts of the rows [first, last).

        `prompts[row - offset]` is a row's whole prompt.

        Returns:
            (V,) float32 for each row, the logits after its prompt.
        """
        ends = np.array([len(prompts[row - offset]) for row in range(first, last)], dtype=np.int64)
        starts = self.rows.lengths[first:last].copy()
        logits: list[torch.Tensor] = []
        padded = _PADDED.get(self.model.device.type, _PADDED_ELSEWHERE)
        for low, high in _batches(ends - starts, *padded):
            chunk = int((ends - starts)[low:high].max())
            positions = ends[low:high, None] + np.arange(-chunk, 0)[None]  # (n, chunk)
            new = positions >= starts[low:high, None]
            ids = np.zeros_like(positions)
            for index, row in enumerate(range(first + low, first + high)):
                prompt = prompts[row - offset]
                ids[index, new[index]] = prompt[starts[low + index] :]
                self.rows.extend(row, prompt)
            for column in range(0, chunk, PREFILL_COLUMNS):
                part = np.s_[:, column : column + PREFILL_COLUMNS]
                out = self._model.encode(
                    self.rows.cache,
                    first + low,
                    ids[part],
                    positions=positions[part],
                    is_token=new[part],
                )
            logits += out.unbind()
        return logits

    # Turns ------------------------------------------------------------------------------------

    def _decode(
        self,
        logits: torch.Tensor,
        prompts: Sequence[list[int]],
        keys: Sequence[int],
        sampling: Sampling,
        limits: np.ndarray,
        draws: torch.Tensor | None,
    ) -> list[Generated]:
        """Sample until every row has stopped or met its limit, with the draws of a `Sampler`."""
        device = self.model.device
        turns = LiveRows(self.rows, prompts, keys, limits)
        ids = torch.zeros(len(prompts), int(limits.max()), dtype=torch.long, device=device)
        logprobs = torch.zeros(ids.shape, device=device)
        stop = torch.tensor(sampling.stop_ids, dtype=torch.long, device=device)
        for step in range(ids.shape[1]):
            index = torch.from_numpy(turns.prompt_of[: turns.width]).to(device)
            picked, logprob = self._sampler.pick(
                logits,
                sampling,
                index,
                len(prompts),
                None if draws is None else draws[:, step],
            )
            ids[index, step] = picked
            logprobs[index, step] = logprob
            turns.end((picked[:, None] == stop).any(-1).cpu().numpy(), step)
            if turns.num_live == 0:
                break
            live = turns.compact()
            if live is not None:
                picked = picked[torch.from_numpy(live).to(device)]
            positions = turns.next_positions()
            self._reserve(len(self.rows), int(positions.max()) + 1)
            logits = self._model.advance(self.rows.cache, picked, positions)
        return self._collect(turns, prompts, keys, ids, logprobs)

    def _collect(
        self,
        turns: LiveRows,
        prompts: Sequence[list[int]],
        keys: Sequence[int],
        ids: torch.Tensor,
        logprobs: torch.Tensor,
    ) -> list[Generated]:
        all_ids, all_logprobs = ids.tolist(), logprobs.tolist()
        generated = []
        for index, key in enumerate(keys):
            num = int(turns.num_tokens[index])
            turn = Generated(
                all_ids[index][:num], all_logprobs[index][:num], bool(turns.stopped[index])
            )
            if not np.isfinite(turn.logprobs).all():
                raise FloatingPointError(
                    "the model's logits are not finite; the weights have diverged or overflow "
                    f"{self.model.dtype}: lower the learning rate, or load the model in bfloat16 "
                    "or float32"
                )
            # The last token has been sampled, not fed: its keys and values are the next call's.
            self.rows.extend(self.rows.row(key), np.asarray(prompts[index] + turn.ids[:-1]))
            generated.append(turn)
        return generated


def _limits(
    prompts: Sequence[list[int]],
    sampling: Sampling,
    keys: Sequence[int],
    budgets: Sequence[int] | None,
) -> np.ndarray:
    if not all(prompts):
        raise ValueError("a prompt is empty; it must hold at least one id")
    if len(keys) != len(prompts) or len(set(keys)) != len(keys):
        raise ValueError(f"keys must name the {len(prompts)} prompts, each once; got {list(keys)}")
    limits = np.full(len(prompts), sampling.max_new_tokens)
    if budgets is not None:
        limits = np.minimum(limits, np.asarray(budgets))
    if len(limits) != len(prompts) or limits.min() < 1:
        raise ValueError(f"budgets must hold {len(prompts)} numbers >= 1, got {budgets}")
    return limits


def _batches(sizes: np.ndarray, share: float, further: int) -> Iterator[tuple[int, int]]:
    """Cut neighbouring rows into batches that pad little (`_PADDED`) and fit the memory."""
    low = 0
    for high in range(1, len(sizes) + 1):
        if high < len(sizes):
            batch = sizes[low : high + 1]
            padded = len(batch) * min(int(batch.max()), PREFILL_COLUMNS)
            wasteful = len(batch) * int(batch.max()) > share * int(batch.sum()) + further
            if padded <= PREFILL_TOKENS and not wasteful:
                continue
        yield low, high
        low = high
