"""Moves that several of the forum's solutions make, and how they read its pages."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from worlds.tasks.screen import ElementNotFound, Screen, enter, first_of

SITE = "reddit"


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
    """Return the first listed post that fits, or None. Later posts are not read."""
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
    """Return the user name of the open post's author."""
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
    return first_of(remark for remark in comments_on(screen) if remark.points == most)


def back(thought: str) -> ExpertMove:
    """Go back a page."""
    return ExpertMove("go_back", thought)
