"""Turns text into the words that BM25 counts."""

from __future__ import annotations

import re
import unicodedata

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE_S = re.compile(r"['\u2019]s\b")

WORDS_VERSION = 2
"""Goes up when the same text gives other words."""

STOP_WORDS = frozenset(
    "a an and are as at be been by did do does for from had has have he her his how i in is it its "
    "of on or she that the their them these they this those to was we were what when where which "
    "who whom whose why will with would you".split()
)
"""English words that carry nothing of a passage's subject.

Prepositions that titles begin with, such as "before", are not among them.
"""


def words(text: str) -> list[str]:
    """Return the words of a text: in lower case, without accents and stop words.

    A text of stop words alone keeps them, so that a title such as "The Who" can be found.
    """
    plain = text.casefold()
    if not plain.isascii():
        decomposed = unicodedata.normalize("NFKD", plain)
        plain = "".join(c for c in decomposed if not unicodedata.combining(c))
    every = _WORD.findall(_APOSTROPHE_S.sub("", plain))
    return [word for word in every if word not in STOP_WORDS] or every
