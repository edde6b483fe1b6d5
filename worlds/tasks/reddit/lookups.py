"""Templates that ask about lists of posts and about threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.state import NOW
from worlds.dice import Dice
from worlds.tasks.goals import all_of, answers, name, number, set_of
from worlds.tasks.reddit.draws import ME, pick_forum
from worlds.tasks.reddit.steps import (
    SITE,
    Remark,
    author_of,
    comments_on,
    narrow,
    open_community,
    open_post,
    posts_on,
)
from worlds.tasks.screen import Screen, first_of, over_pages
from worlds.tasks.template import Case, Template, World

BEST_POSTS = (
    "SELECT score, num_comments FROM posts WHERE forum_id = ? "
    "AND created_at >= datetime(?, '-' || ? || ' days') ORDER BY score DESC LIMIT 2"
)


PERIODS = {
    "of all time": ("Any time", 10_000),
    "of the last 365 days": ("A year", 365),
    "of the last 30 days": ("30 days", 30),
    "of the last 7 days": ("7 days", 7),
}
"""The site's name of a period, and its days."""


def show_top_posts(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """List the posts of the case's community and period, those with the most points first."""
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "Top", "Sorted so, the post with the most points comes first.")
    within, _ = PERIODS[case.values["period"]]
    yield from narrow(screen, within=within)


class TopPostComments(Template):
    """The number of comments of a community's best post."""

    number = 80
    sites = (SITE,)
    split = "train"
    intents = (
        "How many comments has {community}'s top-scoring post {period}?",
        "How many comments has the post {period} with the most points in {community}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a period with one best post."""
        forum, community = pick_forum(world, dice)
        period = dice.pick(list(PERIODS))
        posts = world.rows(SITE, BEST_POSTS, forum, NOW, PERIODS[period][1])
        if not posts or len({post["score"] for post in posts}) < len(posts):
            return None
        goal = answers(number(posts[0]["num_comments"], "comment"))
        return Case({"community": community, "period": period}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by points and read the first post."""
        yield from show_top_posts(case, screen)
        best = first_of(posts_on(screen))
        yield screen.stop(str(best.num_comments), f"The first post is {best.title!r}.")


class BusiestAuthor(Template):
    """The author of most of a community's newest posts."""

    number = 88
    sites = (SITE,)
    split = "train"
    intents = (
        "Who wrote the most of {community}'s {n} newest posts?",
        "Which user wrote the most of the {n} newest posts in {community}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community where one author leads."""
        forum, community = pick_forum(world, dice)
        count = dice.pick((10, 20, 30))
        rows = world.rows(
            SITE,
            "SELECT u.username FROM posts p JOIN users u ON u.id = p.user_id "
            "WHERE p.forum_id = ? ORDER BY p.id DESC LIMIT ?",
            forum,
            count,
        )
        ranks = Counter(row["username"] for row in rows).most_common(2)
        if len(rows) < count or len(ranks) < 2 or ranks[0][1] == ranks[1][1]:
            return None
        return Case({"community": community, "n": str(count)}, answers(name(ranks[0][0])))

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
    """The number of a thread's comments below zero, and the score of the best one."""

    number = 91
    sites = (SITE,)
    split = "validation"
    intents = (
        'How many comments on "{title}" have negative points? How many points has the best?',
        'How many of the comments on "{title}" have fewer than 0 points, and how many has the '
        "best one?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a thread of several pages at most."""
        rows = world.rows(
            SITE,
            "SELECT p.title, sum(c.score < 0) AS below, max(c.score) AS most FROM posts p "
            "JOIN comments c ON c.post_id = p.id GROUP BY p.id "
            "HAVING count(*) >= 7 AND sum(c.score < 0) > 0 ORDER BY p.id",
        )
        post = dice.pick(rows)
        goal = answers(all_of(number(post["below"], "comment"), number(post["most"], "point")))
        return Case({"title": post["title"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read all pages of comments."""
        yield from open_post(screen, case.values["title"])
        points = yield from over_pages(screen, lambda: [c.points for c in comments_on(screen)])
        below = sum(number < 0 for number in points)
        yield screen.stop(f"{below}, {max(points)}", "I have seen all comments.")


def _writers_on(screen: Screen) -> list[str]:
    """List the authors of the comments on the page."""
    return [_writer(remark) for remark in comments_on(screen)]


class PeopleInThread(Template):
    """The number of people in a thread, and of its author's answers there."""

    number = 99
    sites = (SITE,)
    split = "train"
    intents = (
        'How many people besides its author commented on "{title}"? How many comments are the '
        "author's?",
        'How many people other than its author commented on the post "{title}", and how many of '
        "the comments did the author write?",
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
        post = dice.pick(rows)
        goal = answers(all_of(number(post["others"], "people"), number(post["own"], "comment")))
        return Case({"title": post["title"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the author's name, then count over the pages."""
        yield from open_post(screen, case.values["title"])
        author = author_of(screen)
        writers = yield from over_pages(screen, lambda: _writers_on(screen))
        own, others = writers.count(author), len(set(writers) - {author})
        yield screen.stop(f"{others}, {own}", f"The author {author} has written {own} of them.")


def _writer(remark: Remark) -> str:
    return remark.node.name.removeprefix("Comment by ")


class BestCommenters(Template):
    """The authors of comments with many points in a thread."""

    number = 191
    sites = (SITE,)
    split = "test"
    intents = (
        'Whose comments on "{title}" have {points} or more points?',
        'Which users got at least {points} points for one of their comments on the post "{title}"?',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a thread and a number of points that three to six people reached."""
        posts = world.rows(
            SITE, "SELECT id, title FROM posts WHERE num_comments BETWEEN 6 AND 24 ORDER BY id"
        )
        post, points = dice.pick(posts), dice.between(3, 12)
        users = world.rows(
            SITE,
            "SELECT DISTINCT u.username FROM comments c JOIN users u ON u.id = c.user_id "
            "WHERE c.post_id = ? AND c.score >= ? ORDER BY u.username",
            post["id"],
            points,
        )
        if not 3 <= len(users) <= 6:
            return None
        goal = answers(set_of(*(name(user["username"]) for user in users)))
        return Case({"title": post["title"], "points": str(points)}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read all pages of comments."""
        yield from open_post(screen, case.values["title"])
        comments = yield from over_pages(screen, lambda: comments_on(screen))
        least = int(case.values["points"])
        users = {_writer(remark) for remark in comments if remark.points >= least}
        yield screen.stop(", ".join(sorted(users)), "I have seen all comments.")


LOOKUPS: tuple[Template, ...] = (
    TopPostComments(),
    BusiestAuthor(),
    NegativeComments(),
    PeopleInThread(),
    BestCommenters(),
)
