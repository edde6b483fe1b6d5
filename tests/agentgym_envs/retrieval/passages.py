"""Corpora for the tests of retrieval."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from agentgym_envs.retrieval.documents import Corpus, Passage

RIVERS = (
    ("Ashe", "The Ashe is a river that rises in the Marn hills and runs past Quill."),
    ("Quill", "Quill is a town on the river Ashe, founded in 1204."),
    ("Orla Venn", "Orla Venn, a painter, was born in Quill and taught by Ivo Brann."),
    ("Ivo Brann", "Ivo Brann was a sculptor; his pupils were many, one of them a painter."),
    ("Élan Côte", "The café of Élan Côte sold pastries for nine years."),
    ("Twin One", "An entry that says the same."),
    ("Twin One", "An entry that says the same."),
)


def corpus_of(rows: Iterable[tuple[str, str]], source: str = "rows v1") -> Corpus:
    """Make a corpus; rows with the same title that follow one another are one document."""
    passages: list[Passage] = []
    for title, text in rows:
        last = passages[-1] if passages else None
        same = last is not None and last.title == title
        document_id = -1 if last is None else last.document_id
        part = last.part + 1 if same and last is not None else 0
        passages.append(Passage(len(passages), title, text, document_id + (0 if same else 1), part))
    return Corpus(passages, source)


def rivers() -> Corpus:
    return corpus_of(RIVERS, "rivers v1")


def noise(size: int) -> Corpus:
    """A corpus of made-up words, the common ones often."""
    rng = random.Random(0)
    letters = "abcdefghijklmnop"
    vocabulary = ["".join(rng.choices(letters, k=rng.randint(3, 9))) for _ in range(4000)]
    weights = [1 / (rank + 1) for rank in range(len(vocabulary))]
    return corpus_of(
        ((f"title {n}", " ".join(rng.choices(vocabulary, weights, k=40))) for n in range(size)),
        "noise v1",
    )


def flip_a_bit(path: Path) -> None:
    """Change the last byte but one of a file, where numbers and texts are."""
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    path.write_bytes(content)


def truncate(path: Path) -> None:
    """Take a file's last byte away."""
    path.write_bytes(path.read_bytes()[:-1])
