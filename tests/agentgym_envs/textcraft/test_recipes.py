import pytest

from agentgym_envs.textcraft.cleanup import clean, without_circles
from agentgym_envs.textcraft.recipes import Recipe, RecipeBook

LINES = (
    "4 oak planks using 1 oak logs",
    "4 birch planks using 1 birch logs",
    "4 stick using 2 planks",
    "1 stick using 2 bamboo",
    "1 wooden pickaxe using 3 planks, 2 stick",
    "2 torch using 1 stick, 1 coal",
)
GENERICS = {"planks": ["oak planks", "birch planks"]}


def make_book(*lines: str) -> RecipeBook:
    return RecipeBook(map(Recipe.parse, lines or LINES), GENERICS)


def test_recipe_reads_what_it_writes() -> None:
    recipe = Recipe.parse("craft 1 wooden pickaxe using 3 planks, 2 stick")
    assert recipe == Recipe("wooden pickaxe", 1, ((3, "planks"), (2, "stick")))
    assert Recipe.parse(recipe.text) == recipe
    assert recipe.command({"planks": "oak planks"}).endswith("using 3 oak planks, 2 stick")


@pytest.mark.parametrize(
    "text", ["stick using 2 planks", "4 stick", "4 stick using planks", "0 a using 1 b", ""]
)
def test_recipe_refuses_other_text(text: str) -> None:
    with pytest.raises(ValueError, match="recipe"):
        Recipe.parse(text)


def test_recipe_names_an_ingredient_once() -> None:
    with pytest.raises(ValueError, match="once"):
        Recipe.parse("1 a using 1 b, 2 b")


def test_depth_is_the_least_chain_and_height_the_longest() -> None:
    book = make_book()
    assert [book.depth(i) for i in ("bamboo", "oak planks", "stick", "wooden pickaxe")] == [
        *(0, 1, 1, 2)
    ]
    assert [book.height(i) for i in ("bamboo", "oak planks", "stick", "wooden pickaxe")] == [
        *(0, 1, 2, 3)
    ]
    assert book.goals == ("birch planks", "oak planks", "stick", "torch", "wooden pickaxe")


def test_closure_goes_through_the_members_of_generic_names() -> None:
    book = make_book()
    assert {r.output for r in book.closure("torch")} == {
        *("torch", "stick", "oak planks", "birch planks")
    }
    assert book.closure("bamboo") == ()


def test_match_fills_a_generic_name_with_one_member_in_full() -> None:
    book = make_book()
    assert book.match("stick", {"birch planks": 2}) == Recipe.parse("4 stick using 2 planks")
    assert book.match("stick", {"bamboo": 2}) == Recipe.parse("1 stick using 2 bamboo")
    assert book.match("stick", {"birch planks": 1, "oak planks": 1}) is None
    assert book.match("stick", {"birch planks": 3}) is None
    assert book.match("stick", {"planks": 2}) is None
    assert book.match("wooden pickaxe", {"stick": 2, "oak planks": 3}) is not None
    assert book.match("bamboo", {"stick": 2}) is None


def test_items_leave_generic_names_out() -> None:
    book = make_book()
    assert "planks" not in book.items
    assert book.is_base("coal") and not book.is_base("stick") and not book.is_base("planks")


def test_circles_are_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"circle: .* -> .*without_circles"):
        make_book("1 a using 1 b", "1 b using 1 a")


def test_what_would_take_one_item_for_two_ingredients_is_no_goal() -> None:
    lines = ("1 frame using 1 wood, 1 log", "1 door using 1 frame", "1 bed using 1 wood, 1 wool")
    book = RecipeBook(map(Recipe.parse, lines), {"wood": ["log"]})
    assert book.goals == ("bed",)
    assert RecipeBook(book.recipes, {"wood": ["log", "bark"]}).goals == ("bed", "frame", "door")


def test_generic_names_are_neither_crafted_nor_empty() -> None:
    with pytest.raises(ValueError, match="planks"):
        make_book("1 planks using 1 log")
    with pytest.raises(ValueError, match="wool"):
        RecipeBook([Recipe.parse("1 bed using 3 wool")], {"wool": []})


def test_without_circles_drops_the_recipe_that_comes_later() -> None:
    recipes = [Recipe.parse(t) for t in ("9 nugget using 1 ingot", "1 ingot using 9 nugget")]
    assert without_circles(recipes, {}) == recipes[:1]
    through_generic = [
        Recipe.parse(t) for t in ("1 oak planks using 1 hull", "1 hull using 5 planks")
    ]
    assert without_circles(through_generic, GENERICS) == through_generic[:1]


def test_clean_keeps_the_items_of_dropped_recipes_fetchable() -> None:
    recipes = [Recipe.parse("9 coal using 1 coal block"), Recipe.parse("1 torch using 1 coal")]
    assert clean(recipes, {}) == (recipes[1:], ["coal block"])
