"""Templates about posts, communities, messages and settings that are written or changed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit import phrases
from agentgym_envs.webarena.tasks.reddit.lookups import pick_forum
from agentgym_envs.webarena.tasks.reddit.template_helpers import (
    FLAIRS,
    ME,
    SITE,
    expected,
    last_id,
    narrow,
    open_community,
    posts_on,
    totals,
)
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed


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

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community and something to write."""
        forum, community = pick_forum(world, rng)
        name = world.value(SITE, "SELECT name FROM forums WHERE id = ?", forum)
        title, text, flair = phrases.title(rng), phrases.remark(rng), rng.choice(FLAIRS)
        return Case(
            {"community": community, "title": title, "text": text, "flair": flair},
            changed(
                expected(_new_posts(world), (name, ME, title, text, None, flair)),
                totals(world, posts=1),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Write it from the community's page."""
        community = case.values["community"]
        yield from open_community(screen, community)
        yield screen.click("link", f"Post in {community}", "Posts are written here.")
        yield screen.fill("textbox", "Title", case.values["title"])
        yield screen.fill("textbox", "Text", case.values["text"])
        yield screen.choose("Flair", case.values["flair"])
        yield screen.click("button", "Publish post")
        yield screen.stop()


class Subscriptions(Template):
    """Two communities followed and one left."""

    number = 84
    sites = (SITE,)
    split = "train"
    intent = "Subscribe to the communities {first} and {second}, and unsubscribe from {third}."

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw two communities that the agent does not follow, and one that it does."""
        rows = world.rows(
            SITE,
            "SELECT id, title, EXISTS (SELECT 1 FROM subscriptions s WHERE s.forum_id = f.id "
            "AND s.user_id = ?) AS is_subscribed FROM forums f ORDER BY id",
            ME,
        )
        others = [row for row in rows if not row["is_subscribed"]]
        mine = [row for row in rows if row["is_subscribed"]]
        (first, second), third = rng.sample(others, 2), rng.choice(mine)
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Do all of it in the list of communities."""
        yield from enter(screen, SITE)
        yield screen.click("link", "Communities", "The list has a button for each community.")
        for slot, button in (
            ("first", "Subscribe to"),
            ("second", "Subscribe to"),
            ("third", "Unsubscribe from"),
        ):
            title = case.values[slot]
            yield screen.fill(
                "searchbox", "Find a community", title, f"I look for {title}.", enter=True
            )
            yield screen.click("button", f"{button} {title}")
        yield screen.stop()


class MessageAuthor(Template):
    """A message to whoever started a discussion."""

    number = 87
    sites = (SITE,)
    split = "train"
    intent = (
        "Find the post with the most comments among those with the flair {flair} in the community "
        '{community}, and send its author this message: "{text}"'
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community and a kind with one most discussed post."""
        forum, community = pick_forum(world, rng)
        flair, text = rng.choice(FLAIRS), phrases.remark(rng)
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the post, open the author's profile, and write."""
        yield from open_community(screen, case.values["community"])
        yield screen.click("link", "Most commented", "The most discussed post shall come first.")
        yield from narrow(screen, flair=case.values["flair"])
        author = first_of(posts_on(screen)).author
        yield screen.click("link", author, f"{author} is the author.")
        yield screen.click("link", "Send a message")
        yield screen.fill("textbox", "Message", case.values["text"])
        yield screen.click("button", "Send message")
        yield screen.stop()


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

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community that does not exist yet."""
        title, name = phrases.circle(rng)
        values = {
            "name": name,
            "title": title,
            "description": phrases.remark(rng),
            "sidebar": phrases.rule(rng),
            "first": phrases.title(rng),
            "text": phrases.remark(rng),
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Fill in one form, then the other."""
        yield from enter(screen, SITE)
        yield screen.click("link", "Communities", "Communities are created from their list.")
        yield screen.click("link", "Create a community")
        for label in ("Name", "Title", "Description", "Sidebar"):
            yield screen.fill("textbox", label, case.values[label.lower()])
        yield screen.click("button", "Create community")
        yield screen.click("link", f"Post in {case.values['title']}", "Now its first post.")
        yield screen.fill("textbox", "Title", case.values["first"])
        yield screen.fill("textbox", "Text", case.values["text"])
        yield screen.click("button", "Publish post")
        yield screen.stop()


class Profile(Template):
    """Biography and address, changed; somebody unblocked."""

    number = 95
    sites = (SITE,)
    split = "train"
    intent = (
        'Change my biography to "{bio}" and my email address to {email}, leave my name as it is, '
        "and unblock {username}."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw what to change."""
        blocked = world.rows(
            SITE,
            "SELECT u.id, u.username FROM blocked_users b JOIN users u ON u.id = b.blocked_id "
            "WHERE b.user_id = ? ORDER BY u.id",
            ME,
        )
        bio, email = phrases.biography(rng), f"mira{rng.randint(10, 99)}@post.test"
        row = rng.choice(blocked)
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """All of it is in the settings."""
        yield from enter(screen, SITE)
        yield screen.click("link", "Settings", "All of this is in my settings.")
        yield screen.fill("textbox", "Email", case.values["email"])
        yield screen.fill("textbox", "Biography", case.values["bio"])
        yield screen.click("button", "Save settings")
        yield screen.click("link", "Blocked users", "Now the blocked user.")
        yield screen.click("button", f"Unblock {case.values['username']}")
        yield screen.stop()


WRITING: tuple[Template, ...] = (
    Publish(),
    Subscriptions(),
    MessageAuthor(),
    FoundCommunity(),
    Profile(),
)
