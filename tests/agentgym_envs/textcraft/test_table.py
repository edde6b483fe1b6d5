"""The built-in table: what AgentGym's rules make of Minecraft's recipes."""

import json
from collections import Counter
from importlib.resources import files

import pytest

from agentgym_envs.textcraft.source import builtin_book
from worlds.textcraft.make import build

BOOK = builtin_book()


def test_table_holds_the_originals_544_goals_and_676_items() -> None:
    assert len(BOOK.goals) == 544
    assert len(BOOK.recipes) == 612  # the original counts one of them twice
    assert len(BOOK.items) == 676
    assert Counter(map(BOOK.depth, BOOK.goals)) == {1: 125, 2: 291, 3: 117, 4: 11}


def test_generic_wool_leaves_out_white_wool() -> None:
    assert len(BOOK.members("planks")) == 8
    assert len(BOOK.members("wool")) == 15
    assert "white wool" not in BOOK.members("wool")
    assert BOOK.depth("painting") == 3


@pytest.mark.parametrize(
    "item",
    ["logs", "oak logs", "crimson stems", "wooden slabs", "coals", "soul fire base blocks"]
    + ["stone crafting materials", "stone tool materials", "purpur slab", "snow"],
)
def test_plain_items_of_the_original_are_base_items(item: str) -> None:
    assert BOOK.is_base(item)


@pytest.mark.parametrize("item", ["quartz slab", "quartz stairs", "purpur stairs", "wheat", "coal"])
def test_recipes_that_only_unpack_or_close_a_circle_are_gone(item: str) -> None:
    assert not BOOK.is_craftable(item)


def test_alternatives_count_as_the_first() -> None:
    texts = {recipe.text for recipe in BOOK.recipes}
    assert "craft 4 torch using 1 coal, 1 stick" in texts
    assert "craft 1 campfire using 3 stick, 1 coals, 3 logs" in texts
    assert "craft 4 sandstone stairs using 6 sandstone" in texts
    assert not any("charcoal" in text or "using 6 chiseled" in text for text in texts)


def test_build_puts_generic_names_back(tmp_path) -> None:
    woods = ["acacia", "birch", "crimson", "dark_oak", "jungle", "oak", "spruce", "warped"]
    names = [f"{wood}_planks" for wood in woods] + ["stick", "bamboo", "gold_block", "gold_ingot"]
    recipes = {
        "8": [
            {"inShape": [[plank], [plank]], "result": {"id": 8, "count": 4}} for plank in range(8)
        ]
        + [{"inShape": [[9], [9]], "result": {"id": 8, "count": 1}}],
        "11": [{"ingredients": [10], "result": {"id": 11, "count": 9}}],
    }
    folder = tmp_path / "data" / "pc" / "1.16.2"
    folder.mkdir(parents=True)
    items = [{"id": number, "name": name} for number, name in enumerate(names)]
    (folder / "items.json").write_text(json.dumps(items))
    (folder / "recipes.json").write_text(json.dumps(recipes))
    table = build(tmp_path)
    assert table["recipes"] == ["1 stick using 2 bamboo", "4 stick using 2 planks"]
    assert table["extra_items"] == ["gold block", "gold ingot"]


def test_build_says_what_it_needs(tmp_path) -> None:
    with pytest.raises(ValueError, match="minecraft-data"):
        build(tmp_path)


def test_table_is_small() -> None:
    table = files("agentgym_envs.textcraft").joinpath("recipes.json").read_bytes()
    assert len(table) < 50_000
