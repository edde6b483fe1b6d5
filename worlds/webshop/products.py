"""Makes products with attributes and options from the shopping site's ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from agentgym_envs.webshop.catalogue import Claims
from agentgym_envs.webshop.reward import are_apart
from worlds.dice import Dice
from worlds.sites.shopping.products import SERIES
from worlds.sites.shopping.ranges import RANGES, Kind, Leaf, Range
from worlds.words import read_words

PRODUCTS_OF_KIND = 40

Forms = dict[str, dict[str, tuple[str, str]]]
"""By form, `is` or `has`, the attributes with the claims of those that have and lack them."""

_NUM_IN_TITLE = 4
"""Claims that a title makes, of those that the features make."""

_NUM_HELD = 3
"""Attributes that a product has, of the eight that products of its kind speak of."""

_ATTRIBUTES: dict[str, Forms] = read_words("webshop/attributes.toml")
_WORDS = read_words("webshop/wording.toml")
_ARTICLES = ("a ", "an ")
_DIGITS = "0123456789ABCDFGHJKLMNPQRSTVWXYZ"


class Made(NamedTuple):
    """A product, and the words with which an instruction asks for it.

    Attributes:
        row: as it is written into the content.
        thing: what it is called.
        adjectives: of its attributes those that it is.
        parts: of its attributes those that it has, by attribute the words with their article.
    """

    row: tuple[object, ...]
    thing: str
    adjectives: tuple[str, ...]
    parts: Mapping[str, str]

    @property
    def asin(self) -> str:
        """Its number."""
        return str(self.row[0])

    @property
    def cents(self) -> int:
        """Its price."""
        assert isinstance(self.row[5], int)
        return self.row[5]

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """Its options."""
        assert isinstance(self.row[9], dict)
        return self.row[9]


def make_products(seed: int) -> list[Made]:
    """Make every kind's products, each with a brand and series of its own, in a random order."""
    made = [
        product
        for group in RANGES
        for leaf in group.leaves
        for kind in leaf.kinds
        for product in _kind_products(
            group, leaf, kind, Dice("webshop", seed, group.name, kind.noun)
        )
    ]
    return Dice("webshop", seed, "order").shuffled(made)


def make_claims() -> Claims:
    """Return by attribute the words for a product that has it, and for one that lacks it."""
    return {
        without_article(attribute): both
        for forms in _ATTRIBUTES.values()
        for listed in forms.values()
        for attribute, both in listed.items()
    }


def without_article(part: str) -> str:
    """Return `"raised rim"` of `"a raised rim"`."""
    for article in _ARTICLES:
        if part.startswith(article):
            return part.removeprefix(article)
    return part


def with_article(words: str) -> str:
    """Return `"an airtight jar"` of `"airtight jar"`."""
    return f"{'an' if words[0].lower() in 'aeiou' else 'a'} {words}"


def _kind_products(group: Range, leaf: Leaf, kind: Kind, dice: Dice) -> list[Made]:
    pairs = [(brand, series) for brand in group.brands for series in SERIES]
    # All products of a kind speak of the same attributes, or words alone would tell them apart.
    forms = {
        form: own | dict(dice.sample([*_ATTRIBUTES["everywhere"][form].items()], 1))
        for form, own in _ATTRIBUTES[leaf.name].items()
    }
    return [
        _product(group, leaf, kind, forms, brand, series, dice)
        for brand, series in dice.sample(pairs, PRODUCTS_OF_KIND)
    ]


def _product(
    group: Range, leaf: Leaf, kind: Kind, forms: Forms, brand: str, series: str, dice: Dice
) -> Made:
    held = dice.sample([each for listed in forms.values() for each in listed], _NUM_HELD)
    claims = [
        affirmation if attribute in held else denial
        for listed in forms.values()
        for attribute, (affirmation, denial) in listed.items()
    ]
    noun, material = kind.noun.lower(), dice.pick(kind.materials or leaf.materials)
    headlines = map(str.title, dice.sample(claims, _NUM_IN_TITLE))
    title = "; ".join([f"{brand} {series} {kind.noun}", *headlines])
    opening = dice.pick(_WORDS["openings"]).format(
        article=with_article(noun).split()[0].capitalize(),
        series=series, noun=noun, brand=brand, material=material,
    )  # fmt: skip
    points = [f"{claim[0].upper()}{claim[1:]}." for claim in dice.shuffled(claims)]
    description = " ".join([opening, *dice.sample(points, 2)])
    adjectives = tuple(each for each in forms["is"] if each in held)
    parts = {without_article(each): each for each in forms["has"] if each in held}
    row = (
        _asin(group.name, kind.noun, brand, series), title, group.name.lower(), noun,
        f"{group.name} › {kind.noun}", _cents(kind, dice), description, points,
        dice.shuffled([*adjectives, *parts]), _options(leaf, kind, dice),
    )  # fmt: skip
    return Made(row, noun, adjectives, parts)


def _options(leaf: Leaf, kind: Kind, dice: Dice) -> dict[str, tuple[str, ...]]:
    """Draw options, of whose values none may be taken for another one."""
    options: dict[str, tuple[str, ...]] = {}
    if leaf.colours:
        options["color"] = _some(_apart("color", dice.shuffled(leaf.colours)), 4, dice)
    sizes = _apart("size", [_compact(size) for size in kind.sizes.split("/") if size])
    if len(sizes) > 1:
        options["size"] = _some(sizes, len(sizes) - 1, dice)
    elif dice.chance(0.5) or not options:
        options["pack"] = _some(_WORDS["packs"], 2, dice)
    return options


def _some(values: Sequence[str], count: int, dice: Dice) -> tuple[str, ...]:
    """Draw some of the values. Searches would favour products that list fewer than others."""
    drawn = dice.sample(values, count)
    return tuple(value for value in values if value in drawn)


def _apart(name: str, values: Sequence[str]) -> list[str]:
    chosen: list[str] = []
    for value in values:
        if are_apart([*chosen, value], name):
            chosen.append(value)
    return chosen


def _compact(size: str) -> str:
    """Write a size so that its numbers, not its units, decide how alike two sizes are."""
    return size.lower().replace(" x ", "x").replace(" ", "").replace("pieces", "pcs")


def _cents(kind: Kind, dice: Dice) -> int:
    # Far apart, so that a limit rules out many a product that would fit.
    cents = int(dice.uniform(kind.low, kind.high) * (0.6 + dice.tail(1.4)))
    return max(150, cents // 100 * 100 + dice.pick((0, 25, 49, 50, 75, 90, 95, 99)))


def _asin(*key: str) -> str:
    """Return ten letters and digits that begin like a real number, and no vowels to form words."""
    number = int.from_bytes(sha256("/".join(key).encode()).digest()[:8], "big")
    letters = ""
    for _ in range(7):
        number, place = divmod(number, len(_DIGITS))
        letters += _DIGITS[place]
    return f"B0A{letters}"
