"""Lists the levels in the order of the task ids, and builds one with minigrid.

Levels are built from their class, without `gymnasium.make`'s wrappers, which would only cost time.
Building one takes less than a tenth of resetting it, so none is cached.
"""

from __future__ import annotations

from functools import cache, partial
from importlib import import_module
from typing import Any

import gymnasium as gym
import minigrid
from minigrid.core.roomgrid import RoomGrid
from minigrid.envs.babyai.core.roomgrid_level import RejectSampling

AGENTGYM_LEVELS: tuple[str, ...] = (
    "BabyAI-GoToRedBallGrey-v0",
    "BabyAI-GoToRedBall-v0",
    "BabyAI-GoToRedBallNoDists-v0",
    "BabyAI-GoToObjS6-v0",
    "BabyAI-GoToLocalS8N7-v0",
    "BabyAI-GoToObjMazeS7-v0",
    "BabyAI-GoToImpUnlock-v0",
    "BabyAI-GoToSeqS5R2-v0",
    "BabyAI-GoToRedBlueBall-v0",
    "BabyAI-GoToDoor-v0",
    "BabyAI-GoToObjDoor-v0",
    "BabyAI-Open-v0",
    "BabyAI-OpenRedDoor-v0",
    "BabyAI-OpenDoorLoc-v0",
    "BabyAI-OpenRedBlueDoorsDebug-v0",
    "BabyAI-OpenDoorsOrderN4Debug-v0",
    "BabyAI-Pickup-v0",
    "BabyAI-UnblockPickup-v0",
    "BabyAI-PickupLoc-v0",
    "BabyAI-PickupDistDebug-v0",
    "BabyAI-PickupAbove-v0",
    "BabyAI-PutNextLocalS6N4-v0",
    "BabyAI-PutNextS7N4Carrying-v0",
    "BabyAI-Unlock-v0",
    "BabyAI-UnlockLocalDist-v0",
    "BabyAI-KeyInBox-v0",
    "BabyAI-UnlockPickupDist-v0",
    "BabyAI-BlockedUnlockPickup-v0",
    "BabyAI-UnlockToUnlock-v0",
    "BabyAI-ActionObjDoor-v0",
    "BabyAI-FindObjS7-v0",
    "BabyAI-KeyCorridorS6R3-v0",
    "BabyAI-OneRoomS20-v0",
    "BabyAI-MoveTwoAcrossS8N9-v0",
    "BabyAI-SynthS5R2-v0",
    "BabyAI-SynthLoc-v0",
    "BabyAI-SynthSeq-v0",
    "BabyAI-MiniBossLevel-v0",
    "BabyAI-BossLevel-v0",
    "BabyAI-BossLevelNoUnlock-v0",
)

FURTHER_LEVELS: tuple[str, ...] = (
    "BabyAI-FindObjS5-v0",
    "BabyAI-FindObjS6-v0",
    "BabyAI-GoTo-v0",
    "BabyAI-GoToLocal-v0",
    "BabyAI-GoToLocalS5N2-v0",
    "BabyAI-GoToLocalS6N2-v0",
    "BabyAI-GoToLocalS6N3-v0",
    "BabyAI-GoToLocalS6N4-v0",
    "BabyAI-GoToLocalS7N4-v0",
    "BabyAI-GoToLocalS7N5-v0",
    "BabyAI-GoToLocalS8N2-v0",
    "BabyAI-GoToLocalS8N3-v0",
    "BabyAI-GoToLocalS8N4-v0",
    "BabyAI-GoToLocalS8N5-v0",
    "BabyAI-GoToLocalS8N6-v0",
    "BabyAI-GoToObj-v0",
    "BabyAI-GoToObjMaze-v0",
    "BabyAI-GoToObjMazeOpen-v0",
    "BabyAI-GoToObjMazeS4-v0",
    "BabyAI-GoToObjMazeS4R2-v0",
    "BabyAI-GoToObjMazeS5-v0",
    "BabyAI-GoToObjMazeS6-v0",
    "BabyAI-GoToObjS4-v0",
    "BabyAI-GoToObjS6-v1",
    "BabyAI-GoToOpen-v0",
    "BabyAI-GoToSeq-v0",
    "BabyAI-KeyCorridor-v0",
    "BabyAI-KeyCorridorS3R1-v0",
    "BabyAI-KeyCorridorS3R2-v0",
    "BabyAI-KeyCorridorS3R3-v0",
    "BabyAI-KeyCorridorS4R3-v0",
    "BabyAI-KeyCorridorS5R3-v0",
    "BabyAI-MoveTwoAcrossS5N2-v0",
    "BabyAI-OneRoomS12-v0",
    "BabyAI-OneRoomS16-v0",
    "BabyAI-OneRoomS8-v0",
    "BabyAI-OpenDoor-v0",
    "BabyAI-OpenDoorColor-v0",
    "BabyAI-OpenDoorDebug-v0",
    "BabyAI-OpenDoorsOrderN2-v0",
    "BabyAI-OpenDoorsOrderN2Debug-v0",
    "BabyAI-OpenDoorsOrderN4-v0",
    "BabyAI-OpenRedBlueDoors-v0",
    "BabyAI-OpenTwoDoors-v0",
    "BabyAI-PickupDist-v0",
    "BabyAI-PutNextLocal-v0",
    "BabyAI-PutNextLocalS5N3-v0",
    "BabyAI-PutNextS4N1-v0",
    "BabyAI-PutNextS5N1-v0",
    "BabyAI-PutNextS5N2-v0",
    "BabyAI-PutNextS5N2Carrying-v0",
    "BabyAI-PutNextS6N3-v0",
    "BabyAI-PutNextS6N3Carrying-v0",
    "BabyAI-PutNextS7N4-v0",
    "BabyAI-Synth-v0",
    "BabyAI-UnlockLocal-v0",
    "BabyAI-UnlockPickup-v0",
)

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

SOURCE = f"minigrid-{minigrid.__version__}/v1"

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
