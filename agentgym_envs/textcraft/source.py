"""Reads a book of recipes from the built-in table or from a data-pack folder."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from agentgym_envs.textcraft.cleanup import clean
from agentgym_envs.textcraft.recipes import Recipe, RecipeBook

_SHAPED = ("minecraft:crafting_shaped", "crafting_shaped")
_SHAPELESS = ("minecraft:crafting_shapeless", "crafting_shapeless")


@cache
def builtin_book() -> RecipeBook:
    """Return the recipes of Minecraft 1.16.2, read once per process."""
    text = files("agentgym_envs.textcraft").joinpath("recipes.json").read_text("utf-8")
    table = json.loads(text)
    return RecipeBook(
        map(Recipe.parse, table["recipes"]),
        table["generics"],
        extra_items=table["extra_items"],
        source=table["source"],
    )


def datapack_book(folder: str | Path) -> RecipeBook:
    """Read a data pack's recipe files, in Minecraft's own JSON format, into a book.

    The folder is the pack, its `recipes` (or `recipe`) folder, or any folder of recipe files. Only
    shaped and shapeless crafting is read. As in the original, an ingredient with alternatives
    counts as the first, a generic name's members are the outputs whose recipe group bears its name
    (and the members of the pack's own item tags), and a generic name without a craftable member is
    a plain item. The rules of `cleanup` apply, in file-name order.

    Raises:
        ValueError: the folder holds no recipe, or a file is not a recipe.
    """
    folder = Path(folder)
    paths = _recipe_files(folder)
    texts = {str(path.relative_to(folder)): path.read_text("utf-8-sig") for path in paths}
    tags = _item_tags(folder)
    read = [entry for name, text in texts.items() if (entry := _read(name, text)) is not None]
    if not read:
        raise ValueError(
            f"recipes_dir={str(folder)!r} holds no crafting recipe; expected a data pack, or a "
            "folder of .json files of type minecraft:crafting_shaped or crafting_shapeless"
        )
    outputs = {entry.recipe.output for entry in read}
    generics = {
        name: members
        for name, members in _generics(read, tags).items()
        if not outputs.isdisjoint(members) and name not in outputs
    }
    recipes, extra_items = clean([entry.recipe for entry in read], generics)
    content = json.dumps([sorted(texts.items()), sorted(tags.items())])
    version = sha256(content.encode()).hexdigest()[:12]
    return RecipeBook(
        recipes,
        generics,
        extra_items=extra_items,
        source=f"recipes_dir:{folder.resolve().name}@{version}",
    )


@dataclass(frozen=True)
class _Entry:
    recipe: Recipe
    group: str
    tags: frozenset[str]  # the ingredients that the file names as tags


def _recipe_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        raise ValueError(f"recipes_dir={str(folder)!r} is not a folder")
    within = [path for name in ("recipes", "recipe") for path in folder.rglob(f"{name}/**/*.json")]
    return sorted(set(within)) or sorted(folder.glob("*.json"))


def _read(name: str, text: str) -> _Entry | None:
    try:
        data = json.loads(text)
        if data["type"] in _SHAPED:
            rows = "".join(data["pattern"])
            cells = [(rows.count(key), value) for key, value in data["key"].items()]
        elif data["type"] in _SHAPELESS:
            cells = [(1, value) for value in data["ingredients"]]
        else:
            return None
        amounts: dict[str, int] = {}
        tags = set()
        for count, value in cells:
            item, is_tag = _ingredient(value)
            amounts[item] = amounts.get(item, 0) + count
            if is_tag:
                tags.add(item)
        result = data["result"]
        result = result if isinstance(result, dict) else {"item": result}
        output = _words(result.get("item") or result["id"])
        recipe = Recipe(output, result.get("count") or 1, tuple((n, i) for i, n in amounts.items()))
        return _Entry(recipe, _words(data.get("group") or ""), frozenset(tags))
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise ValueError(
            f"{name} is not a crafting recipe in Minecraft's format "
            f"({type(error).__name__}: {error})"
        ) from error


def _ingredient(value: Any) -> tuple[str, bool]:
    """Return an ingredient's name, the first of alternatives, and whether it is a tag."""
    if isinstance(value, list):
        value = value[0]
    if isinstance(value, str):  # the format since Minecraft 1.21.2
        return _words(value.removeprefix("#")), value.startswith("#")
    return _words(value.get("item") or value["tag"]), "item" not in value


def _words(identifier: str) -> str:
    return identifier.removeprefix("minecraft:").replace("_", " ")


def _generics(entries: Iterable[_Entry], tags: Mapping[str, list[str]]) -> dict[str, list[str]]:
    entries = list(entries)
    names = sorted({tag for entry in entries for tag in entry.tags})
    generics = {}
    for tag in names:
        grouped = (entry.recipe.output for entry in entries if entry.group == tag)
        generics[tag] = list(dict.fromkeys([*tags.get(tag, ()), *grouped]))
    return generics


def _item_tags(folder: Path) -> dict[str, list[str]]:
    """Read the pack's item tags, nested tags resolved."""
    raw: dict[str, list[str]] = {}
    for kind in ("tags/items", "tags/item"):
        for path in sorted(folder.rglob(f"{kind}/**/*.json")):
            _, _, name = path.with_suffix("").as_posix().rpartition(f"{kind}/")
            namespace = path.as_posix().rpartition(f"/{kind}/")[0].rpartition("/")[2]
            full = name if namespace == "minecraft" else f"{namespace}:{name}"
            raw[_words(full)] = _tag_values(path)
    return {name: list(_resolved(name, raw, ())) for name in raw}


def _tag_values(path: Path) -> list[str]:
    try:
        values = json.loads(path.read_text("utf-8-sig"))["values"]
        return [value if isinstance(value, str) else str(value["id"]) for value in values]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{path.name} is not an item tag in Minecraft's format "
            f"({type(error).__name__}: {error})"
        ) from error


def _resolved(name: str, raw: Mapping[str, list[str]], path: tuple[str, ...]) -> Iterator[str]:
    for value in raw.get(name, ()):
        if not value.startswith("#"):
            yield _words(value)
        elif (inner := _words(value[1:])) not in path:
            yield from _resolved(inner, raw, (*path, name))
