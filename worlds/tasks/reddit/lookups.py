"""Templates that ask about lists of posts and about threads."""

from __future__ import annotations

from collections import Counter

from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.reddit.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.reddit.draws import ME
from worlds.tasks.template import Case, Template, World, exact_answer

_PERIODS = {
    "of all time": ("Any time", 10_000),
    "of the last 365 days": ("A year", 365),
    "of the last 30 days": ("30 days", 30),
}

_RECENT = "AND p.created_at >= datetime(?, '-' || ? || ' days')"


def pick_forum(world: World, dice: Dice) -> tuple[int, str]:
    """Draw a community: its id and title."""
    row = dice.pick(world.rows(SITE, "SELECT id, title FROM forums ORDER BY id"))
    return row["id"], row["title"]


class TopPostComments(Template):
    """The number of comments of a community's best post."""

    number = 80
    sites = (SITE,)
    split = "train"
    intent = (
        "Which post {period} in the community {community} has the most points, and how many "
        "comments has it got? Answer with the number of comments alone."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a period with one best post."""
        forum, title = pick_forum(world, dice)
        period = dice.pick(list(_PERIODS))
        within, days = _PERIODS[period]
        rows = world.rows(
            SITE,
            f"SELECT score, num_comments FROM posts p WHERE forum_id = ? {_RECENT} "
            "ORDER BY score DESC LIMIT 2",
            forum,
            NOW,
            days,
        )
        if len(rows) < 2 or rows[0]["score"] == rows[1]["score"]:
            return None
        return Case(
            {"community": title, "period": period},
            exact_answer(str(rows[0]["num_comments"])),
            {"within": within},
        )


class BusiestAuthor(Template):
    """Who wrote most of a community's newest posts."""

    number = 88
    sites = (SITE,)
    split = "train"
    intent = (
        "Who has written the most of the newest {n} posts in the community {community}? "
        "Answer with the user name."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community where one author leads."""
        forum, title = pick_forum(world, dice)
        number = dice.pick((10, 20, 30))
        rows = world.rows(
            SITE,
            "SELECT u.username FROM posts p JOIN users u ON u.id = p.user_id "
            "WHERE p.forum_id = ? ORDER BY p.id DESC LIMIT ?",
            forum,
            number,
        )
        ranks = Counter(row["username"] for row in rows).most_common(2)
        if len(rows) < number or len(ranks) < 2 or ranks[0][1] == ranks[1][1]:
            return None
        return Case({"community": title, "n": str(number)}, exact_answer(ranks[0][0]))


class NegativeComments(Template):
    """How many comments of a thread are below zero, and how the best one does."""

    number = 91
    sites = (SITE,)
    split = "validation"
    intent = (
        'How many of the comments on the post "{title}", replies included, have fewer than 0 '
        "points, and how many points has the one with the most? Answer with the two numbers, like "
        "2, 14"
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a thread of several pages at most."""
        rows = world.rows(
            SITE,
            "SELECT p.title, sum(c.score < 0) AS below, max(c.score) AS most FROM posts p "
            "JOIN comments c ON c.post_id = p.id GROUP BY p.id "
            "HAVING count(*) >= 7 AND sum(c.score < 0) > 0 ORDER BY p.id",
        )
        row = dice.pick(rows)
        return Case({"title": row["title"]}, exact_answer(f"{row['below']}, {row['most']}"))


class PeopleInThread(Template):
    """How many people took part in a thread, and how often its author answered there."""

    number = 99
    sites = (SITE,)
    split = "train"
    intent = (
        'How many different people other than its author have commented on the post "{title}", '
        "and how many of the comments are by its author? Answer with the two numbers, like 5, 2"
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a thread that its author came back to."""
        rows = world.rows(
            SITE,
            "SELECT p.title, sum(c.user_id = p.user_id) AS own, "
            "count(DISTINCT c.user_id) - 1 AS others FROM posts p "
            "JOIN comments c ON c.post_id = p.id WHERE p.user_id <> ? GROUP BY p.id "
            "HAVING count(*) >= 6 AND sum(c.user_id = p.user_id) > 0 ORDER BY p.id",
            ME,
        )
        row = dice.pick(rows)
        return Case({"title": row["title"]}, exact_answer(f"{row['others']}, {row['own']}"))


LOOKUPS: tuple[Template, ...] = (
    TopPostComments(),
    BusiestAuthor(),
    NegativeComments(),
    PeopleInThread(),
)
