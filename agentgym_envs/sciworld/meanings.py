"""Asks the simulator's parser for an action's meaning, without playing it.

Each thing has many names: `battery anode` is `anode in battery` too. Two actions are the same when
the simulator understands the same by them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

from agentgym_envs.sciworld.gateway import JavaObject, static
from agentgym_envs.sciworld.simulator import Ask, Simulator

# The simulator's numbers of some kinds of actions.
LOOK_AT, MOVE, POUR, USE, CONNECT = 4, 9, 10, 13, 16
PICK_UP, PUT_DOWN, MIX, DUNK = 21, 22, 23, 26
FIRST_CHOICE = 100
"""From this number on, they are the choices of a question."""

_OF_TWO_THINGS = {
    MOVE: ("obj", "moveTo"),
    POUR: ("obj", "moveTo"),
    USE: ("device", "patient"),
    CONNECT: ("terminalA", "terminalB"),
    DUNK: ("moveFrom", "moveTo"),
}
"""The simulator's names for the roles of two things, in the order of its list."""

_IMPLIED = ("agent", "moveTo")
"""Roles that an action with at most one thing may have besides it: to pick up is to move."""


class Meaning(NamedTuple):
    """The simulator's reading of an action.

    Attributes:
        kind: its number of the kind of action.
        things: its numbers of the things that are named.
    """

    kind: int
    things: tuple[int, ...]


def meanings(simulator: Simulator, action: str) -> list[Meaning]:
    """Return the meanings of an action: none, one, or the choices of a question."""
    with simulator.aside() as ask:
        game = simulator.game
        parser, agent = ask(game, "inputParser"), ask(game, "agent")
        open_question = ask(parser, "lastAmbiguousMatches")
        ask(parser, "clearAmbiguousState")
        room = ask(ask(agent, "getContainer"), "get")
        goals = ask(ask(game, "task"), "goalSequence")
        monitor, universe = ask(game, "objMonitor"), ask(game, "universe")
        answer = ask(parser, "parse", action, room, universe, agent, monitor, goals, room)
        result = [_meaning(ask, *match) for match in _matches(ask, parser, answer)]
        ask(parser, "lastAmbiguousMatches_$eq", open_question)
    return result


def _matches(
    ask: Ask, parser: JavaObject, answer: JavaObject
) -> Iterator[tuple[JavaObject, JavaObject]]:
    """Yield (kind of action, things by role) of all that the parser matched."""
    action = ask(answer, "_4")
    if ask(action, "isDefined"):
        action = ask(action, "get")
        yield ask(action, "action"), ask(action, "assignments")
    elif ask(parser, "isInAmbiguousState"):
        choices = ask(ask(parser, "lastAmbiguousMatches"), "get")
        for number in range(ask(parser, "getNumAmbiguousMatches")):
            match = ask(static("java.lang.reflect.Array"), "get", choices, number)
            yield ask(ask(match, "actionRequestDef"), "get"), ask(match, "varLUT")


def _meaning(ask: Ask, definition: JavaObject, things: JavaObject) -> Meaning:
    kind = int(ask(definition, "uniqueActionID"))
    roles: tuple[str, ...] = _OF_TWO_THINGS.get(kind, ())
    if not roles:
        known = str(ask(ask(things, "keySet"), "mkString", ",")).split(",")
        roles = tuple(role for role in known if role not in _IMPLIED)
    named = [ask(things, "apply", role) for role in roles]
    if kind == CONNECT:
        named = [_connected(ask, thing) for thing in named]
    return Meaning(kind, tuple(int(ask(thing, "uuid")) for thing in named))


def _connected(ask: Ask, thing: JavaObject) -> JavaObject:
    """Return a thing for its hidden terminal, if that is the one that would be connected first.

    The terminals of wires are seen and listed; those of a spoon are hidden.
    """
    if not ask(thing, "isHidden"):
        return thing
    whole = ask(thing, "parentObject")
    first = ask(whole, "getUnconnectedElectricalTerminal")
    is_first = ask(first, "isDefined") and ask(ask(first, "get"), "uuid") == ask(thing, "uuid")
    return cast(JavaObject, whole if is_first else thing)
