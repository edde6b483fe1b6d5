"""A template that starts signed out: without an account nothing of it can be done."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.reddit.draws import pick_forum
from worlds.tasks.reddit.steps import SITE, first_post, open_community
from worlds.tasks.screen import ElementNotFound, Screen, enter
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_PASSWORDS: tuple[str, ...] = WORDS["reddit"]["passwords"]


_VOTES = {"upvote": 1, "downvote": -1}


class RegisterAndAct(Template):
    """A new account, and a vote or a saved post by it."""

    number = 143
    sites = (SITE,)
    split = "train"
    signed_in = False
    intents = (
        'Register me as {username} ({name}, {email}, password "{password}"); {deed} '
        "{community}'s newest post.",
        "Create an account for me: {name}, user name {username}, e-mail address {email}, password "
        '"{password}". Then {deed} the newest post in {community}.',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person who is not on the forum, and a community with one newest post."""
        known = {row["username"] for row in world.rows(SITE, "SELECT username FROM users")}
        person = dice.pick([each for each in world.people if each.username not in known])
        password = f"{dice.pick(_PASSWORDS)}-{dice.pick(_PASSWORDS)}-{dice.between(10, 99)}"
        forum, community = pick_forum(world, dice)
        deed = dice.pick((*_VOTES, "save"))
        newest, second = world.rows(
            SITE,
            "SELECT id, substr(created_at, 1, 16) AS moment FROM posts WHERE forum_id = ? "
            "ORDER BY id DESC LIMIT 2",
            forum,
        )
        if newest["moment"] == second["moment"]:
            return None
        account = {
            "name": person.name,
            "username": person.username,
            "email": person.email,
            "password": password,
        }
        if deed == "save":
            done = row("saved_posts", post_id=newest["id"])
        else:
            done = row("post_votes", post_id=newest["id"], value=_VOTES[deed])
        goal = changes(row("users", **account), done)
        return Case({**account, "deed": deed, "community": community}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Register, which signs in too, then find the post and act on it."""
        yield from enter(screen, SITE)
        yield screen.click("link", "Register", "I am not signed in and need a new account.")
        for label, slot in (
            ("User name", "username"),
            ("Name", "name"),
            ("Email", "email"),
            ("Password", "password"),
            ("Repeat password", "password"),
        ):
            yield screen.fill("textbox", label, case.values[slot])
        yield screen.click("button", "Create account", "The form is complete.")
        yield from open_community(screen, case.values["community"])
        yield screen.click("link", "New", "The newest post shall come first.")
        post, deed = first_post(screen), case.values["deed"]
        if post is None:
            raise ElementNotFound("the community has no posts")
        if deed == "save":
            yield screen.click(
                "link", post.title, "The first one is the newest; I save it on its page."
            )
            yield screen.click("button", "Save post", "I save it.")
        else:
            yield screen.click(
                "button", f"{deed.capitalize()}: {post.title}", "The first one is the newest."
            )
        yield screen.stop()


REGISTERING: tuple[Template, ...] = (RegisterAndAct(),)
