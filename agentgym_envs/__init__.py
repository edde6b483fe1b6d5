"""The AgentGym scenarios as Gymnasium text environments.

Importing this package registers the ids below; nothing heavy is imported until `gymnasium.make`.
"""

import sys

from agentgym_envs.checking import ConformanceError, check_text_env
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.snapshots import restore
from agentgym_envs.core.spaces import FreeText
from agentgym_envs.core.tasks import ListedTasks, TaskSet, TaskSpec
from agentgym_envs.errors import EnvFailure, InvalidAction, NoExpert, UnknownTask
from agentgym_envs.machinery import cancellation
from agentgym_envs.registration.registry import (
    register_env,
    register_unlisted,
    registered_ids,
    resolve_env_id,
)
from agentgym_envs.registration.server_names import PROTOCOLS
from agentgym_envs.sites import content as site_content
from agentgym_envs.trajectories import agenttraj
from agentgym_envs.trajectories.trajectory import (
    TokenTrace,
    Trajectory,
    Turn,
    read_jsonl,
    write_jsonl,
)

__all__ = [
    "ConformanceError",
    "EnvFailure",
    "ExpertMove",
    "FreeText",
    "InvalidAction",
    "ListedTasks",
    "Outcome",
    "TaskSet",
    "TaskSpec",
    "TextEnv",
    "TokenTrace",
    "Trajectory",
    "Turn",
    "NoExpert",
    "UnknownTask",
    "check_text_env",
    "read_jsonl",
    "register_env",
    "registered_ids",
    "resolve_env_id",
    "restore",
    "write_jsonl",
]
__version__ = "0.2.0"

_SCENARIOS = {
    "agentgym/BabyAI-v0": "agentgym_envs.babyai.env:BabyAIEnv",
    "agentgym/TextCraft-v0": "agentgym_envs.textcraft.env:TextCraftEnv",
    "agentgym/SciWorld-v0": "agentgym_envs.sciworld.env:SciWorldEnv",
    "agentgym/SearchQA-v0": "agentgym_envs.searchqa.env:SearchQAEnv",
    "agentgym/WebArena-v0": "agentgym_envs.webarena.env:WebArenaEnv",
    "agentgym/ALFWorld-v0": "agentgym_envs.alfworld.env:ALFWorldEnv",
    "agentgym/MiniWoB-v0": "agentgym_envs.miniwob.env:MiniWoBEnv",
    "agentgym/SQL-v0": "agentgym_envs.sql.env:SQLEnv",
    "agentgym/WebShop-v0": "agentgym_envs.webshop.env:WebShopEnv",
    "agentgym/Wordle-v0": "agentgym_envs.wordle.env:WordleEnv",
    "agentgym/Maze-v0": "agentgym_envs.maze.env:MazeEnv",
}

for _env_id, _entry_point in _SCENARIOS.items():
    register_env(_env_id, _entry_point)

register_unlisted(
    "agentgym/WebArenaOfficial-v0",
    "agentgym_envs.webarena.official.env:WebArenaOfficialEnv",
    needs="sites that you host and the official extra",
)
for _protocol in PROTOCOLS.values():
    register_unlisted(_protocol.env_id, _protocol.entry_point)

# Where these modules were in 0.1, until 0.3.
for _path, _module in {
    "agenttraj": agenttraj,
    "hung": cancellation,
    "webarena.sites.content": site_content,
}.items():
    sys.modules[f"{__name__}.{_path}"] = _module
