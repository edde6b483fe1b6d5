"""A product, a goal, and a folder in the original's form, for the tests."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentgym_envs.webshop.catalogue import Goal, Product

LAMP = Product(
    asin="B000000001",
    title="Acme Nova Desk Lamp, Steel",
    category="furniture",
    query="desk lamp",
    product_category="Furniture › Lighting › Desk Lamps",
    price=40.0,
    price_tag="$40.0",
    description="A lamp for long nights.",
    bullets=("It has a touch switch.", "Fully dimmable."),
    attributes=("dimmable", "swivel arm"),
    options={"color": ("black", "white"), "size": ("20cm", "30cm")},
)
GOAL = Goal(
    product=LAMP,
    instruction="a lamp",
    attributes=("dimmable", "touch switch"),
    options=(("color", "black"), ("size", "20cm")),
    price_limit=50.0,
)
RIGHT = {"color": "black", "size": "20cm"}


def lamp(**changes: Any) -> Product:
    """Return the lamp with changes."""
    return replace(LAMP, **changes)


def item(asin: str, name: str, **fields: Any) -> dict[str, Any]:
    """Return a product as `items_shuffle.json` holds it."""
    return {
        "asin": asin, "name": name, "category": "beauty", "query": " Hair Serum ",
        "product_category": "Beauty › Hair Care › Serums", "small_description": ["Soft.", "Mild."],
        "full_description": "Light and clear.", "pricing": "$12.50",
        "customization_options": {}, **fields,
    }  # fmt: skip


ITEMS = [
    item(
        "B0HAIR0001",
        "Glow Hair Serum",
        customization_options={
            "Color": [{"value": "Rose/Gold", "image": None}, {"value": " Black ", "image": None}],
            "Size": [{"value": "30 ml"}, {"value": "60 ml"}],
            "Style": None,
        },
    ),
    item("B0HAIR0002", "Plain Comb", pricing="$3.00 to $7.00", small_description="Wood."),
    item("B0HAIR0003", "Gift Card", pricing=None),
    item("B0HAIR0002", "The same number again"),
    item("nan", "No number"),
    item("B0TOOLONG0001", "Number too long"),
]
ATTRIBUTES = {
    "B0HAIR0001": {
        "attributes": ["sulfate free", "long lasting"],
        "instruction": "Find me sulfate free hair serums",
        "instruction_attributes": ["sulfate free"],
    },
    "B0HAIR0002": {
        "attributes": ["natural ingredients"],
        "instruction": "Find me natural ingredients combs",
        "instruction_attributes": ["natural ingredients"],
    },
    "B0HAIR0003": {"attributes": ["gift"], "instruction": None, "instruction_attributes": None},
}
WRITTEN = {
    "B0HAIR0001": [
        {
            "instruction": "i want a black serum.",
            "instruction_attributes": ["long lasting"],
            "instruction_options": ["black"],
        },
        {"instruction": "anything", "instruction_attributes": [], "instruction_options": []},
    ]
}


def original_folder(folder: Path, **changes: Any) -> Path:
    """Write the original's files; a file whose content is None is left out."""
    files = {
        "items_shuffle_1000.json": ITEMS,
        "items_ins_v2_1000.json": ATTRIBUTES,
        "items_human_ins.json": WRITTEN,
        **{f"{name}.json": content for name, content in changes.items()},
    }
    for name, content in files.items():
        if content is not None:
            (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder
