"""Solves tasks that go through the places of a kind in a town: count, compare, pick out."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, over_pages
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
    """Take the cheapest of the hotels that will do."""
    hotels = yield from _read_hotels(case, screen)
    good = [(price, name) for stars, price, name in hotels if stars >= int(case.values["stars"])]
    cheapest, name = min(good)
    thought = f"Of those with enough stars, {name} is cheapest at ${cheapest:.2f}."
    yield screen.stop(name, thought)


def no_such_hotel(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look at every hotel; none has as many stars."""
    hotels = yield from _read_hotels(case, screen)
    most = max(stars for stars, _, _ in hotels)
    if most >= int(case.values["stars"]):
        raise ElementNotFound("a hotel has enough stars after all")
    yield screen.give_up(f"No hotel in {case.values['town']} has more than {most} stars.")


def _read_hotels(
    case: Case, screen: Screen
) -> Generator[ExpertMove, None, list[tuple[int, float, str]]]:
    """Open every hotel of the town and return its stars, its price and its name."""
    query = f"hotels in {case.values['town']}"
    yield from steps.search(screen, query)
    names = [link.name for link, _ in steps.results(screen)]
    hotels: list[tuple[int, float, str]] = []
    for number, name in enumerate(names):
        if number:
            yield from steps.search(screen, query, f"Next comes {name}.")
        yield screen.click("link", name, f"I look at the stars and the price of {name}.")
        stars, price = steps.fact(screen, "Stars"), steps.fact(screen, "Double room from")
        hotels.append((int(stars), float(price.removeprefix("$").replace(",", "")), name))
    return hotels
