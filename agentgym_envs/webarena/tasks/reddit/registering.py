"""Solves a task that starts signed out: without an account nothing of it can be done."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.steps import SITE, first_post, open_community
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter
from agentgym_envs.webarena.tasks.solution import Case


def register_and_act(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
