"""Reads AgentGym's files of item ids, which name tasks: `[{"item_id": "webarena_24"}, ...]`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from agentgym_envs.errors import UnknownTask

_ENDING = ".json"

_PREFIXES = {"lmrlgym_maze": "maze", "lmrlgym_wordle": "wordle"}
"""AgentGym's names of scenarios that have another name here."""


def own_id(item_id: str) -> str:
    """Return a task id by the scenario's name here: `"maze_3"` for `"lmrlgym_maze_3"`."""
    name, separator, number = item_id.rpartition("_")
    return f"{_PREFIXES.get(name, name)}{separator}{number}"


def is_item_file(label: Any) -> bool:
    """Return whether an entry of a `tasks=` filter is the path of a file of item ids."""
    return isinstance(label, str) and label.endswith(_ENDING)


def read_item_ids(path: str) -> list[str]:
    """Return the ids that a file lists, in its order.

    A bare id may stand for its object.

    Raises:
        UnknownTask: the file cannot be read, or holds something else.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            items = json.load(file)
    except (OSError, ValueError) as error:
        raise UnknownTask(
            f"tasks {path!r} cannot be read: {error}; an entry that ends in {_ENDING} is a file of "
            'item ids, [{"item_id": "babyai_41"}, ...]'
        ) from error
    ids = [item.get("item_id") if isinstance(item, Mapping) else item for item in _listed(items)]
    wrong = [item for item in ids if not isinstance(item, str)]
    if wrong or not ids:
        actual = f"{wrong[0]!r:.80}" if wrong else f"{items!r:.80}"
        raise UnknownTask(
            f'tasks {path!r} must hold a list of item ids, [{{"item_id": "babyai_41"}}, ...]; '
            f"got {actual}"
        )
    return list(dict.fromkeys(own_id(item) for item in ids if isinstance(item, str)))


def _listed(items: Any) -> list[Any]:
    return items if isinstance(items, list) else []
