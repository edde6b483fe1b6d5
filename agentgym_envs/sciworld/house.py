"""Finds ways through the house of every task: which rooms have a door to which."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from hashlib import sha256

_DOORS = (
    ("hallway", "art studio"),
    ("hallway", "bedroom"),
    ("hallway", "greenhouse"),
    ("hallway", "kitchen"),
    ("hallway", "living room"),
    ("hallway", "workshop"),
    ("kitchen", "bathroom"),
    ("kitchen", "outside"),
    ("outside", "foundry"),
    ("outside", "greenhouse"),
)

ROOMS = tuple(dict.fromkeys(room for door in _DOORS for room in door))
"""The names of all rooms."""

_SHOWN = re.compile(r"This (?:room|outside location) is called the ([a-z ]+)\.")
_GOES = re.compile(r"go to (.+)")


def room_shown(text: str) -> str:
    """Return the room that a look around describes.

    Raises:
        ValueError: the text describes none.
    """
    match = _SHOWN.match(text)
    if match is None:
        raise ValueError(f"no room is described by {text!r:.80}")
    return match[1]


def visited_rooms(actions: Sequence[str], start: str) -> list[str]:
    """Return the room before each action, and the one after the last."""
    rooms = [start]
    for action in actions:
        goes = _GOES.fullmatch(action)
        rooms.append(goes[1] if goes else rooms[-1])
    return rooms


def next_door(names: Sequence[str]) -> list[str]:
    """Return the rooms next door, by the names that can be used in this room.

    What can be named is the room itself and those next door. The room is the one that has doors to
    all others that are named; of a pair, the one with fewer doors.
    """
    named = [room for room in ROOMS if room in names]
    here = min(
        (room for room in named if set(named) <= {room, *_around(room)}),
        key=lambda room: len(_around(room)),
        default=None,
    )
    return sorted(room for room in named if room != here)


def _around(room: str) -> list[str]:
    return [door[1 - door.index(room)] for door in _DOORS if room in door]


def way(start: str, goal: str) -> list[str] | None:
    """Return the actions that lead from room to room, or None where the house has no such way."""
    before: dict[str, str] = {start: start}
    queue = deque([start])
    while queue:
        room = queue.popleft()
        for other in _around(room):
            if other not in before:
                before[other] = room
                queue.append(other)
    if goal not in before:
        return None
    rooms = [goal]
    while rooms[-1] != start:
        rooms.append(before[rooms[-1]])
    return [action for room in rooms[-2::-1] for action in through_door(room)]


def through_door(room: str) -> tuple[str, str]:
    """Return the actions that lead into a room next door."""
    return f"open door to {room}", f"go to {room}"


def tour(start: str, preference: int) -> list[str]:
    """Return a walk through all rooms, from door to door, without the room where it starts.

    It goes to the nearest room that it has not seen.

    Args:
        start: where it begins.
        preference: which of several nearest rooms comes first; every number gives its own tours.
    """
    shuffled = sorted(ROOMS, key=lambda room: sha256(f"{room} {preference}".encode()).digest())
    unseen = [room for room in shuffled if room != start]
    walk = [start]
    while unseen:
        steps = min((way(walk[-1], room) or [] for room in unseen), key=len)
        for action in steps:
            if goes := _GOES.fullmatch(action):
                walk.append(goes[1])
                if goes[1] in unseen:
                    unseen.remove(goes[1])
    return walk[1:]
