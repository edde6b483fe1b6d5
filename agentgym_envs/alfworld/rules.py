"""Reads the tables of places, things and scenes."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from hashlib import sha256
from importlib.resources import files
from typing import Any

VERSION = 2
"""Raise it with every change after which a task id begins otherwise."""

_TABLES = ("kinds.json", "scenes.json", "places.toml", "tasks.txt")
_DIGEST = "de3576c55360"


@dataclass(frozen=True)
class Strewing:
    """The distribution of a scene's things over a kind of place, as `places.toml` explains."""

    share: float
    most: int


@dataclass(frozen=True)
class Scene:
    """The places and kinds of things of a scene.

    Attributes:
        places: how many there are of each kind.
        things: their kinds.
        doorless: places that always stand open, of a kind that has a door elsewhere.
        standing: the places of each kind of thing that cannot be taken, where they are known.
        is_counted: the places are those of the original's games; else of ALFRED's layouts, which
            leave some out.
    """

    places: Mapping[str, int]
    things: Sequence[str]
    doorless: Sequence[str] = ()
    standing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    is_counted: bool = False


@dataclass(frozen=True)
class Rules:
    """The tables.

    Attributes:
        holds: the kinds of things that each kind of place holds.
        openable: kinds of places that have a door, but for a scene's `doorless`.
        fixtures: the kinds of places that a thing stands on which cannot be taken.
        vessels: kinds of things that hold others, as far as `examine` goes.
        cleanable, heatable, coolable, sliceable, toggleable: kinds of things.
        strewing: by kind of place.
        scenes: by number.
        source: names the tables, with their hash.
    """

    holds: Mapping[str, frozenset[str]]
    openable: frozenset[str]
    fixtures: Mapping[str, Sequence[str]]
    vessels: frozenset[str]
    cleanable: frozenset[str]
    heatable: frozenset[str]
    coolable: frozenset[str]
    sliceable: frozenset[str]
    toggleable: frozenset[str]
    strewing: Mapping[str, Strewing]
    scenes: Mapping[int, Scene]
    source: str

    @property
    def kinds(self) -> list[str]:
        """The kinds of all places and things, the longest names first."""
        names = set(self.holds).union(self.fixtures, *self.holds.values())
        return sorted(names, key=lambda name: (-len(name), name))

    @cached_property
    def names(self) -> re.Pattern[str]:
        """Matches the kinds of places and things in a text, with their numbers."""
        return re.compile(rf"\b({'|'.join(self.kinds)})\b(?: (\d+))?")


@cache
def rules() -> Rules:
    """Return the tables, read once per process.

    Raises:
        ValueError: a file is not the one that was shipped.
    """
    texts = {name: _text(name) for name in _TABLES}
    digest = sha256("".join(texts.values()).encode()).hexdigest()[:12]
    if digest != _DIGEST:
        raise ValueError(
            f"the tables of agentgym_envs.alfworld are not those that were shipped ({digest}, not "
            f"{_DIGEST}); install the package anew"
        )
    kinds: dict[str, Any] = json.loads(texts["kinds.json"])
    strewing = tomllib.loads(texts["places.toml"])
    fixtures = strewing.pop("fixtures")
    scenes = json.loads(texts["scenes.json"])
    traits = ("cleanable", "heatable", "coolable", "sliceable", "toggleable")
    return Rules(
        holds={kind: frozenset(things) for kind, things in kinds["places"].items()},
        fixtures=fixtures,
        strewing={kind: Strewing(**values) for kind, values in strewing.items()},
        scenes={int(number): Scene(**values) for number, values in scenes.items()},
        source=f"alfworld-0.4.2 v{VERSION} ({digest})",
        **{name: frozenset(kinds[name]) for name in ("openable", "vessels", *traits)},
    )


def _text(name: str) -> str:
    return files("agentgym_envs.alfworld").joinpath(name).read_text("utf-8")
