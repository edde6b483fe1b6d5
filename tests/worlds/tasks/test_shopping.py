"""The shop's templates: what they draw, and that changing too much or too little scores nothing."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.sites.filters import money
from worlds.dice import Dice
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.shopping import TEMPLATES
from worlds.tasks.shopping.lookups import CheapestInColour, PriceByWeight
from worlds.tasks.shopping.past_orders import SpentInMonths
from worlds.tasks.shopping.steps import cell, cents_in, order_links, tiles
from worlds.tasks.template import Case, World

SHOP = "http://shopping.test"


def one_case(template: object, world: World) -> Case:
    dice = Dice(3)
    for _ in range(2000):
        case = template.draw(world, dice)  # type: ignore[attr-defined]
        if case is not None:
            return case
    raise AssertionError("nothing was drawn")


def value(case: Case) -> str:
    assert case.goal.answer is not None
    return str(case.goal.answer["value"])


def test_the_numbers_are_the_sites_own_and_the_splits_as_planned() -> None:
    assert {template.number for template in TEMPLATES} <= {*range(30), *range(145, 149)}
    splits = Counter(template.split for template in TEMPLATES)
    assert splits["test"] >= 4 and splits["validation"] == 4
    impossible = Counter(template.split for template in TEMPLATES if template.is_impossible)
    assert impossible == {"train": 2, "validation": 1, "test": 1}


# What is drawn --------------------------------------------------------------------------------


def test_the_cheapest_product_is_not_simply_the_cheapest_of_its_category(world: World) -> None:
    case = one_case(CheapestInColour(), world)
    cheapest = world.value(
        "shopping",
        "SELECT p.name FROM products p JOIN categories c ON c.id = p.category_id "
        "WHERE c.name = ? AND p.is_enabled ORDER BY coalesce(p.special_price, p.price)",
        case.values["category"],
    )
    answer = value(case)
    assert answer != cheapest
    assert answer.endswith(case.values["colour"])


def test_the_cheaper_food_by_weight_is_the_dearer_one_by_piece(world: World) -> None:
    case = one_case(PriceByWeight(), world)
    query = "SELECT coalesce(special_price, price), weight_grams FROM products WHERE name = ?"
    products = [
        tuple(world.rows("shopping", query, case.values[slot])[0]) for slot in ("first", "second")
    ]
    by_piece, by_weight = min(products), min(products, key=lambda row: row[0] / row[1])
    assert by_piece != by_weight
    expected = money(round(100 * by_weight[0] / by_weight[1]))
    assert value(case) == expected


def test_what_was_spent_is_the_sum_of_whole_months(world: World) -> None:
    case = one_case(SpentInMonths(), world)
    assert re.fullmatch(r"[A-Z]\w+ 202\d", case.values["first"])
    answer = value(case)
    assert re.fullmatch(r"\$[\d,]+\.\d\d", answer) and answer not in str(case.values)


# Reading --------------------------------------------------------------------------------------


def test_an_amount_is_read_from_a_text() -> None:
    assert cents_in("$1,234.50 instead of $2,000.00") == 123450
    with pytest.raises(ElementNotFound, match="no amount in 'free'"):
        cents_in("free")


def test_lists_and_tables_are_read() -> None:
    texts = [Node("StaticText", text) for text in ("$5.00", "4.5 of 5 stars, 1,012 reviews")]
    item = Node("listitem", "", children=[Node("link", "Jug"), *texts])
    other = Node("listitem", "", children=[Node("link", "Kitchen")])
    row = Node("row", "000000007 | 1 May 2025 | Ida | $9.00 | Complete")
    row.children.append(Node("link", "000000007"))
    page = Page(SHOP, "", Node("RootWebArea", "", children=[other, item, row]))
    screen = Screen(lambda: page)
    assert [(t.link.name, t.cents, t.reviews) for t in tiles(screen)] == [("Jug", 500, 1012)]
    assert [cells[1] for _, cells in order_links(screen)] == ["1 May 2025"]
    with pytest.raises(ElementNotFound, match="no row 'Total'"):
        cell(screen, "Total")
