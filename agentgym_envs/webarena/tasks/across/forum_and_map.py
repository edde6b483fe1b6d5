"""Solves tasks that tell the forum what the map knows."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.reddit import steps as forum
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case


def publish_phone(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read it on the map and write the post."""
    yield from steps.open_place(screen, case.values["place"], case.values["town"])
    what, community = case.values["what"], case.values["community"]
    text = steps.fact(screen, "Phone" if what == "phone number" else what.rpartition(" ")[2])
    yield from forum.open_community(screen, community)
    yield screen.click("link", f"Post in {community}", f"I have read the {what}: {text}.")
    yield screen.fill("textbox", "Title", case.values["title"])
    yield screen.fill("textbox", "Text", text)
    yield screen.click("button", "Publish post")
    yield screen.stop("", "The post is published.")
