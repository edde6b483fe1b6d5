"""Answers questions about products and their reviews."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import money
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of, over_pages
from agentgym_envs.webarena.tasks.shopping.steps import (
    cell,
    cents_in,
    open_category,
    open_product,
    tiles,
)
from agentgym_envs.webarena.tasks.solution import Case


def cheapest_in_colour(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter, sort by price, take the first one."""
    yield from open_category(screen, case.notes["above"], case.values["category"])
    yield screen.choose("Sort by", "Price: low to high", "Sorted so, the cheapest comes first.")
    yield screen.choose("Colour", case.values["colour"], "Only this colour counts.")
    yield screen.click("checkbox", "Only in stock", "It must be in stock.")
    yield screen.click("button", "Apply filters", "I apply the filters.")
    yield screen.stop(
        first_of(tiles(screen)).link.name, "The first one in the list is the cheapest."
    )


def word_in_reviews(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read all reviews, page after page."""
    yield from open_product(screen, case.values["product"])
    word = case.values["word"]
    stars = yield from over_pages(screen, lambda: _stars_of(screen, word))
    yield screen.stop(f"{len(stars)}, {sum(stars)}", "These were all reviews.")


def uses(word: str, text: str) -> bool:
    """Return whether a text uses a word."""
    return re.search(rf"\b{re.escape(word)}\b", text, re.IGNORECASE) is not None


def _stars_of(screen: Screen, word: str) -> list[int]:
    """Return the stars of each review on the page that uses a word."""
    stars = []
    for item in screen.all("listitem"):
        titles = screen.below(item, "heading")
        texts = [text.name for text in screen.below(item, "StaticText")]
        if titles and texts and uses(word, f"{titles[0].name} {texts[-1]}"):
            stars += [int(text[0]) for text in texts if text.endswith(" of 5 stars")]
    return stars


def latest_author(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter the reviews; the latest comes first."""
    yield from _filter_reviews(case, screen)
    author = screen.starting("StaticText", "By ").name
    nickname = author.removeprefix("By ").rsplit(" on ", 1)[0]
    yield screen.stop(nickname, "The first review in the list is the latest.")


def latest_author_of_none(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter the reviews; none is left."""
    yield from _filter_reviews(case, screen)
    if any(text.name.startswith("By ") for text in screen.all("StaticText")):
        raise ElementNotFound("a review gives this rating after all")
    yield screen.give_up(f"No review of this product gives {case.values['stars']}.")


def _filter_reviews(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_product(screen, case.values["product"])
    yield screen.choose("Rating", case.values["stars"], "Only reviews with this rating count.")
    yield screen.click("button", "Filter reviews", "I filter the reviews.")


def price_by_weight(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look at both, and calculate."""
    prices = []
    for name in (case.values["first"], case.values["second"]):
        yield from open_product(screen, name)
        grams = int(cell(screen, "Weight").removesuffix(" g"))
        prices.append(cents_in(screen.starting("StaticText", "$").name) * 100 / grams)
    yield screen.stop(
        money(round(min(prices))),
        f"{prices[0] / 100:.3f} and {prices[1] / 100:.3f} dollars for 100 g.",
    )


def count_under_filters(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Set every filter and read how many are left."""
    yield from open_category(screen, case.values["category"])
    for field, slot in (("Lowest price ($)", "least"), ("Highest price ($)", "most")):
        yield screen.fill("textbox", field, case.values[slot].removeprefix("$"))
    yield screen.choose("Brand", case.values["brand"], "Only this brand counts.")
    yield screen.choose(
        "Rating", f"{case.values['stars']} stars and up", "And only well-rated products."
    )
    yield screen.click("button", "Apply filters", "I apply the filters.")
    for heading in screen.all("heading"):
        if match := re.fullmatch(r"([\d,]+) products?", heading.name):
            yield screen.stop(match[1].replace(",", ""), "The heading tells the number.")
            return
    raise ElementNotFound("no heading tells how many products there are")
