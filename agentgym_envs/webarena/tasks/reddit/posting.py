"""Solves tasks about the agent's own posts: published, or added to."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.steps import SITE, open_community, open_post
from agentgym_envs.webarena.tasks.screen import Screen, enter
from agentgym_envs.webarena.tasks.solution import Case


def publish(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Write it from the community's page."""
    community = case.values["community"]
    yield from open_community(screen, community)
    yield screen.click("link", f"Post in {community}", "Posts are written here.")
    yield screen.fill("textbox", "Title", case.values["title"])
    yield screen.fill("textbox", "Text", case.values["text"])
    yield screen.choose("Flair", case.values["flair"])
    yield screen.click("button", "Publish post")
    yield screen.stop()


def publish_where_active(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort the communities by posts; the first one on the subject is the most active."""
    yield from enter(screen, SITE)
    yield screen.click(
        "link", "Communities", f"I look for communities on {case.values['subject']}."
    )
    yield screen.click("link", "Most posts", "The most active ones shall come first.")
    on_subject = case.notes["communities"]
    while not (links := [link for link in screen.all("link") if link.name in on_subject]):
        yield screen.click("link", "Next", "None of these is on the subject.")
    community = links[0].name
    yield screen.click_node(links[0], "This is the first one on the subject.")
    yield screen.click("link", f"Post in {community}", "Posts are written here.")
    yield screen.fill("textbox", "Title", case.values["title"])
    yield screen.fill("textbox", "Text", case.values["text"])
    yield screen.click("button", "Publish post")
    yield screen.stop()


def add_to_post(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Type the old text again, and the new line after it."""
    yield from open_post(screen, case.values["title"])
    yield screen.click("link", "Edit post", "It is mine.")
    old = screen.find("textbox", "Text").properties["value"][1:-1]
    yield screen.fill(
        "textbox", "Text", f"{old} {case.values['text']}", "Typing replaces what was there."
    )
    yield screen.click("button", "Save post")
    yield screen.stop()
