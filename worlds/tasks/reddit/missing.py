"""Impossible tasks about content that the forum lacks, worded as their possible twins."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT
from agentgym_envs.sites.reddit.site import FLAIRS
from agentgym_envs.sites.state import NOW
from worlds.dice import Dice
from worlds.tasks.goals import NONE, impossible, page
from worlds.tasks.reddit import phrases
from worlds.tasks.reddit.comments import EditComment
from worlds.tasks.reddit.draws import ME, forum_page, pick_forum
from worlds.tasks.reddit.lookups import BEST_POSTS, PERIODS, TopPostComments, show_top_posts
from worlds.tasks.reddit.navigation import (
    BEST_COMMENT_OF_ORDERS,
    DEEPEST,
    NEWEST_SUCH_CONDITIONS,
    BestCommentOf,
    NewestSuch,
    first_written_in,
    posts_of_kind,
    show_comments_of,
    show_newest,
)
from worlds.tasks.reddit.steps import (
    SITE,
    open_post,
    posts_on,
)
from worlds.tasks.screen import ElementNotFound, Screen, over_pages
from worlds.tasks.template import Case, Template, World


class EditNoComment(Template):
    """A comment to rewrite, on a post that the agent has not commented on."""

    number = 165
    sites = (SITE,)
    split = "train"
    is_impossible = True
    intents = EditComment.intents
    _mine = (
        " i ", " i'", "my", "mine", " me", "you", "mira", "own comment", "edit comment", "other",
    )  # fmt: skip
    _none = (*NONE, "all ", "only", "others", "other people", "somebody else", "someone else")

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a post with comments, all of them by others."""
        rows = world.rows(
            SITE,
            "SELECT p.id, p.title FROM comments c JOIN posts p ON p.id = c.post_id GROUP BY p.id "
            "HAVING sum(c.user_id = ?) = 0 ORDER BY p.id",
            ME,
        )
        post = dice.pick(rows)
        goal = impossible(
            ("comment",),
            self._mine,
            self._none,
            about=[post["title"]],
            pages=[page(SITE, f"/p/{post['id']}*")],
            lists=[page(SITE, f"/u/{AGENT.username}*")],
            also=["post"],
        )
        return Case({"title": post["title"], "text": phrases.remark(dice)}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for an own comment on the post's pages, where all are by others."""
        yield from open_post(screen, case.values["title"])
        edits = yield from over_pages(screen, lambda: screen.all("link", "Edit comment"))
        if edits:
            raise ElementNotFound("there is a comment of mine after all")
        yield screen.give_up("None of the comments on this post is mine.")


class NewestSuchOfNone(Template):
    """The newest post of a kind that fulfils a condition which none does."""

    number = 166
    sites = (SITE,)
    split = "validation"
    is_impossible = True
    intents = NewestSuch.intents
    _such = ("such post", "fit", "match", "meet", "criteri", "condition", "qualif", "satisf")
    _none = (
        *NONE, "all ", "every", "each ", "only", "at most", "at least", "fewer", "zero",
        "negative", "positive", "highest", "lowest", "most ",
    )  # fmt: skip

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a kind with a few posts, all of them others."""
        forum, community = pick_forum(world, dice)
        flair, condition = dice.pick(FLAIRS), dice.pick(list(NEWEST_SUCH_CONDITIONS))
        posts = posts_of_kind(world, forum, flair)
        fits = NEWEST_SUCH_CONDITIONS[condition]
        if not 2 <= len(posts) <= DEEPEST or any(fits(post[1], post[2]) for post in posts):
            return None
        measure = ("comment", "repl") if "comment" in condition else ("point", "score", "vote")
        values = {"community": community, "flair": flair, "condition": condition}
        goal = impossible(
            (*measure, *self._such),
            self._none,
            about=[community],
            also=("enough", "point", "comment"),
            pages=[forum_page(world, forum)],
        )
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the complete list and find no post that fits."""
        yield from show_newest(case, screen)
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


class BestCommentOfNone(Template):
    """The best comment of a user who has written none in the community."""

    number = 167
    sites = (SITE,)
    split = "test"
    is_impossible = True
    intents = BestCommentOf.intents
    _where = ("user", "they", "their", "person", "communit", "there")
    _none = (*NONE, "only", "elsewhere", "other communities")

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a user who comments elsewhere."""
        person = dice.pick(
            world.rows(
                SITE,
                "SELECT c.user_id, u.username FROM comments c JOIN users u ON u.id = c.user_id "
                "WHERE u.id <> ? GROUP BY u.id HAVING count(*) BETWEEN 2 AND ? ORDER BY u.id",
                ME,
                DEEPEST,
            )
        )
        forum, community = pick_forum(world, dice)
        if world.value(
            SITE,
            "SELECT 1 FROM comments c JOIN posts p ON p.id = c.post_id "
            "WHERE c.user_id = ? AND p.forum_id = ?",
            person["user_id"],
            forum,
        ):
            return None
        which = dice.pick(list(BEST_COMMENT_OF_ORDERS))
        values = {"username": person["username"], "community": community, "which": which}
        where = (*self._where, person["username"], community)
        goal = impossible(
            ("comment",),
            where,
            self._none,
            about=(person["username"], community),
            also=["post"],
            pages=[page(SITE, f"/u/{person['username']}*")],
        )
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for such a comment among all of the user's."""
        yield from show_comments_of(case, screen)
        name, community = case.values["username"], case.values["community"]
        while (result := first_written_in(screen, community)) is None and screen.has(
            "link", "Next"
        ):
            yield screen.click("link", "Next", f"None of these is in {community}.")
        if result is not None:
            raise ElementNotFound("there is such a comment after all")
        yield screen.give_up(f"{name} has not written any comment in {community}.")


class TopPostOfNone(Template):
    """The best post of a time without posts."""

    number = 168
    sites = (SITE,)
    split = "train"
    is_impossible = True
    intents = TopPostComments.intents
    _when = (
        "day", "week", "month", "recent", "period", "time", "filter", "since", " here", "old",
        "latest", "newest", "match",
    )  # fmt: skip
    _none = (*NONE, "older", "before", "empty", "zero", "0 posts")

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a period without a post."""
        forum, community = pick_forum(world, dice)
        period = dice.pick(list(PERIODS))
        if world.rows(SITE, BEST_POSTS, forum, NOW, PERIODS[period][1]):
            return None
        goal = impossible(
            ("post", "published", "written", "list"),
            self._when,
            self._none,
            about=[community],
            also=["enough"],
            pages=[forum_page(world, forum)],
        )
        return Case({"community": community, "period": period}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Look for the first post of an empty list."""
        yield from show_top_posts(case, screen)
        if posts_on(screen):
            raise ElementNotFound("there is a post after all")
        yield screen.give_up(f"Nobody has published a post {case.values['period']} there.")


MISSING: tuple[Template, ...] = (
    EditNoComment(),
    NewestSuchOfNone(),
    BestCommentOfNone(),
    TopPostOfNone(),
)
