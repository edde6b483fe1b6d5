"""Makes a shop's content, products and goals, in two files."""

from __future__ import annotations

import json
import lzma
from hashlib import sha256
from pathlib import Path

from agentgym_envs.files import write_whole
from agentgym_envs.webshop.catalogue import ABOUT_FILE, CONTENT_FILE, EMBEDDED, product_of
from worlds.sources import sources_digest
from worlds.webshop.asking import make_goals
from worlds.webshop.products import make_products

VERSION = 1
"""Raise it with every change that changes content: a task id keeps its meaning within a version."""

SOURCES = (
    "worlds/webshop",
    "worlds/dice.py",
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
    name = f"agentgym-shop v{VERSION}{f' seed {seed}' if seed else ''}"
    content = pack(name, *generate(seed))
    about = {"content": sha256(content).hexdigest(), "sources": sources_digest(SOURCES)}
    folder = EMBEDDED if out is None else out
    folder.mkdir(parents=True, exist_ok=True)
    if not _has_content(folder, about["content"]):
        write_whole(folder / CONTENT_FILE, lzma.compress(content, preset=9))
    write_whole(folder / ABOUT_FILE, json.dumps(about) + "\n")
    print(f"{name} ({about['content'][:12]}) in {folder}")


def _has_content(folder: Path, content: str) -> bool:
    """Return whether a folder has content of this hash; a compressor may write it otherwise."""
    about = folder / ABOUT_FILE
    return about.is_file() and json.loads(about.read_text("utf-8"))["content"] == content


def generate(seed: int) -> tuple[list[tuple[object, ...]], list[list[object]]]:
    """Make the rows of a seed's products and goals."""
    made = make_products(seed)
    rows = [product.row for product in made]
    products = [product_of(*row) for row in rows]  # type: ignore[arg-type]
    return rows, make_goals(made, products, seed)


def pack(name: str, products: list[tuple[object, ...]], goals: list[list[object]]) -> bytes:
    """Return a line of JSON about the shop, and then one per product and per goal."""
    rows: list[object] = [{"name": name, "products": len(products)}, *products, *goals]
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return "\n".join(lines).encode()
