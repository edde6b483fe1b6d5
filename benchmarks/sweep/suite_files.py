"""Reads suites from YAML files: those that are shipped, and a user's own.

A mistake in a file is told with the file's name, the line, the key and what is allowed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml  # type: ignore[import-untyped]

from agentgym_envs import resolve_env_id
from agentgym_envs.errors import did_you_mean
from agentgym_envs.registration.server_names import read_server_name
from benchmarks.sweep.suites import Panel, Suite

PINNED = Path(__file__).parent / "pinned"
"""The suites that are shipped."""

SUITE_KEYS = ("description", "panels")
PANEL_KEYS = (
    *("env", "name", "split", "tasks", "subtasks", "every", "max_turns", "env_kwargs", "digest"),
)

Value = TypeVar("Value")


def suite_names() -> list[str]:
    """List the suites that are shipped: the paper's whole one, a slice of it, its panels."""
    first = ["agentgym-rl-27", "agentgym-14", "quick"]
    return [*first, *sorted(path.stem for path in PINNED.glob("*.yaml") if path.stem not in first)]


def find_suite(name: str) -> Suite:
    """Return a shipped suite by its name, or the one in a file, or raise ValueError."""
    if name in suite_names():
        return read_suite(PINNED / f"{name}.yaml")
    path = Path(name)
    if not path.is_file():
        allowed = f"allowed: {', '.join(suite_names())}, or a YAML file of a suite"
        raise ValueError(
            f"unknown suite {name!r}" + did_you_mean(name, suite_names(), otherwise=allowed)
        )
    return read_suite(path)


def read_suite(path: Path) -> Suite:
    """Read a suite's file, and import the modules of its environments.

    Raises:
        ValueError: the file is no suite.
    """
    file = _File(path)
    top = file.mapping(file.root(), "a suite", SUITE_KEYS, required=("panels",))
    panels = tuple(_panel(file, node) for node in file.items(top["panels"], "panels"))
    names: dict[str, Panel] = {}
    for panel in panels:
        other = names.setdefault(panel.scenario.lower(), panel)
        if other is not panel:
            raise ValueError(
                f"{panel.place}: the panel at {other.place} is called {other.scenario!r} too; "
                "give one of them a name of its own, such as name: "
                f"{panel.scenario} {panel.split}"
            )
    description = file.read(top, "description", _TEXT, "")
    return Suite(path.stem, description, panels)


def _panel(file: _File, node: Any) -> Panel:
    entries = file.mapping(node, "a panel", PANEL_KEYS, required=("env",))
    env = file.read(entries, "env", _TEXT, "")
    try:
        env_id = resolve_env_id(env)
    except ValueError as error:
        raise file.error(entries["env"], f"env: {error}") from error
    digest = entries.get("digest")
    if digest is not None and not re.fullmatch("[0-9a-f]{16}", str(digest.value)):
        # Its own text is read, for sixteen decimal digits are a number to YAML.
        raise file.error(digest, f"digest must be 16 hexadecimal digits, got {digest.value!r}")
    return Panel(
        env_id,
        file.read(entries, "split", _TEXT, "test"),
        sizes=file.read(entries, "subtasks", _SIZES, {}),
        digest="" if digest is None else str(digest.value),
        every=file.read(entries, "every", _COUNT, 1),
        only=file.read(entries, "tasks", _LABELS, None),
        max_turns=file.read(entries, "max_turns", _COUNT, None),
        env_kwargs=file.read(entries, "env_kwargs", _KEYWORDS, {}),
        name=file.read(entries, "name", _TEXT, ""),
        module="" if read_server_name(env) else env.rpartition(":")[0],
        place=file.place(node),
    )


class _File:
    """A YAML file, whose parts know their lines."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def root(self) -> Any:
        """Return the node at the file's top.

        Raises:
            ValueError: the file is not YAML, or is empty.
        """
        try:
            root = yaml.compose(self.path.read_text("utf-8-sig"), Loader=yaml.SafeLoader)
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise ValueError(f"{self.path} is not YAML: {error}") from None
        if root is None:
            raise ValueError(f"{self.path} is empty; a suite has the key panels: a list of them")
        return root

    def place(self, node: Any) -> str:
        """Return where a part stands."""
        return f"{self.path}, line {node.start_mark.line + 1}"

    def error(self, node: Any, message: str) -> ValueError:
        """Return the error for a part."""
        return ValueError(f"{self.place(node)}: {message}")

    def mapping(
        self, node: Any, what: str, allowed: Sequence[str], *, required: Sequence[str]
    ) -> dict[str, Any]:
        """Return the parts of a mapping by their keys."""
        if not isinstance(node, yaml.MappingNode):
            raise self.error(node, f"{what} must be a mapping with the keys {', '.join(allowed)}")
        entries: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            if key not in allowed:
                otherwise = f"allowed: {', '.join(allowed)}"
                hint = did_you_mean(key, allowed, otherwise=otherwise)
                raise self.error(key_node, f"{what} has no key {key!r}{hint}")
            if key in entries:
                raise self.error(key_node, f"the key {key!r} is there twice")
            entries[key] = value_node
        for key in required:
            if key not in entries:
                raise self.error(node, f"{what} needs the key {key!r}")
        return entries

    def items(self, node: Any, key: str) -> list[Any]:
        """Return the parts of a list that is not empty."""
        if not isinstance(node, yaml.SequenceNode) or not node.value:
            raise self.error(node, f"{key} must be a list with an entry for each panel")
        return list(node.value)

    def read(
        self,
        entries: dict[str, Any],
        key: str,
        kind: tuple[str, Callable[[Any], Any]],
        default: Any,
    ) -> Any:
        """Return an entry's value, or the default where it is left out."""
        node = entries.get(key)
        if node is None:
            return default
        expected, convert = kind
        try:
            value = yaml.constructor.SafeConstructor().construct_object(node, deep=True)
            return convert(value)
        except (TypeError, ValueError, yaml.YAMLError):
            shown = node.value if isinstance(node, yaml.ScalarNode) else yaml.serialize(node)
            raise self.error(
                node, f"{key} must be {expected}, got {str(shown).strip()!r:.80}"
            ) from None


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise TypeError
    return value.strip()


def _count(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise TypeError
    return value


def _labels(value: Any) -> tuple[str | int, ...]:
    labels = value if isinstance(value, list) else [value]
    if not labels or any(type(label) not in (str, int) for label in labels):
        raise TypeError
    return tuple(labels)


def _sizes(value: Any) -> dict[str, int | None]:
    if isinstance(value, dict) and value:
        return {_text(name): _count(size) for name, size in value.items()}
    return {_text(name): None for name in _labels(value)}


def _keywords(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise TypeError
    if "max_turns" in value:
        raise ValueError
    json.dumps(value)  # raises what YAML has and JSON has not, such as dates
    return value


_TEXT = ("a text", _text)
_COUNT = ("a whole number from 1", _count)
_LABELS = ("subtasks, depths or task ids of the split, such as [depth 1, textcraft_7]", _labels)
_SIZES = ("numbers of tasks by subtask, such as {depth 1: 10}, or a list of subtasks", _sizes)
_KEYWORDS = (
    "arguments of the environment by name, as JSON has them, without max_turns, which is a key of "
    "the panel",
    _keywords,
)
