"""Templates that are done where the right page is open: a list, a form, a comment, a post."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from urllib.parse import urlencode

from agentgym_envs.browsing.page import Node
from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.reddit.site import FLAIRS
from agentgym_envs.sites.state import NOW
from worlds.dice import Dice
from worlds.tasks.goals import shows
from worlds.tasks.reddit.draws import ME, pick_forum
from worlds.tasks.reddit.steps import (
    SITE,
    best_comment,
    community_of,
    first_post,
    flair_of,
    narrow,
    open_community,
    open_post,
)
from worlds.tasks.screen import Screen, enter, first_of
from worlds.tasks.template import Case, Template, World

DEEPEST = 20
"""No post or comment lies deeper in the list that shows it, ten of which fill a page."""


SIMILAR_POSTS_ORDERS = {
    "the newest": ("New", "new"),
    "those with the most points": ("Top", "top"),
    "those with the most comments": ("Most commented", "comments"),
}


SIMILAR_POSTS_PERIODS = {"a year": ("A year", 365), "30 days": ("30 days", 30)}


class SimilarPosts(Template):
    """A community's list, filtered and sorted, after the example of one post."""

    number = 140
    sites = (SITE,)
    split = "train"
    intents = (
        'List posts not older than {period} with the community and flair of "{title}", {order} '
        "first.",
        'Show me all posts in the community of "{title}" that have its flair and are not older '
        "than {period}, {order} first.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a post with some like it."""
        post = dice.pick(
            world.rows(
                SITE,
                "SELECT p.title, p.flair, p.forum_id, f.name FROM posts p "
                "JOIN forums f ON f.id = p.forum_id ORDER BY p.id",
            )
        )
        period = dice.pick(list(SIMILAR_POSTS_PERIODS))
        order = dice.pick(list(SIMILAR_POSTS_ORDERS))
        days = SIMILAR_POSTS_PERIODS[period][1]
        count = world.value(
            SITE,
            "SELECT count(*) FROM posts WHERE forum_id = ? AND flair = ? "
            "AND created_at >= datetime(?, '-' || ? || ' days')",
            post["forum_id"],
            post["flair"],
            NOW,
            days,
        )
        if count < 2:
            return None
        query = {"sort": SIMILAR_POSTS_ORDERS[order][1], "within": days, "flair": post["flair"]}
        return Case(
            {"title": post["title"], "period": period, "order": order},
            shows(f"__REDDIT__/c/{post['name']}?{urlencode(query)}"),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read community and flair off the post, then sort and filter."""
        yield from open_post(screen, case.values["title"])
        flair, community = flair_of(screen), community_of(screen)
        yield screen.click_node(
            community, f"Its flair is {flair}, and its community {community.name}."
        )
        order, _ = SIMILAR_POSTS_ORDERS[case.values["order"]]
        yield screen.click("link", order, f"I want {case.values['order']} first.")
        within, _ = SIMILAR_POSTS_PERIODS[case.values["period"]]
        yield from narrow(screen, flair=flair, within=within)
        yield screen.stop("", "Community, flair, age and order are as asked; this is the list.")


class WriteToBestCommenter(Template):
    """The form for a message to the author of a thread's best comment."""

    number = 141
    sites = (SITE,)
    split = "train"
    intents = (
        'Open a message form to whoever wrote the top-scoring comment on "{title}".',
        'Open the message form for whoever wrote the comment with the most points on "{title}".',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a thread where one comment leads: a reply every other time."""
        wants_reply = dice.chance(0.5)
        post = dice.pick(
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
        return Case({"title": post["title"]}, shows(f"__REDDIT__/messages/new?{query}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read all comments, open the best one's author, and the form."""
        yield from open_post(screen, case.values["title"])
        best = yield from best_comment(screen)
        author = first_of(screen.below(best.node, "link"))
        yield screen.click_node(author, f"{author.name} has the most points, {best.points}.")
        yield screen.click("link", "Send a message", "The form opens from the profile.")
        yield screen.stop("", f"The message would go to {author.name}; nothing shall be sent.")


def first_written_in(screen: Screen, community: str) -> Node | None:
    """Return the link to the first comment in a community, reading a profile's list up to it."""
    (comments,) = screen.all("list", "Comments")
    for item in comments.children:
        text = first_of(screen.below(item, "StaticText")).name
        if text.endswith(f" in {community}, on"):
            return screen.below(item, "link")[-1]
    return None


BEST_COMMENT_OF_ORDERS = {
    "with the most points": ("Top", "c.score DESC", "c.score"),
    "that is the newest": ("New", "c.id DESC", "substr(c.created_at, 1, 16)"),
}


def show_comments_of(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open the sorted list of a person's comments."""
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


class BestCommentOf(Template):
    """The page of a user's best or newest comment in one community."""

    number = 142
    sites = (SITE,)
    split = "test"
    intents = (
        "Open the page of {username}'s comment in {community} {which}.",
        "Of {username}'s comments in {community}, open the page of the one {which}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a user whose best or newest comment of all is in another community."""
        row = dice.pick(
            world.rows(
                SITE,
                "SELECT c.user_id, u.username, p.forum_id, f.title FROM comments c "
                "JOIN posts p ON p.id = c.post_id JOIN forums f ON f.id = p.forum_id "
                "JOIN users u ON u.id = c.user_id WHERE u.id <> ? GROUP BY u.id, f.id "
                "HAVING count(*) >= 2 ORDER BY u.id, f.id",
                ME,
            )
        )
        which = dice.pick(list(BEST_COMMENT_OF_ORDERS))
        _, order, shown = BEST_COMMENT_OF_ORDERS[which]
        written = world.rows(
            SITE,
            f"SELECT c.id, p.forum_id, {shown} AS shown FROM comments c "
            f"JOIN posts p ON p.id = c.post_id WHERE c.user_id = ? ORDER BY {order}, c.id DESC",
            row["user_id"],
        )
        best, second = [each for each in written if each["forum_id"] == row["forum_id"]][:2]
        is_first = written[0]["forum_id"] == row["forum_id"]
        if is_first or best["shown"] == second["shown"] or best not in written[:DEEPEST]:
            return None
        return Case(
            {"username": row["username"], "community": row["title"], "which": which},
            shows(f"__REDDIT__/comments/{best['id']}"),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort a person's comments, and open the first one in the community."""
        yield from show_comments_of(case, screen)
        community = case.values["community"]
        while (result := first_written_in(screen, community)) is None:
            yield screen.click("link", "Next", f"None of these is in {community}.")
        yield screen.click_node(result, f"This is the first in the list that is in {community}.")
        yield screen.stop("", "This is the page of the comment.")


def show_newest(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """List the posts of the case's community and flair, the newest first."""
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "New", "The newest post shall come first.")
    yield from narrow(screen, flair=case.values["flair"])


NEWEST_SUCH_CONDITIONS: Mapping[str, Callable[[int, int], bool]] = {
    "nobody has commented on": lambda points, comments: comments == 0,
    "has more than 4 comments": lambda points, comments: comments > 4,
    "has fewer than 0 points": lambda points, comments: points < 0,
    "has more than 20 points": lambda points, comments: points > 20,
}


class NewestSuch(Template):
    """The newest post of a kind that fulfils a condition."""

    number = 144
    sites = (SITE,)
    split = "validation"
    intents = (
        "Open {community}'s newest {flair} post that {condition}.",
        "Open the newest post with the flair {flair} in {community} that {condition}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a kind whose newest post is another one."""
        forum, community = pick_forum(world, dice)
        flair, condition = dice.pick(FLAIRS), dice.pick(list(NEWEST_SUCH_CONDITIONS))
        posts = posts_of_kind(world, forum, flair)
        fits = NEWEST_SUCH_CONDITIONS[condition]
        ranks = [rank for rank, post in enumerate(posts) if fits(post[1], post[2])]
        if not ranks or not 1 <= ranks[0] < DEEPEST:
            return None
        values = {"community": community, "flair": flair, "condition": condition}
        return Case(values, shows(f"__REDDIT__/p/{posts[ranks[0]][0]}"))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by date, filter, and take the first that fits."""
        yield from show_newest(case, screen)
        fits = NEWEST_SUCH_CONDITIONS[case.values["condition"]]
        while (post := first_post(screen, lambda p: fits(p.points, p.num_comments))) is None:
            yield screen.click("link", "Next", "None of these is such a post.")
        yield screen.click("link", post.title, f"It is the first that {case.values['condition']}.")
        yield screen.stop("", "This is the post.")


def posts_of_kind(world: World, forum: int, flair: str) -> list[tuple[int, int, int]]:
    """List id, points and number of comments of a community's posts of a kind, newest first."""
    rows = world.rows(
        SITE,
        "SELECT id, score, num_comments FROM posts WHERE forum_id = ? AND flair = ? "
        "ORDER BY id DESC",
        forum,
        flair,
    )
    return [(row["id"], row["score"], row["num_comments"]) for row in rows]


NAVIGATION: tuple[Template, ...] = (
    SimilarPosts(),
    WriteToBestCommenter(),
    BestCommentOf(),
    NewestSuch(),
)
