"""Solves tasks that need posts to be opened and read: reviews, events, sales."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.steps import (
    author_of,
    back,
    narrow,
    number_in,
    open_community,
    posts_on,
    text_of,
)
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.solution import Case

RATING = r"My rating: (\d+) out of 10"
_ASKED = r"I ask \$(\d+)"
_TOWN = re.compile(r"To be fetched in (.+?), on a ")


def _read_all(screen: Screen, word: str = "") -> Iterator[ExpertMove | str]:
    """Open every listed post whose title holds a word, and give the texts."""
    while True:
        titles = [post.title for post in posts_on(screen) if word.lower() in post.title.lower()]
        for title in titles:
            yield screen.click("link", title, "I must read this one.")
            yield text_of(screen)
            yield back("Back to the list.")
        if not screen.has("link", "Next"):
            return
        yield screen.click("link", "Next", "There may be more on the next page.")


def review_rating(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read every review that names the product."""
    yield from open_community(screen, case.values["community"])
    yield from narrow(screen, flair="Review")
    ratings = []
    for step in _read_all(screen, case.values["product"]):
        if isinstance(step, ExpertMove):
            yield step
        else:
            ratings.append((number_in(RATING, step), author_of(screen)))
    if not ratings:
        raise ElementNotFound(f"no review of {case.values['product']}")
    number, author = (max if case.values["extreme"] == "highest" else min)(ratings)
    yield screen.stop(f"{number}, {author}", f"The ratings are {ratings}.")


_PLACES = r"There are (\d+) places"
_COST = r"it costs \$(\d+)"
EVENT_SUM_AGES = {"of any age": ("Any time", 10_000), "of the last 365 days": ("A year", 365)}
"""What the site calls a period, and its days."""


def event_sum_value(body: str, what: str) -> int:
    """Return what an event's post adds to the sum of the places or the prices."""
    if what == "places":
        return number_in(_PLACES, body)
    return 0 if "it costs nothing" in body else number_in(_COST, body)


def event_sum(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read every event."""
    yield from open_community(screen, case.values["community"])
    within, _ = EVENT_SUM_AGES[case.values["age"]]
    yield from narrow(screen, flair="Event", within=within)
    numbers = []
    for step in _read_all(screen):
        if isinstance(step, ExpertMove):
            yield step
        else:
            numbers.append(event_sum_value(step, case.values["what"]))
    sign = "$" if case.values["what"] == "prices" else ""
    yield screen.stop(f"{sign}{sum(numbers)}", f"I add up {numbers}.")


def cheapest_sale(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read every offer."""
    yield from open_community(screen, case.values["community"])
    yield from narrow(screen, flair="For sale")
    offers = []
    for step in _read_all(screen):
        if isinstance(step, ExpertMove):
            yield step
        else:
            offers.append(offer(step))
    price, town = min(offers) if case.values["extreme"] == "lowest" else max(offers)
    yield screen.stop(town, f"The {case.values['extreme']} price is ${price}.")


def offer(body: str) -> tuple[int, str]:
    """Return the price that an offer asks and the town where it is to be fetched."""
    town = _TOWN.search(body)
    if town is None:
        raise ElementNotFound(f"no town in {body!r}")
    return number_in(_ASKED, body), town[1]
