"""Solves tasks that are done where the right page is open: a list, a form, a comment, a post."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.steps import (
    SITE,
    best_comment,
    community_of,
    first_post,
    flair_of,
    narrow,
    open_community,
    open_post,
    posts_on,
)
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter, first_of, over_pages
from agentgym_envs.webarena.tasks.solution import Case

SIMILAR_POSTS_PERIODS = {"a year": ("A year", 365), "30 days": ("30 days", 30)}

SIMILAR_POSTS_ORDERS = {
    "the newest": ("New", "new"),
    "those with the most points": ("Top", "top"),
    "those with the most comments": ("Most commented", "comments"),
}


def similar_posts(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read community and flair off the post, then sort and filter."""
    yield from open_post(screen, case.values["title"])
    flair, community = flair_of(screen), community_of(screen)
    yield screen.click_node(community, f"Its flair is {flair}, and its community {community.name}.")
    order, _ = SIMILAR_POSTS_ORDERS[case.values["order"]]
    yield screen.click("link", order, f"I want {case.values['order']} first.")
    within, _ = SIMILAR_POSTS_PERIODS[case.values["period"]]
    yield from narrow(screen, flair=flair, within=within)
    yield screen.stop("", "Community, flair, age and order are as asked; this is the list.")


def write_to_best_commenter(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read all comments, open the best one's author, and the form."""
    yield from open_post(screen, case.values["title"])
    best = yield from best_comment(screen)
    author = first_of(screen.below(best.node, "link"))
    yield screen.click_node(author, f"{author.name} has the most points, {best.points}.")
    yield screen.click("link", "Send a message", "The form opens from the profile.")
    yield screen.stop("", f"The message would go to {author.name}; nothing shall be sent.")


BEST_COMMENT_OF_ORDERS = {
    "with the most points": ("Top", "c.score DESC", "c.score"),
    "that is the newest": ("New", "c.id DESC", "substr(c.created_at, 1, 16)"),
}


def best_comment_of(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort what somebody wrote, and look for the first comment in the community."""
    yield from _show_comments_of(case, screen)
    community = case.values["community"]
    while (result := _first_written_in(screen, community)) is None:
        yield screen.click("link", "Next", f"None of these is in {community}.")
    yield screen.click_node(result, f"This is the first in the list that is in {community}.")
    yield screen.stop("", "This is the page of the comment.")


def best_comment_of_none(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look for such a comment in all that somebody wrote."""
    yield from _show_comments_of(case, screen)
    name, community = case.values["username"], case.values["community"]
    while (result := _first_written_in(screen, community)) is None and screen.has("link", "Next"):
        yield screen.click("link", "Next", f"None of these is in {community}.")
    if result is not None:
        raise ElementNotFound("there is such a comment after all")
    yield screen.give_up(f"{name} has not written any comment in {community}.")


def _show_comments_of(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open the sorted list of what somebody wrote."""
    name = case.values["username"]
    yield from enter(screen, SITE)
    yield screen.fill(
        "searchbox", "Search Commonplace", name, "First I look for the person.", enter=True
    )
    yield screen.click("link", "People", "I want people, not posts.")
    yield screen.click("link", name, f"This is {name}.")
    yield screen.click("link", "Comments", "Here is every comment of theirs.")
    order, *_ = BEST_COMMENT_OF_ORDERS[case.values["which"]]
    if order != "New":
        yield screen.click("link", order, "The comments with the most points shall come first.")


def _first_written_in(screen: Screen, community: str) -> Node | None:
    """Return the link to the first comment in a community, reading a profile's list up to it."""
    (comments,) = screen.all("list", "Comments")
    for item in comments.children:
        text = first_of(screen.below(item, "StaticText")).name
        if text.endswith(f" in {community}, on"):
            return screen.below(item, "link")[-1]
    return None


NEWEST_SUCH_CONDITIONS: Mapping[str, Callable[[int, int], bool]] = {
    "nobody has commented on": lambda points, comments: comments == 0,
    "has more than 4 comments": lambda points, comments: comments > 4,
    "has fewer than 0 points": lambda points, comments: points < 0,
    "has more than 20 points": lambda points, comments: points > 20,
}


def newest_such(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort by date, filter, and take the first that fits."""
    yield from _show_newest(case, screen)
    fits = NEWEST_SUCH_CONDITIONS[case.values["condition"]]
    while (post := first_post(screen, lambda p: fits(p.points, p.num_comments))) is None:
        yield screen.click("link", "Next", "None of these is such a post.")
    yield screen.click("link", post.title, f"It is the first that {case.values['condition']}.")
    yield screen.stop("", "This is the post.")


def newest_such_of_none(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the whole list; no post fits."""
    yield from _show_newest(case, screen)
    posts = yield from over_pages(screen, lambda: posts_on(screen))
    fits = NEWEST_SUCH_CONDITIONS[case.values["condition"]]
    if any(fits(post.points, post.num_comments) for post in posts):
        raise ElementNotFound("a post fits after all")
    comments = [post.num_comments for post in posts]
    points = [post.points for post in posts]
    yield screen.give_up(
        f"No such post exists: the {len(posts)} posts have {min(comments)} to {max(comments)} "
        f"comments and {min(points)} to {max(points)} points."
    )


def _show_newest(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "New", "The newest post shall come first.")
    yield from narrow(screen, flair=case.values["flair"])
