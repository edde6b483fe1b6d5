"""Answers questions as someone who knows SQL, and by two rules that read hardly anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cache

from agentgym_envs.core import ExpertMove
from agentgym_envs.sql.database import Database
from agentgym_envs.sql.questions import Question, Questions
from agentgym_envs.sql.values import Row, literal

_WORDS_ALIKE = 3


def answer_moves(
    question: Question, read: Collection[str], turns_left: Callable[[], int]
) -> Iterator[ExpertMove]:
    """Yield moves that answer one of the shipped questions.

    It reads the columns of the tables that it needs, looks how words are stored where the question
    does not say so, tries its statement and answers with it. When few turns are left it answers.

    Args:
        question: that is asked.
        read: the tables whose columns the episode has shown.
        turns_left: returns how many turns the episode may still have.
    """
    for table in question.tables:
        if table not in read and turns_left() > 1:
            yield ExpertMove(f"columns {table}", f"I need the columns of {table}.")
    for look in question.looks:
        if turns_left() > 1:
            yield ExpertMove(f"query {look.statement}", look.thought)
    if turns_left() > 1:
        yield ExpertMove(f"query {question.statement}", question.thought)
    yield ExpertMove(
        f"answer {question.statement}", "The result has what is asked for, so I answer with it."
    )


def gold_move(question: Question) -> ExpertMove:
    """Return the answer that a question was made with."""
    return ExpertMove(f"answer {question.statement}", "I know the statement.")


def commonest_answer(question: Question, questions: Questions) -> Iterator[ExpertMove]:
    """Yield the commonest answer among the training questions that begin alike."""
    rows = _commonest(questions).get(_beginning(question)) or ((1,),)
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    yield ExpertMove(f"answer VALUES {values}")


def counted_table(question: Question, database: Database) -> Iterator[ExpertMove]:
    """Yield the number of rows of the first table that the question names, else of the first."""
    words = question.text.lower().replace("-", " ").split()
    named = [table for word in words for table in database.tables if word.startswith(table[:-1])]
    yield ExpertMove(f"answer SELECT count(*) FROM {[*named, *database.tables][0]}")


def _beginning(question: Question) -> str:
    return " ".join(question.text.split()[:_WORDS_ALIKE])


@cache
def _commonest(questions: Questions) -> dict[str, tuple[Row, ...]]:
    counts: dict[str, Counter[tuple[Row, ...]]] = {}
    for question in questions.by_number.values():
        if question.split == "train" and question.rows is not None:
            counts.setdefault(_beginning(question), Counter())[question.rows] += 1
    return {beginning: count.most_common(1)[0][0] for beginning, count in counts.items()}
