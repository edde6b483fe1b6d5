"""Templates about communities, messages and settings that are made or changed."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.reddit.site import FLAIRS
from worlds.dice import Dice
from worlds.tasks.goals import changes, gone, row
from worlds.tasks.reddit import phrases
from worlds.tasks.reddit.draws import ME, pick_forum
from worlds.tasks.reddit.steps import SITE, narrow, open_community, posts_on
from worlds.tasks.screen import Screen, enter, first_of
from worlds.tasks.template import Case, Template, World


class Subscriptions(Template):
    """Two communities followed and one left."""

    number = 84
    sites = (SITE,)
    split = "train"
    intents = (
        "Subscribe to {first} and {second}, and unsubscribe from {third}.",
        "Subscribe me to {first} and {second}, and end my subscription to {third}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw two communities that the agent does not follow, and one that it does."""
        rows = world.rows(
            SITE,
            "SELECT id, title, EXISTS (SELECT 1 FROM subscriptions s WHERE s.forum_id = f.id "
            "AND s.user_id = ?) AS is_subscribed FROM forums f ORDER BY id",
            ME,
        )
        first, second = dice.sample([each for each in rows if not each["is_subscribed"]], 2)
        third = dice.pick([each for each in rows if each["is_subscribed"]])
        goal = changes(
            row("subscriptions", forum_id=first["id"], user_id=ME),
            row("subscriptions", forum_id=second["id"], user_id=ME),
            gone("subscriptions", forum_id=third["id"], user_id=ME),
        )
        titles = {"first": first["title"], "second": second["title"], "third": third["title"]}
        return Case(titles, goal)

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
    """A message to the author of a discussion."""

    number = 87
    sites = (SITE,)
    split = "train"
    intents = (
        'Message the author of {community}\'s most commented {flair} post: "{text}"',
        "Message the author of the most commented post with the flair {flair} in {community}: "
        '"{text}"',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a kind with one most discussed post."""
        forum, community = pick_forum(world, dice)
        flair, text = dice.pick(FLAIRS), phrases.remark(dice)
        posts = world.rows(
            SITE,
            "SELECT user_id, num_comments FROM posts WHERE forum_id = ? AND flair = ? "
            "ORDER BY num_comments DESC LIMIT 2",
            forum,
            flair,
        )
        if len(posts) < 2 or posts[0]["num_comments"] == posts[1]["num_comments"]:
            return None
        author = posts[0]["user_id"]
        is_blocked = world.value(SITE, "SELECT 1 FROM blocked_users WHERE blocked_id = ?", author)
        if author == ME or is_blocked:
            return None
        goal = changes(row("messages", from_id=ME, to_id=author, body=text))
        return Case({"community": community, "flair": flair, "text": text}, goal)

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
    intents = (
        'Create a community {name} titled "{title}" (description "{description}", sidebar '
        '"{sidebar}"), and post "{first}" there without flair: "{text}"',
        'Create a community {name} titled "{title}" (description "{description}", sidebar '
        '"{sidebar}") and post "{first}" there, with the text "{text}" and no flair.',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community that does not exist yet."""
        title, name = phrases.circle(dice)
        community = {
            "name": name,
            "title": title,
            "description": phrases.remark(dice),
            "sidebar": phrases.rule(dice),
        }
        first, text = phrases.title(dice), phrases.remark(dice)
        goal = changes(
            row("forums", **community, created_by=ME),
            row("moderators", user_id=ME),
            row("subscriptions", user_id=ME),
            row("posts", user_id=ME, title=first, body=text, url=None, flair=None),
        )
        return Case({**community, "first": first, "text": text}, goal)

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
    """A new biography and address, and an unblocked user."""

    number = 95
    sites = (SITE,)
    split = "train"
    intents = (
        'Set my biography to "{bio}", my email to {email}, and unblock {username}.',
        'Set my biography to "{bio}" and my email address to {email}, and unblock {username}.',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a biography, an address and a blocked user."""
        blocked = world.rows(
            SITE,
            "SELECT u.id, u.username FROM blocked_users b JOIN users u ON u.id = b.blocked_id "
            "WHERE b.user_id = ? ORDER BY u.id",
            ME,
        )
        bio, email = phrases.biography(dice), f"mira{dice.between(10, 99)}@post.test"
        person = dice.pick(blocked)
        goal = changes(
            row("users", id=ME, email=email, bio=bio),
            gone("blocked_users", user_id=ME, blocked_id=person["id"]),
        )
        return Case({"bio": bio, "email": email, "username": person["username"]}, goal)

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
    Subscriptions(),
    MessageAuthor(),
    FoundCommunity(),
    Profile(),
)
