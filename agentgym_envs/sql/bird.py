"""Reads BIRD's questions from its files, under the numbers of AgentGym's server.

A folder holds `train/train.json`, `train/train_tables.json` and `train/train_databases/`, and the
same of `dev`; one of the two is enough. The numbers 0 to 9427 are the training questions in their
order, those from 9428 on the development questions, of which the first 100 are for validation.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentgym_envs.errors import EnvFailure
from agentgym_envs.sql.compat import Schema
from agentgym_envs.sql.database import Database, file_database
from agentgym_envs.sql.questions import Question, Questions

PARTS = {"train": 0, "dev": 9_428}
"""The parts of BIRD, each with the number of its first question."""

NUM_VALIDATION = 100
UNRATED = "unrated"
"""The level of questions that BIRD gives none."""


class BirdQuestions(Questions):
    """BIRD's questions, and where their databases are.

    Args:
        folder: of the files.

    Raises:
        ValueError: there is neither of the parts, or a file has another form.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        digest = sha256()
        by_number: dict[int, Question] = {}
        self.schemas: dict[str, Schema] = {}
        """The databases by name."""
        self._parts: dict[str, str] = {}
        for part, first in PARTS.items():
            if not (folder / part / f"{part}.json").is_file():
                continue
            try:
                for table in self._read(f"{part}/{part}_tables.json", digest):
                    self.schemas[table["db_id"]] = _schema(table)
                    self._parts[table["db_id"]] = part
                for number, item in enumerate(self._read(f"{part}/{part}.json", digest)):
                    by_number[first + number] = _question(item, _split(part, number))
            except (OSError, KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    f"{folder / part} is not in BIRD's form ({type(error).__name__}: {error})"
                ) from error
        if not by_number:
            raise ValueError(
                f"{folder} holds neither train/train.json nor dev/dev.json; name the folder in "
                "which BIRD's train.zip or dev.zip was unpacked, or one of python -m worlds sql"
            )
        super().__init__(by_number, f"bird ({digest.hexdigest()[:12]})")

    def database(self, name: str) -> Database:
        """Open a database's file.

        Raises:
            EnvFailure: it is missing or damaged.
        """
        part = self._parts[name]
        path = self._folder / part / f"{part}_databases" / name / f"{name}.sqlite"
        try:
            return file_database(path)
        except sqlite3.Error as error:
            raise EnvFailure(
                f"{path} cannot be read ({error}); unpack BIRD's {part}_databases.zip there"
            ) from error

    def schema(self, name: str) -> Schema:
        """Return the schema of a database from BIRD's files."""
        return self.schemas[name]

    def _read(self, name: str, digest: Any) -> Iterator[dict[str, Any]]:
        content = (self._folder / name).read_bytes()
        digest.update(content)
        yield from json.loads(content)


@cache
def bird_questions(folder: Path) -> BirdQuestions:
    """Return the questions of a folder, read once per process."""
    return BirdQuestions(folder)


def _question(item: dict[str, Any], split: str) -> Question:
    level = str(item.get("difficulty") or UNRATED)
    hint = str(item.get("evidence") or "")
    return Question(item["db_id"], level, split, item["question"], item["SQL"], hint=hint)


def _split(part: str, number: int) -> str:
    if part == "train":
        return "train"
    return "validation" if number < NUM_VALIDATION else "test"


def _schema(table: dict[str, Any]) -> Schema:
    return Schema(
        table["db_id"],
        table["table_names"],
        [(number, name) for number, name in table["column_names"]],
        table["primary_keys"],
        [(column, target) for column, target in table["foreign_keys"]],
    )
