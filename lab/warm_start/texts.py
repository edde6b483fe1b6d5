"""The stream of encoded texts: drills first, then play, written by a process of their own.

Which texts come depends on the seed alone.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
from transformers import PreTrainedTokenizerFast

from lab.warm_start import Message
from lab.warm_start.babyai_play import babyai_play
from lab.warm_start.textcraft_play import drill, made_up_play, training_split_play
from lab.warm_start.tiny import build_tokenizer
from lab.warm_start.tiny_units import tiny_units

MAX_LENGTH = 1000
POOL = 128  # texts sorted by length together, so that a batch pads little
BABYAI_SHARE = 0.15  # of the texts


@dataclass(frozen=True)
class Text:
    """One encoded text: `ids` and `weights`, both (T,), the weights of the loss."""

    ids: list[int]
    weights: list[float]


@cache
def tiny_tokenizer() -> PreTrainedTokenizerFast:
    """Return the tiny policy's tokenizer."""
    return build_tokenizer(tiny_units())


def encode(messages: Sequence[Message], tokenizer: PreTrainedTokenizerFast | None = None) -> Text:
    """Encode chat messages as the rollout engine does: the end token is the policy's own.

    Args:
        messages: the chat.
        tokenizer: None takes that of `tiny`.
    """
    tokenizer = tokenizer or tiny_tokenizer()
    ids: list[int] = []
    weights: list[float] = []
    for message in messages:
        role = tokenizer.convert_tokens_to_ids(f"<|{message.role}|>")
        content = tokenizer(message.content, split_special_tokens=True).input_ids
        ids += [role, *content, tokenizer.eos_token_id]
        weights += [0.0] + [message.weight] * (len(content) + 1)
    return Text(ids, weights)


def draw(rng: np.random.Generator, progress: float) -> list[Message]:
    """Draw a text. Drills come first and grow, then three texts of four are play.

    BabyAI's share is the same throughout.

    Args:
        rng: the only source of chance.
        progress: share of the training done, 0..1.
    """
    if rng.random() < BABYAI_SHARE:
        return babyai_play(rng)
    if rng.random() < max(0.25, 1 - progress / 0.3):
        longest = 5 + int(15 * min(1.0, progress / 0.25))
        return drill(rng, int(rng.integers(4, longest + 1)))
    return training_split_play(rng) if rng.random() < 0.35 else made_up_play(rng)


def draw_pool(seed: int, number: int, progress: float) -> list[Text]:
    """Draw and encode the texts of one pool, the short ones first."""
    rng = np.random.default_rng([seed, number])
    texts = [encode(draw(rng, progress)) for _ in range(POOL)]
    return sorted((t for t in texts if len(t.ids) <= MAX_LENGTH), key=lambda text: len(text.ids))


def batches(seed: int, *, num_tokens: int, batch_tokens: int) -> Iterator[tuple[list[Text], float]]:
    """Yield batches of texts of similar lengths, and the progress after each.

    While a pool is trained on, another process writes the next one.

    Args:
        seed: of the texts.
        num_tokens: of all batches, about.
        batch_tokens: of one, padding included.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as writer:
        seen = number = 0
        coming = writer.submit(draw_pool, seed, 0, 0.0)
        while seen < num_tokens:
            texts = coming.result()
            number += 1
            after = seen + sum(len(text.ids) for text in texts)
            if after < num_tokens:
                coming = writer.submit(draw_pool, seed, number, after / num_tokens)
            groups = groups_of(texts, batch_tokens)
            for place in np.random.default_rng([seed, number, 1]).permutation(len(groups)):
                seen += sum(len(text.ids) for text in groups[place])
                yield groups[place], min(1.0, seen / num_tokens)


def groups_of(texts: Sequence[Text], batch_tokens: int) -> list[list[Text]]:
    """Cut texts sorted by length into batches of at most `batch_tokens`, with padding."""
    groups: list[list[Text]] = [[]]
    for text in texts:
        if groups[-1] and (len(groups[-1]) + 1) * len(text.ids) > batch_tokens:
            groups.append([])
        groups[-1].append(text)
    return groups
