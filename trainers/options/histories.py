"""Opens the history that `--history` names."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from agentgym_envs.errors import did_you_mean
from trainers.history.notes import Notes
from trainers.history.summary import Summary
from trainers.history.views import History, LastTurns
from trainers.options.errors import UsageError
from trainers.options.values import load_attribute

HISTORIES: dict[str, type[Any]] = {"last_turns": LastTurns, "summary": Summary, "notes": Notes}


@lru_cache
def open_history(name: str | None, keep_last_turns: int | None) -> History:
    """Return what decides what turns see.

    Args:
        name: one of `HISTORIES`, or `module:Class`; None is that of last turns.
        keep_last_turns: passed to the class; None passes nothing.

    Raises:
        UsageError: there is no such class, or it cannot be made so.
    """
    kind: Any = HISTORIES.get(name or "last_turns")
    if kind is None and ":" not in str(name):
        hint = did_you_mean(str(name), HISTORIES, otherwise=f"it is one of {', '.join(HISTORIES)}")
        raise UsageError(f"--history {name}{hint}, or one of your own as module:Class")
    kind = kind or load_attribute(str(name))
    options = {} if keep_last_turns is None else {"keep_last_turns": keep_last_turns}
    try:
        history: Any = kind(**options)
    except TypeError as error:
        raise UsageError(
            f"--history {name} cannot be made with {options or 'no arguments'} ({error}); its "
            "class takes keep_last_turns where --keep_last_turns is set, and nothing else"
        ) from error
    if not isinstance(history, History):
        raise UsageError(
            f"--history {name} is a {type(history).__name__}, which is no history; derive the "
            "class from trainers.History and write view(episode)"
        )
    return history
