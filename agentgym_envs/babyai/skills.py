"""Lists the text actions that are possible now, and translates each into low-level moves.

There are two sets of actions: skills, which may be many moves each, and single moves.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from agentgym_envs.actions import ActionVerb
from agentgym_envs.babyai.describe import Sighting, View
from agentgym_envs.babyai.sight import (
    CLOSED,
    DROP,
    EMPTY,
    FORWARD,
    LEFT,
    PICKUP,
    RIGHT,
    TOGGLE,
)
from agentgym_envs.errors import InvalidAction

CHECK = "check available actions"

_CHECK_VERB = ActionVerb(
    "check_available_actions", CHECK, "List the possible actions; costs a turn."
)

VERBS: tuple[ActionVerb, ...] = (
    ActionVerb("turn_left", "turn left", "Turn left on the spot."),
    ActionVerb("turn_right", "turn right", "Turn right on the spot."),
    ActionVerb("move_forward", "move forward", "Take one step ahead."),
    ActionVerb("go_to", "go to {object}", "Walk up to a thing in view and face it."),
    ActionVerb("pick_up", "pick up {object}", "Walk up to a ball, box or key and pick it up."),
    ActionVerb("drop", "drop", "Put what you carry on the free cell in front of you."),
    ActionVerb("toggle", "toggle", "Open or close the door, or open the box, in front of you."),
    ActionVerb("open", "open {object}", "Walk up to a closed door or a box and open it."),
    ActionVerb("close", "close {door}", "Walk up to an open door and close it."),
    ActionVerb("go_through", "go through {door}", "Walk through an open door."),
    ActionVerb(
        "toggle_and_go_through",
        "toggle and go through {door}",
        "Open a closed door and walk through.",
    ),
    _CHECK_VERB,
)


class UnknownAction(InvalidAction):
    """An action is none of the environment's."""

    def __init__(self) -> None:
        super().__init__("There is no such action.")


def normalise(action: str) -> str:
    """Bring an action into the form that `available` lists: lower case, `pick up` in two words."""
    action = " ".join(action.lower().split()).rstrip(".")
    return re.sub(r"^pickup\b", "pick up", action)


def available(view: View) -> list[str]:
    """List the actions that change something now."""
    actions = ["turn left", "turn right"]
    if view.is_walkable(view.front):
        actions.append("move forward")
    near = [s for s in view.things if view.can_approach(s)]
    if view.carrying is not None:
        if view.grid_map.codes[view.front] == EMPTY:
            actions.append("drop")
    else:
        actions += [f"pick up {s.name}" for s in near if s.thing.type != "door"]
    facing = view.facing
    if facing is not None and _toggle_refusal(view, facing) is None:
        actions.append("toggle")
    for sighting in near:
        actions += _opening_actions(view, sighting)
    actions += [f"go to {s.name}" for s in near if s.cell != view.front]
    return actions


def _opening_actions(view: View, sighting: Sighting) -> list[str]:
    name = sighting.name
    is_faced = sighting.cell == view.front  # then `toggle` does the same
    if sighting.thing.type == "box":
        return [] if is_faced else [f"open {name}"]
    if sighting.thing.type != "door":
        return []
    if sighting.thing.is_open:
        through = [f"go through {name}"] if sighting.cell in view.reach else []
        return through if is_faced else [*through, f"close {name}"]
    if _toggle_refusal(view, sighting) is not None:
        return []
    through = [f"toggle and go through {name}"]
    return through if is_faced else [f"open {name}", *through]


def moves(view: View, action: str) -> list[int]:
    """Return the low-level moves of an action that is already in normal form.

    A move after the last of `go through` may still be due; see `passes_door`.

    Raises:
        InvalidAction: it is impossible now; the message says why.
    """
    if action == "turn left":
        return [LEFT]
    if action == "turn right":
        return [RIGHT]
    if action == "move forward":
        return _forward(view)
    if action == "drop":
        return _drop(view)
    if action == "toggle":
        return _toggle(view)
    for verb, skill in _SKILLS.items():
        if action.startswith(verb):
            sighting = view.find(action.removeprefix(verb))
            if isinstance(sighting, str):
                raise InvalidAction(sighting)
            return skill(view, sighting)
    raise UnknownAction


def passes_door(action: str) -> bool:
    """Return whether an action ends with a step out of the doorway, if that cell is free."""
    return action.startswith(("go through ", "toggle and go through "))


def _forward(view: View) -> list[int]:
    if not view.is_walkable(view.front):
        facing = view.facing
        blocker = "a wall" if facing is None else facing.name
        raise InvalidAction(f"You cannot move forward: {blocker} is in the way.")
    return [FORWARD]


def _drop(view: View) -> list[int]:
    if view.carrying is None:
        raise InvalidAction("You cannot drop anything: you carry nothing.")
    if view.grid_map.codes[view.front] != EMPTY:
        raise InvalidAction("You cannot drop it here: the cell in front of you is not free.")
    return [DROP]


def _toggle(view: View) -> list[int]:
    facing = view.facing
    if facing is None:
        raise InvalidAction("There is no door or box right in front of you to toggle.")
    refusal = _toggle_refusal(view, facing)
    if refusal is not None:
        raise InvalidAction(refusal)
    return [TOGGLE]


def _toggle_refusal(view: View, sighting: Sighting) -> str | None:
    thing = sighting.thing
    if thing.type not in ("door", "box"):
        return f"{_capital(sighting.name)} cannot be opened or closed."
    if thing.type == "door" and not thing.is_open and thing.is_locked:
        key = view.carrying
        if key is None or key.type != "key" or key.color != thing.color:
            return f"{_capital(sighting.name)} needs a {thing.color} key in your hand."
    return None


def _approach(view: View, sighting: Sighting) -> list[int]:
    path = view.grid_map.path_to_face(view.pose, sighting.cell, view.seen)
    if path is None:
        raise InvalidAction(f"You see no free way to {sighting.name}.")
    return path


def _go_to(view: View, sighting: Sighting) -> list[int]:
    if sighting.cell == view.front:
        raise InvalidAction(f"You are already in front of {sighting.name}.")
    return _approach(view, sighting)


def _pick_up(view: View, sighting: Sighting) -> list[int]:
    if sighting.thing.type == "door":
        raise InvalidAction("A door cannot be picked up.")
    if view.carrying is not None:
        raise InvalidAction("You cannot pick that up: drop what you carry first.")
    return [*_approach(view, sighting), PICKUP]


def _open(view: View, sighting: Sighting) -> list[int]:
    if sighting.thing.type == "door" and sighting.thing.is_open:
        raise InvalidAction(f"{_capital(sighting.name)} is open already.")
    refusal = _toggle_refusal(view, sighting)
    if refusal is not None:
        raise InvalidAction(refusal)
    return [*_approach(view, sighting), TOGGLE]


def _close(view: View, sighting: Sighting) -> list[int]:
    if sighting.thing.type != "door":
        raise InvalidAction(f"{_capital(sighting.name)} cannot be closed.")
    if not sighting.thing.is_open:
        raise InvalidAction(f"{_capital(sighting.name)} is closed already.")
    return [*_approach(view, sighting), TOGGLE]


def _go_through(view: View, sighting: Sighting) -> list[int]:
    if sighting.thing.type != "door":
        raise InvalidAction(f"{_capital(sighting.name)} is not a door.")
    if not sighting.thing.is_open:
        raise InvalidAction(f"{_capital(sighting.name)} is closed; toggle and go through it.")
    path = view.grid_map.path_onto(view.pose, sighting.cell, view.seen)
    if path is None:
        raise InvalidAction(f"You see no free way to {sighting.name}.")
    return path


def _toggle_and_go_through(view: View, sighting: Sighting) -> list[int]:
    if sighting.thing.type != "door":
        raise InvalidAction(f"{_capital(sighting.name)} is not a door.")
    if view.grid_map.codes[sighting.cell] != CLOSED:
        raise InvalidAction(f"{_capital(sighting.name)} is open already; go through it.")
    return [*_open(view, sighting), FORWARD]


def _capital(name: str) -> str:
    return name[0].upper() + name[1:]


@dataclass(frozen=True)
class ActionSet:
    """The actions that a policy has.

    Attributes:
        verbs: what they are.
        available: lists those that change something now.
        moves: returns an action's low-level moves; raises InvalidAction where it is impossible.
    """

    verbs: tuple[ActionVerb, ...]
    available: Callable[[View], list[str]]
    moves: Callable[[View, str], list[int]]


def _available_single_moves(view: View) -> list[str]:
    actions = []
    for action in _SINGLE_MOVES:
        try:
            _single_moves(view, action)
        except InvalidAction:
            continue
        actions.append(action)
    return actions


def _single_moves(view: View, action: str) -> list[int]:
    move = _SINGLE_MOVES.get("move forward" if action == "go forward" else action)
    if move is None:
        raise UnknownAction
    return move(view)


def _pick_up_in_front(view: View) -> list[int]:
    facing = view.facing
    if facing is None:
        raise InvalidAction("There is nothing right in front of you to pick up.")
    return _pick_up(view, facing)


_SKILLS = {
    "go to ": _go_to,
    "pick up ": _pick_up,
    "open ": _open,
    "close ": _close,
    "go through ": _go_through,
    "toggle and go through ": _toggle_and_go_through,
}

_SINGLE_MOVES: dict[str, Callable[[View], list[int]]] = {
    "turn left": lambda _: [LEFT],
    "turn right": lambda _: [RIGHT],
    "move forward": _forward,
    "pick up": _pick_up_in_front,
    "drop": _drop,
    "toggle": _toggle,
}

SKILLS = ActionSet(VERBS, available, moves)
"""Every action, of which one may walk a long way."""

SINGLE_MOVES = ActionSet(
    (
        *(verb for verb in VERBS if verb.template in _SINGLE_MOVES),
        ActionVerb("pick_up", "pick up", "Pick up the ball, box or key in front of you."),
        _CHECK_VERB,
    ),
    _available_single_moves,
    _single_moves,
)
"""minigrid's own actions, one move each."""
