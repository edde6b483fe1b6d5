"""Fills the forum's database."""

from __future__ import annotations

import sqlite3

from worlds.sites.reddit.agent_content import fill_agent_content
from worlds.sites.reddit.members import fill_communities, fill_users
from worlds.sites.reddit.threads import fill_threads
from worlds.sites.setting import Setting

NUM_POSTS = 1600
NUM_USERS = 300


def fill(connection: sqlite3.Connection, setting: Setting) -> None:
    """Write users, communities, posts, comments, and the agent's content."""
    dice = setting.dice("reddit")
    users = setting.people[: NUM_USERS * setting.scale]
    fill_users(connection, dice, users)
    communities = fill_communities(connection, dice, len(users))
    fill_threads(connection, communities, NUM_POSTS * setting.scale, dice)
    fill_agent_content(connection, dice, len(users))
