"""Templates about comments: written, changed, deleted, closed."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.reddit.steps import SITE
from worlds.dice import Dice
from worlds.tasks.reddit import phrases
from worlds.tasks.reddit.draws import ME, expected, last_id, totals
from worlds.tasks.template import Case, Template, World, changed


def _new_comments(world: World) -> str:
    return (
        "SELECT post_id, parent_id, user_id, body FROM comments "
        f"WHERE id > {last_id(world, 'comments')}"
    )


class EditComment(Template):
    """The agent's own comment, rewritten."""

    number = 85
    sites = (SITE,)
    split = "train"
    intent = 'Replace the text of my comment on the post "{title}" by "{text}"'

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a post with one comment of the agent's."""
        rows = world.rows(
            SITE,
            "SELECT min(c.id) AS id, p.title FROM comments c JOIN posts p ON p.id = c.post_id "
            "WHERE c.user_id = ? GROUP BY p.id HAVING count(*) = 1 ORDER BY p.id",
            ME,
        )
        row, text = dice.pick(rows), phrases.remark(dice)
        return Case(
            {"title": row["title"], "text": text},
            changed(
                expected(f"SELECT body, is_edited FROM comments WHERE id = {row['id']}", (text, 1)),
                totals(world, edited_comments=1),
            ),
        )


class ReplyToBest(Template):
    """A reply to the best comment of a thread."""

    number = 92
    sites = (SITE,)
    split = "train"
    intent = 'Reply to the comment with the most points on the post "{title}" by "{text}"'

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an open thread where one comment leads, at whatever depth."""
        rows = world.rows(
            SITE,
            "SELECT id, title FROM posts WHERE num_comments BETWEEN 4 AND 16 AND NOT is_locked "
            "ORDER BY id",
        )
        row, text = dice.pick(rows), phrases.remark(dice)
        best = world.rows(
            SITE,
            "SELECT id, score FROM comments WHERE post_id = ? ORDER BY score DESC LIMIT 2",
            row["id"],
        )
        if best[0]["score"] == best[1]["score"]:
            return None
        return Case(
            {"title": row["title"], "text": text},
            changed(
                expected(_new_comments(world), (row["id"], best[0]["id"], ME, text)),
                totals(world, comments=1),
            ),
        )


class DeleteComments(Template):
    """All that the agent wrote below a post, gone."""

    number = 94
    sites = (SITE,)
    split = "train"
    intent = 'Delete everything that I have commented on the post "{title}", and nothing else.'

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a post that the agent commented on."""
        rows = world.rows(
            SITE,
            "SELECT p.id, p.title, count(*) AS own FROM comments c JOIN posts p "
            "ON p.id = c.post_id WHERE c.user_id = ? GROUP BY p.id ORDER BY p.id",
            ME,
        )
        row = dice.pick(rows)
        return Case(
            {"title": row["title"]},
            changed(
                expected(
                    "SELECT count(*) FROM comments "
                    f"WHERE user_id = {ME} AND post_id = {row['id']} AND NOT is_deleted",
                    (0,),
                ),
                totals(world, comments=-row["own"]),
            ),
        )


class CommentAndLock(Template):
    """A moderator's last word."""

    number = 97
    sites = (SITE,)
    split = "test"
    intent = (
        'I moderate the community of the post "{title}". Comment on it with "{text}" and make sure '
        "that nobody can comment on it afterwards."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw an open post of a community that the agent moderates."""
        rows = world.rows(
            SITE,
            "SELECT p.id, p.title FROM posts p JOIN moderators m ON m.forum_id = p.forum_id "
            "WHERE m.user_id = ? AND NOT p.is_locked ORDER BY p.id",
            ME,
        )
        row, text = dice.pick(rows), phrases.remark(dice)
        return Case(
            {"title": row["title"], "text": text},
            changed(
                expected(_new_comments(world), (row["id"], None, ME, text)),
                expected(f"SELECT is_locked FROM posts WHERE id = {row['id']}", (1,)),
                totals(world, comments=1, locked_posts=1),
            ),
        )


COMMENTS: tuple[Template, ...] = (
    EditComment(),
    ReplyToBest(),
    DeleteComments(),
    CommentAndLock(),
)
