"""The table of AgentGym's scenarios: their servers' requests and answers."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any
from urllib.parse import urlsplit

from agentgym_envs.actions import ActionParser, make_parser
from agentgym_envs.actions.compat import (
    FencedParser,
    FirstActionParser,
    OnlyActionParser,
    RestParser,
    StrippedTextParser,
    WholeTextParser,
)
from agentgym_envs.babyai.tasks import BabyAITasks
from agentgym_envs.core.tasks import TaskSet
from agentgym_envs.errors import UnknownTask
from agentgym_envs.remote.action_forms import VERBS
from agentgym_envs.remote.http import JsonServer
from agentgym_envs.sciworld.tasks import SciWorldTasks
from agentgym_envs.textcraft.source import builtin_book
from agentgym_envs.textcraft.tasks import SPLIT_SIZES, TextCraftTasks

UNLISTED = "unlisted"
"""The split of all tasks that no listed split holds. Each can be played by its id."""

_REACT_PARSERS: Mapping[str, type[ActionParser]] = {
    "only_action": OnlyActionParser,
    "rest": RestParser,
    "first": FirstActionParser,
    "sql": FencedParser,
}

MOST = 9_999_999
"""The largest number of a task. Only the server knows where its tasks end."""


@dataclass(frozen=True)
class Kind:
    """A scenario of AgentGym's, whose values `kinds.toml` explains.

    Attributes:
        name: the prefix of its task ids.
        instructions: for the policy; AgentGym's clients hold them, and the servers do not.
        max_turns: turns of an episode.
    """

    name: str
    instructions: str
    max_turns: int
    number: str
    parser: str
    greeting: str = ""
    key: str = "id"
    create: Mapping[str, Any] = field(default_factory=dict)
    created: str = "id"
    reset: Mapping[str, Any] = field(default_factory=dict)
    first: Sequence[str] = ("observation",)
    observe: bool = False
    text: str = "observation"
    score: str = "reward"
    done: str = "done"
    scale: float = 1.0
    success: float = 0.0
    actions: str = ""
    words: str = ""
    splits: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def task_set(self) -> TaskSet:
        """Its tasks, by AgentGym's numbers."""
        if self.name == "babyai":
            return BabyAITasks()
        if self.name == "sciworld":
            return SciWorldTasks()
        if self.name == "textcraft":
            return TextCraftTasks(builtin_book(), SPLIT_SIZES)
        return NumberedTasks(self.name, self.splits)

    def reads(self, action_format: str) -> ActionParser:
        """Return the parser of completions, as AgentGym's client of the scenario does."""
        if self.parser == "whole":
            return WholeTextParser(instructions="")
        if action_format == "plain":
            return StrippedTextParser()
        if action_format == "react":
            return _REACT_PARSERS[self.parser]()
        return make_parser(action_format, VERBS)


class NumberedTasks(TaskSet):
    """Tasks by their numbers alone.

    Args:
        env_name: what stands in front of their ids.
        splits: the first number of each and the one behind its last.
    """

    def __init__(self, env_name: str, splits: Mapping[str, tuple[int, int]]) -> None:
        self.env_name = env_name
        self.splits = tuple(splits)
        self._ranges = {name: range(*ends) for name, ends in splits.items()}

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split."""
        return self._ranges[split]

    def describe(self, number: int) -> tuple[str, str]:
        """Return (subtask, split) of a number, where the server knows the numbers.

        Raises:
            UnknownTask: the number is not in 0..`MOST`.
        """
        if not 0 <= number <= MOST:
            raise UnknownTask(
                f"unknown task_id '{self.env_name}_{number}'; allowed: '{self.env_name}_0' to "
                f"'{self.env_name}_{MOST}', as far as the server has them"
            )
        splits = [name for name, numbers in self._ranges.items() if number in numbers]
        return self.env_name, splits[0] if splits else UNLISTED


@cache
def kinds() -> dict[str, Kind]:
    """Return the table, by name."""
    text = files("agentgym_envs.remote").joinpath("kinds.toml").read_text(encoding="utf-8")
    rows = tomllib.loads(text)
    table = {}
    for name, row in rows.items():
        values = {**rows.get(row.get("like", ""), {}), **row}
        values.pop("like", None)
        values["instructions"] = values["instructions"].strip()
        table[name] = Kind(name=name, **values)
    return table


def find_kind(url: str, http: JsonServer, given: str | None) -> Kind:
    """Return the scenario of a server.

    Args:
        url: its address; the last part of its path may be the scenario's name.
        http: asks the server what it is, where nothing else says so.
        given: its name, if somebody gave it.

    Raises:
        ValueError: there is no such scenario, or nothing tells which it is.
        EnvFailure: the server does not answer.
    """
    table = kinds()
    named = given or urlsplit(url).path.rstrip("/").rpartition("/")[2].lower()
    if named in table:
        return table[named]
    if given is not None:
        raise ValueError(f"unknown kind {given!r:.80}; allowed: {', '.join(table)}")
    greeting = http.ask("GET", "/").text.lower()
    for kind in table.values():
        if kind.greeting and kind.greeting in greeting:
            return kind
    raise ValueError(
        f"the server {http.url} does not say which scenario it plays; pass kind= (--env_kwargs "
        f'\'{{"kind": "searchqa"}}\'), one of {", ".join(table)}'
    )
