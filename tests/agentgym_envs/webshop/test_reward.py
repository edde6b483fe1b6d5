"""The reward against cases worked out by hand from the original's rules."""

from __future__ import annotations

from dataclasses import replace

import pytest

pytest.importorskip("rapidfuzz")

from agentgym_envs.webshop.catalogue import EMBEDDED, Goal, Product, load_shop
from agentgym_envs.webshop.reward import are_apart, is_chosen, is_match, purchase_reward
from tests.agentgym_envs.webshop.shops import GOAL, LAMP, RIGHT, lamp


def test_all_that_was_asked_for_is_worth_one() -> None:
    assert purchase_reward(LAMP, RIGHT, GOAL) == (1.0, 1.0, 2, 2, True)


@pytest.mark.parametrize(
    ("product", "chosen", "expected"),
    [
        # Five parts are asked for: two attributes, two options and the price.
        (LAMP, {}, 3 / 5),
        (LAMP, {"color": "black"}, 4 / 5),
        (LAMP, {"color": "white", "size": "20cm"}, 4 / 5),
        (lamp(price=50.0), RIGHT, 1.0),
        (lamp(price=50.01), RIGHT, 4 / 5),
        (lamp(attributes=()), RIGHT, 1.0),  # both are said in the bullets
        (lamp(attributes=(), bullets=()), RIGHT, 3 / 5),
        (lamp(attributes=(), bullets=(), description="DIMMABLE, too."), RIGHT, 4 / 5),
        (lamp(attributes=(), bullets=(), title="Lamp with Touch Switch"), RIGHT, 4 / 5),
    ],
)
def test_each_part_counts_the_same(
    product: Product, chosen: dict[str, str], expected: float
) -> None:
    assert purchase_reward(product, chosen, GOAL).total == pytest.approx(expected)


@pytest.mark.parametrize(
    ("title", "query", "categories", "factor"),
    [
        # The goal's title has the nouns acme, nova, desk, lamp, steel.
        ("Zeta Sofa", "sofa", "Furniture › Seats", 0.0),  # no noun in common
        ("Zeta Sofa", "desk lamp", "Furniture › Lighting", 0.0),  # whatever the query
        ("Steel Pan", "pan", "Kitchen › Pans", 0.5),  # one of five: 0.2 is not above 0.2
        ("Steel Pan", "desk lamp", "Kitchen › Pans", 1.0),
        ("Steel Pan", "pan", "Lighting › Furniture", 1.0),  # two categories, in any order
        ("Nova Lamp", "pan", "Kitchen › Pans", 1.0),  # two of five
    ],
)
def test_another_kind_of_product_is_worth_less(
    title: str, query: str, categories: str, factor: float
) -> None:
    product = lamp(title=title, query=query, product_category=categories)
    reward = purchase_reward(product, RIGHT, GOAL)
    assert reward.type_factor == factor
    assert reward.total == pytest.approx(factor)


def test_less_than_a_tenth_of_the_nouns_is_worth_a_tenth() -> None:
    wordy = lamp(title="Lamp one two three four five six seven eight nine ten eleven")
    goal = replace(GOAL, product=wordy)  # "one" is a function word: eleven nouns are left
    assert purchase_reward(lamp(title="Lamp", query="pan"), RIGHT, goal).type_factor == 0.1
    assert (
        purchase_reward(lamp(title="Lamp"), RIGHT, goal).type_factor == 0.1
    )  # of the right kind, too


def test_function_words_and_numbers_are_no_nouns() -> None:
    goal = replace(GOAL, product=lamp(title="Lamp for the Desk, 20 W"))
    assert purchase_reward(lamp(title="Pan for the Hob, 20"), RIGHT, goal).type_factor == 0.0


def test_a_title_without_nouns_neither_helps_nor_harms() -> None:
    goal = replace(GOAL, product=lamp(title="20 30"))
    assert purchase_reward(lamp(title="Pan"), RIGHT, goal).type_factor == 1.0  # by the query
    other = lamp(title="Pan", query="pan", product_category="Kitchen")
    assert purchase_reward(other, RIGHT, goal).type_factor == 0.5


def test_a_ratio_is_compared_in_whole_percent() -> None:
    assert not is_match("a" * 23 + "b" * 4, "a" * 23 + "c" * 4)  # 46 / 54 is 85.2, which is 85
    assert is_match("a" * 6 + "b", "a" * 6 + "c")  # 12 / 14 is 85.7, which is 86


def test_phrases_match_by_their_words() -> None:
    assert is_match("Long-Lasting", "lasting long")
    assert is_match("machine wash", "machine wash cold")  # the one's words are the other's
    assert not is_match("machine wash", "hand wash")
    assert not is_match("★", "★")  # nothing is left to compare


@pytest.mark.parametrize(
    ("value", "name", "asked", "expected"),
    [
        ("20cm", "size", "20cm", True),
        ("20cm", "size", "30cm", False),
        ("navy blue", "color", "blue", True),  # both count as blue
        ("sky blue", "color", "navy blue", True),  # "blue" is a word of "color navy blue"
        ("red", "color", "navy blue", False),
        ("large", "size", "x-large", True),  # the original's own: its words are among the other's
        ("dark brown", "", "brown", True),  # people's options: both count as brown
        ("color", "color", "black", False),
    ],
)
def test_options_are_compared_as_in_the_original(
    value: str, name: str, asked: str, expected: bool
) -> None:
    assert is_chosen(value, name, asked) is expected


# The shop that is shipped ------------------------------------------------------------------------


def test_every_goal_can_be_reached() -> None:
    for goal in load_shop(EMBEDDED).goals:
        assert purchase_reward(goal.product, dict(goal.options), goal).total == 1.0, (
            goal.instruction
        )


@pytest.mark.full
def test_no_wrong_option_is_paid_for() -> None:
    shop = load_shop(EMBEDDED)
    for product in shop.products:
        assert all(are_apart(values, name) for name, values in product.options.items()), product
    for goal in shop.goals[::7]:
        for name, asked in goal.options:
            for value in goal.product.options[name]:
                chosen = {**dict(goal.options), name: value}
                is_full = purchase_reward(goal.product, chosen, goal).total == 1.0
                assert is_full == (value == asked), (goal.instruction, value)


def test_a_price_over_the_limit_is_not_paid_for() -> None:
    for goal in load_shop(EMBEDDED).goals[::7]:
        dear = replace(goal.product, price=goal.price_limit + 0.01)
        assert goal.product.price < goal.price_limit
        assert purchase_reward(dear, dict(goal.options), goal).total < 1.0


def best(product: Product, goal: Goal) -> float:
    """Return the most that a product can earn: any value that counts as asked for is chosen."""
    chosen = {
        f"{name} {number}": value
        for name, values in product.options.items()
        for number, value in enumerate(values)
        if any(is_chosen(value, *option) for option in goal.options)
    }
    return purchase_reward(product, chosen, goal).total


@pytest.mark.full
@pytest.mark.parametrize("place", [3, 2500, 6760, 6909])
def test_no_other_kind_of_product_earns_everything(place: int) -> None:
    shop = load_shop(EMBEDDED)
    goal = shop.goals[place]
    others = [product for product in shop.products if product.query != goal.product.query]
    assert max(best(product, goal) for product in others) < 1.0
