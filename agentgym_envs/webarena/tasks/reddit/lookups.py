"""Templates that ask about lists of posts and about threads."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.reddit.template_helpers import (
    ME,
    SITE,
    author_of,
    comments_on,
    narrow,
    open_community,
    open_post,
    posts_on,
)
from agentgym_envs.webarena.tasks.screen import Screen, first_of, over_pages
from agentgym_envs.webarena.tasks.template import Case, Template, World, exact_answer

_PERIODS = {
    "of all time": ("Any time", 10_000),
    "of the last 365 days": ("A year", 365),
    "of the last 30 days": ("30 days", 30),
}
_RECENT = "AND p.created_at >= datetime(?, '-' || ? || ' days')"


def pick_forum(world: World, rng: random.Random) -> tuple[int, str]:
    """Draw a community: its id and title."""
    row = rng.choice(world.rows(SITE, "SELECT id, title FROM forums ORDER BY id"))
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

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community and a period with one best post."""
        forum, title = pick_forum(world, rng)
        period = rng.choice(list(_PERIODS))
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by points and read the first post."""
        yield from open_community(screen, case.values["community"])
        yield screen.click("link", "Top", "Sorted so, the post with the most points comes first.")
        yield from narrow(screen, within=case.notes["within"])
        best = first_of(posts_on(screen))
        yield screen.stop(str(best.num_comments), f"The first post is {best.title!r}.")


class BusiestAuthor(Template):
    """Who wrote most of a community's newest posts."""

    number = 88
    sites = (SITE,)
    split = "train"
    intent = (
        "Who has written the most of the newest {n} posts in the community {community}? "
        "Answer with the user name."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community where one author leads."""
        forum, title = pick_forum(world, rng)
        number = rng.choice((10, 20, 30))
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by date and count over the pages."""
        yield from open_community(screen, case.values["community"])
        yield screen.click("link", "New", "I need the newest posts.")
        number = int(case.values["n"])
        authors = [post.author for post in posts_on(screen)]
        while len(authors) < number:
            yield screen.click("link", "Next", f"I have counted {len(authors)} posts so far.")
            authors += [post.author for post in posts_on(screen)]
        name, times = Counter(authors[:number]).most_common(1)[0]
        yield screen.stop(name, f"{name} has written {times} of them.")


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

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a thread of several pages at most."""
        rows = world.rows(
            SITE,
            "SELECT p.title, sum(c.score < 0) AS below, max(c.score) AS most FROM posts p "
            "JOIN comments c ON c.post_id = p.id GROUP BY p.id "
            "HAVING count(*) >= 7 AND sum(c.score < 0) > 0 ORDER BY p.id",
        )
        row = rng.choice(rows)
        return Case({"title": row["title"]}, exact_answer(f"{row['below']}, {row['most']}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read all pages of comments."""
        yield from open_post(screen, case.values["title"])
        points = yield from over_pages(screen, lambda: [c.points for c in comments_on(screen)])
        below = sum(number < 0 for number in points)
        yield screen.stop(f"{below}, {max(points)}", "I have seen all comments.")


class PeopleInThread(Template):
    """How many people took part in a thread, and how often its author answered there."""

    number = 99
    sites = (SITE,)
    split = "train"
    intent = (
        'How many different people other than its author have commented on the post "{title}", '
        "and how many of the comments are by its author? Answer with the two numbers, like 5, 2"
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a thread that its author came back to."""
        rows = world.rows(
            SITE,
            "SELECT p.title, sum(c.user_id = p.user_id) AS own, "
            "count(DISTINCT c.user_id) - 1 AS others FROM posts p "
            "JOIN comments c ON c.post_id = p.id WHERE p.user_id <> ? GROUP BY p.id "
            "HAVING count(*) >= 6 AND sum(c.user_id = p.user_id) > 0 ORDER BY p.id",
            ME,
        )
        row = rng.choice(rows)
        return Case({"title": row["title"]}, exact_answer(f"{row['others']}, {row['own']}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the author's name, then count over the pages."""
        yield from open_post(screen, case.values["title"])
        author = author_of(screen)
        writers = yield from over_pages(screen, lambda: _writers_on(screen))
        own, others = writers.count(author), len(set(writers) - {author})
        yield screen.stop(f"{others}, {own}", f"The author {author} has written {own} of them.")


def _writers_on(screen: Screen) -> list[str]:
    """List the authors of the comments on the page; deleted ones have none."""
    return [remark.node.name.removeprefix("Comment by ") for remark in comments_on(screen)]


LOOKUPS: tuple[Template, ...] = (
    TopPostComments(),
    BusiestAuthor(),
    NegativeComments(),
    PeopleInThread(),
)
