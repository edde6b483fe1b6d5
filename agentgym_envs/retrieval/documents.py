"""Holds passages, and the documents that they make up, in a corpus."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of a document, the unit that retrievers index.

    Attributes:
        passage_id: its position in the corpus.
        title: the title of its document.
        text: what it says; the title is not repeated.
        document_id: the document it belongs to.
        part: its position in that document, from 0.
    """

    passage_id: int
    title: str
    text: str
    document_id: int
    part: int


def passage_contents(passage: Passage) -> str:
    """Write a passage as one string, in the form of wiki-18 and of Search-R1's server."""
    return f'"{passage.title}"\n{passage.text}'


def split_contents(contents: str) -> tuple[str, str]:
    """Return (title, text) of such a string, without the quotes around the title."""
    title, _, text = contents.partition("\n")
    if len(title) >= 2 and title[0] == title[-1] == '"':
        title = title[1:-1]
    return title, text


class Corpus:
    """A collection of passages grouped into documents.

    This one keeps an index of documents and titles in memory, made when first asked for. A corpus
    too large for that subclasses it, hands over a lazy sequence of passages and overrides
    `document`, `titles` and `find_title`.

    Args:
        passages: passage `i` has `passage_id` i; the passages of a document stand together, in
            order.
        source: names the corpus, its version and its content: `"name vN (hash12)"`.
    """

    def __init__(self, passages: Sequence[Passage], source: str) -> None:
        self.passages = passages
        self.source = source

    def __len__(self) -> int:
        """Return the number of passages."""
        return len(self.passages)

    def document(self, document_id: int) -> tuple[Passage, ...]:
        """Return the passages of a document, in order.

        Raises:
            ValueError: there is no such document.
        """
        try:
            first, end = self._spans[document_id]
        except KeyError:
            raise ValueError(
                f"unknown document_id {document_id!r}; {self.source} has {len(self._spans)} "
                "documents; take the document_id of one of its passages"
            ) from None
        return tuple(self.passages[number] for number in range(first, end))

    def titles(self) -> Collection[str]:
        """Return every title, or nothing where there are too many to look through."""
        return self._titles.keys()

    def find_title(self, title: str) -> int | None:
        """Return the id of the document with this title, or None.

        An exact match comes first; else a match but for case and outer spaces, if there is only
        one.
        """
        exact = self._titles.get(title)
        if exact is not None:
            return exact[0]
        loose = self._loose_titles.get(title.strip().casefold(), [])
        return loose[0] if len(loose) == 1 else None

    @cached_property
    def _spans(self) -> dict[int, tuple[int, int]]:
        spans: dict[int, tuple[int, int]] = {}
        for number, passage in enumerate(self.passages):
            first, _ = spans.get(passage.document_id, (number, number))
            spans[passage.document_id] = (first, number + 1)
        return spans

    @cached_property
    def _titles(self) -> dict[str, list[int]]:
        titles: dict[str, list[int]] = {}
        for document_id, (first, _) in self._spans.items():
            titles.setdefault(self.passages[first].title, []).append(document_id)
        return titles

    @cached_property
    def _loose_titles(self) -> dict[str, list[int]]:
        loose: dict[str, list[int]] = {}
        for title, ids in self._titles.items():
            loose.setdefault(title.strip().casefold(), []).extend(ids)
        return loose
