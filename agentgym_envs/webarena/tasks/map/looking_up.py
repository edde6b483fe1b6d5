"""Solves tasks that look one thing up about one place."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case


def nearest_phone(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter what is near the place by kind and open the first."""
    yield from steps.open_place(screen, case.values["place"], case.values["town"])
    yield screen.click("link", "Nearby", "The nearby page sorts by distance.")
    yield screen.choose("Category", case.values["kind"].capitalize())
    yield screen.click("button", "Show nearby places")
    link, text = first_of(steps.results(screen))
    yield screen.click_node(link, f"{link.name} comes first: {text}.")
    phone = steps.fact(screen, "Phone")
    yield screen.stop(phone, f"The details give the phone number {phone}.")


def closing_time(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read the place's opening hours."""
    yield from steps.open_place(screen, case.values["place"], case.values["town"])
    hours = steps.fact(screen, case.values["day"])
    thought = f"On {case.values['day']} the hours are {hours}."
    yield screen.stop(hours.rpartition("-")[2].lower(), thought)
