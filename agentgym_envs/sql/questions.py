"""Reads the questions that are shipped.

`python -m worlds sql` makes them: a row about all, and then one per question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from agentgym_envs.content.packed import PackedRows
from agentgym_envs.core.tasks import ListedTasks
from agentgym_envs.sites.content import open_content
from agentgym_envs.sql.compat import Schema, describe_schema
from agentgym_envs.sql.database import NAMES, Database, site_database
from agentgym_envs.sql.values import Row

QUESTIONS = PackedRows("questions", "sql")
EMBEDDED = Path(__file__).with_name("content")
"""The folder of the questions that are shipped."""

LEVELS = ("simple", "moderate", "challenging")


class SQLTasks(ListedTasks):
    """Questions by split, in which a subtask is their level.

    Args:
        questions: all of them.
    """

    def __init__(self, questions: Questions) -> None:
        table: dict[str, dict[str, list[int]]] = {"train": {}, "validation": {}, "test": {}}
        for number, question in questions.by_number.items():
            table[question.split].setdefault(question.level, []).append(number)
        super().__init__("sql", table)


@dataclass(frozen=True, slots=True)
class Look:
    """A statement that a question is answered after: it shows how something is stored.

    Attributes:
        statement: that is run.
        thought: why.
    """

    statement: str
    thought: str


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a database.

    Attributes:
        database: its name.
        level: one of `LEVELS`; of the original's questions it may be another word.
        split: that it belongs to.
        text: as it is asked.
        statement: whose result is the answer.
        rows: that result; None where it is run to know it.
        is_ordered: rows count in their order.
        tables: that the statement reads.
        looks: what the expert runs before.
        thought: how the statement answers the question.
        template: what it was made from.
        hint: what else there is to know.
    """

    database: str
    level: str
    split: str
    text: str
    statement: str
    rows: tuple[Row, ...] | None = None
    is_ordered: bool = False
    tables: tuple[str, ...] = ()
    looks: tuple[Look, ...] = ()
    thought: str = ""
    template: str = ""
    hint: str = ""


class Questions:
    """Questions by their task number.

    Args:
        by_number: the questions.
        source: names the data and its version.
    """

    def __init__(self, by_number: dict[int, Question], source: str) -> None:
        self.by_number = by_number
        self.source = source

    def database(self, name: str) -> Database:
        """Return the database of a question."""
        return site_database(name)

    def schema(self, name: str) -> Schema:
        """Return the description of a database in the original's prompt."""
        return describe_schema(name, self.database(name))


@cache
def load_questions(folder: Path = EMBEDDED) -> Questions:
    """Return the questions of a folder, read once per process, with version and hash.

    Raises:
        ValueError: the content is damaged, or was made over other databases than are shipped.
    """
    rows, digest = QUESTIONS.read(folder)
    head = rows[0]
    if head["databases"] != database_digests():
        raise ValueError(
            f"the questions in {folder} were made over other databases than are shipped; make them "
            "again with python -m worlds sql"
        )
    questions = dict(enumerate(map(_question, rows[1:])))
    return Questions(questions, f"{head['name']} ({digest})")


def database_digests() -> list[str]:
    """Return the SHA-256 of each of the shipped databases, in the order of `NAMES`."""
    return [open_content().digest(f"{name}.sqlite") for name in NAMES]


def question_row(question: Question) -> list[Any]:
    """Return a question as a row of the content."""
    looks = [[look.statement, look.thought] for look in question.looks]
    return [
        question.database, question.level, question.split, question.text, question.statement,
        question.rows, int(question.is_ordered), question.tables, looks, question.thought,
        question.template,
    ]  # fmt: skip


def _question(row: Sequence[Any]) -> Question:
    database, level, split, text, statement, rows, is_ordered, tables, looks, thought, name = row
    return Question(
        database, level, split, text, statement, tuple(map(tuple, rows)), bool(is_ordered),
        tuple(tables), tuple(Look(*look) for look in looks), thought, name,
    )  # fmt: skip
