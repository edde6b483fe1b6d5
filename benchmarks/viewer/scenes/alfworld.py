"""ALFWorld's scene: every place with its things, and whether it was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from agentgym_envs.alfworld.house import House, Place, Thing
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.scenes.replay import replay

_STATES = {"hot": "is_hot", "cool": "is_cool", "clean": "is_clean", "sliced": "is_sliced"}
_STATES["on"] = "is_toggled"


def alfworld_scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about` and `turns` of an episode.

    Raises:
        NotReplayed: it cannot be played again.
    """
    env, turns = replay(trajectory, folder, lambda env, _: look(env.house))
    house: House = env.house  # type: ignore[attr-defined]
    wanted = [house.task.thing, house.task.target]
    return {"about": {"goal": env.goal, "wanted": wanted}, "turns": turns}


def look(house: House) -> dict[str, Any]:
    """Return where everything is now."""
    return {
        "at": house.at and house.at.name,
        "held": house.held and _shown(house.held),
        "places": [
            [place.name, _door(place), place.is_seen, [_shown(thing) for thing in place.contents]]
            for place in house.places
        ],
    }


def _door(place: Place) -> str:
    return "closed" if place.is_closed else "open" if place.is_open else ""


def _shown(thing: Thing) -> list[str]:
    return [thing.name, *(word for word, state in _STATES.items() if getattr(thing, state))]
