"""Constants and queries for drawing that the forum's templates share."""

from __future__ import annotations

from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.goals import page
from worlds.tasks.reddit.steps import SITE
from worlds.tasks.template import World

ME = AGENT_ID


def pick_forum(world: World, dice: Dice) -> tuple[int, str]:
    """Draw a community: its id and title."""
    row = dice.pick(world.rows(SITE, "SELECT id, title FROM forums ORDER BY id"))
    return row["id"], row["title"]


def forum_page(world: World, forum: int) -> str:
    """Return the addresses of a community's pages, behind a reason."""
    name = world.value(SITE, "SELECT name FROM forums WHERE id = ?", forum)
    return page(SITE, f"/c/{name}*")


def is_free(world: World, post_id: int) -> bool:
    """Return whether a post is by another user and without the agent's vote."""
    return not world.value(
        SITE,
        "SELECT 1 FROM posts p WHERE p.id = ? AND (p.user_id = ? OR EXISTS "
        "(SELECT 1 FROM post_votes v WHERE v.post_id = p.id AND v.user_id = ?))",
        post_id,
        ME,
        ME,
    )
