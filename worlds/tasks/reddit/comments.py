"""Templates about comments: written, changed, deleted, closed."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.goals import changes, gone, row
from worlds.tasks.reddit import phrases
from worlds.tasks.reddit.draws import ME
from worlds.tasks.reddit.steps import SITE, best_comment, open_post
from worlds.tasks.screen import Screen, first_of
from worlds.tasks.template import Case, Template, World


class EditComment(Template):
    """The agent's own comment, rewritten."""

    number = 85
    sites = (SITE,)
    split = "train"
    intents = (
        'Change my comment on "{title}" to "{text}"',
        'Edit my comment on "{title}" so that it says: "{text}"',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a post with one comment of the agent's."""
        rows = world.rows(
            SITE,
            "SELECT min(c.id) AS id, p.title FROM comments c JOIN posts p ON p.id = c.post_id "
            "WHERE c.user_id = ? GROUP BY p.id HAVING count(*) = 1 ORDER BY p.id",
            ME,
        )
        comment, text = dice.pick(rows), phrases.remark(dice)
        goal = changes(row("comments", id=comment["id"], body=text))
        return Case({"title": comment["title"], "text": text}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the comment on the pages of the post, and edit it."""
        yield from open_post(screen, case.values["title"])
        while not screen.has("link", "Edit comment"):
            yield screen.click("link", "Next", "My comment is not on this page.")
        yield screen.click("link", "Edit comment", "This one is mine.")
        yield screen.fill("textbox", "Comment", case.values["text"], "I write the new text.")
        yield screen.click("button", "Save comment")
        yield screen.stop()


class ReplyToBest(Template):
    """A reply to the best comment of a thread."""

    number = 92
    sites = (SITE,)
    split = "train"
    intents = (
        'Reply "{text}" to the top-scoring comment on "{title}"',
        'Reply "{text}" to the comment with the most points on "{title}"',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an open thread where one comment leads, at whatever depth."""
        rows = world.rows(
            SITE,
            "SELECT id, title FROM posts WHERE num_comments BETWEEN 4 AND 16 AND NOT is_locked "
            "ORDER BY id",
        )
        post, text = dice.pick(rows), phrases.remark(dice)
        best, second = world.rows(
            SITE,
            "SELECT id, score FROM comments WHERE post_id = ? ORDER BY score DESC LIMIT 2",
            post["id"],
        )
        if best["score"] == second["score"]:
            return None
        reply = row("comments", post_id=post["id"], parent_id=best["id"], user_id=ME, body=text)
        return Case({"title": post["title"], "text": text}, changes(reply))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read all comments, go back to the best one's page, and reply."""
        yield from open_post(screen, case.values["title"])
        best = yield from best_comment(screen)
        reply = first_of(
            link for link in screen.below(best.node, "link") if link.name.startswith("Reply to ")
        )
        yield screen.click_node(
            reply, f"This comment has {best.points} points, more than all others."
        )
        yield screen.fill("textbox", "Your reply", case.values["text"])
        yield screen.click("button", "Post reply")
        yield screen.stop()


class DeleteComments(Template):
    """All that the agent wrote below a post, gone."""

    number = 94
    sites = (SITE,)
    split = "train"
    intents = (
        'Delete all my comments on "{title}".',
        'Delete every comment and every reply that I have written on the post "{title}".',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a post that the agent commented on."""
        rows = world.rows(
            SITE,
            "SELECT c.post_id, c.id, p.title, EXISTS "
            "(SELECT 1 FROM comments d WHERE d.parent_id = c.id) AS is_answered "
            "FROM comments c JOIN posts p ON p.id = c.post_id WHERE c.user_id = ? ORDER BY c.id",
            ME,
        )
        post = dice.pick(sorted({each["post_id"] for each in rows}))
        mine = [each for each in rows if each["post_id"] == post]
        deleted = [
            # A comment with replies stays, without its text.
            row("comments", id=each["id"], body="", is_deleted=1)
            if each["is_answered"]
            else gone("comments", id=each["id"])
            for each in mine
        ]
        return Case({"title": mine[0]["title"]}, changes(*deleted))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Delete one after the other until none is left."""
        yield from open_post(screen, case.values["title"])
        while True:
            while not screen.has("link", "Delete comment") and screen.has("link", "Next"):
                yield screen.click("link", "Next", "None of mine on this page.")
            if not screen.has("link", "Delete comment"):
                break
            yield screen.click("link", "Delete comment", "This one is mine.")
            yield screen.click("button", "Yes, delete it", "I am sure.")
        yield screen.stop()


class CommentAndLock(Template):
    """A moderator's last word."""

    number = 97
    sites = (SITE,)
    split = "test"
    intents = (
        'Comment "{text}" on "{title}", then lock that post.',
        'Write the comment "{text}" below the post "{title}", and then lock that post.',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an open post of a community that the agent moderates."""
        rows = world.rows(
            SITE,
            "SELECT p.id, p.title FROM posts p JOIN moderators m ON m.forum_id = p.forum_id "
            "WHERE m.user_id = ? AND NOT p.is_locked ORDER BY p.id",
            ME,
        )
        post, text = dice.pick(rows), phrases.remark(dice)
        goal = changes(
            row("comments", post_id=post["id"], parent_id=None, user_id=ME, body=text),
            row("posts", id=post["id"], is_locked=1),
        )
        return Case({"title": post["title"], "text": text}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Comment first: a locked post takes no comments."""
        yield from open_post(screen, case.values["title"])
        yield screen.fill("textbox", "Your comment", case.values["text"])
        yield screen.click("button", "Post comment", "This must come before locking.")
        yield screen.click("button", "Lock post", "Now nobody else can comment.")
        yield screen.stop()


COMMENTS: tuple[Template, ...] = (
    EditComment(),
    ReplyToBest(),
    DeleteComments(),
    CommentAndLock(),
)
