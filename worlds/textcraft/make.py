"""Makes `recipes.json`, Minecraft 1.16.2's recipes, from the `minecraft-data` package.

    python -m worlds.textcraft.make PATH [--output recipes.json]

PATH is the unpacked package `minecraft-data` (3.20.0 or later) or any folder above its
`pc/1.16.2`. The package writes a recipe out once for each special type of a generic ingredient;
this script puts the generic names back and applies the rules of `cleanup`.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from agentgym_envs.textcraft.cleanup import clean
from agentgym_envs.textcraft.recipes import Recipe

TABLE = Path(__file__).parents[2] / "agentgym_envs" / "textcraft" / "recipes.json"
VERSION = "1.16.2"
TABLE_VERSION = "v1"
"""Goes up when the table's content changes."""

_WOODS = ("acacia", "birch", "dark oak", "jungle", "oak", "spruce")
_STEMS = ("crimson", "warped")
_COLOURS = (
    *("black", "blue", "brown", "cyan", "gray", "green", "light blue", "light gray", "lime"),
    *("magenta", "orange", "pink", "purple", "red", "white", "yellow"),
)


def _trunk(wood: str, log: str, bark: str) -> tuple[str, ...]:
    whole = (f"{wood} {log}", f"{wood} {bark}")
    return (*whole, *(f"stripped {name}" for name in whole))


_TRUNKS = {f"{wood} logs": _trunk(wood, "log", "wood") for wood in _WOODS} | {
    f"{wood} stems": _trunk(wood, "stem", "hyphae") for wood in _STEMS
}
_STONES = ("cobblestone", "blackstone")

_WRITTEN_OUT: dict[str, tuple[str, ...]] = {
    "planks": tuple(sorted(f"{wood} planks" for wood in _WOODS + _STEMS)),
    "wool": tuple(f"{colour} wool" for colour in _COLOURS),
    "logs": tuple(name for trunk in _TRUNKS.values() for name in trunk),
    "wooden slabs": tuple(sorted(f"{wood} slab" for wood in _WOODS + _STEMS)),
    **_TRUNKS,
    "stone tool materials": _STONES,
    "stone crafting materials": _STONES,
    "soul fire base blocks": ("soul sand", "soul soil"),
    "coals": ("coal", "charcoal"),
    "quartz block": ("chiseled quartz block", "quartz block", "quartz pillar"),
    "purpur block": ("purpur block", "purpur pillar"),
    "coal": ("coal", "charcoal"),
    "sand": ("sand", "red sand"),
}
"""Items that a name of the package stands for.

The last ones are alternatives of one recipe, of which the original takes the first. The others are
Minecraft's generic names.
"""

_SANDSTONES = {
    # Stairs take three kinds, slabs two: the longer list first, or slabs' would split stairs'.
    name: ((name, f"chiseled {name}", f"cut {name}"), (name, f"chiseled {name}"))
    for name in ("sandstone", "red sandstone")
}

_GENERICS = {
    "planks": _WRITTEN_OUT["planks"],
    # The original finds a generic name's members by recipe group; white wool is in no group.
    "wool": tuple(name for name in _WRITTEN_OUT["wool"] if name != "white wool"),
}
"""The names that stay generic. The original treats the others as plain items one can fetch."""

_ONLY_FOR = {
    "stone tool materials": (
        "stone axe",
        "stone hoe",
        "stone pickaxe",
        "stone shovel",
        "stone sword",
    ),
    "coals": ("campfire",),
}
"""Names that share their members with a later one, and the outputs that use them."""


def build(package: Path) -> dict[str, Any]:
    """Return the table's content.

    Args:
        package: a folder above the package's `pc/1.16.2`.

    Raises:
        ValueError: the data are not there.
    """
    folders = sorted(path.parent for path in package.rglob(f"pc/{VERSION}/recipes.json"))
    if not folders:
        raise ValueError(
            f"found no pc/{VERSION}/recipes.json under {package}; unpack the sdist of the PyPI "
            "package minecraft-data and give its folder"
        )
    names = {
        item["id"]: item["name"].replace("_", " ")
        for item in json.loads((folders[0] / "items.json").read_text("utf-8"))
    }
    data = json.loads((folders[0] / "recipes.json").read_text("utf-8"))
    recipes: list[Recipe] = []
    for number in sorted(data, key=lambda number: names[int(number)]):
        written_out = [_recipe(entry, names) for entry in data[number]]
        recipes += sorted(_merged(names[int(number)], written_out), key=lambda r: r.text)
    graph, extra_items = clean(recipes, _GENERICS)
    return {
        "source": f"minecraft-{VERSION}/{TABLE_VERSION}",
        "generics": {name: list(members) for name, members in sorted(_GENERICS.items())},
        "extra_items": extra_items,
        "recipes": [recipe.text.removeprefix("craft ") for recipe in graph],
    }


def _recipe(entry: dict[str, Any], names: dict[int, str]) -> Recipe:
    cells = entry.get("ingredients") or [cell for row in entry["inShape"] for cell in row]
    amounts: dict[str, int] = {}
    for cell in cells:
        if cell is not None:
            amounts[names[cell]] = amounts.get(names[cell], 0) + 1
    result = entry["result"]
    return Recipe(names[result["id"]], result["count"], tuple((n, i) for i, n in amounts.items()))


def _merged(output: str, recipes: Iterable[Recipe]) -> list[Recipe]:
    left = list(dict.fromkeys(recipes))
    for name, members in _WRITTEN_OUT.items():
        if output in _ONLY_FOR.get(name, (output,)):
            left = _merge(left, name, members)
    for name, lists in _SANDSTONES.items():
        for members in lists:
            left = _merge(left, name, members)
    return left


def _merge(recipes: Sequence[Recipe], name: str, members: tuple[str, ...]) -> list[Recipe]:
    """Replace each family of recipes that differ by one ingredient, ranging over `members`."""
    families: dict[Recipe, list[str]] = {}
    for recipe in recipes:
        for count, member in recipe.ingredients:
            if member in members:
                families.setdefault(_with(recipe, (count, member), name), []).append(member)
    whole = {recipe for recipe, special in families.items() if sorted(special) == sorted(members)}
    merged: dict[Recipe, None] = {}
    for recipe in recipes:
        wholes = [
            _with(recipe, pair, name)
            for pair in recipe.ingredients
            if pair[1] in members and _with(recipe, pair, name) in whole
        ]
        merged[wholes[0] if wholes else recipe] = None
    return list(merged)


def _with(recipe: Recipe, pair: tuple[int, str], name: str) -> Recipe:
    swapped = tuple((n, name) if (n, i) == pair else (n, i) for n, i in recipe.ingredients)
    return Recipe(recipe.output, recipe.count, swapped)


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("package", type=Path, help="the unpacked minecraft-data package")
    parser.add_argument("--output", type=Path, default=TABLE)
    arguments = parser.parse_args()
    table = build(arguments.package)
    arguments.output.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
    print(f"{len(table['recipes'])} recipes -> {arguments.output}")


if __name__ == "__main__":
    main()
