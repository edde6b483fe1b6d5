"""Writes the expert's thoughts, which quote the sentence just read and sum up the rest."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentgym_envs.retrieval.documents import Passage
from agentgym_envs.retrieval.words import STOP_WORDS
from agentgym_envs.searchqa.questions import Hop
from agentgym_envs.searchqa.scoring import normalise

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_NAME_WEIGHT = 2


class Notes:
    """The findings of one question so far.

    A finding is quoted in the thought that follows it, and from then on only summed up.
    """

    def __init__(self) -> None:
        self._known: list[str] = []
        self._fresh: list[tuple[str, str]] = []

    def add(self, hop: Hop, read: Iterable[Passage]) -> None:
        """Note the result of a hop.

        Args:
            hop: the hop.
            read: the passages read that hold its answer.
        """
        self._fresh.append((f"{hop.query}: {hop.answer}", _best_sentence(hop, list(read))))

    def thought(self, last: str) -> str:
        """Write a thought that ends in `last`."""
        parts = [f"So far: {'; '.join(self._known)}."] if self._known else []
        parts += [quoted for _, quoted in self._fresh]
        self._known += [short for short, _ in self._fresh]
        self._fresh.clear()
        return " ".join([*parts, last])


def _best_sentence(hop: Hop, read: list[Passage]) -> str:
    """Quote the sentence that shares most words with the hop's question."""
    quotes = [
        (_weight(sentence, hop, passage), -number, passage.title, sentence)
        for number, passage in enumerate(read)
        for sentence in _SENTENCE_END.split(passage.text)
    ]
    _, _, title, sentence = max(quotes)
    return f'{title}: "{sentence}" So: {hop.answer}.'


def _weight(sentence: str, hop: Hop, passage: Passage) -> int:
    """Count the hop's words in a sentence, names twice and the title's not at all."""
    answer = normalise(hop.answer)
    about = set(normalise(passage.title).split())
    in_sentence = set(normalise(sentence).split())
    weight = 0
    for word in {*hop.query.split(), *hop.answer.split()}:
        plain = normalise(word)
        if plain in in_sentence and plain not in about and plain not in STOP_WORDS:
            weight += 1 if word.islower() else _NAME_WEIGHT
    # A sentence with the answer itself comes first, where the title does not give it.
    if answer != normalise(passage.title) and f" {answer} " in f" {normalise(sentence)} ":
        weight += 10 * _NAME_WEIGHT
    return weight
