"""Plays a house by the rules of ALFWorld's text game.

The rules are those of `alfred.pddl` and the texts those of `alfred.twl2` in the package `alfworld`
0.4.2, as TextWorld's engine plays them: a command does something if and only if it is in
`House.commands`. Every place stands by itself; in the original some share a spot.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property

from agentgym_envs.alfworld.rules import Rules
from agentgym_envs.alfworld.tasks import Task

NOTHING_HAPPENS = "Nothing happens."
_MIDDLE = "You are in the middle of a room. Looking quickly around you, you see"
PROCESSES = {
    "clean": ("sinkbasin", "cleanable"),
    "heat": ("microwave", "heatable"),
    "cool": ("fridge", "coolable"),
}
"""By verb: the kind of place that it needs, and the things it can be done to."""

_KNIVES = frozenset({"knife", "butterknife"})


@dataclass(eq=False)
class Thing:
    """A thing that can lie somewhere.

    Attributes:
        kind: such as `"mug"`.
        number: tells it from others of its kind.
        is_toggled: it was switched on once; in the original it never counts as off again.
    """

    kind: str
    number: int
    is_clean: bool = False
    is_hot: bool = False
    is_cool: bool = False
    is_sliced: bool = False
    is_toggled: bool = False

    @cached_property
    def name(self) -> str:
        """Its name in commands."""
        return f"{self.kind} {self.number}"

    @property
    def is_knife(self) -> bool:
        """It slices other things."""
        return self.kind in _KNIVES


@dataclass(eq=False)
class Place:
    """A place that holds things, which the original calls a receptacle.

    Attributes:
        kind: such as `"cabinet"`.
        number: tells it from others of its kind.
        is_openable: it has a door.
        contents: what is in or on it, in the order of lists.
        is_seen: the episode has shown what is in or on it; nobody else changes that.
    """

    kind: str
    number: int
    is_openable: bool
    is_open: bool = False
    contents: list[Thing] = field(default_factory=list)
    is_seen: bool = False

    @cached_property
    def name(self) -> str:
        """Its name in commands."""
        return f"{self.kind} {self.number}"

    @property
    def is_closed(self) -> bool:
        """Its door is shut."""
        return self.is_openable and not self.is_open


@dataclass(frozen=True)
class Wording:
    """The wording of a version of the original.

    The defaults are those of version 0.4.2.

    Attributes:
        put: the verb that puts a thing down.
        into: the word between the thing and the place.
        tells_arrival: going somewhere is told.
        has_help: there is the command `help`.
        sees_places: looking around in the middle of the room names the places again.
    """

    put: str = "move"
    into: str = "to"
    tells_arrival: bool = True
    has_help: bool = True
    sees_places: bool = True


class House:
    """An episode's house.

    Args:
        places: in the order of the first observation.
        task: what is to be done.
        rules: the tables.
        wording: how commands and answers are worded.

    Attributes:
        at: where the agent stands; None in the middle of the room.
        held: what it holds.
        commands: all that does something now, sorted.
    """

    def __init__(self, places: Sequence[Place], task: Task, rules: Rules, wording: Wording) -> None:
        self.places = places
        self.task = task
        self.rules = rules
        self.wording = wording
        self.at: Place | None = None
        self.held: Thing | None = None
        self._by_name: dict[str, Place] = {place.name: place for place in places}
        self._things = {thing.name: thing for place in places for thing in place.contents}
        self._walks = _walks(tuple(self._by_name))
        self._movers = {"go", "open", "close", "take", wording.put}
        self._targets = [place for place in places if place.kind == task.target]
        self.commands = self._commands()

    def first_observation(self, goal: str) -> str:
        """Return the first observation of an episode."""
        return f"{_MIDDLE} {self._places_listed()}.\n\nYour task is to: {goal}."

    def act(self, command: str) -> tuple[str, bool]:
        """Play a command.

        Returns:
            The answer, and whether anything happened.
        """
        if command not in self.commands:
            return NOTHING_HAPPENS, False
        verb, *words = command.split()
        names = [f"{a} {b}" for a, b in zip(words, words[1:], strict=False) if b.isdigit()]
        answer: str = getattr(self, f"_{_METHODS.get(verb, verb)}")(*names)
        if verb in self._movers:
            self.commands = self._commands()
        return answer, True

    def is_at(self, place: Place) -> bool:
        """Return whether the agent stands where it reaches a place."""
        return place is self.at

    @property
    def is_won(self) -> bool:
        """The goal is reached."""
        task, held = self.task, self.held
        if task.subtask == "Look":
            if held is None or held.kind != task.thing or self.at is None:
                return False
            return any(lamp.kind == task.target and lamp.is_toggled for lamp in self.at.contents)
        needed = 2 if task.subtask == "Pick2" else 1
        return any(
            sum(self.is_ready(thing) for thing in place.contents) >= needed
            for place in self._targets
        )

    def plan(self) -> list[str] | None:
        """Return commands that lead to the goal, where a planner knows some."""
        return None

    def is_ready(self, thing: Thing) -> bool:
        """Return whether a thing is of the kind and in the state that the goal names."""
        if thing.kind != self.task.thing:
            return False
        subtask = self.task.subtask
        if subtask == "Clean":
            return thing.is_clean
        if subtask == "Heat":
            return thing.is_hot
        return thing.is_cool if subtask == "Cool" else True

    # What the commands do -----------------------------------------------------------------------

    def _go(self, name: str) -> str:
        self.at = self._by_name[name]
        seen = self._examine(name)
        return f"You arrive at {name}. {seen}" if self.wording.tells_arrival else seen

    def _open(self, name: str) -> str:
        self._by_name[name].is_open = True
        return f"You open the {name}. {self._examine(name)}"

    def _close(self, name: str) -> str:
        self._by_name[name].is_open = False
        return f"You close the {name}."

    def _take(self, name: str, place: str) -> str:
        self.held = self._things[name]
        self._by_name[place].contents.remove(self.held)
        return f"You pick up the {name} from the {place}."

    def _put(self, name: str, place: str) -> str:
        insort(self._by_name[place].contents, self._things[name], key=by_name)
        self.held = None
        return f"You {self.wording.put} the {name} {self.wording.into} the {place}."

    def _clean(self, name: str, place: str) -> str:
        self._things[name].is_clean = True
        return f"You clean the {name} using the {place}."

    def _heat(self, name: str, place: str) -> str:
        thing = self._things[name]
        thing.is_hot, thing.is_cool = True, False
        return f"You heat the {name} using the {place}."

    def _cool(self, name: str, place: str) -> str:
        thing = self._things[name]
        thing.is_hot, thing.is_cool = False, True
        return f"You cool the {name} using the {place}."

    def _slice(self, name: str, knife: str) -> str:
        self._things[name].is_sliced = True
        return f"You sliced the {name} with the {knife}."

    def _use(self, name: str) -> str:
        self._things[name].is_toggled = True
        return f"You turn on the {name}."

    def _inventory(self) -> str:
        if self.held is None:
            return "You are not carrying anything."
        return f"You are carrying: a {self.held.name}."

    def _look(self) -> str:
        if self.at is not None:
            return f"You are facing the {self.at.name}. Next to it, you see nothing."
        seen = self._places_listed() if self.wording.sees_places else "nothing"
        return f"{_MIDDLE} {seen}."

    def _help(self) -> str:
        return _HELP

    def _examine(self, name: str) -> str:
        place = self._by_name.get(name)
        if place is None:
            return self._examined(self._things[name])
        if place.is_closed:
            return f"The {name} is closed."
        place.is_seen = True
        seen = _listed([f"a {thing.name}" for thing in place.contents])
        if place.is_openable:
            return f"The {name} is open. In it, you see {seen}."
        return f"On the {name}, you see {seen}."

    def _examined(self, thing: Thing) -> str:
        if thing.kind in self.rules.vessels:
            return f"This is a normal {thing.name}. In it, you see nothing."
        warmth = "hot" if thing.is_hot else "cool" if thing.is_cool else ""
        clean = "clean" if thing.is_clean else ""
        states = " and ".join(filter(None, (warmth, clean)))
        if thing.is_sliced:
            states = f"{states} sliced".lstrip()
        if states == "cool":
            states = "cold"
        if not states:
            return f"There's nothing special about {thing.name}."
        return f"This is a {states} {thing.name}."

    def _places_listed(self) -> str:
        return _listed([f"a {place.name}" for place in self.places])

    # Which commands there are -------------------------------------------------------------------

    def _commands(self) -> list[str]:
        """Return the commands that do something now, in alphabetical order."""
        at, held = self.at, self.held
        here = [] if at is None else [at.name]
        process: dict[str, str] = {}
        if at is not None and held is not None:
            process = self._processes(at, held)
        examined = sorted(here if held is None else [*here, held.name])
        commands = [process["clean"]] if "clean" in process else []
        if at is not None and at.is_open:
            commands.append(f"close {at.name}")
        if "cool" in process:
            commands.append(process["cool"])
        commands += [f"examine {name}" for name in examined]
        commands += self._walks[None if at is None else at.name]
        if "heat" in process:
            commands.append(process["heat"])
        if self.wording.has_help:
            commands.append("help")
        commands += ["inventory", "look"]
        if at is not None:
            commands += self._handling(at, held)
        return commands

    def _processes(self, at: Place, held: Thing) -> dict[str, str]:
        return {
            verb: f"{verb} {held.name} with {at.name}"
            for verb, (tool, trait) in PROCESSES.items()
            if at.kind == tool and held.kind in getattr(self.rules, trait)
        }

    def _handling(self, at: Place, held: Thing | None) -> list[str]:
        """Return the commands for the things here, which all come after `look` in the alphabet."""
        rules, commands = self.rules, []
        is_reachable = not at.is_closed
        if held is not None and is_reachable and held.kind in rules.holds[at.kind]:
            commands.append(f"{self.wording.put} {held.name} {self.wording.into} {at.name}")
        if at.is_closed:
            commands.append(f"open {at.name}")
        commands.sort()
        if held is not None and held.is_knife:
            commands += sorted(
                f"slice {thing.name} with {held.name}"
                for thing in at.contents
                if thing.kind in rules.sliceable
            )
        if held is None and is_reachable:
            commands += sorted(
                f"take {thing.name} from {at.name}"
                for thing in at.contents
                if thing.kind not in rules.fixtures
            )
        commands += sorted(f"use {t.name}" for t in at.contents if t.kind in rules.toggleable)
        return commands


_METHODS = {"move": "put"}
_HELP = (
    "Available commands:\n"
    "  look:                             look around your current location\n"
    "  inventory:                        check your current inventory\n"
    "  go to (receptacle):               move to a receptacle\n"
    "  open (receptacle):                open a receptacle\n"
    "  close (receptacle):               close a receptacle\n"
    "  take (object) from (receptacle):  take an object from a receptacle\n"
    "  move (object) to (receptacle):  place an object in or on a receptacle\n"
    "  examine (something):              examine a receptacle or an object\n"
    "  use (object):                     use an object\n"
    "  heat (object) with (receptacle):  heat an object using a receptacle\n"
    "  clean (object) with (receptacle): clean an object using a receptacle\n"
    "  cool (object) with (receptacle):  cool an object using a receptacle\n"
    "  slice (object) with (object):     slice an object using a sharp object\n"
)


def by_name(thing: Thing) -> tuple[str, int]:
    """Return where lists name a thing: by kind, the highest number first, as the original does."""
    return thing.kind, -thing.number


@cache
def _walks(names: tuple[str, ...]) -> dict[str | None, list[str]]:
    """Return where one can go from each of a scene's places, and from the middle of the room."""
    walks = {name: f"go to {name}" for name in names}
    from_places: dict[str | None, list[str]] = {None: sorted(walks.values())}
    for here in names:
        from_places[here] = sorted(walks[name] for name in names if name != here)
    return from_places


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return names[0] if names else "nothing"
    return f"{', '.join(names[:-1])}, and {names[-1]}"
