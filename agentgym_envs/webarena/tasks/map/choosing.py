"""Solves tasks that go through the places of a kind in a town: count, compare, pick out."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import Screen, over_pages
from agentgym_envs.webarena.tasks.solution import Case


def open_at_time(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter by day and count the hours that hold the time."""
    day, time = case.values["day"], case.values["time"]
    yield from steps.search(screen, f"{case.values['kind']} in {case.values['town']}")
    yield screen.choose("Open on", day, f"With the filter the list tells the hours on {day}.")
    yield screen.click("button", "Apply filters")
    listed = yield from over_pages(screen, lambda: steps.results(screen))
    spans = [text.partition(f"{day} ")[2].partition("-") for _, text in listed]
    number = sum(not closes or opens <= time < closes for opens, _, closes in spans)
    yield screen.stop(str(number), f"{number} of them are open at {time}.")


def free_museums(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open one museum after the other and save those that are free."""
    query = f"museums in {case.values['town']}"
    yield from steps.search(screen, query)
    names = [link.name for link, _ in steps.results(screen)]
    for number, name in enumerate(names):
        if number:
            yield from steps.search(screen, query, f"Next comes {name}.")
        yield screen.click("link", name, f"I look whether {name} is free.")
        fee = steps.fact(screen, "Entrance fee")
        if fee == "Free":
            yield screen.click("link", "Save", "Its entrance is free.")
            yield screen.choose("List", case.values["list"])
            yield screen.click("button", "Save place")
    yield screen.stop("", "I have looked at every museum of the town.")


def cheapest_hotel(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Open every hotel, read stars and price, and keep the cheapest that will do."""
    query = f"hotels in {case.values['town']}"
    yield from steps.search(screen, query)
    names = [link.name for link, _ in steps.results(screen)]
    hotels: list[tuple[float, str]] = []
    for number, name in enumerate(names):
        if number:
            yield from steps.search(screen, query, f"Next comes {name}.")
        yield screen.click("link", name, f"I look at the stars and the price of {name}.")
        stars, price = steps.fact(screen, "Stars"), steps.fact(screen, "Double room from")
        if int(stars) >= int(case.values["stars"]):
            hotels.append((float(price.removeprefix("$").replace(",", "")), name))
    cheapest, name = min(hotels)
    thought = f"Of those with enough stars, {name} is cheapest at ${cheapest:.2f}."
    yield screen.stop(name, thought)
