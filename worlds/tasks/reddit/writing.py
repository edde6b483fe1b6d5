"""Templates about posts, communities, messages and settings that are written or changed."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.reddit.steps import SITE
from worlds.dice import Dice
from worlds.tasks.reddit import phrases
from worlds.tasks.reddit.draws import FLAIRS, ME, expected, last_id, totals
from worlds.tasks.reddit.lookups import pick_forum
from worlds.tasks.template import Case, Template, World, changed


def _new_posts(world: World) -> str:
    return (
        "SELECT f.name, p.user_id, p.title, p.body, p.url, p.flair FROM posts p "
        f"JOIN forums f ON f.id = p.forum_id WHERE p.id > {last_id(world, 'posts')}"
    )


class Publish(Template):
    """A new post."""

    number = 83
    sites = (SITE,)
    split = "train"
    intent = (
        'Publish a post in the community {community} with the title "{title}", the text "{text}" '
        "and the flair {flair}."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and something to write."""
        forum, community = pick_forum(world, dice)
        name = world.value(SITE, "SELECT name FROM forums WHERE id = ?", forum)
        title, text, flair = phrases.title(dice), phrases.remark(dice), dice.pick(FLAIRS)
        return Case(
            {"community": community, "title": title, "text": text, "flair": flair},
            changed(
                expected(_new_posts(world), (name, ME, title, text, None, flair)),
                totals(world, posts=1),
            ),
        )


class Subscriptions(Template):
    """Two communities followed and one left."""

    number = 84
    sites = (SITE,)
    split = "train"
    intent = "Subscribe to the communities {first} and {second}, and unsubscribe from {third}."

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two communities that the agent does not follow, and one that it does."""
        rows = world.rows(
            SITE,
            "SELECT id, title, EXISTS (SELECT 1 FROM subscriptions s WHERE s.forum_id = f.id "
            "AND s.user_id = ?) AS is_subscribed FROM forums f ORDER BY id",
            ME,
        )
        others = [row for row in rows if not row["is_subscribed"]]
        mine = [row for row in rows if row["is_subscribed"]]
        (first, second), third = dice.sample(others, 2), dice.pick(mine)
        after = {row["id"] for row in mine} - {third["id"]} | {first["id"], second["id"]}
        return Case(
            {"first": first["title"], "second": second["title"], "third": third["title"]},
            changed(
                expected(
                    f"SELECT forum_id FROM subscriptions WHERE user_id = {ME} ORDER BY forum_id",
                    *((number,) for number in sorted(after)),
                ),
                totals(world, subscriptions=1),
            ),
        )


class MessageAuthor(Template):
    """A message to whoever started a discussion."""

    number = 87
    sites = (SITE,)
    split = "train"
    intent = (
        "Find the post with the most comments among those with the flair {flair} in the community "
        '{community}, and send its author this message: "{text}"'
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a kind with one most discussed post."""
        forum, community = pick_forum(world, dice)
        flair, text = dice.pick(FLAIRS), phrases.remark(dice)
        rows = world.rows(
            SITE,
            "SELECT user_id, num_comments FROM posts WHERE forum_id = ? AND flair = ? "
            "ORDER BY num_comments DESC LIMIT 2",
            forum,
            flair,
        )
        if len(rows) < 2 or rows[0]["num_comments"] == rows[1]["num_comments"]:
            return None
        author = rows[0]["user_id"]
        is_blocked = world.value(SITE, "SELECT 1 FROM blocked_users WHERE blocked_id = ?", author)
        if author == ME or is_blocked:
            return None
        return Case(
            {"community": community, "flair": flair, "text": text},
            changed(
                expected(
                    "SELECT from_id, to_id, body FROM messages "
                    f"WHERE id > {last_id(world, 'messages')}",
                    (ME, author, text),
                ),
                totals(world, messages=1),
            ),
        )


class FoundCommunity(Template):
    """A new community with its first post."""

    number = 89
    sites = (SITE,)
    split = "test"
    intent = (
        'Create a community with the name "{name}", the title "{title}", the description '
        '"{description}" and the sidebar "{sidebar}". Then publish its first post: title '
        '"{first}", text "{text}", no flair.'
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community that does not exist yet."""
        title, name = phrases.circle(dice)
        values = {
            "name": name,
            "title": title,
            "description": phrases.remark(dice),
            "sidebar": phrases.rule(dice),
            "first": phrases.title(dice),
            "text": phrases.remark(dice),
        }
        return Case(
            values,
            changed(
                expected(
                    "SELECT name, title, description, sidebar, created_by FROM forums "
                    f"WHERE id > {last_id(world, 'forums')}",
                    (name, title, values["description"], values["sidebar"], ME),
                ),
                expected(
                    _new_posts(world), (name, ME, values["first"], values["text"], None, None)
                ),
                totals(world, forums=1, moderators=1, subscriptions=1, posts=1),
            ),
        )


class Profile(Template):
    """Biography and address, changed; somebody unblocked."""

    number = 95
    sites = (SITE,)
    split = "train"
    intent = (
        'Change my biography to "{bio}" and my email address to {email}, leave my name as it is, '
        "and unblock {username}."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw what to change."""
        blocked = world.rows(
            SITE,
            "SELECT u.id, u.username FROM blocked_users b JOIN users u ON u.id = b.blocked_id "
            "WHERE b.user_id = ? ORDER BY u.id",
            ME,
        )
        bio, email = phrases.biography(dice), f"mira{dice.between(10, 99)}@post.test"
        row = dice.pick(blocked)
        name = world.value(SITE, "SELECT name FROM users WHERE id = ?", ME)
        return Case(
            {"bio": bio, "email": email, "username": row["username"]},
            changed(
                expected(f"SELECT name, email, bio FROM users WHERE id = {ME}", (name, email, bio)),
                expected(
                    f"SELECT count(*) FROM blocked_users WHERE blocked_id = {row['id']}", (0,)
                ),
                totals(world, blocked_users=-1),
            ),
        )


WRITING: tuple[Template, ...] = (
    Publish(),
    Subscriptions(),
    MessageAuthor(),
    FoundCommunity(),
    Profile(),
)
