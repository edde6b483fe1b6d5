"""Finds names that fit one thing alone.

The simulator gives each thing in its list a name that no other thing has, but it also looks into
closed containers. Where a closed cupboard has a twin of a thing, it takes any of the thing's names,
and `paint in wood cup` may fit three things that are seen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

from agentgym_envs.sciworld.gateway import JavaObject, static
from agentgym_envs.sciworld.simulator import Ask

_PARSER = static("scienceworld.input.InputParser")
_SKIPPED = ("a", "an", "the")
"""Words that the parser leaves out."""


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
