"""AgentGym's environments among ours, and their endpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from wrappers.serving.agentgym.games import ALFWorld, BabyAI, Maze, SciWorld, TextCraft, Wordle
from wrappers.serving.agentgym.requests import Episodes
from wrappers.serving.agentgym.web import SQL, SearchQA, WebArena, WebShop
from wrappers.serving.endpoints import Endpoints
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.sessions import Sessions

_NO_LIMIT = 1_000_000
"""Turns of an episode where the original's server has no limit: its clients count them."""

KEYS = frozenset(("id", "env_idx"))
"""Keys of AgentGym's requests that OpenEnv's never hold."""


class _Wire(Protocol):
    def __init__(self, episodes: Episodes) -> None: ...

    def endpoints(self) -> Endpoints: ...


@dataclass(frozen=True)
class _Original:
    wire: type[_Wire]
    kwargs: Mapping[str, Any]


_PLAIN = {"compat": "agentgym", "action_format": "plain", "max_turns": _NO_LIMIT}
_OWN_GRAMMAR = {"compat": "agentgym", "action_format": "react", "max_turns": _NO_LIMIT}

ORIGINALS: Mapping[str, _Original] = {
    "agentgym/BabyAI-v0": _Original(BabyAI, _PLAIN),
    "agentgym/TextCraft-v0": _Original(TextCraft, _PLAIN),
    "agentgym/SciWorld-v0": _Original(SciWorld, {**_PLAIN, "max_turns": None}),
    "agentgym/ALFWorld-v0": _Original(ALFWorld, _PLAIN),
    "agentgym/Maze-v0": _Original(Maze, _PLAIN),
    "agentgym/Wordle-v0": _Original(Wordle, _PLAIN),
    "agentgym/SearchQA-v0": _Original(SearchQA, _OWN_GRAMMAR),
    "agentgym/SQL-v0": _Original(SQL, _PLAIN),
    "agentgym/WebArena-v0": _Original(WebArena, _OWN_GRAMMAR),
    "agentgym/WebArenaOfficial-v0": _Original(WebArena, _OWN_GRAMMAR),
    "agentgym/WebShop-v0": _Original(WebShop, _PLAIN),
}
"""The environments, and how they are made to play as the original's servers."""


def endpoints(sessions: Sessions, environment: ServedEnvironment) -> Endpoints:
    """Return AgentGym's endpoints of an environment, none where it is not one of theirs.

    Raises:
        ValueError: its arguments do not fit `compat="agentgym"`.
    """
    original = ORIGINALS.get(environment.env_id)
    if original is None:
        return {}
    twin = replace(environment, kwargs={**environment.kwargs, **original.kwargs})
    _ = twin.sample
    return original.wire(Episodes(sessions, twin)).endpoints()
