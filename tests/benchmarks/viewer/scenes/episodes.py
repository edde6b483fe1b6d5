"""Recorded episodes to look at: the expert's, in environments that start at once."""

from __future__ import annotations

from typing import Any

from agentgym_envs import Trajectory
from trainers.policies.scripted import play
from wrappers import TextVectorEnv

PLAYED = {
    "agentgym/TextCraft-v0": "textcraft_7",
    "agentgym/BabyAI-v0": "babyai_8",
    "agentgym/ALFWorld-v0": "alfworld_2500",
    "agentgym/SQL-v0": "sql_2350",
    "agentgym/WebShop-v0": "webshop_6804",
    "agentgym/Maze-v0": "maze_4",
    "agentgym/Wordle-v0": "wordle_10003",
}


def expert_episode(env_id: str, **kwargs: Any) -> Trajectory:
    """Play an environment's task; each call gives an episode of its own."""
    with TextVectorEnv(env_id, 1, **{"action_format": "react", **kwargs}) as envs:
        (episode,) = play(envs, [PLAYED[env_id]], "expert")
    return episode
