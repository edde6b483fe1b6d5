"""Solves tasks that ask about lists of posts and about threads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.steps import (
    Remark,
    author_of,
    comments_on,
    narrow,
    open_community,
    open_post,
    posts_on,
)
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of, over_pages
from agentgym_envs.webarena.tasks.solution import Case

PERIODS = {
    "of all time": ("Any time", 10_000),
    "of the last 365 days": ("A year", 365),
    "of the last 30 days": ("30 days", 30),
    "of the last 7 days": ("7 days", 7),
}
"""What the site calls a period, and its days."""


def top_post_comments(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort by points and read the first post."""
    yield from _show_top_posts(case, screen)
    best = first_of(posts_on(screen))
    yield screen.stop(str(best.num_comments), f"The first post is {best.title!r}.")


def top_post_of_none(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look for the first post; the list is empty."""
    yield from _show_top_posts(case, screen)
    if posts_on(screen):
        raise ElementNotFound("there is a post after all")
    yield screen.give_up(f"Nobody has published a post {case.values['period']} there.")


def _show_top_posts(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "Top", "Sorted so, the post with the most points comes first.")
    within, _ = PERIODS[case.values["period"]]
    yield from narrow(screen, within=within)


def busiest_author(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def negative_comments(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read all pages of comments."""
    yield from open_post(screen, case.values["title"])
    points = yield from over_pages(screen, lambda: [c.points for c in comments_on(screen)])
    below = sum(number < 0 for number in points)
    yield screen.stop(f"{below}, {max(points)}", "I have seen all comments.")


def people_in_thread(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the author's name, then count over the pages."""
    yield from open_post(screen, case.values["title"])
    author = author_of(screen)
    writers = yield from over_pages(screen, lambda: _writers_on(screen))
    own, others = writers.count(author), len(set(writers) - {author})
    yield screen.stop(f"{others}, {own}", f"The author {author} has written {own} of them.")


def best_commenters(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read all pages of comments."""
    yield from open_post(screen, case.values["title"])
    comments = yield from over_pages(screen, lambda: comments_on(screen))
    least = int(case.values["points"])
    users = {_writer(remark) for remark in comments if remark.points >= least}
    yield screen.stop(", ".join(sorted(users)), "I have seen all comments.")


def _writers_on(screen: Screen) -> list[str]:
    """List the authors of the comments on the page; deleted ones have none."""
    return [_writer(remark) for remark in comments_on(screen)]


def _writer(remark: Remark) -> str:
    return remark.node.name.removeprefix("Comment by ")
