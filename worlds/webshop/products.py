"""Makes the shop's products from the ranges of the shopping site, with attributes and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple

from agentgym_envs.webshop.reward import are_apart
from worlds.dice import Dice
from worlds.sites.shopping.products import SERIES
from worlds.sites.shopping.ranges import RANGES, Kind, Leaf, Range
from worlds.words import read_words

PRODUCTS_OF_KIND = 30

_ATTRIBUTES = read_words("webshop/attributes.toml")
_WORDS = read_words("webshop/wording.toml")
_ARTICLES = ("a ", "an ")
_DIGITS = "0123456789ABCDFGHJKLMNPQRSTVWXYZ"


class Made(NamedTuple):
    """A product, and what an instruction needs to ask for it.

    Attributes:
        row: as it is written into the content.
        thing: what it is called.
        material: what it is made of, one of its attributes.
        adjectives: of its attributes those that it is.
        parts: of its attributes those that it has, by attribute the words with their article.
    """

    row: tuple[object, ...]
    thing: str
    material: str
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
        for product in _of_kind(group, leaf, kind, Dice("webshop", seed, group.name, kind.noun))
    ]
    return Dice("webshop", seed, "order").shuffled(made)


def without_article(part: str) -> str:
    """Return `"raised rim"` of `"a raised rim"`."""
    for article in _ARTICLES:
        if part.startswith(article):
            return part.removeprefix(article)
    return part


def with_article(words: str) -> str:
    """Return `"an airtight jar"` of `"airtight jar"`."""
    return f"{'an' if words[0].lower() in 'aeiou' else 'a'} {words}"


def _of_kind(group: Range, leaf: Leaf, kind: Kind, dice: Dice) -> list[Made]:
    pairs = [(brand, series) for brand in group.brands for series in SERIES]
    return [
        _product(group, leaf, kind, brand, series, dice)
        for brand, series in dice.sample(pairs, PRODUCTS_OF_KIND)
    ]


def _product(group: Range, leaf: Leaf, kind: Kind, brand: str, series: str, dice: Dice) -> Made:
    own, common = _ATTRIBUTES[leaf.name], _ATTRIBUTES["everywhere"]
    adjectives = (*dice.sample(own["is"], dice.between(1, 2)), *dice.sample(common["is"], 1))
    wholes = (*dice.sample(own["has"], dice.between(1, 2)), *_sometimes(common["has"], dice))
    parts = {without_article(whole): whole for whole in wholes}
    material = dice.pick(kind.materials or leaf.materials)
    noun = kind.noun.lower()
    headlines = [material, *dice.sample([*adjectives, *parts], 2)]
    title = ", ".join([f"{brand} {series} {kind.noun}", *map(str.title, headlines)])
    points = [dice.pick(_WORDS["points"]).format(adjective) for adjective in adjectives]
    points += [dice.pick(_WORDS["parts"]).format(part) for part in parts.values()]
    bullets = [point[0].upper() + point[1:] for point in dice.shuffled(points)]
    opening = dice.pick(_WORDS["openings"]).format(
        article=with_article(noun).split()[0].capitalize(),
        series=series, noun=noun, brand=brand, material=material,
    )  # fmt: skip
    description = " ".join([opening, *(f"{text}." for text in dice.sample(leaf.features, 2))])
    attributes = dice.shuffled([material, *adjectives, *parts])
    row = (
        _asin(group.name, kind.noun, brand, series), title, group.name.lower(), noun,
        f"{group.name} › {kind.noun}", _cents(kind, dice), description, bullets, attributes,
        _options(leaf, kind, dice),
    )  # fmt: skip
    return Made(row, noun, material, adjectives, parts)


def _sometimes(parts: Sequence[str], dice: Dice) -> list[str]:
    return dice.sample(parts, 1) if dice.chance(0.5) else []


def _options(leaf: Leaf, kind: Kind, dice: Dice) -> dict[str, tuple[str, ...]]:
    """Draw options, of whose values none may be taken for another one."""
    options: dict[str, tuple[str, ...]] = {}
    if leaf.colours:
        colours = _apart("color", dice.shuffled(leaf.colours))
        options["color"] = tuple(sorted(colours[: dice.between(2, 5)]))
    sizes = _apart("size", [_compact(size) for size in kind.sizes.split("/") if size])
    if len(sizes) > 1:
        options["size"] = tuple(sizes)
    elif dice.chance(0.5) or not options:
        packs = dice.sample(_WORDS["packs"], dice.between(2, 4))
        options["pack"] = tuple(pack for pack in _WORDS["packs"] if pack in packs)
    return options


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
