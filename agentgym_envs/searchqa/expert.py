"""Follows a question's oracle hops through the real retriever, and then answers.

The expert answers only from passages that it has been shown; where it cannot find one, it gives up.
Questions without hops are searched for as they are asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.retrieval.documents import Passage
from agentgym_envs.retrieval.words import STOP_WORDS
from agentgym_envs.searchqa.desk import Desk
from agentgym_envs.searchqa.questions import Hop, Question
from agentgym_envs.searchqa.scoring import normalise

_WORD = re.compile(r"[\w'’-]+")
_PLAIN_WORD = re.compile(r"\w+")


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


class Expert:
    """Plays one question from wherever its reader stands.

    Args:
        question: the question.
        desk: what has been read; the environment's, so that it changes with every step.
        can_open: there is an action that opens documents.
    """

    def __init__(self, question: Question, desk: Desk, *, can_open: bool = True) -> None:
        self.question = question
        self.desk = desk
        self.can_open = can_open

    def moves(self) -> Iterator[ExpertMove]:
        """Yield moves, each to be played before the next is taken."""
        if not self.question.hops:
            yield from self._moves_without_hops()
            return
        notes = Notes()
        for hop in self.question.hops:
            if not self.desk.has_read(hop.gold):
                yield from self._look_for(hop, notes)
            if not self.desk.has_read(hop.gold):
                return
            gold = set(hop.gold)
            notes.add(hop, (p for p in self.desk.read_passages if p.passage_id in gold))
        answer = self.question.answers[0]
        yield ExpertMove(f"<answer>{answer}</answer>", notes.thought(f"Answer: {answer}."))

    def _look_for(self, hop: Hop, notes: Notes) -> Iterator[ExpertMove]:
        for tries, query in enumerate(self._queries(hop)):
            need = f"I look for: {query}." if tries == 0 else f"Not found. I try: {query}"
            yield ExpertMove(f"<search>{query}</search>", notes.thought(need))
            if self.desk.has_read(hop.gold):
                return
            if self.can_open:
                yield from self._open_for(hop, notes)
                if self.desk.has_read(hop.gold):
                    return

    def _queries(self, hop: Hop) -> list[str]:
        """List the searches to try, in order, until the passage is shown.

        First the hop's own query; then with the question's relation words; the question itself;
        and with one name after the other written twice, which moves the search towards it.
        """
        known = self._known_words()
        # A name or a year that nobody has read yet is nothing to search for.
        words = [
            word for word in hop.query.split() if word.islower() or known.issuperset(_words(word))
        ]
        relations = [
            word
            for word in dict.fromkeys(_WORD.findall(self.question.text))
            if word.islower() and word not in STOP_WORDS and word not in words
        ]
        names = [word for word in dict.fromkeys(words) if not word.islower()]
        query = " ".join(words)
        queries = [
            query,
            " ".join([query, *relations]),
            self.question.text,
            *(f"{query} {name}" for name in names),
        ]
        return list(dict.fromkeys(queries))

    def _known_words(self) -> set[str]:
        """Return every word of the question and of the texts that were read."""
        known = set(_words(self.question.text))
        for passage in self.desk.read_passages:
            known.update(_words(f"{passage.title} {passage.text}"))
        return known

    def _open_for(self, hop: Hop, notes: Notes) -> Iterator[ExpertMove]:
        """Open documents that were found, or are known by name, up to the page that tells."""
        for passage in self._gold_passages(hop):
            name = self._name(passage)
            if name is None:
                continue
            for number, page in enumerate(self.desk.document_pages(passage.document_id), 1):
                where = name if number == 1 else f"{name} | page {number}"
                why = "It is not in these passages" if number == 1 else "It is not on this page"
                yield ExpertMove(f"<open>{where}</open>", notes.thought(f"{why}. I read {where}."))
                if passage in page:
                    return

    def _name(self, passage: Passage) -> str | None:
        """Say how the passage's document can be opened by one who has not read it."""
        assert self.desk.corpus is not None
        title, document_id = passage.title, passage.document_id
        is_title = self.desk.corpus.find_title(title) == document_id
        for number, hit in enumerate(self.desk.hits, 1):
            if hit.passage.document_id == document_id:
                return title if is_title else f"Doc {number}"
        texts = [self.question.text, *(passage.text for passage in self.desk.read_passages)]
        is_known = any(title.casefold() in text.casefold() for text in texts)
        return title if is_title and is_known else None

    def _gold_passages(self, hop: Hop) -> list[Passage]:
        corpus = self.desk.corpus
        return [] if corpus is None else [corpus.passages[number] for number in hop.gold]

    def _moves_without_hops(self) -> Iterator[ExpertMove]:
        text = self.question.text
        if self._answer_read() is None:
            yield ExpertMove(f"<search>{text}</search>", f"I look for: {text}")
        titles = [hit.passage.title for hit in self.desk.hits] if self.can_open else []
        for title in dict.fromkeys(titles):
            if self._answer_read() is None:
                yield ExpertMove(f"<open>{title}</open>", f"Not in these passages. I read {title}.")
        answer = self._answer_read()
        if answer is not None:
            yield ExpertMove(f"<answer>{answer}</answer>", f"Answer: {answer}.")

    def _answer_read(self) -> str | None:
        """Return the first accepted answer that stands in the texts that were read."""
        texts = [f" {normalise(f'{p.title} {p.text}')} " for p in self.desk.read_passages]
        for answer in self.question.answers:
            plain = normalise(answer)
            if plain and any(f" {plain} " in text for text in texts):
                return answer
        return None


def _words(text: str) -> list[str]:
    return _PLAIN_WORD.findall(text.casefold())
