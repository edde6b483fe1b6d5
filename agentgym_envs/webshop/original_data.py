"""Reads the original WebShop's files, and draws its goals from them as its server does.

The files are `items_shuffle*.json` (products), `items_ins_v2*.json` (attributes and synthetic
instructions), and where there are any `items_human_ins.json` (instructions that people wrote) and
`reviews.json`. Goals come in the order of AgentGym's server, so a number is the same product and
the same options there and here. Deviations:

1. The price of a product that is offered at a range of prices is fixed by its number; the original
   draws it anew whenever the server starts.
2. A product without attributes in the second file has no synthetic goal; the original stops there.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from itertools import product as every_combination
from pathlib import Path
from typing import Any

from agentgym_envs.webshop.catalogue import NO_LIMIT, Goal, Product, Review, Shop

KINDS_OF_GOALS = ("synthetic", "human")
LIMITS = tuple(10.0 * step for step in range(1, 100))
"""The price limits there are, in dollars."""

_SEED = 233
_LONGEST_NUMBER = 10
_NO_PRICE = 100.0


def original_shop(folder: str | Path, *, goals: str, num_products: int | None) -> Shop:
    """Return the shop of a folder of the original's files, read once per process.

    Args:
        folder: holds the files, or has a subfolder `data` that does.
        goals: one of `KINDS_OF_GOALS`.
        num_products: how many products to read; None reads all.

    Raises:
        ValueError: a file is missing or has another form, or there is no goal.
    """
    return _read_shop(Path(folder).resolve(), goals, num_products)


@cache
def _read_shop(folder: Path, goals: str, num_products: int | None) -> Shop:
    if (folder / "data").is_dir():
        folder = folder / "data"
    digest = sha256(f"{goals} {num_products}".encode())
    listed = _load(folder, "items_shuffle*.json", digest)
    attributes = _load(folder, "items_ins_v2*.json", digest)
    written = _load(folder, "items_human_ins.json", digest) if goals == "human" else {}
    has_reviews = (folder / "reviews.json").is_file()
    reviewed = _load(folder, "reviews.json", digest) if has_reviews else []
    reviews = {item["asin"]: item for item in reviewed}
    products: dict[str, Product] = {}
    try:
        for item in listed[:num_products]:
            asin = item["asin"]
            if asin != "nan" and len(asin) <= _LONGEST_NUMBER and asin not in products:
                own = attributes.get(asin, {}).get("attributes", ["DUMMY_ATTR"])
                products[asin] = _product(item, own, reviews.get(asin, {}))
        if goals == "human":
            drawn = list(_human_goals(products, written))
        else:
            drawn = list(_synthetic_goals(products, attributes))
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(
            f"the files in {folder} are not in the original's form "
            f"({type(error).__name__}: {error})"
        ) from error
    if not drawn:
        raise ValueError(
            f"the files in {folder} hold no {goals} goal for {len(products)} products; name other "
            "goals= or a greater num_products="
        )
    random.Random(_SEED).shuffle(drawn)
    return Shop([*products.values()], drawn, f"data_dir:{folder.name}@{digest.hexdigest()[:12]}")


def _load(folder: Path, pattern: str, digest: Any) -> Any:
    """Return the content of the smallest file of a pattern, and add it to the digest."""
    paths = sorted(folder.glob(pattern), key=lambda path: (path.stat().st_size, path.name))
    if not paths:
        raise ValueError(
            f"data_dir={str(folder)!r} has no {pattern}; it must hold the original WebShop's files"
        )
    content = paths[0].read_bytes()
    digest.update(content)
    try:
        return json.loads(content)
    except ValueError as error:
        raise ValueError(f"{paths[0]} is no JSON: {error}") from error


def _product(
    item: Mapping[str, Any], attributes: list[str], reviewed: Mapping[str, Any]
) -> Product:
    bullets = item["small_description"]
    price, tag = _pricing(item.get("pricing"), item["asin"])
    reviews = [
        Review(
            str(review["title"]),
            str(review.get("score", review.get("stars"))),
            str(review.get("body", review.get("review", ""))),
        )
        for review in reviewed.get("reviews", [])
    ]
    return Product(
        item["asin"],
        item["name"],
        item["category"],
        item["query"].lower().strip(),
        item["product_category"],
        price,
        tag,
        item["full_description"] or "",
        tuple(text or "" for text in (bullets if isinstance(bullets, list) else [bullets])),
        tuple(attributes),
        _options(item.get("customization_options") or {}),
        str(reviewed.get("average_rating", "N.A.")),
        tuple(reviews),
    )


def _options(listed: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    return {
        name.lower(): tuple(entry["value"].strip().replace("/", " | ").lower() for entry in entries)
        for name, entries in listed.items()
        if entries is not None
    }


def _pricing(text: str | None, asin: str) -> tuple[float, str]:
    """Return a product's price and how pages show it."""
    prices = [float(re.sub(r"[^\d.]", "", part)) for part in (text or "").split("$")[1:]]
    if not prices:
        return _NO_PRICE, f"${_NO_PRICE}"
    if len(prices) == 1:
        return prices[0], f"${prices[0]}"
    share = int.from_bytes(sha256(asin.encode()).digest()[:4], "big") / 2**32
    low, high = prices[:2]
    return low + (high - low) * share, f"${low} to ${high}"


def _synthetic_goals(
    products: Mapping[str, Product], attributes: Mapping[str, Any]
) -> Iterator[Goal]:
    """Yield a goal for each combination of the options of each product with an instruction."""
    dice = random.Random(_SEED)
    for asin, product in products.items():
        asked = attributes.get(asin, {})
        if asked.get("instruction") is None:
            continue
        limits = _limits(product)
        limit = max(dice.sample(limits, 2)) if len(limits) >= 2 else NO_LIMIT
        names = sorted(product.options)
        for values in every_combination(*(product.options[name] for name in names)):
            options = tuple(zip(names, values, strict=True))
            listed = ", and ".join(f"{name}: {value}" for name, value in options)
            text = asked["instruction"] + (f" with {listed}" if listed else "")
            required = tuple(asked["instruction_attributes"])
            yield Goal(product, text + _clause(limit), required, options, limit)


def _human_goals(products: Mapping[str, Product], written: Mapping[str, Any]) -> Iterator[Goal]:
    """Yield a goal for each instruction and each price limit."""
    for asin, product in products.items():
        for asked in written.get(asin, []):
            if not asked["instruction_attributes"]:
                continue
            limits = _limits(product)
            for limit in limits if len(limits) >= 2 else [NO_LIMIT] * 4:
                text = asked["instruction"].strip(".") + _clause(limit)
                options = _named(asked["instruction_options"])
                yield Goal(product, text, tuple(asked["instruction_attributes"]), options, limit)


def _named(options: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(options, Mapping):
        return tuple(options.items())
    return tuple(("", value) for value in options)


def _limits(product: Product) -> list[float]:
    return [limit for limit in LIMITS if limit > product.price][:4]


def _clause(limit: float) -> str:
    return "" if limit == NO_LIMIT else f", and price lower than {limit:.2f} dollars"
