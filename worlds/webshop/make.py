"""Makes a shop's content, products and goals, in two files."""

from __future__ import annotations

from pathlib import Path

from agentgym_envs.webshop.catalogue import EMBEDDED, SHOP, make_product
from worlds.packing import named, packed, write_rows
from worlds.webshop.asking import make_goals
from worlds.webshop.products import make_claims, make_products

VERSION = 3
"""The content's version, raised with every change of content.

A task id keeps its meaning within a version.
"""

SOURCES = (
    "worlds/webshop",
    "worlds/dice.py",
    "agentgym_envs/content/dice.py",
    "worlds/sites/shopping/home.toml",
    "worlds/sites/shopping/kitchen.toml",
    "worlds/sites/shopping/leisure.toml",
    "worlds/sites/shopping/ways.toml",
    "worlds/sites/shopping/products.toml",
    "agentgym_envs/webshop/reward.py",
    "agentgym_envs/webshop/words.toml",
)


def make(out: Path | None, *, seed: int = 0, scale: int = 1) -> None:
    """Make a shop and write it.

    Args:
        out: the folder; None writes the one that is shipped.
        seed: another one makes another shop.
        scale: there is only the scale of 1.

    Raises:
        ValueError: another scale is asked for.
    """
    if scale != 1:
        raise ValueError(f"the shop of webshop has no --scale, got {scale}; leave it out")
    name = named("agentgym-shop", VERSION, seed)
    folder = EMBEDDED if out is None else out
    digest = write_rows(folder, SHOP, pack(name, *generate(seed)), SOURCES)
    print(f"{name} ({digest}) in {folder}")


def generate(seed: int) -> tuple[list[tuple[object, ...]], list[list[object]]]:
    """Make the rows of a seed's products and goals."""
    made = make_products(seed)
    rows = [product.row for product in made]
    products = [make_product(*row) for row in rows]  # type: ignore[arg-type]
    return rows, make_goals(made, products, seed)


def pack(name: str, products: list[tuple[object, ...]], goals: list[list[object]]) -> bytes:
    """Return a row about the shop, and then one per product and per goal."""
    head = {"name": name, "products": len(products), "claims": make_claims()}
    return packed([head, *products, *goals])
