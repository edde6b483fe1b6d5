"""Solves tasks about communities, messages and settings that are made or changed."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.steps import SITE, narrow, open_community, posts_on
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.solution import Case


def subscriptions(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def message_author(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def found_community(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def profile(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """All of it is in the settings."""
    yield from enter(screen, SITE)
    yield screen.click("link", "Settings", "All of this is in my settings.")
    yield screen.fill("textbox", "Email", case.values["email"])
    yield screen.fill("textbox", "Biography", case.values["bio"])
    yield screen.click("button", "Save settings")
    yield screen.click("link", "Blocked users", "Now the blocked user.")
    yield screen.click("button", f"Unblock {case.values['username']}")
    yield screen.stop()
