"""Scores a purchase, by the rules of the original.

The rules are those of AgentGym's WebShop at commit f434743a (`web_agent_site/engine/goal.py`), from
arXiv 2207.01206, equation 1. Deviations:

1. A title's nouns are all its words but function words and numbers; the original asks a parser of
   English for them, which would be a download of 560 MB.
2. An attribute or an option of which nothing is left when other characters than letters and digits
   are taken out matches nothing.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from agentgym_envs.errors import needs_extra
from agentgym_envs.webshop.catalogue import Goal, Product

with needs_extra("search", "WebShop"):
    from rapidfuzz.fuzz import token_set_ratio
    from rapidfuzz.utils import default_process

LEAST_RATIO = 85
"""Two phrases match where their token set ratio, in whole percent, is above it."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_LATIN_1 = dict.fromkeys(range(128, 256))  # what the original leaves out before it compares


class Reward(NamedTuple):
    """The value of a purchase, and the reasons.

    Attributes:
        total: 0 to 1; 1 only where everything matches.
        type_factor: how far the product is of the right kind: 0, 0.1, 0.5 or 1.
        attributes: how many of those that were asked for it has.
        options: how many of those that were asked for were chosen.
        is_within_price: it costs no more than the limit.
    """

    total: float
    type_factor: float
    attributes: int
    options: int
    is_within_price: bool


def purchase_reward(product: Product, chosen: Mapping[str, str], goal: Goal) -> Reward:
    """Return the reward of a purchase.

        total = type_factor * (attributes + options + is_within_price)
                / (len(goal.attributes) + len(goal.options) + 1)

    Args:
        product: what was bought.
        chosen: its options by name.
        goal: what was asked for.
    """
    factor = type_factor(product, goal.product)
    attributes = sum(has_attribute(product, attribute) for attribute in goal.attributes)
    options = sum(
        any(is_chosen(value, name, asked) for value in chosen.values())
        for name, asked in goal.options
    )
    is_within = product.price <= goal.price_limit
    parts = attributes + options + is_within
    total = parts / (len(goal.attributes) + len(goal.options) + 1) * factor
    return Reward(total, factor, attributes, options, is_within)


def type_factor(product: Product, asked: Product) -> float:
    """Return how far a product is of the kind of another one."""
    nouns = _nouns(asked.title)
    share = len(set(_nouns(product.title)) & set(nouns)) / len(nouns) if nouns else 0.2
    if share == 0:
        return 0.0
    if share < 0.1:
        return 0.1
    categories = _categories(product) & _categories(asked)
    is_kind = product.query == asked.query or len(categories) >= 2 or share > 0.2
    return 1.0 if is_kind else 0.5


def has_attribute(product: Product, attribute: str) -> bool:
    """Return whether an attribute is among a product's, or in one of its texts."""
    if any(is_match(own, attribute) for own in product.attributes):
        return True
    texts = (product.title, " ".join(product.bullets), product.description)
    return any(attribute in text.lower() for text in texts)


def is_chosen(value: str, name: str, asked: str) -> bool:
    """Return whether a chosen value is the one that was asked for of an option.

    A chosen value counts as the first colour that it contains. As in the original, what is asked
    for counts so only where nobody names the option; else name and value are compared together, or
    the colour alone where the value is one.
    """
    if name:
        colour = next((colour for colour in _colours() if colour in (name, asked)), None)
        return is_match(_colour_or_itself(value), colour or f"{name} {asked}")
    return is_match(_colour_or_itself(value), _colour_or_itself(asked))


def is_match(one: str, other: str) -> bool:
    """Return whether two phrases are nearly the same, or one's words are among the other's."""
    ratio = token_set_ratio(_comparable(one), _comparable(other))
    return round(ratio) > LEAST_RATIO


def are_apart(values: Iterable[str], name: str) -> bool:
    """Return whether no value of an option is taken for another one."""
    listed = list(values)
    return not any(
        is_chosen(one, name, other) for one in listed for other in listed if one != other
    )


def _comparable(text: str) -> str:
    return default_process(text.translate(_LATIN_1))


def _nouns(title: str) -> list[str]:
    return [word for word in _WORD.findall(title.lower()) if word not in _function_words()]


def _categories(product: Product) -> set[str]:
    return {part.strip() for part in product.product_category.split("›")}


def _colour_or_itself(value: str) -> str:
    return next((colour for colour in _colours() if colour in value), value)


@cache
def _words() -> Mapping[str, list[str]]:
    return tomllib.loads(files("agentgym_envs.webshop").joinpath("words.toml").read_text("utf-8"))


def _colours() -> list[str]:
    return _words()["colours"]


@cache
def _function_words() -> frozenset[str]:
    return frozenset(_words()["function_words"])
