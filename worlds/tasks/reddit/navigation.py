"""Templates that are done where the right page is open: a list, a form, a comment, a post."""

from __future__ import annotations

from urllib.parse import urlencode

from agentgym_envs.sites.reddit.site import FLAIRS
from agentgym_envs.sites.state import NOW
from agentgym_envs.webarena.tasks.reddit.navigation import (
    BEST_COMMENT_OF_ORDERS,
    NEWEST_SUCH_CONDITIONS,
    SIMILAR_POSTS_ORDERS,
    SIMILAR_POSTS_PERIODS,
)
from agentgym_envs.webarena.tasks.reddit.steps import SITE
from worlds.dice import Dice
from worlds.tasks.goals import shows
from worlds.tasks.reddit.draws import ME, pick_forum
from worlds.tasks.template import Case, Template, World

DEEPEST = 20
"""No post or comment lies deeper in the list that shows it, ten of which fill a page."""


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


class WriteToBestCommenter(Template):
    """The form for a message to whoever wrote a thread's best comment."""

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


class BestCommentOf(Template):
    """The page of somebody's best or newest comment in one community."""

    number = 142
    sites = (SITE,)
    split = "test"
    intents = (
        "Open the page of {username}'s comment in {community} {which}.",
        "Of {username}'s comments in {community}, open the page of the one {which}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw somebody whose best or newest comment of all is in another community."""
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
