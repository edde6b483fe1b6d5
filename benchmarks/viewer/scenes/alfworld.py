"""ALFWorld's scene: every place with its things, and whether it was seen."""

from __future__ import annotations

from typing import Any

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.house import Place, Thing

_STATES = {
    "hot": "is_hot",
    "cool": "is_cool",
    "clean": "is_clean",
    "sliced": "is_sliced",
    "on": "is_toggled",
}


def about(env: ALFWorldEnv) -> dict[str, Any]:
    """Return the goal, with its kinds of thing and place."""
    return {"goal": env.goal, "wanted": [env.house.task.thing, env.house.task.target]}


def look(env: ALFWorldEnv) -> dict[str, Any]:
    """Return the places and things."""
    house = env.house
    return {
        "at": house.at and house.at.name,
        "held": house.held and _thing(house.held),
        "places": [
            [place.name, _door(place), place.is_seen, [_thing(thing) for thing in place.contents]]
            for place in house.places
        ],
    }


def _door(place: Place) -> str:
    return "closed" if place.is_closed else "open" if place.is_open else ""


def _thing(thing: Thing) -> list[str]:
    return [thing.name, *(word for word, state in _STATES.items() if getattr(thing, state))]
