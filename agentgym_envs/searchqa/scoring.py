"""Scores an answer against the accepted ones by exact match and F1, normalised as SQuAD.

The normalisation and both measures are those of Rajpurkar et al. (arXiv 1606.05250, section 6.1).
Deviations:

1. Where the normalisation leaves nothing of an accepted answer ("A", "The The"), it is compared as
   it is but for case and spaces, so that not every article is right.
2. Typographic dashes and quotation marks count as the ASCII ones that a keyboard has, so that
   `Takisawan-Brannholmer War` is `Takisawan–Brannholmer War`.
3. The point of a decimal number stays, so that 82.9 is not 829.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Sequence

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_AS_TYPED = str.maketrans("‐‑‒–—−‘’“”", "------''\"\"")
_DECIMAL_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Lower the case, drop ASCII punctuation and articles, and join the words by single spaces."""
    text = text.lower().translate(_NO_PUNCTUATION)
    return " ".join(_ARTICLES.sub(" ", text).split())


def exact_match(answer: str, accepted: Sequence[str]) -> bool:
    """Return whether an answer equals an accepted one after normalisation."""
    return any(_same(_as_typed(answer), _as_typed(other)) for other in accepted)


def f1(answer: str, accepted: Sequence[str]) -> float:
    """Return the best F1 in 0..1 over the accepted answers: the overlap of words as multisets.

    1.0 where the answer matches exactly.
    """
    return max((_f1(_as_typed(answer), _as_typed(other)) for other in accepted), default=0.0)


def _as_typed(text: str) -> str:
    return _DECIMAL_POINT.sub("·", text.translate(_AS_TYPED))


def _same(answer: str, accepted: str) -> bool:
    expected = normalise(accepted)
    if not expected:
        return answer.lower().split() == accepted.lower().split()
    return normalise(answer) == expected


def _f1(answer: str, accepted: str) -> float:
    if _same(answer, accepted):
        return 1.0
    given, expected = normalise(answer).split(), normalise(accepted).split()
    shared = sum((Counter(given) & Counter(expected)).values())
    if shared == 0:
        return 0.0
    return 2.0 * shared / (len(given) + len(expected))
