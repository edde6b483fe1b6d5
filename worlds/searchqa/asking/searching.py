"""Searches the finished passages as the environment's BM25 does, in integers.

Whole numbers, since a question is kept or refused by what is found, and the last bit of a machine's
floating point must not decide that.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from agentgym_envs.retrieval.documents import Passage
from agentgym_envs.retrieval.words import words

_UNIT = 1 << 16


class Searcher:
    """BM25 with k1 = 0.9 and b = 0.4 over the title, counted twice, and the text.

    Args:
        passages: what is searched.
    """

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.passages = passages
        counts = [Counter((*words(p.title) * 2, *words(p.text))) for p in passages]
        lengths = [sum(count.values()) for count in counts]
        total = sum(lengths)
        numbers: dict[str, list[int]] = {}
        for number, count in enumerate(counts):
            for word in count:
                numbers.setdefault(word, []).append(number)
        self._postings = {
            word: [
                (number, self._weight(counts[number][word], lengths[number], total, len(holders)))
                for number in holders
            ]
            for word, holders in numbers.items()
        }

    def _weight(self, count: int, length: int, total: int, frequency: int) -> int:
        """Return a word's part of the score of a passage: tf * idf in units of 2^-16."""
        size = len(self.passages)
        idf = round(_UNIT * math.log(1 + (2 * (size - frequency) + 1) / (2 * frequency + 1)))
        # tf / (tf + 0.9 * (0.6 + 0.4 * length / average)), its fraction multiplied by 100 * total
        norm = 54 * total + 36 * length * size
        return idf * count * 100 * total // (count * 100 * total + norm)

    def search(self, query: str, k: int) -> list[Passage]:
        """Return the `k` passages with the highest scores. Ties go by number."""
        scores: dict[int, int] = {}
        for word in words(query):
            for number, weight in self._postings.get(word, ()):
                scores[number] = scores.get(number, 0) + weight
        best = sorted(scores, key=lambda number: (-scores[number], number))[:k]
        return [self.passages[number] for number in best]
