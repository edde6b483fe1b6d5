"""Plays WebShop by rules that compare words and prices and understand neither.

None knows which words of the instruction name the kind, an attribute or an option.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from agentgym_envs.core import ExpertMove
from agentgym_envs.retrieval.words import words
from agentgym_envs.webshop.catalogue import Product
from agentgym_envs.webshop.expert import click
from agentgym_envs.webshop.pages import BUY_NOW, NEXT_PAGE, PREVIOUS_PAGE, Visit

_LIMIT = re.compile(r"price lower than ([\d.]+) dollars")
_NUM_READ = 3
_TURNS_TO_READ = 4
"""Turns that it takes to read a hit's features and come back, and at most to buy one."""

Choice = Callable[[Sequence[Product], set[str]], Product]
"""Chooses among affordable hits, by the instruction's words."""


class Shopping(Protocol):
    """An episode, as the rules read it: the instruction, the pages, and the turns left."""

    goal: str
    visit: Visit

    @property
    def num_turns_left(self) -> int:
        """The turns that the episode may still have."""


def first_result(episode: Shopping) -> Iterator[ExpertMove]:
    """Yield moves by the rule of arXiv 2207.01206: search the instruction, buy the first hit."""
    yield _search(episode)
    if episode.visit.shown_hits:
        yield click(episode.visit.shown_hits[0].asin)
        yield click(BUY_NOW)


def first_affordable(episode: Shopping) -> Iterator[ExpertMove]:
    """Yield moves that buy the first affordable hit with all options that the instruction names."""
    return _one_hit(episode, lambda hits, asked: hits[0])


def cheapest(episode: Shopping) -> Iterator[ExpertMove]:
    """Yield moves that buy the cheapest of the first page's hits, options as named."""
    return _one_hit(episode, lambda hits, asked: min(hits, key=lambda product: product.price))


def title_overlap(episode: Shopping) -> Iterator[ExpertMove]:
    """Yield moves that buy the affordable hit whose title has most words of the instruction."""
    return _one_hit(
        episode, lambda hits, asked: max(hits, key=lambda product: _shared(product.title, asked))
    )


def least_overlap(episode: Shopping) -> Iterator[ExpertMove]:
    """Yield moves that buy the affordable hit whose title has fewest words of the instruction."""
    return _one_hit(
        episode, lambda hits, asked: min(hits, key=lambda product: _shared(product.title, asked))
    )


def second_page(episode: Shopping) -> Iterator[ExpertMove]:
    """Yield moves that buy the first affordable hit of the second page, options as named."""
    return _one_hit(episode, lambda hits, asked: hits[0], page=2)


def most_words(episode: Shopping) -> Iterator[ExpertMove]:
    """Yield moves that read three affordable hits and buy the one with most of the words."""
    return _after_reading(episode, lambda text: set(words(text)))


def most_word_pairs(episode: Shopping) -> Iterator[ExpertMove]:
    """Yield moves that read three affordable hits and buy the one with most pairs of words."""
    return _after_reading(episode, _pairs)


def _search(episode: Shopping) -> ExpertMove:
    return ExpertMove(f"search[{episode.goal}]")


def _one_hit(episode: Shopping, choice: Choice, *, page: int = 1) -> Iterator[ExpertMove]:
    yield _search(episode)
    for _ in range(page - 1):
        if NEXT_PAGE in episode.visit.buttons:
            yield click(NEXT_PAGE)
    if hits := _affordable(episode):
        product = choice(hits, set(words(episode.goal)))
        yield click(product.asin)
        yield from _buy(episode, product)


def _after_reading(episode: Shopping, parts: Callable[[str], set[str]]) -> Iterator[ExpertMove]:
    yield _search(episode)
    asked = parts(episode.goal)
    hits = _affordable(episode)[:_NUM_READ]
    counts: dict[str, int] = {}
    for product in hits:
        if episode.num_turns_left < 2 * _TURNS_TO_READ:
            break
        yield click(product.asin)
        yield click("Features")
        counts[product.asin] = len(parts("\n".join([product.title, *product.bullets])) & asked)
        yield click(PREVIOUS_PAGE)
        yield click(PREVIOUS_PAGE)
    if hits:
        best = max(hits, key=lambda product: counts.get(product.asin, -1))
        yield click(best.asin)
        yield from _buy(episode, best)


def _affordable(episode: Shopping) -> list[Product]:
    limit = _LIMIT.search(episode.goal)
    hits = episode.visit.shown_hits
    return [each for each in hits if limit is None or each.price <= float(limit[1])]


def _shared(text: str, asked: set[str]) -> int:
    return len(set(words(text)) & asked)


def _pairs(text: str) -> set[str]:
    listed = words(text)
    return {f"{one} {other}" for one, other in zip(listed, listed[1:], strict=False)}


def _buy(episode: Shopping, product: Product) -> Iterator[ExpertMove]:
    for values in product.options.values():
        named = [value for value in values if value in episode.goal]
        if named:
            yield click(max(named, key=len))
    yield click(BUY_NOW)
