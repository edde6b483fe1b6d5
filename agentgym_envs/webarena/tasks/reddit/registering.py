"""A template that starts signed out: without an account nothing of it can be done."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.people import people
from agentgym_envs.webarena.tasks.reddit.lookups import pick_forum
from agentgym_envs.webarena.tasks.reddit.template_helpers import (
    SITE,
    expected,
    first_post,
    last_id,
    open_community,
    totals,
)
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed

_WORDS = ("lantern", "harbour", "walnut", "teapot", "meadow", "pepper", "bicycle", "feather")


class RegisterAndAct(Template):
    """A new account, and what it is made for."""

    number = 143
    sites = (SITE,)
    split = "train"
    signed_in = False
    intent = (
        "I have no account on Commonplace yet. Create one for me: my name is {name}, the user name "
        'shall be {username}, the email address {email} and the password "{password}". Then {deed} '
        "the newest post in the community {community}."
    )
    _votes = {"upvote": 1, "downvote": -1}
    _deeds = (*_votes, "save")

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw somebody who is not on the forum, and a community with one newest post."""
        known = {row["username"] for row in world.rows(SITE, "SELECT username FROM users")}
        person = rng.choice([each for each in people() if each.username not in known])
        password = f"{rng.choice(_WORDS)}-{rng.choice(_WORDS)}-{rng.randint(10, 99)}"
        forum, community = pick_forum(world, rng)
        deed = rng.choice(self._deeds)
        newest, second = world.rows(
            SITE,
            "SELECT id, substr(created_at, 1, 16) AS moment FROM posts WHERE forum_id = ? "
            "ORDER BY id DESC LIMIT 2",
            forum,
        )
        if newest["moment"] == second["moment"]:
            return None
        values = {
            "name": person.name,
            "username": person.username,
            "email": person.email,
            "password": password,
            "deed": deed,
            "community": community,
        }
        last = last_id(world, "users")
        account = expected(
            f"SELECT username, name, email, password FROM users WHERE id > {last}",
            (person.username, person.name, person.email, password),
        )
        if deed == "save":
            done = expected(
                f"SELECT post_id FROM saved_posts WHERE user_id > {last}", (newest["id"],)
            )
            return Case(values, changed(account, done, totals(world, users=1, saved_posts=1)))
        value = self._votes[deed]
        done = expected(
            f"SELECT post_id, value FROM post_votes WHERE user_id > {last}", (newest["id"], value)
        )
        after = totals(world, users=1, post_votes=1, sum_of_post_votes=value)
        return Case(values, changed(account, done, after))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Register, which signs in too; then find the post and do it."""
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
