"""Holds questions with their accepted answers, by number and split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

FAMILIES = ("nq", "triviaqa", "popqa", "hotpotqa", "2wikimultihopqa", "musique", "bamboogle")
"""The paper's seven data sets, whose names our families of questions bear."""

SPLITS = ("train", "validation", "test", "paper_test")
"""The splits. `paper_test` is a pinned part of `test`, and the others never overlap."""


@dataclass(frozen=True, slots=True)
class Hop:
    """One step of the oracle path to an answer.

    Attributes:
        query: what an informed person types into search.
        gold: ids of the passages that hold the hop's answer.
        answer: what the hop finds out.
    """

    query: str
    gold: tuple[int, ...]
    answer: str


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        number: the number of its task id.
        text: the question as it is asked.
        answers: accepted forms, the canonical one first.
        family: one of `FAMILIES`.
        split: `"train"`, `"validation"` or `"test"`.
        hops: the oracle path; empty where none is known.
        structure: the reasoning it asks for, as a path of relations; empty where unknown.
    """

    number: int
    text: str
    answers: tuple[str, ...]
    family: str
    split: str
    hops: tuple[Hop, ...] = ()
    structure: str = ""


class QuestionSet:
    """Questions by number and split.

    This one keeps them all in memory. A set that is read lazily subclasses it and overrides
    `numbers`, `question` and, where there is more to say, `explain_empty`.

    Args:
        questions: the questions, in any order; their numbers differ.
        source: names the set, its version and its content: `"name vN (hash12)"`.
        paper_test: numbers of the pinned part of the test split.
    """

    def __init__(
        self, questions: Sequence[Question], source: str, *, paper_test: Sequence[int] = ()
    ) -> None:
        self.source = source
        self._questions: Mapping[int, Question] = {item.number: item for item in questions}
        self._paper_test = tuple(sorted(paper_test))

    def __len__(self) -> int:
        """Return how many questions there are."""
        return len(self._questions)

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of one of `SPLITS`, ascending.

        Raises:
            ValueError: there is no such split.
        """
        try:
            return self._numbers[split]
        except KeyError:
            raise ValueError(
                f"unknown split {split!r} of {self.source}; allowed: {', '.join(SPLITS)}"
            ) from None

    def explain_empty(self, split: str) -> str:
        """Return why one of `SPLITS` holds no question, or an empty text."""
        return f"{self.source} was made without paper_test=" if split == "paper_test" else ""

    def question(self, number: int) -> Question:
        """Return a question by its number.

        Raises:
            ValueError: there is no such question.
        """
        try:
            return self._questions[number]
        except KeyError:
            raise ValueError(
                f"unknown question number {number!r}; {self.source} has {len(self)} questions, "
                f"{min(self._questions, default=0)} to {max(self._questions, default=-1)}"
            ) from None

    @cached_property
    def _numbers(self) -> dict[str, Sequence[int]]:
        table: dict[str, list[int]] = {split: [] for split in SPLITS}
        for number in sorted(self._questions):
            table[self._questions[number].split].append(number)
        return {**table, "paper_test": self._paper_test}
