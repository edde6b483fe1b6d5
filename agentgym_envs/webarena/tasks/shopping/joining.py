"""Solves tasks that begin signed out."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.screen import Screen, enter
from agentgym_envs.webarena.tasks.shopping.steps import SITE, open_product
from agentgym_envs.webarena.tasks.solution import Case

NEWSLETTER = {"Subscribe to the newsletter": True, "Do not subscribe to the newsletter": False}


def join_and_wish(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Fill in the form, which signs in too, then find the product."""
    values = case.values
    yield from enter(screen, SITE)
    yield screen.click("link", "Create an account", "A wish list takes an account.")
    yield screen.fill("textbox", "Name", values["name"], "This is the name asked for.")
    yield screen.fill("textbox", "Email", values["email"], "And this the email address.")
    yield screen.fill("textbox", "Password", values["password"], "The password is given, too.")
    yield screen.fill("textbox", "Repeat the password", values["password"], "Once more.")
    if NEWSLETTER[values["newsletter"]]:
        yield screen.click("checkbox", "I want to get the newsletter", "The newsletter is wanted.")
    yield screen.click("button", "Create account", "The form is complete.")
    yield from open_product(screen, values["product"])
    yield screen.click("button", "Add to wish list", "I am signed in now, so I can wish.")
    yield screen.stop()
