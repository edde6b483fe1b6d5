"""Helps the forum's templates: goal states, and the ways an expert walks."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Any

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.page import Node
from agentgym_envs.webarena.sites.people import AGENT_ID
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter, first_of
from agentgym_envs.webarena.tasks.template import World, state_of

SITE = "reddit"
ME = AGENT_ID

FLAIRS = ("Question", "Review", "Story", "Advice", "Discussion", "Event", "For sale", "News")

_TOTALS = {
    "posts": "SELECT count(*) FROM posts",
    "comments": "SELECT count(*) FROM comments WHERE NOT is_deleted",
    "edited_posts": "SELECT sum(is_edited) FROM posts",
    "edited_comments": "SELECT sum(is_edited) FROM comments",
    "locked_posts": "SELECT sum(is_locked) FROM posts",
    "post_votes": "SELECT count(*) FROM post_votes",
    "sum_of_post_votes": "SELECT sum(value) FROM post_votes",
    "comment_votes": "SELECT count(*) FROM comment_votes",
    "sum_of_comment_votes": "SELECT sum(value) FROM comment_votes",
    "saved_posts": "SELECT count(*) FROM saved_posts",
    "messages": "SELECT count(*) FROM messages",
    "forums": "SELECT count(*) FROM forums",
    "moderators": "SELECT count(*) FROM moderators",
    "subscriptions": "SELECT count(*) FROM subscriptions",
    "blocked_users": "SELECT count(*) FROM blocked_users",
    "users": "SELECT count(*) FROM users",
}
_QUERY = "SELECT " + ", ".join(f"({query})" for query in _TOTALS.values())


def expected(query: str, *rows: tuple[Any, ...]) -> dict[str, Any]:
    """Describe what a query on the forum must give."""
    return state_of(SITE, query, rows)


def totals(world: World, **changes: int) -> dict[str, Any]:
    """Describe how many things of each kind there must be: as many as before, but for `changes`."""
    unknown = set(changes) - set(_TOTALS)
    if unknown:
        raise ValueError(f"unknown totals {sorted(unknown)}; allowed: {', '.join(_TOTALS)}")
    before = world.rows(SITE, _QUERY)[0]
    after = [value + changes.get(name, 0) for name, value in zip(_TOTALS, before, strict=True)]
    return state_of(SITE, _QUERY, [after])


def last_id(world: World, table: str) -> int:
    """Return the highest id of a table."""
    number: int = world.value(SITE, f"SELECT max(id) FROM {table}")
    return number


# Reading ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """A post as a list shows it.

    Attributes:
        title: of the post.
        author: user name.
        forum: title of the community; empty where the list is that of one.
        num_comments: how many there are.
        points: its score.
    """

    title: str
    author: str
    forum: str
    num_comments: int
    points: int


def posts_on(screen: Screen) -> list[Shown]:
    """Read the posts that the current page lists."""
    lists = screen.all("list", "Posts")
    return [_post(screen, item) for item in screen.below(lists[0], "listitem")] if lists else []


def first_post(screen: Screen, fits: Callable[[Shown], bool] = lambda post: True) -> Shown | None:
    """Return the first listed post that fits, reading no further; None if none does."""
    items = [item for posts in screen.all("list", "Posts") for item in posts.children]
    return next((post for item in items if fits(post := _post(screen, item))), None)


def _post(screen: Screen, item: Node) -> Shown:
    links = [link.name for link in screen.below(item, "link")]
    texts = " ".join(text.name for text in screen.below(item, "StaticText"))
    match = re.search(r"(-?\d+) points?.* (\d+) comments?", texts)
    if match is None or len(links) < 2:
        raise ElementNotFound(f"no post in {texts!r} on {screen.url}")
    forum = links[2] if len(links) > 2 else ""
    return Shown(links[0], links[1], forum, int(match[2]), int(match[1]))


@dataclass(frozen=True)
class Remark:
    """A comment as a page shows it.

    Attributes:
        node: its article.
        points: its score.
    """

    node: Node
    points: int


def comments_on(screen: Screen) -> list[Remark]:
    """Read the comments that the current page shows."""
    comments = []
    for node in screen.all("article"):
        texts = [text.name for text in screen.below(node, "StaticText")]
        points = [text.split()[0] for text in texts if re.fullmatch(r"-?\d+ points?", text)]
        if node.name.startswith("Comment by ") and points:
            comments.append(Remark(node, int(points[0])))
    return comments


def text_of(screen: Screen) -> str:
    """Return the text of the post that is open."""
    post = screen.find("article", "Post")
    return "\n".join(text.name for text in screen.below(post, "StaticText"))


def author_of(screen: Screen) -> str:
    """Return the user name of whoever wrote the post that is open."""
    return first_of(screen.below(screen.find("article", "Post"), "link")).name


def flair_of(screen: Screen) -> str:
    """Return the flair of the post that is open."""
    texts = screen.below(screen.find("article", "Post"), "StaticText")
    return first_of(texts).name.removesuffix(" by")


def community_of(screen: Screen) -> Node:
    """Return the link to the community of the post that is open: the last one above it."""
    above = screen.page.nodes[: screen.find("article", "Post").element]
    return first_of([node for node in reversed(above) if node.role == "link"])


def number_in(pattern: str, text: str) -> int:
    """Return the number that a pattern's group finds in a text.

    Raises:
        ElementNotFound: there is none.
    """
    match = re.search(pattern, text)
    if match is None:
        raise ElementNotFound(f"no {pattern!r} in {text!r}")
    return int(match[1])


# Walking ---------------------------------------------------------------------------------------


def open_community(screen: Screen, title: str) -> Iterator[ExpertMove]:
    """Go to a community."""
    yield from enter(screen, SITE)
    if not screen.has("searchbox", "Find a community"):
        yield screen.click("link", "Communities", f"I look for the community {title}.")
    yield screen.fill(
        "searchbox", "Find a community", title, "Searching is quicker than paging.", enter=True
    )
    yield screen.click("link", title, f"This is the community {title}.")


def narrow(screen: Screen, *, flair: str = "", within: str = "") -> Iterator[ExpertMove]:
    """Let a list show one kind of posts, or posts of some time, only."""
    if within and within != "Any time":
        yield screen.choose("Posted within", within, "Older posts do not count.")
    if flair:
        yield screen.choose("Flair", flair, f"Only posts with the flair {flair} matter.")
    if flair or (within and within != "Any time"):
        yield screen.click("button", "Apply", "I apply the filter.")


def open_post(screen: Screen, title: str) -> Iterator[ExpertMove]:
    """Go to a post by its title."""
    yield from enter(screen, SITE)
    yield screen.fill(
        "searchbox", "Search Commonplace", title, "I search for the title.", enter=True
    )
    while not screen.has("link", title):
        yield screen.click("link", "Next", "The post is not on this page of results.")
    yield screen.click("link", title, "This is the post.")


def best_comment(screen: Screen) -> Generator[ExpertMove, None, Remark]:
    """Read all comments of the post that is open, and go back to the page of the best one."""
    pages = [[remark.points for remark in comments_on(screen)]]
    while screen.has("link", "Next"):
        yield screen.click("link", "Next", "A reply further down may have more points.")
        pages.append([remark.points for remark in comments_on(screen)])
    most = max(points for page in pages for points in page)
    for _ in range(len(pages) - 1 - [most in page for page in pages].index(True)):
        yield screen.click("link", "Previous", f"The best one has {most} points.")
    return next(remark for remark in comments_on(screen) if remark.points == most)


def back(thought: str) -> ExpertMove:
    """Go back a page."""
    return ExpertMove("go_back", thought)


def is_free(world: World, post_id: int) -> bool:
    """Return whether a post is somebody else's and the agent has not voted on it."""
    return not world.value(
        SITE,
        "SELECT 1 FROM posts p WHERE p.id = ? AND (p.user_id = ? OR EXISTS "
        "(SELECT 1 FROM post_votes v WHERE v.post_id = p.id AND v.user_id = ?))",
        post_id,
        ME,
        ME,
    )
