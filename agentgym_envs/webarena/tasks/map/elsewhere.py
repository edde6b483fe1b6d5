"""Solves a task about a place that is in another town."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.solution import Case


def place_in_another_town(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Search for it in the town, then everywhere."""
    place, town = case.values["place"], case.values["town"]
    yield from steps.search(screen, f"{place}, {town}", f"I look for {place} in {town}.")
    yield from steps.search(screen, place, f"Nothing in {town}; I look whether it is elsewhere.")
    if any(f"{town}" in text for link, text in steps.results(screen) if link.name == place):
        raise ElementNotFound(f"{place} is in {town} after all")
    yield screen.give_up(f"{town} has no {place}.")
