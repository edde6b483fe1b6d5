r"""Reads a corpus in the form of wiki-18 from its file, one passage at a time.

A line is `{"id": ..., "contents": "\"Title\"\ntext"}`. Lines with the same title that follow one
another are one document. A passage's id is its line number, as in wiki-18 itself.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import overload

import numpy as np

from agentgym_envs.retrieval.documents import Corpus, Passage, split_contents
from agentgym_envs.searchqa.real_data.corpus_index import CorpusIndex, open_index, title_key
from agentgym_envs.searchqa.real_data.lines import JsonLines


class FileCorpus(Corpus):
    """The passages of a JSONL file, read one by one when they are needed.

    Where each line begins and which document it belongs to is found once and kept in the cache
    folder: minutes for the 21 million passages of wiki-18, and nothing after that. The file must
    not change while it is in use.

    Args:
        path: the file; not compressed.

    Raises:
        ValueError: there is no such file, it is compressed or empty, or a line is not of the form.
    """

    def __init__(self, path: Path) -> None:
        self._index = open_index(path)
        passages = _Passages(path, self._index)
        super().__init__(passages, f"{path.name} ({self._index.content_hash})")

    def document(self, document_id: int) -> tuple[Passage, ...]:
        """Return the passages of a document, in order.

        Raises:
            ValueError: there is no such document.
        """
        firsts = self._index.firsts
        if not 0 <= document_id < len(firsts):
            raise ValueError(
                f"unknown document_id {document_id!r}; {self.source} has {len(firsts)} "
                "documents; take the document_id of one of its passages"
            )
        last = document_id + 1 == len(firsts)
        stop = len(self) if last else int(firsts[document_id + 1])
        return tuple(self.passages[n] for n in range(int(firsts[document_id]), stop))

    def titles(self) -> Collection[str]:
        """Return none: there may be millions."""
        return ()

    def find_title(self, title: str) -> int | None:
        """Return the id of the document with this title, or None.

        An exact match comes first; else a match but for case and outer spaces, if there is only
        one.
        """
        loose = title.strip().casefold()
        keys = self._index.title_keys
        key = np.uint64(title_key(loose))
        first, stop = np.searchsorted(keys, key, "left"), np.searchsorted(keys, key, "right")
        ids = [int(document_id) for document_id in self._index.title_documents[first:stop]]
        titles = {document_id: self._title(document_id) for document_id in ids}
        exact = [document_id for document_id in ids if titles[document_id] == title]
        if exact:
            return exact[0]
        alike = [d for d in ids if titles[d].strip().casefold() == loose]
        return alike[0] if len(alike) == 1 else None

    def _title(self, document_id: int) -> str:
        return self.passages[int(self._index.firsts[document_id])].title


class _Passages(Sequence[Passage]):
    def __init__(self, path: Path, index: CorpusIndex) -> None:
        self._lines = JsonLines(path, index.starts)
        self._firsts = index.firsts

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, number: int) -> Passage: ...

    @overload
    def __getitem__(self, number: slice) -> Sequence[Passage]: ...

    def __getitem__(self, number: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(number, slice):
            return [self[position] for position in range(len(self))[number]]
        if number < 0:
            number += len(self)
        title, text = split_contents(self._lines[number]["contents"])
        document_id = int(np.searchsorted(self._firsts, number, "right")) - 1
        part = number - int(self._firsts[document_id])
        return Passage(number, title, text, document_id, part)
