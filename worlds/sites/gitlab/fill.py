"""Fills the code host's database."""

from __future__ import annotations

import sqlite3

from worlds.sites.gitlab.accounts import make_follows, make_users
from worlds.sites.gitlab.discussions import make_issues
from worlds.sites.gitlab.merges import make_merge_requests
from worlds.sites.gitlab.projects import make_projects
from worlds.sites.gitlab.repositories import make_repository
from worlds.sites.gitlab.todos import make_todos
from worlds.sites.setting import Setting


def fill(connection: sqlite3.Connection, setting: Setting) -> None:
    """Fill the empty tables with the people, projects and work of the code host."""
    dice = setting.dice("gitlab")
    users = make_users(connection, dice, setting)
    make_follows(connection, dice, len(users))
    for project in make_projects(connection, dice, users, setting.scale):
        make_repository(connection, dice, project)
        make_issues(connection, dice, project)
        make_merge_requests(connection, dice, project)
    make_todos(connection, dice)
