"""Searches, opens documents page by page, and remembers the texts that were read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentgym_envs.core.text import counted
from agentgym_envs.errors import InvalidAction, did_you_mean
from agentgym_envs.retrieval.documents import Corpus, Passage
from agentgym_envs.retrieval.protocol import Hit, Retriever
from agentgym_envs.searchqa.prompts import page_text

PAGE_CHARACTERS = 1500
"""Characters of a page. It ends before the passage that would exceed them, but holds one."""

_TITLE_CHARACTERS = 100
_PAGE = re.compile(r"(?:page|p\.?)?\s*([0-9]{1,6})", re.IGNORECASE)
_DOC = re.compile(r"(doc(?:ument)?\.?)?\s*([0-9]{1,6})", re.IGNORECASE)


@dataclass(frozen=True)
class Page:
    """One page of a document, as it is shown.

    Attributes:
        title: the document's title.
        passages: what stands on the page.
        text: the page as the policy reads it.
    """

    title: str
    passages: tuple[Passage, ...]
    text: str


class Desk:
    """One reader's work on one question.

    Args:
        retriever: what searches.
        corpus: where whole documents are; None where only the retriever has them.
        top_k: passages shown per search.
    """

    def __init__(self, retriever: Retriever, corpus: Corpus | None, *, top_k: int) -> None:
        self.corpus = corpus
        self.hits: list[Hit] = []
        self.titles: list[str] = []
        self._retriever = retriever
        self._top_k = top_k
        self._read: dict[tuple[int, str, str], Passage] = {}

    @property
    def read_passages(self) -> list[Passage]:
        """The passages shown so far, each once, in the order they were read."""
        return list(self._read.values())

    def has_read(self, passage_ids: Iterable[int]) -> bool:
        """Return whether one of these passages has been shown."""
        ids = set(passage_ids)
        return any(passage.passage_id in ids for passage in self._read.values())

    def search(self, query: str) -> list[Hit]:
        """Search and remember the passages that are shown.

        Raises:
            EnvFailure: the retriever broke.
        """
        self.hits = self._retriever.search(query, self._top_k)
        self._note(hit.passage for hit in self.hits)
        return self.hits

    def open(self, reference: str) -> Page:
        """Show a page of a document.

        Args:
            reference: a title or `"Doc 2"`, and maybe `"| page 3"` behind it.

        Raises:
            InvalidAction: there is no such document or page.
        """
        name, number = _split_page(reference)
        title, passages = self._document(name)
        pages = _pages(passages)
        if not 1 <= number <= len(pages):
            raise InvalidAction(
                f"There is no page {number}: {title!r} has {counted(len(pages), 'page')}."
            )
        shown = pages[number - 1]
        self._note(shown)
        texts = ["\n".join(passage.text for passage in page) for page in pages]
        return Page(title, tuple(shown), page_text(title, number, texts))

    def document_pages(self, document_id: int) -> list[list[Passage]]:
        """Return a document's passages, page by page.

        Raises:
            ValueError: there is no such document, or no corpus.
        """
        if self.corpus is None:
            raise ValueError("there is no corpus here, so documents have no pages")
        return _pages(self.corpus.document(document_id))

    def _document(self, name: str) -> tuple[str, Sequence[Passage]]:
        as_number = _DOC.fullmatch(name)
        if as_number and as_number[1]:
            return self._numbered(int(as_number[2]))
        for title in (name, name.strip("\"'")):
            passages = self._titled(title)
            if passages:
                return passages[0].title, passages
        if as_number:
            return self._numbered(int(as_number[2]))
        near = self._near(name[:_TITLE_CHARACTERS])
        raise InvalidAction(f"There is no document with the title {name!r:.100}{near}")

    def _near(self, name: str) -> str:
        """Return the end of the message about a title that there is not: those like it."""
        read = [passage.title for passage in self._read.values()]
        titles = dict.fromkeys([*read, *(self.corpus.titles() if self.corpus else ())])
        loose = name.casefold()
        namesakes = [title for title in titles if title.partition(" (")[0].casefold() == loose]
        if namesakes:
            return f"; did you mean {' or '.join(namesakes[:3])}?"
        return did_you_mean(name, titles, otherwise="take a title as a search shows it.")

    def _numbered(self, number: int) -> tuple[str, Sequence[Passage]]:
        if not self.hits:
            raise InvalidAction(f"There is no Doc {number}: no search has found anything yet.")
        if not 1 <= number <= len(self.hits):
            shown = "Doc 1 alone" if len(self.hits) == 1 else f"Doc 1 to Doc {len(self.hits)}"
            raise InvalidAction(f"There is no Doc {number}: the last search shows {shown}.")
        passage = self.hits[number - 1].passage
        if self.corpus is not None and passage.document_id >= 0:
            return passage.title, self.corpus.document(passage.document_id)
        return passage.title, self._titled(passage.title)

    def _titled(self, title: str) -> Sequence[Passage]:
        """Return a document by its title, of the corpus or of the passages that were read."""
        if self.corpus is not None:
            document_id = self.corpus.find_title(title)
            if document_id is not None:
                return self.corpus.document(document_id)
        loose = title.strip().casefold()
        read = [p for p in self._read.values() if p.title.strip().casefold() == loose]
        return sorted(read, key=lambda passage: passage.passage_id)

    def _note(self, passages: Iterable[Passage]) -> None:
        passages = list(passages)
        for passage in passages:
            self._read[passage.passage_id, passage.title, passage.text] = passage
        self.titles = list(dict.fromkeys(passage.title for passage in passages))


def _split_page(reference: str) -> tuple[str, int]:
    name, bar, page = reference.strip().strip('"').rpartition("|")
    number = _PAGE.fullmatch(page.strip())
    if bar and number:
        return name.strip(), int(number[1])
    return reference.strip(), 1


def _pages(passages: Sequence[Passage]) -> list[list[Passage]]:
    pages: list[list[Passage]] = []
    length = 0
    for passage in passages:
        if not pages or length + len(passage.text) > PAGE_CHARACTERS:
            pages.append([])
            length = 0
        pages[-1].append(passage)
        length += len(passage.text)
    return pages
