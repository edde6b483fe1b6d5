"""The forum's content: what its database holds when an episode begins."""

from __future__ import annotations

import sqlite3

import numpy as np

from agentgym_envs.webarena.sites.reddit.agent_content import fill_agent_content
from agentgym_envs.webarena.sites.reddit.dice import Dice
from agentgym_envs.webarena.sites.reddit.members import fill_communities, fill_users
from agentgym_envs.webarena.sites.reddit.schema import SCHEMA
from agentgym_envs.webarena.sites.reddit.threads import fill_threads

__all__ = ["NUM_POSTS", "SCHEMA", "fill"]

NUM_POSTS = 1600


def fill(connection: sqlite3.Connection, rng: np.random.Generator) -> None:
    """Write users, communities, posts, comments, and what is the agent's."""
    dice = Dice(rng)
    fill_users(connection, dice)
    communities = fill_communities(connection, dice)
    fill_threads(connection, communities, NUM_POSTS, dice)
    fill_agent_content(connection, dice)
