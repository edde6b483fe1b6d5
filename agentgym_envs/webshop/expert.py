"""Plays WebShop by its pages alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webshop.catalogue import Goal, Product
from agentgym_envs.webshop.pages import BACK_TO_SEARCH, BUY_NOW, NEXT_PAGE, PREVIOUS_PAGE, Visit
from agentgym_envs.webshop.reward import is_chosen, is_match

_PRICE_CLAUSE = re.compile(r", and price lower than [\d.]+ dollars\Z")
_MOST_PAGES = 5
_BEST = "It is the best that I found, I buy it."
_TURNS_TO_LOOK = 2
"""Turns that it takes to open a hit and come back to the hits."""

_TURNS_TO_READ = 4
"""The same with its features."""


def click(name: str, thought: str = "") -> ExpertMove:
    """Return a click on something, by its name in lower case."""
    return ExpertMove(f"click[{name.lower()}]", thought)


class Shopper:
    """Buys the product that an instruction asks for, by the pages that were read.

    It opens those hits that look to be of the kind and within the price and whose titles deny no
    attribute, first those whose titles affirm most, and buys the first whose pages show all options
    and attributes. When few turns are left it buys without reading.

    Args:
        visit: its way through the pages, which its moves change.
        goal: what is asked for.
        turns_left: returns how many turns the episode may still have.
    """

    def __init__(self, visit: Visit, goal: Goal, turns_left: Callable[[], int]) -> None:
        self._visit = visit
        self._goal = goal
        self._turns_left = turns_left
        self._best: tuple[int, Product] | None = None

    def moves(self) -> Iterator[ExpertMove]:
        """Yield moves that end in a purchase, if there is anything to buy."""
        visit = self._visit
        if visit.page.kind != "search":
            yield click(BACK_TO_SEARCH, "I start with a search of my own.")
        # Where pages have words of their own for attributes, their names lead astray.
        words = _search_words(self._goal, with_attributes=not visit.shop.claims)
        yield ExpertMove(f"search[{words}]", f"I search for {words}.")
        for page in range(1, _MOST_PAGES + 1):
            for product in self._candidates():
                is_bought = yield from self._try(product)
                if is_bought:
                    return
            is_last = page == _MOST_PAGES or NEXT_PAGE not in visit.buttons
            # The best so far may be a page back.
            if is_last or self._turns_left() < self._turns_to_buy + page + 1:
                break
            yield click(NEXT_PAGE, "I look further.")
        yield from self._settle()

    def _try(self, product: Product) -> Generator[ExpertMove, None, bool]:
        """Yield moves that open a hit and buy it, or come back where it lacks something.

        Returns:
            Whether it was bought.
        """
        spare = self._turns_left() - self._turns_to_buy
        yield click(product.asin, f"{product.asin.lower()} looks right, I open it.")
        lacking = [*_lacking_options(product, self._goal)]
        why = f"It is not offered in {' and '.join(lacking)}."
        thought = "All fits, I buy it."
        if not lacking and (unsaid := self._unsaid(product.title)):
            if spare >= _TURNS_TO_READ:
                yield click("Features", f"The title does not say {' or '.join(unsaid)}.")
                lacking = [each for each in unsaid if not self._says(product, each)]
                why = f"Its features do not bear out {' or '.join(lacking)}."
                yield click(PREVIOUS_PAGE, "I go back to the product.")
            else:
                thought = "There is no time to read on, I buy it."
        if lacking and spare >= _TURNS_TO_LOOK:
            if self._best is None or len(lacking) < self._best[0]:
                self._best = len(lacking), product
            yield click(PREVIOUS_PAGE, why)
            return False
        yield from _buy(product, self._goal, thought if not lacking else _BEST)
        return True

    @property
    def _turns_to_buy(self) -> int:
        """Turns that it takes to open a hit, choose its options and buy it."""
        return len(self._goal.options) + 2

    def _candidates(self) -> list[Product]:
        hits = [
            product
            for product in self._visit.shown_hits
            if _looks_right(product, self._goal)
            and not any(self._denies(product.title, each) for each in self._goal.attributes)
        ]
        return sorted(hits, key=lambda product: len(self._unsaid(product.title)))

    def _unsaid(self, text: str) -> list[str]:
        """Return the attributes asked for that a text does not affirm."""
        return [each for each in self._goal.attributes if not self._affirms(text, each)]

    def _says(self, product: Product, attribute: str) -> bool:
        return any(self._affirms(bullet, attribute) for bullet in product.bullets)

    def _affirms(self, text: str, attribute: str) -> bool:
        if attribute not in self._visit.shop.claims:
            lines = text.lower().splitlines()
            return any(attribute.lower() in line or is_match(line, attribute) for line in lines)
        affirmation, _ = self._visit.shop.claims[attribute]
        return affirmation in text.lower() and not self._denies(text, attribute)

    def _denies(self, text: str, attribute: str) -> bool:
        _, denial = self._visit.shop.claims.get(attribute, ("", ""))
        return bool(denial) and denial in text.lower()

    def _settle(self) -> Iterator[ExpertMove]:
        """Yield moves that buy the best product seen, which another page may show."""
        visit = self._visit
        shown = [self._best[1]] if self._best else visit.shown_hits[:1]
        for product in shown:
            while product not in visit.shown_hits:
                yield click(PREVIOUS_PAGE, "I go back to the best of what I saw.")
            yield click(product.asin, f"{product.asin.lower()} fits best of what I saw.")
            yield from _buy(product, self._goal, _BEST)


def _search_words(goal: Goal, *, with_attributes: bool) -> str:
    """Return the words of the instruction that describe the product, kind first."""
    query = goal.product.query
    is_named = query in goal.instruction.lower()
    kind = query if is_named else _PRICE_CLAUSE.sub("", goal.instruction)
    attributes = goal.attributes if with_attributes else ()
    return " ".join([kind, *attributes, *(value for _, value in goal.options)])


def _looks_right(product: Product, goal: Goal) -> bool:
    query = goal.product.query
    is_named = query in goal.instruction.lower()
    return product.price <= goal.price_limit and (not is_named or query in product.title.lower())


def _lacking_options(product: Product, goal: Goal) -> Iterator[str]:
    for name, asked in goal.options:
        if _value(product, name, asked) is None:
            yield f"{name} {asked}".strip()


def _value(product: Product, name: str, asked: str) -> str | None:
    """Return the value of a product's options that was asked for: the same, else a near one."""
    listed = product.options.get(name)
    values = listed if listed is not None else [v for vs in product.options.values() for v in vs]
    near = [value for value in values if is_chosen(value, name, asked)]
    return asked if asked in near else next(iter(near), None)


def _buy(product: Product, goal: Goal, thought: str) -> Iterator[ExpertMove]:
    """Yield moves from a product's page, the last one with the thought."""
    for name, asked in goal.options:
        value = _value(product, name, asked)
        if value is not None:
            yield click(value, f"I choose {value}.")
    yield click(BUY_NOW, thought)
