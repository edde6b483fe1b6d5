"""Finds the simulator's global variables, Scala objects that a Java process has once."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, cast

from agentgym_envs.sciworld.gateway import Gateway, JavaObject, JavaValue, static
from agentgym_envs.sciworld.house import ROOMS, through_door, tour
from agentgym_envs.sciworld.jvm import Jvm

_SECONDS = 60.0


class Globals(NamedTuple):
    """The simulator's global variables.

    Attributes:
        counter: the object that counts the simulator's objects.
        random: the object that all random draws go through.
        field: its field for the source that it draws from.
        routes: the map of routes through the house that solutions share.
    """

    counter: JavaObject
    random: JavaObject
    field: JavaObject
    routes: JavaObject


_globals: weakref.WeakKeyDictionary[Jvm, Globals] = weakref.WeakKeyDictionary()


def look_up_globals(jvm: Jvm, gateway: Gateway) -> Globals:
    """Return the variables of a Java process, looked up once."""
    if jvm not in _globals:
        finder = _singleton(gateway, "scienceworld.goldagent.PathFinder$")
        routes = gateway.call(finder, "precomputedExhaustivePaths", timeout=_SECONDS)
        _globals[jvm] = Globals(
            counter=_singleton(gateway, "util.UniqueIdentifier$"),
            random=_singleton(gateway, "scala.util.Random$"),
            field=_declared_field(gateway, "scala.util.Random", "self"),
            routes=cast(JavaObject, routes),
        )
    return _globals[jvm]


_known_routes: weakref.WeakKeyDictionary[Jvm, dict[int, list[tuple[str, JavaObject]]]] = (
    weakref.WeakKeyDictionary()
)


def tour_routes(jvm: Jvm, gateway: Gateway, tours: int) -> list[tuple[str, JavaObject]]:
    """Return the tour from each room as the simulator keeps it: its actions, door by door."""
    known = _known_routes.setdefault(jvm, {})
    if tours not in known:
        text = gateway.call(
            static("java.lang.Class"), "forName", "java.lang.String", timeout=_SECONDS
        )
        made = []
        for start in ROOMS:
            doors = [
                _array(gateway, text, through_door(room), _SECONDS) for room in tour(start, tours)
            ]
            kind = gateway.call(doors[0], "getClass", timeout=_SECONDS)
            made.append((start, _array(gateway, kind, doors, _SECONDS)))
        known[tours] = made
    return known[tours]


def _array(
    gateway: Gateway, kind: JavaValue, entries: Sequence[JavaValue], timeout: float
) -> JavaObject:
    arrays = static("java.lang.reflect.Array")
    made = gateway.call(arrays, "newInstance", kind, len(entries), timeout=timeout)
    for index, entry in enumerate(entries):
        gateway.call(arrays, "set", made, index, entry, timeout=timeout)
    return cast(JavaObject, made)


def _singleton(gateway: Gateway, class_name: str) -> JavaObject:
    """Return a Scala object."""
    field = _declared_field(gateway, class_name, "MODULE$")
    return cast(JavaObject, gateway.call(field, "get", None, timeout=_SECONDS))


def _declared_field(gateway: Gateway, class_name: str, name: str) -> JavaObject:
    call = partial(gateway.call, timeout=_SECONDS)
    class_object = cast(JavaObject, call(static("java.lang.Class"), "forName", class_name))
    field = cast(JavaObject, call(class_object, "getDeclaredField", name))
    call(field, "setAccessible", True)
    return field
