"""Lists the levels in the order of the task ids, and builds one with minigrid.

Levels are built from their class, without `gymnasium.make`'s wrappers, which would only cost time.
Building one takes less than a tenth of resetting it, so none is cached.
"""

from __future__ import annotations

import tomllib
from functools import cache, partial
from importlib import import_module
from importlib.resources import files
from typing import Any

import gymnasium as gym
import minigrid
from minigrid.core.roomgrid import RoomGrid
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling

_LEVELS = tomllib.loads(files("agentgym_envs.babyai").joinpath("levels.toml").read_text("utf-8"))
AGENTGYM_LEVELS: tuple[str, ...] = tuple(_LEVELS["agentgym"])
FURTHER_LEVELS: tuple[str, ...] = tuple(_LEVELS["further"])

PICKUP_LEVELS: tuple[str, ...] = (
    "BabyAI-PickupLoc-v0",
    "BabyAI-PickupDistDebug-v0",
    "BabyAI-PickupAbove-v0",
)
"""The paper (arXiv 2509.08755) counts three but does not name them. These are the ones of
AgentGym's five that stay within its 20 turns even one step at a time; the others take up to 50."""

SUBTASKS: dict[str, str] = {
    **dict.fromkeys(AGENTGYM_LEVELS[:11], "GoTo"),
    **dict.fromkeys(PICKUP_LEVELS, "Pickup"),
    "BabyAI-ActionObjDoor-v0": "ActionObjDoor",
    "BabyAI-FindObjS7-v0": "FindObjS7",
    "BabyAI-OneRoomS20-v0": "OneRoomS20",
    "BabyAI-SynthLoc-v0": "SynthLoc",
}

SOURCE = f"minigrid-{minigrid.__version__}/v2"

# minigrid 3.2 renamed these; the arguments give the same grids and missions as before.
_MOVED: dict[str, tuple[str, dict[str, Any]]] = {
    "BabyAI-GoToObjS6-v0": ("minigrid.envs.babyai:GoToObj", {"room_size": 4}),
}


def make_level(name: str, seed: int, *, render_mode: str | None = None) -> tuple[Any, Any]:
    """Build a level and reset it.

    Args:
        name: one of `AGENTGYM_LEVELS` or `FURTHER_LEVELS`.
        seed: the layout; any int >= 0.
        render_mode: None or `"rgb_array"`.

    Returns:
        the simulator and its own first observation.
    """
    level_class, arguments = _class_of(name)
    level = level_class(**arguments, render_mode=render_mode)
    level._gen_grid = partial(_generate, level)
    observation, _ = level.reset(seed=seed)
    return level, observation


@cache
def _class_of(name: str) -> tuple[Any, dict[str, Any]]:
    if name in _MOVED:
        entry_point, arguments = _MOVED[name]
    else:
        spec = gym.spec(name)
        entry_point, arguments = str(spec.entry_point), dict(spec.kwargs)
    module, _, class_name = entry_point.partition(":")
    return getattr(import_module(module), class_name), arguments


def _generate(level: Any, width: int, height: int) -> None:
    # minigrid's own loop prints each rejected sample to stdout; this one draws the same numbers.
    while True:
        try:
            RoomGrid._gen_grid(level, width, height)
            level.gen_mission()
            level.validate_instrs(level.instrs)
        except (RecursionError, RejectSampling):
            continue
        break
    level.surface = level.instrs.surface(level)
    level.mission = level.surface
