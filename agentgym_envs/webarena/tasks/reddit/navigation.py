"""Templates that are done where the right page is open: a list, a form, a comment, a post.

An address counts with all that begins alike (`/p/16` is within `/p/160`), so no post or comment is
asked for whose number begins another one's, and none of the agent's own, which have pages below.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar
from urllib.parse import urlencode

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.page import Node
from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.reddit.lookups import pick_forum
from agentgym_envs.webarena.tasks.reddit.template_helpers import (
    FLAIRS,
    ME,
    SITE,
    best_comment,
    community_of,
    first_post,
    flair_of,
    last_id,
    narrow,
    open_community,
    open_post,
)
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.template import Case, Template, World, at_url


def _is_apart(world: World, table: str, number: int) -> bool:
    """Return whether a number begins no longer number of its table."""
    return number * 10 > last_id(world, table)


class SimilarPosts(Template):
    """A community's list, filtered and sorted, after the example of one post."""

    number = 140
    sites = (SITE,)
    split = "train"
    intent = (
        'Find the post "{title}". Then show me the list of all posts in its community that have '
        "the same flair and are not older than {period}, {order} first."
    )
    _periods = {"a year": ("A year", 365), "30 days": ("30 days", 30)}
    _orders = {
        "the newest": ("New", "new"),
        "those with the most points": ("Top", "top"),
        "those with the most comments": ("Most commented", "comments"),
    }

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a post whose like fill one page, so that no second page has the same address."""
        post = rng.choice(
            world.rows(
                SITE,
                "SELECT p.title, p.flair, p.forum_id, f.name FROM posts p "
                "JOIN forums f ON f.id = p.forum_id ORDER BY p.id",
            )
        )
        period, order = rng.choice(list(self._periods)), rng.choice(list(self._orders))
        days = self._periods[period][1]
        number = world.value(
            SITE,
            "SELECT count(*) FROM posts WHERE forum_id = ? AND flair = ? "
            "AND created_at >= datetime(?, '-' || ? || ' days')",
            post["forum_id"],
            post["flair"],
            NOW,
            days,
        )
        if not 2 <= number <= 10:
            return None
        query = {"sort": self._orders[order][1], "within": days, "flair": post["flair"]}
        return Case(
            {"title": post["title"], "period": period, "order": order},
            at_url(f"__REDDIT__/c/{post['name']}?{urlencode(query)}"),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read community and flair off the post, then sort and filter."""
        yield from open_post(screen, case.values["title"])
        flair, community = flair_of(screen), community_of(screen)
        yield screen.click_node(
            community, f"Its flair is {flair}, and its community {community.name}."
        )
        order, _ = self._orders[case.values["order"]]
        yield screen.click("link", order, f"I want {case.values['order']} first.")
        within, _ = self._periods[case.values["period"]]
        yield from narrow(screen, flair=flair, within=within)
        yield screen.stop("", "Community, flair, age and order are as asked; this is the list.")


class WriteToBestCommenter(Template):
    """The form for a message to whoever wrote a thread's best comment."""

    number = 141
    sites = (SITE,)
    split = "train"
    intent = (
        'Find out who wrote the comment with the most points on the post "{title}", go to their '
        "profile and open from there the form for a message to them. Do not send anything."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a thread where one comment leads: a reply every other time."""
        wants_reply = rng.random() < 0.5
        post = rng.choice(
            world.rows(
                SITE,
                "SELECT id, title FROM posts WHERE num_comments BETWEEN 4 AND 14 ORDER BY id",
            )
        )
        best, second = world.rows(
            SITE,
            "SELECT c.user_id, c.parent_id, c.score, u.username FROM comments c "
            "JOIN users u ON u.id = c.user_id WHERE c.post_id = ? ORDER BY c.score DESC LIMIT 2",
            post["id"],
        )
        if best["score"] == second["score"] or best["user_id"] == ME:
            return None
        if (best["parent_id"] is not None) != wants_reply:
            return None
        query = urlencode({"to": best["username"]})
        return Case({"title": post["title"]}, at_url(f"__REDDIT__/messages/new?{query}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read all comments, open the best one's author, and the form."""
        yield from open_post(screen, case.values["title"])
        best = yield from best_comment(screen)
        author = first_of(screen.below(best.node, "link"))
        yield screen.click_node(author, f"{author.name} has the most points, {best.points}.")
        yield screen.click("link", "Send a message", "The form opens from the profile.")
        yield screen.stop("", f"The message would go to {author.name}; nothing shall be sent.")


class BestCommentOf(Template):
    """The page of somebody's best or newest comment in one community."""

    number = 142
    sites = (SITE,)
    split = "test"
    intent = (
        "Of all comments that {username} has written in the community {community}, take the one "
        "{which} and open that comment's own page."
    )
    _orders = {
        "with the most points": ("Top", "c.score DESC", "c.score"),
        "that is the newest": ("New", "c.id DESC", "substr(c.created_at, 1, 16)"),
    }
    _deepest = 20  # in the list of all that somebody wrote, which has ten comments a page

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw somebody whose best or newest comment of all is in another community."""
        row = rng.choice(
            world.rows(
                SITE,
                "SELECT c.user_id, u.username, p.forum_id, f.title FROM comments c "
                "JOIN posts p ON p.id = c.post_id JOIN forums f ON f.id = p.forum_id "
                "JOIN users u ON u.id = c.user_id WHERE u.id <> ? GROUP BY u.id, f.id "
                "HAVING count(*) >= 2 ORDER BY u.id, f.id",
                ME,
            )
        )
        which = rng.choice(list(self._orders))
        _, order, shown = self._orders[which]
        written = world.rows(
            SITE,
            f"SELECT c.id, p.forum_id, {shown} AS shown FROM comments c "
            f"JOIN posts p ON p.id = c.post_id WHERE c.user_id = ? ORDER BY {order}, c.id DESC",
            row["user_id"],
        )
        best, second = [each for each in written if each["forum_id"] == row["forum_id"]][:2]
        is_first = written[0]["forum_id"] == row["forum_id"]
        if is_first or best["shown"] == second["shown"] or best not in written[: self._deepest]:
            return None
        if not _is_apart(world, "comments", best["id"]):
            return None
        return Case(
            {"username": row["username"], "community": row["title"], "which": which},
            at_url(f"__REDDIT__/comments/{best['id']}"),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort what somebody wrote, and look for the first comment in the community."""
        name, community = case.values["username"], case.values["community"]
        yield from enter(screen, SITE)
        yield screen.fill(
            "searchbox", "Search Commonplace", name, "First I look for the person.", enter=True
        )
        yield screen.click("link", "People", "I want people, not posts.")
        yield screen.click("link", name, f"This is {name}.")
        yield screen.click("link", "Comments", "Here is every comment of theirs.")
        order, *_ = self._orders[case.values["which"]]
        if order != "New":
            yield screen.click("link", order, "The comments with the most points shall come first.")
        while (result := _first_written_in(screen, community)) is None:
            yield screen.click("link", "Next", f"None of these is in {community}.")
        yield screen.click_node(result, f"This is the first in the list that is in {community}.")
        yield screen.stop("", "This is the page of the comment.")


def _first_written_in(screen: Screen, community: str) -> Node | None:
    """Return the link to the first comment in a community, reading a profile's list up to it."""
    (comments,) = screen.all("list", "Comments")
    for item in comments.children:
        text = first_of(screen.below(item, "StaticText")).name
        if text.endswith(f" in {community}, on"):
            return screen.below(item, "link")[-1]
    return None


class NewestSuch(Template):
    """The newest post of a kind that fulfils a condition."""

    number = 144
    sites = (SITE,)
    split = "validation"
    intent = (
        "Among the posts with the flair {flair} in the community {community}, open the newest one "
        "that {condition}."
    )
    _conditions: ClassVar[Mapping[str, Callable[[int, int], bool]]] = {
        "nobody has commented on": lambda points, comments: comments == 0,
        "has more than 4 comments": lambda points, comments: comments > 4,
        "has fewer than 0 points": lambda points, comments: points < 0,
        "has more than 20 points": lambda points, comments: points > 20,
    }
    _deepest = 20  # in the list of ten posts a page

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community and a kind whose newest post is another one."""
        forum, title = pick_forum(world, rng)
        flair, condition = rng.choice(FLAIRS), rng.choice(list(self._conditions))
        rows = world.rows(
            SITE,
            "SELECT id, user_id, score, num_comments FROM posts WHERE forum_id = ? AND flair = ? "
            "ORDER BY id DESC",
            forum,
            flair,
        )
        fits = self._conditions[condition]
        ranks = [rank for rank, row in enumerate(rows) if fits(row["score"], row["num_comments"])]
        if not ranks or not 1 <= ranks[0] < self._deepest:
            return None
        post = rows[ranks[0]]
        if post["user_id"] == ME or not _is_apart(world, "posts", post["id"]):
            return None
        return Case(
            {"community": title, "flair": flair, "condition": condition},
            at_url(f"__REDDIT__/p/{post['id']}"),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by date, filter, and take the first that fits."""
        yield from open_community(screen, case.values["community"])
        yield screen.click("link", "New", "The newest post shall come first.")
        yield from narrow(screen, flair=case.values["flair"])
        fits = self._conditions[case.values["condition"]]
        while (post := first_post(screen, lambda p: fits(p.points, p.num_comments))) is None:
            yield screen.click("link", "Next", "None of these is such a post.")
        yield screen.click("link", post.title, f"It is the first that {case.values['condition']}.")
        yield screen.stop("", "This is the post.")


NAVIGATION: tuple[Template, ...] = (
    SimilarPosts(),
    WriteToBestCommenter(),
    BestCommentOf(),
    NewestSuch(),
)
