"""The shop's ranges: categories, and the kinds of products in them."""

from __future__ import annotations

from typing import Any, NamedTuple

from worlds.words import read_words


class Kind(NamedTuple):
    """A kind of product.

    Attributes:
        noun: what it is called.
        low: lowest price of its smallest size, in cents.
        high: highest price of its smallest size, in cents.
        grams: weight of the smallest size; 0 where the size is the weight.
        sizes: from small to large, divided by slashes; empty where there is but one.
        materials: that it is made of, where it cannot be all of its category's.
    """

    noun: str
    low: int
    high: int
    grams: int
    sizes: str = ""
    materials: tuple[str, ...] = ()


class Leaf(NamedTuple):
    """A category that holds products.

    Attributes:
        name: of the category.
        materials: what its products are made of, unless their kind says otherwise.
        colours: that they come in; empty where colour is not given.
        features: sentences of their descriptions, without full stop.
        aspects: what reviews talk about, keys of `reviews.ASPECTS`.
        kinds: of products.
    """

    name: str
    materials: tuple[str, ...]
    colours: tuple[str, ...]
    features: tuple[str, ...]
    aspects: tuple[str, ...]
    kinds: tuple[Kind, ...]


class Range(NamedTuple):
    """A category of the first level.

    Attributes:
        name: of the category.
        brands: that make its products.
        leaves: the categories below.
    """

    name: str
    brands: tuple[str, ...]
    leaves: tuple[Leaf, ...]


def _range(name: str, brands: tuple[str, ...], leaf: tuple[dict[str, Any], ...]) -> Range:
    leaves = [
        Leaf(**{**row, "kinds": tuple(Kind(**kind) for kind in row["kinds"])}) for row in leaf
    ]
    return Range(name, brands, tuple(leaves))


RANGES = tuple(
    _range(**row)
    for name in ("kitchen", "home", "leisure", "ways")
    for row in read_words(f"sites/shopping/{name}.toml")["range"]
)
