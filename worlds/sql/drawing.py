"""Draws questions from templates and databases, and keeps those that have one answer.

A template is a table of TOML with the keys:

    name         of the template
    level        simple: one table; moderate: joins, groups; challenging: nested, windows, ratios
    wordings     the question, with the parameters in braces
    draw         a statement whose rows are the parameters that there are, by the columns' names; no
                 value of the first one comes in two splits
    show         how a parameter is written in the question: month, day, clock, weekday
    statement    whose result is the answer
    ordered      the question asks for an order of the rows
    ties         the values that the answer is ranked by, in that order, of all that compete
    distinct     values that must all differ
    same         statements of other readings; they must give the same result
    looks        pairs of a statement and a thought: what is looked at before
    thought      how the statement answers the question

In statements a parameter in braces stands for its value as SQL writes it.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_envs.sites.content import open_content
from agentgym_envs.sql.database import NAMES, Database, site_database
from agentgym_envs.sql.questions import Look, Question
from agentgym_envs.sql.values import Row, Value, literal
from worlds.dice import Dice
from worlds.words import read_words

QUOTAS = {"train": 40, "validation": 4, "test": 10}
"""Questions of a template in each split, where there are as many."""

MOST_ROWS = 15
"""Rows of the longest answer."""

MOST_ALIKE = 3
"""Questions of a template that have the same answer."""

_SHARES = ("validation", "test", "test", *("train",) * 7)
"""The splits that ten values of a template's first parameter go to."""

_SLOT = re.compile(r"\{(\w+)\}")
_TABLE = re.compile(r"\b(?:FROM|JOIN)\s+(\w+)")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_SHOWN: Mapping[str, Callable[[Any], str]] = {
    "month": lambda value: f"{_MONTHS[int(value[5:]) - 1]} {value[:4]}",
    "clock": lambda value: f"{value // 60:02}:{value % 60:02}",
    "weekday": lambda value: f"{_DAYS[value]} (day {value})",
}


@dataclass(frozen=True)
class Template:
    """A kind of question about one database. The module's docstring explains the fields."""

    database: str
    name: str
    level: str
    wordings: Sequence[str]
    draw: str
    statement: str
    thought: str
    ordered: bool = False
    ties: str = ""
    distinct: str = ""
    show: Mapping[str, str] | None = None
    same: Sequence[str] = ()
    looks: Sequence[Sequence[str]] = ()

    def parameters(self) -> tuple[str, list[dict[str, Value]]]:
        """Return the first one's name, and all parameters that there are, in a fixed order."""
        connection = sqlite3.connect(":memory:")
        connection.deserialize(open_content().database(self.database))
        cursor = connection.execute(self.draw)
        names = [column[0] for column in cursor.description]
        rows = sorted(set(cursor.fetchall()), key=json.dumps)
        connection.close()
        return names[0], [dict(zip(names, row, strict=True)) for row in rows]

    def filled(self, statement: str, values: Mapping[str, Value]) -> str:
        """Return a statement with its parameters, on one line."""
        text = _SLOT.sub(lambda slot: literal(values[slot[1]]), statement)
        return " ".join(text.split())

    def question(self, wording: str, values: Mapping[str, Value]) -> str:
        """Return the question in words."""
        show = self.show or {}

        def value_text(name: str) -> str:
            return _SHOWN[show[name]](values[name]) if name in show else str(values[name])

        return _SLOT.sub(lambda slot: value_text(slot[1]), wording)


def templates() -> list[Template]:
    """Return all templates, database by database."""
    return [
        Template(database=database, **table)
        for database in NAMES
        for table in read_words(f"sql/{database}.toml")["templates"]
    ]


def make_questions(seed: int) -> list[Question]:
    """Make a seed's questions, split by split, each in a random order."""
    drawn = [question for template in templates() for question in draw(template, seed)]
    return [
        question
        for split in QUOTAS
        for question in Dice("sql", seed, split).shuffled([q for q in drawn if q.split == split])
    ]


def draw(template: Template, seed: int) -> Iterator[Question]:
    """Yield the questions of a template."""
    dice = Dice("sql", seed, template.database, template.name)
    key, parameters = template.parameters()
    keys = dice.shuffled(sorted({values[key] for values in parameters}, key=json.dumps))
    splits = {value: _SHARES[place % len(_SHARES)] for place, value in enumerate(keys)}
    left, answers = dict(QUOTAS), Counter[str]()
    for values in _in_turn(dice.shuffled(parameters), key):
        split = splits[values[key]]
        if not left[split]:
            continue
        question = _question(template, values, split, dice)
        answer = json.dumps(question and question.rows)
        if question is not None and answers[answer] < MOST_ALIKE:
            answers[answer] += 1
            left[split] -= 1
            yield question


def _in_turn(parameters: Sequence[dict[str, Value]], key: str) -> Iterator[dict[str, Value]]:
    """Yield parameters so that no value of the key comes again before all others have."""
    seen: Counter[Value] = Counter()
    rounds = []
    for place, values in enumerate(parameters):
        rounds.append((seen[values[key]], place))
        seen[values[key]] += 1
    for _, place in sorted(rounds):
        yield parameters[place]


def _question(
    template: Template, values: Mapping[str, Value], split: str, dice: Dice
) -> Question | None:
    """Return a question, or None if it has no answer or more than one."""
    database = site_database(template.database)
    statement = template.filled(template.statement, values)
    rows = run(database, statement)
    readings = [run(database, template.filled(other, values)) for other in template.same]
    text = template.question(dice.pick(template.wordings), values)
    if not is_fair(rows) or any(_sorted(other) != _sorted(rows) for other in readings):
        return None
    if template.ties:
        ranks = run(database, template.filled(template.ties, values))[: len(rows) + 1]
        if len(set(ranks)) < len(ranks) or len(ranks) <= len(rows):
            return None
    if template.distinct:
        marks = run(database, template.filled(template.distinct, values))
        if len(set(marks)) < len(marks):
            return None
    tables = [name for name in _TABLE.findall(statement) if name in database.tables]
    return Question(
        template.database, template.level, split, text, statement,
        tuple(rows if template.ordered else _sorted(rows)), template.ordered,
        tuple(dict.fromkeys(tables)), tuple(Look(*look) for look in template.looks),
        template.thought, template.name,
    )  # fmt: skip


def run(database: Database, statement: str) -> list[Row]:
    """Return all rows of a statement."""
    result = database.run(statement, limit=1_000)
    assert not result.has_more, statement
    return list(result.rows)


def is_fair(rows: Sequence[Row]) -> bool:
    """Return whether a result may be asked for: something, not too much, nothing twice."""
    if not 1 <= len(rows) <= MOST_ROWS or len(set(rows)) < len(rows):
        return False
    values = [value for row in rows for value in row]
    return None not in values and "" not in values and rows != [(0,)]


def _sorted(rows: Sequence[Row]) -> list[Row]:
    """Return rows in an order that no version of SQLite changes."""
    return sorted(rows, key=json.dumps)
