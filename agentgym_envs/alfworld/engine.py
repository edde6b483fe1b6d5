"""Plays the original's games in TextWorld's PDDL engine, which the extra `alfworld` adds.

The engine plays in this process, one call at a time: its translator and parser keep global state. A
crash of its library is a crash of the process, so a vector environment's `process` backend is what
confines it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

from agentgym_envs.alfworld.house import NOTHING_HAPPENS, House, Place, Thing, Wording, by_name
from agentgym_envs.alfworld.rules import Rules, Strewing, rules
from agentgym_envs.alfworld.tasks import Task
from agentgym_envs.errors import EnvFailure, described, needs_extra

with needs_extra("alfworld", "games_dir"):
    import textworld
    from textworld.envs.pddl import PddlEnv

    if textworld.envs.pddl.pddl.fast_downward_missing:
        raise ImportError("no package fast-downward-textworld")

_LOCK = Lock()
_PUT = re.compile(r"(?:move|put) (.+?) (?:to|in/on) (.+)")
_PUTS = re.compile(r"You (?:move|put) the (.+?) (?:to|in/on) the (.+)\.")
_ARRIVES = re.compile(r"You arrive at [^.]*\. ")
_INTRO_PLACE = re.compile(r"\ba ([a-z]+ \d+)")
_STATES = {
    "isclean": "is_clean",
    "ishot": "is_hot",
    "iscool": "is_cool",
    "issliced": "is_sliced",
    "istoggled": "is_toggled",
}
"""The attribute of a thing that each fact of the domain sets."""


class Engine:
    """Starts games, again after a failure.

    It holds one engine of TextWorld's, whose library stays loaded until the process ends.
    """

    def __init__(self) -> None:
        self._env: Any = None
        self._loaded: Path | None = None

    def start(self, path: Path, task: Task, wording: Wording) -> tuple[GameHouse, str]:
        """Load a game and return its house and goal.

        Raises:
            EnvFailure: the file is damaged, or the engine broke.
        """
        with self.calling(f"loading {path}"):
            if self._loaded != path:
                self._load(path)
            state = self._env.reset()
            intro, _, goal = state.feedback.partition("Your task is to: ")
            house = GameHouse(self, state, _INTRO_PLACE.findall(intro), task, wording)
        return house, goal.strip().removesuffix(".")

    def _load(self, path: Path) -> None:
        if self._env is None:
            self._env = PddlEnv(textworld.EnvInfos(admissible_commands=True, won=True))
        self._loaded = None
        self._env.load(json.loads(path.read_text("utf-8")))
        infos = self._env._entity_infos
        for identity, name in original_names(infos).items():
            infos[identity].name = name
        self._loaded = path

    def step(self, command: str) -> Any:
        """Play a command of the game's own and return the engine's state."""
        with self.calling(f"playing {command!r:.80}"):
            return self._env.step(command)[0]

    def plan(self) -> list[str]:
        """Return commands of the game's own that lead to the goal, by the engine's planner."""
        with self.calling("planning"):
            return list(self._env._pddl_state.replan(self._env._entity_infos))

    def name(self, identity: str) -> str:
        """Return the name of a place or a thing in commands."""
        return str(self._env._entity_infos[identity].name)

    @contextmanager
    def calling(self, what: str) -> Iterator[None]:
        """Hold the engine, and raise its errors as `EnvFailure`."""
        with _LOCK:
            try:
                yield
            # Its parser, translator and grammar raise errors of many types, and exit.
            except (Exception, SystemExit) as error:
                self._env = self._loaded = None
                raise EnvFailure(
                    f"TextWorld's engine broke when {what}: {described(error)}"
                ) from error


class GameHouse(House):
    """A house as a game of the original's holds it.

    Args:
        engine: where the game was started.
        state: the engine's first.
        places: their names in the order of the first observation.
        task: what is to be done.
        wording: how commands and answers are worded, whatever the game's own wording is.
    """

    def __init__(
        self, engine: Engine, state: Any, places: list[str], task: Task, wording: Wording
    ) -> None:
        self._engine = engine
        self._won = False
        facts = _by_predicate(state)
        has_door = {engine.name(place) for (place,) in facts["openable"]}
        self._spots = {engine.name(place): spot for place, spot in facts["receptacleatlocation"]}
        places = list(dict.fromkeys([*places, *sorted(self._spots)]))
        super().__init__(
            [_place(name, is_openable=name in has_door) for name in places],
            task,
            _rules_of(facts, places),
            wording,
        )
        self._is_game_put = any(t.startswith("put {o} in/on") for t in state["command_templates"])
        self._things: dict[str, Thing] = {}
        self._take_over(state)

    @property
    def is_won(self) -> bool:
        """The engine says that the goal is reached."""
        return self._won

    def is_at(self, place: Place) -> bool:
        """Return whether the agent reaches a place from where it stands."""
        return self.at is not None and self._spots[place.name] == self._spots[self.at.name]

    def act(self, command: str) -> tuple[str, bool]:
        """Play a command in the engine."""
        if command not in self.commands:
            return NOTHING_HAPPENS, False
        if command == "help" or (command == "look" and self.at is None):
            return super().act(command)  # the wording's own, which not every game has
        state = self._engine.step(self._put_worded(command, is_game=True))
        verb, _, rest = command.partition(" ")
        if verb == "go":
            self.at = self._by_name[rest.removeprefix("to ")]
        self._take_over(state)
        place = self._by_name.get(rest.removeprefix("to "))
        if verb in ("go", "open", "examine") and place is not None and not place.is_closed:
            place.is_seen = True
        return self._worded(state.feedback), True

    def plan(self) -> list[str]:
        """Return commands that lead to the goal, by all that the engine knows."""
        return [self._put_worded(command, is_game=False) for command in self._engine.plan()]

    def _take_over(self, state: Any) -> None:
        """Read where everything is and the possible commands."""
        facts = _by_predicate(state)
        name = self._engine.name
        for place in self.places:
            place.contents.clear()
            place.is_open = False
        for (place_id,) in facts["opened"]:
            self._by_name[name(place_id)].is_open = True
        for thing, place_id in facts["inreceptacle"]:
            if name(place_id) in self._by_name:
                self._by_name[name(place_id)].contents.append(self._thing(name(thing)))
        for place in self.places:
            place.contents.sort(key=by_name)
        self.held = next((self._thing(name(thing)) for _, thing in facts["holds"]), None)
        for fact, attribute in _STATES.items():
            true = {name(thing) for (thing,) in facts[fact]}
            for thing_name, own in self._things.items():
                setattr(own, attribute, thing_name in true)
        self._won = bool(state.won)
        listed = {self._put_worded(command, is_game=False) for command in state.admissible_commands}
        self.commands = sorted((listed | {"help"}) if self.wording.has_help else listed - {"help"})

    def _thing(self, name: str) -> Thing:
        if name not in self._things:
            kind, _, number = name.rpartition(" ")
            self._things[name] = Thing(kind, int(number))
        return self._things[name]

    def _put_worded(self, command: str, *, is_game: bool) -> str:
        """Word a command of putting something down as the game does, or as the wording does."""
        match = _PUT.fullmatch(command)
        if match is None:
            return command
        if not is_game:
            return f"{self.wording.put} {match[1]} {self.wording.into} {match[2]}"
        form = "put {} in/on {}" if self._is_game_put else "move {} to {}"
        return form.format(*match.groups())

    def _worded(self, answer: str) -> str:
        puts = _PUTS.fullmatch(answer)
        if puts is not None:
            return f"You {self.wording.put} the {puts[1]} {self.wording.into} the {puts[2]}."
        arrives = _ARRIVES.match(answer)
        if arrives is None:
            return answer
        assert self.at is not None
        arrival = f"You arrive at {self.at.name}. " if self.wording.tells_arrival else ""
        return arrival + answer[arrives.end() :]


def original_names(infos: Any) -> dict[str, str]:
    """Return the original's names of places and things: the first in order is the highest."""
    counts: Counter[str] = Counter()
    names = {}
    for identity in sorted(infos, reverse=True):
        kind, is_numbered, _ = identity.partition("_bar_")
        names[identity] = kind
        if is_numbered:
            kind += "basin" if "basin" in identity else ""
            counts[kind] += 1
            names[identity] = f"{kind} {counts[kind]}"
    return names


def _by_predicate(state: Any) -> dict[str, list[tuple[str, ...]]]:
    facts: dict[str, list[tuple[str, ...]]] = {
        name: []
        for name in (
            *("openable", "opened", "receptacleatlocation", "inreceptacle", "holds"),
            *("cancontain", "pickupable", *_STATES),
        )
    }
    for fact in state["_facts"]:
        if fact.name in facts:
            facts[fact.name].append(tuple(argument.name for argument in fact.arguments))
    return facts


def _place(name: str, *, is_openable: bool) -> Place:
    kind, _, number = name.rpartition(" ")
    return Place(kind, int(number), is_openable=is_openable)


def _rules_of(facts: dict[str, list[tuple[str, ...]]], places: list[str]) -> Rules:
    """Return the rules of a game, with its own kinds of places and fixtures."""
    table = rules()
    holds: dict[str, set[str]] = {name.rpartition(" ")[0]: set() for name in places}
    for place, thing in facts["cancontain"]:
        holds.setdefault(place.removesuffix("type"), set()).add(thing.removesuffix("type"))
    movable = {identity for (identity,) in facts["pickupable"]}
    things = {thing for thing, _ in facts["inreceptacle"]}
    fixed = {thing.partition("_bar_")[0] for thing in things - movable}
    return replace(
        table,
        holds={kind: frozenset(things) for kind, things in holds.items()},
        fixtures={**dict.fromkeys(fixed, ()), **table.fixtures},
        strewing={kind: table.strewing.get(kind, Strewing(1.0, 1)) for kind in holds},
    )
