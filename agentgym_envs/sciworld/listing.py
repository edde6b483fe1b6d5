"""Lists the actions that are possible, and finds the name that an action has in the list.

The simulator makes the list, with one of its names for each thing. It writes the two things of a
dunk in the wrong order, and lists what it then refuses; here the order is right, what would be
refused is left out, and names that fit several things are replaced.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from agentgym_envs.sciworld.gateway import JavaObject, static
from agentgym_envs.sciworld.meanings import (
    CONNECT,
    DUNK,
    FIRST_CHOICE,
    LOOK_AT,
    MIX,
    MOVE,
    PICK_UP,
    POUR,
    PUT_DOWN,
    USE,
    Meaning,
)
from agentgym_envs.sciworld.simulator import Ask, Simulator

_OF_TWO_THINGS = {
    MOVE: "move {} to {}",
    POUR: "pour {} into {}",
    USE: "use {} on {}",
    CONNECT: "connect {} to {}",
    DUNK: "dunk {1} into {0}",
}
_CLASSES = static("util.UniqueTypeID")
_DEVICES = "scienceworld.objects.devices."
_GROUND = "scienceworld.objects.environmentoutside.Ground"
_TREES = ("Tree", ".PeaPlant", ".RandomGeneticsPlants")


_PARSER = static("scienceworld.input.InputParser")
_SKIPPED = ("a", "an", "the")
"""Words that the parser leaves out."""


# The simulator gives each thing in its list a name that no other thing has, but it also looks
# into closed containers. Where a closed cupboard has a twin of a thing, it takes any of the
# thing's names, and `paint in wood cup` may fit three things that are seen.
def clear_names(ask: Ask, game: JavaObject, names: Mapping[int, str]) -> dict[int, str]:
    """Return other names for the things whose name fits several, but for twins in sight.

    Args:
        ask: calls the simulator.
        game: the game.
        names: names of things that can be reached, by the simulator's numbers of the things.
    """
    agent = ask(game, "agent")
    room = ask(ask(agent, "getContainer"), "get")
    roots = (room, ask(agent, "inventory"))
    known: Counter[str] = Counter()
    for root in roots:
        known.update(_words(ask, ask(_PARSER, "getPossibleReferents", root, room)))
    unclear = {number for number, name in names.items() if known[_as_read(name)] != 1}
    if not unclear:
        return {}
    clear = {}
    for root in roots:
        for thing in _accessible(ask, root):
            number = int(ask(thing, "uuid"))
            if number in unclear:
                own = _words(ask, ask(_PARSER, "getObjectReferents", thing, room))
                noun = str(ask(thing, "getName")).lower()
                clear[number] = min(own, key=partial(_rank, known, noun))
    return clear


def _rank(known: Counter[str], noun: str, name: str) -> tuple[int, bool, int, str]:
    """Rank a thing's names: those that fit fewest things, then those with its noun, then short."""
    return known[name], not name.startswith(noun), len(name), name


def _as_read(name: str) -> str:
    return " ".join(word for word in name.split() if word not in _SKIPPED)


def _words(ask: Ask, referents: JavaObject) -> list[str]:
    wrapped = ask(static("scala.collection.mutable.WrappedArray"), "make", referents)
    return str(ask(wrapped, "mkString", "\n")).split("\n")


def _accessible(ask: Ask, root: JavaObject) -> Iterator[JavaObject]:
    things = ask(ask(_PARSER, "collectAccessibleObjects", root, False), "iterator")
    while ask(things, "hasNext"):
        yield ask(things, "next")


class Listing:
    """The actions that are possible in one state of a game, up to thousands and slow to list.

    Args:
        simulator: where the game is played.
        drops_questions: an open question is dropped by any action; else, only answers are listed.
    """

    def __init__(self, simulator: Simulator, *, drops_questions: bool) -> None:
        with simulator.aside() as ask:
            parser, agent = ask(simulator.game, "inputParser"), ask(simulator.game, "agent")
            places = ask(agent, "inventory"), ask(ask(agent, "getContainer"), "get")
            inventory, room = (int(ask(place, "uuid")) for place in places)
            self._goals = {PICK_UP: inventory, PUT_DOWN: room}
            open_question = ask(parser, "lastAmbiguousMatches")
            self._names = _listed(ask, simulator.game)
            if drops_questions and ask(open_question, "isDefined"):
                ask(parser, "clearAmbiguousState")
                self._names.update(_listed(ask, simulator.game))
                ask(parser, "lastAmbiguousMatches_$eq", open_question)

    @property
    def actions(self) -> list[str]:
        """All of them, sorted."""
        return sorted(set(self._names.values()))

    def name(self, meaning: Meaning) -> str | None:
        """Return an action's name, or None where it is not listed.

        To pick up what is held, and to drop what is not, is listed as a move.
        """
        if meaning.kind in self._goals and meaning not in self._names:
            meaning = Meaning(MOVE, (*meaning.things, self._goals[meaning.kind]))
        return self._names.get(meaning)

    def choice(self, things: tuple[int, ...]) -> str | None:
        """Return the number that answers the open question with an action on some things."""
        for meaning, number in self._names.items():
            if meaning.kind >= FIRST_CHOICE and sorted(meaning.things) == sorted(things):
                return number
        return None


class _Thing(NamedTuple):
    name: str
    is_material: bool
    is_device: bool
    contents: tuple[int, ...]


class _Things:
    """The simulator's description of its objects, cheap to query.

    Args:
        ask: calls the simulator.
        game: the game.
        visible: the numbers of the objects that are not hidden.
    """

    def __init__(self, ask: Ask, game: JavaObject, visible: set[int]) -> None:
        self._things = dict(_in_tree(json.loads(ask(ask(game, "universe"), "toJSON"))))
        self._classes = {
            number: name for name, number in json.loads(ask(_CLASSES, "toJSON")).items()
        }
        self._reachable = _reachable(ask, game)
        self._visible = visible

    def reach(self, things: tuple[int, ...]) -> bool:
        """Return whether an action may name things, which closed containers hide."""
        return self._reachable.issuperset(things)

    def refuse(self, meaning: Meaning, types: list[int]) -> bool:
        """Return whether the simulator would refuse an action on things of some types."""
        things = meaning.things
        if not self.reach(things):
            return True
        if meaning.kind == POUR:
            return things[0] == things[1]
        if meaning.kind == MIX:
            return len(self._visible.intersection(self._thing(things[0]).contents)) < 2
        if meaning.kind == USE:
            tool, other = (self._classes[number] for number in types)
            return not _is_use(tool.removeprefix(_DEVICES), other, self._thing(things[1]))
        return False

    def _thing(self, number: int) -> _Thing:
        # Doors are not in the tree.
        return self._things.get(number, _Thing("door", False, False, ()))


def _is_use(tool: str, class_name: str, thing: _Thing) -> bool:
    """Return whether a tool does anything with a thing of a class."""
    if tool == "Shovel":
        return class_name == _GROUND
    if tool == "Axe":
        is_tree = class_name.endswith(_TREES) and not thing.name.endswith("seed")
        return is_tree or thing.is_device
    return tool != "Lighter" or thing.is_material


def _listed(ask: Ask, game: JavaObject) -> dict[Meaning, str]:
    """Return the names of the listed actions that would not be refused."""
    entries = json.loads(ask(game, "getValidActionObjectCombinationsJSON"))["validActions"]
    listed = [(Meaning(entry["template_id"], tuple(entry["obj_ids"])), entry) for entry in entries]
    if all(meaning.kind >= FIRST_CHOICE for meaning, _ in listed):
        return {meaning: entry["action"] for meaning, entry in listed}
    names = {
        meaning.things[0]: entry["action"].removeprefix("look at ")
        for meaning, entry in listed
        if meaning.kind == LOOK_AT
    }
    things = _Things(ask, game, set(names))
    reachable = {number: name for number, name in names.items() if things.reach((number,))}
    clear = clear_names(ask, game, reachable)
    return {
        meaning: _worded(meaning, entry["action"], names, {**names, **clear})
        for meaning, entry in listed
        if not things.refuse(meaning, entry["type_ids"])
    }


def _worded(meaning: Meaning, action: str, names: Mapping[int, str], new: Mapping[int, str]) -> str:
    """Write an action with the new names of its things."""
    if meaning.kind in _OF_TWO_THINGS:
        return _OF_TWO_THINGS[meaning.kind].format(*(new[number] for number in meaning.things))
    for number in meaning.things:
        action = action.removesuffix(names[number]) + new[number]
    return action


def _reachable(ask: Ask, game: JavaObject) -> set[int]:
    """Return the numbers of the objects that an action may name."""
    parser, agent = ask(game, "inputParser"), ask(game, "agent")
    numbers: list[str] = []
    for root in (agent, ask(ask(agent, "getContainer"), "get")):
        keys = ask(ask(parser, "getAllUniqueReferentsLUT", root, True, False), "keySet")
        numbers += str(ask(keys, "mkString", ",")).split(",")
    return {int(number) for number in numbers if number}


def _in_tree(node: dict[str, Any]) -> Iterator[tuple[int, _Thing]]:
    """Yield all objects of the simulator's tree with their numbers."""
    inner = node["contents"].values()
    yield (
        int(node["uuid"]),
        _Thing(
            node["name"],
            is_material=node["propMaterial"] is not None,
            is_device=node["propDevice"] is not None,
            contents=tuple(int(each["uuid"]) for each in inner),
        ),
    )
    for each in inner:
        yield from _in_tree(each)
