"""Reads the shipped shop or a fresh one: its products, and the shoppers' instructions.

`python -m worlds webshop` makes it: a row about the shop, and then one per product and per goal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from agentgym_envs.content.packed import PackedRows
from agentgym_envs.retrieval.documents import Corpus, Passage

SHOP = PackedRows("shop", "webshop")
EMBEDDED = Path(__file__).with_name("content")
"""The folder of the shop that is shipped."""

Claims = Mapping[str, tuple[str, str]]
"""By attribute the words in which pages say that a product has it, and that it lacks it."""

NO_LIMIT = 1_000_000.0
"""The price limit of a goal that names none."""


@dataclass(frozen=True, slots=True)
class Review:
    """A customer's review, with a `score` of 1 to 5 stars."""

    title: str
    score: str
    body: str


@dataclass(frozen=True, slots=True)
class Product:
    """A product for sale.

    Attributes:
        asin: its number, as links show it.
        title: its name.
        category: one word for its part of the shop, such as `"garden"`.
        query: the search under which the shop lists it, in lower case.
        product_category: the path of its categories, divided by ` › `.
        price: in dollars.
        price_tag: the price as pages show it.
        description: a text.
        bullets: its features, sentences.
        attributes: short phrases that hold of it; pages do not list them.
        options: by name the values that can be chosen, all in lower case.
        rating: of 5 stars, or `"N.A."`.
        reviews: of customers.
    """

    asin: str
    title: str
    category: str
    query: str
    product_category: str
    price: float
    price_tag: str
    description: str
    bullets: tuple[str, ...]
    attributes: tuple[str, ...]
    options: Mapping[str, tuple[str, ...]]
    rating: str = "N.A."
    reviews: tuple[Review, ...] = ()


@dataclass(frozen=True, slots=True)
class Goal:
    """A shopper's instruction.

    Attributes:
        product: the product that the instruction was drawn from.
        instruction: what the shopper reads.
        attributes: that are asked for; at least one.
        options: pairs of an option's name and the value that is asked for; the name is empty where
            people wrote the instruction.
        price_limit: in dollars; `NO_LIMIT` where the instruction names none.
    """

    product: Product
    instruction: str
    attributes: tuple[str, ...]
    options: tuple[tuple[str, str], ...]
    price_limit: float


class Shop:
    """Products and goals.

    Args:
        products: in the order in which equally good hits of a search are shown.
        goals: goal i is the task number i.
        source: names the data and its version.
        claims: how pages speak of attributes; of those that are missing, by their names.
    """

    def __init__(
        self,
        products: Sequence[Product],
        goals: Sequence[Goal],
        source: str,
        *,
        claims: Claims | None = None,
    ) -> None:
        self.claims = claims or {}
        self.products = tuple(products)
        self.goals = tuple(goals)
        self.source = source
        self.by_asin = {product.asin.lower(): product for product in self.products}

    @cached_property
    def corpus(self) -> Corpus:
        """The searchable texts of each product, as long as in the original's index."""
        passages = [
            Passage(number, product.title, _searchable(product), number, 0)
            for number, product in enumerate(self.products)
        ]
        return Corpus(passages, self.source)


def _searchable(product: Product) -> str:
    options = [f"{name}: {', '.join(values)}" for name, values in product.options.items()]
    first = product.bullets[:1]
    return " ".join([product.description, *first, ", and ".join(options)])


@cache
def load_shop(folder: Path) -> Shop:
    """Return a shop that `python -m worlds webshop` has made, read once per process.

    Its source names version and hash.

    Raises:
        ValueError: the content is damaged, or not what its hash says.
    """
    rows, digest = SHOP.read(folder)
    head, end = rows[0], rows[0]["products"] + 1
    products = [make_product(*row) for row in rows[1:end]]
    goals = [
        Goal(products[number], text, tuple(attributes), tuple(map(tuple, options)), float(limit))
        for number, text, attributes, options, limit in rows[end:]
    ]
    claims = {attribute: (yes, no) for attribute, (yes, no) in head["claims"].items()}
    return Shop(products, goals, f"{head['name']} ({digest})", claims=claims)


def make_product(
    asin: str,
    title: str,
    category: str,
    query: str,
    product_category: str,
    cents: int,
    description: str,
    bullets: Sequence[str],
    attributes: Sequence[str],
    options: Mapping[str, Sequence[str]],
) -> Product:
    """Return a product of a row of the content."""
    price = cents / 100
    return Product(
        asin,
        title,
        category,
        query,
        product_category,
        price,
        f"${price}",
        description,
        tuple(bullets),
        tuple(attributes),
        {name: tuple(values) for name, values in options.items()},
    )
