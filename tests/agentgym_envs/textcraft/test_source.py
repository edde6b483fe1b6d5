"""Data-pack folders."""

import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.textcraft.env import TextCraftEnv
from agentgym_envs.textcraft.source import datapack_book

PACK: dict[str, dict[str, Any]] = {
    "oak_planks": {
        "type": "minecraft:crafting_shapeless",
        "group": "planks",
        "ingredients": [{"tag": "minecraft:oak_logs"}],
        "result": {"item": "minecraft:oak_planks", "count": 4},
    },
    "stick": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["#", "#"],
        "key": {"#": {"tag": "minecraft:planks"}},
        "result": {"item": "minecraft:stick", "count": 4},
    },
    "stick_from_bamboo": {
        "type": "crafting_shapeless",
        "ingredients": ["minecraft:bamboo", "minecraft:bamboo"],
        "result": {"id": "minecraft:stick", "count": 1},
    },
    "torch": {
        "type": "minecraft:crafting_shaped",
        "pattern": ["X", "#"],
        "key": {
            "#": {"item": "minecraft:stick"},
            "X": [{"item": "minecraft:coal"}, {"item": "minecraft:charcoal"}],
        },
        "result": {"item": "minecraft:torch", "count": 4},
    },
    "coal": {
        "type": "minecraft:crafting_shapeless",
        "ingredients": [{"item": "minecraft:coal_block"}],
        "result": {"item": "minecraft:coal", "count": 9},
    },
    "stone": {
        "type": "minecraft:smelting",
        "ingredient": {"item": "minecraft:cobblestone"},
        "result": "minecraft:stone",
    },
}


def write_pack(folder: Path, pack: dict[str, dict[str, Any]] = PACK) -> Path:
    recipes = folder / "data" / "minecraft" / "recipes"
    recipes.mkdir(parents=True)
    for name, content in pack.items():
        (recipes / f"{name}.json").write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize("inner", ["", "data/minecraft", "data/minecraft/recipes"])
def test_pack_is_found_from_any_of_its_folders(tmp_path: Path, inner: str) -> None:
    book = datapack_book(write_pack(tmp_path / "pack") / inner)
    assert {recipe.text for recipe in book.recipes} == {
        "craft 4 oak planks using 1 oak logs",
        "craft 4 stick using 2 planks",
        "craft 1 stick using 2 bamboo",
        "craft 4 torch using 1 stick, 1 coal",
    }
    assert book.generics == {"planks": ("oak planks",)}
    assert book.is_base("oak logs") and book.is_base("coal") and book.is_base("coal block")


def test_env_plays_a_pack(tmp_path: Path) -> None:
    env = TextCraftEnv(recipes_dir=write_pack(tmp_path / "pack"))
    _, info = env.reset(seed=0, options={"goal": "torch"})
    assert info["source"].startswith("recipes_dir:pack@")
    for action in env.expert():
        *_, info = env.step(action)
    assert info["success"]
    assert {env.reset()[1]["goal"] for _ in range(30)} == {"oak planks", "stick", "torch"}
    empty = TextCraftEnv(recipes_dir=tmp_path / "pack", split="test")
    with pytest.raises(ValueError, match="holds no task"):
        empty.reset()


def test_source_changes_with_content(tmp_path: Path) -> None:
    one = datapack_book(write_pack(tmp_path / "a" / "pack"))
    same = datapack_book(write_pack(tmp_path / "b" / "pack"))
    other = datapack_book(write_pack(tmp_path / "c" / "pack", {"torch": PACK["torch"]}))
    assert one.source == same.source != other.source


def test_item_tags_of_the_pack_name_members(tmp_path: Path) -> None:
    pack = write_pack(tmp_path / "pack", {"stick": PACK["stick"], "plank": PACK["oak_planks"]})
    tags = pack / "data" / "minecraft" / "tags" / "items"
    tags.mkdir(parents=True)
    (tags / "planks.json").write_text(json.dumps({"values": ["#minecraft:wood", "minecraft:hull"]}))
    (tags / "wood.json").write_text(json.dumps({"values": [{"id": "oak_planks"}, "#planks"]}))
    assert datapack_book(pack).generics == {"planks": ("oak planks", "hull")}
    (tags / "wood.json").write_text("[]")
    with pytest.raises(ValueError, match=r"wood\.json is not an item tag"):
        datapack_book(pack)


def test_unreadable_packs_say_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not a folder"):
        datapack_book(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="no crafting recipe"):
        datapack_book(tmp_path)
    broken = write_pack(tmp_path / "pack", {"broken": {**PACK["stick"], "result": 3}})
    with pytest.raises(ValueError, match=r"broken\.json is not a crafting recipe"):
        datapack_book(broken)
    (tmp_path / "pack" / "data" / "minecraft" / "recipes" / "broken.json").write_text("{")
    with pytest.raises(ValueError, match=r"broken\.json"):
        datapack_book(broken)
