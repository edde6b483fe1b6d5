"""The shop's templates: what they draw, and that changing too much or too little scores nothing."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.page import Node, Page
from agentgym_envs.webarena.sites.filters import money
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.shopping.steps import cell, cents_in, order_links, tiles
from worlds.dice import Dice
from worlds.tasks.drawing import STRIDE
from worlds.tasks.shopping import TEMPLATES
from worlds.tasks.shopping.lookups import CheapestInColour, PriceByWeight
from worlds.tasks.shopping.past_orders import SpentInMonths
from worlds.tasks.template import Case, World

SHOP = "http://shopping.test"


def one_case(template: object, world: World) -> Case:
    dice = Dice(3)
    for _ in range(2000):
        case = template.draw(world, dice)  # type: ignore[attr-defined]
        if case is not None:
            return case
    raise AssertionError("nothing was drawn")


def play(number: int, *, until: str) -> WebArenaEnv:
    """Let the expert play the first instance until its next action begins so."""
    env = WebArenaEnv(viewport_lines=None)
    env.reset(options={"task_id": number * STRIDE})
    for action in env.expert():
        if action.startswith(until):
            return env
        env.step(action)
    raise AssertionError(f"no action {until!r}")


def element(env: WebArenaEnv, role: str, name: str) -> int:
    return Screen(env.browser.page).find(role, name).element


def test_the_numbers_are_the_sites_own_and_the_splits_as_planned() -> None:
    assert {template.number for template in TEMPLATES} <= set(range(30))
    splits = Counter(template.split for template in TEMPLATES)
    assert splits["test"] >= 4 and splits["validation"] == 3
    assert [t.split for t in TEMPLATES if t.is_impossible] == ["train"]


# What is drawn --------------------------------------------------------------------------------


def test_the_cheapest_product_is_not_simply_the_cheapest_of_its_category(world: World) -> None:
    case = one_case(CheapestInColour(), world)
    cheapest = world.value(
        "shopping",
        "SELECT p.name FROM products p JOIN categories c ON c.id = p.category_id "
        "WHERE c.name = ? AND p.is_enabled ORDER BY coalesce(p.special_price, p.price)",
        case.values["category"],
    )
    answer = case.evaluation["reference_answers"]["exact_match"]
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
    assert case.evaluation["reference_answers"]["exact_match"] == expected


def test_what_was_spent_is_the_sum_of_whole_months(world: World) -> None:
    case = one_case(SpentInMonths(), world)
    assert re.fullmatch(r"[A-Z]\w+ 202\d", case.values["first"])
    answer = case.evaluation["reference_answers"]["exact_match"]
    assert re.fullmatch(r"\$[\d,]+\.\d\d", answer) and answer not in str(case.values)


# Changing too little or too much --------------------------------------------------------------


def test_a_cart_with_the_wrong_quantity_scores_nothing() -> None:
    env = play(11, until="stop")
    env.step(f"click [{element(env, 'button', 'Add to cart')}]")
    assert env.step("stop []")[1] == 0.0


def test_an_order_that_was_only_reviewed_scores_nothing() -> None:
    env = WebArenaEnv(viewport_lines=None)
    env.reset(options={"task_id": 6 * STRIDE})
    for action in env.expert():
        if Screen(env.browser.page).has("button", "Place order"):
            break
        env.step(action)
    assert env.step("stop []")[1] == 0.0


def test_checking_out_where_only_the_cart_was_wanted_scores_nothing() -> None:
    env = play(5, until="stop")
    env.step(f"goto [{SHOP}/checkout]")
    env.step(f"click [{element(env, 'button', 'Continue')}]")
    for name in [node.name for node in Screen(env.browser.page).all("radio")][::4]:
        env.step(f"click [{element(env, 'radio', name)}]")
    env.step(f"click [{element(env, 'button', 'Continue')}]")
    env.step(f"click [{element(env, 'button', 'Place order')}]")
    assert env.step("stop []")[1] == 0.0


def test_cancelling_another_order_too_scores_nothing() -> None:
    env = play(13, until="stop")
    env.step(f"goto [{SHOP}/account/orders?status=pending]")
    env.step(f"click [{order_links(Screen(env.browser.page))[0][0].element}]")
    env.step(f"select [{element(env, 'combobox', 'Reason')}] [No longer needed]")
    env.step(f"click [{element(env, 'button', 'Cancel order')}]")
    assert env.step("stop []")[1] == 0.0


def test_removing_one_wish_too_many_scores_nothing() -> None:
    env = play(17, until="stop")
    name = tiles(Screen(env.browser.page))[0].link.name
    env.step(f"click [{element(env, 'button', f'Remove {name}')}]")
    assert env.step("stop []")[1] == 0.0


def test_the_right_total_without_the_coupon_applied_scores_nothing() -> None:
    env = play(12, until="stop")
    total = cell(Screen(env.browser.page), "Total")
    env.step(f"click [{element(env, 'button', 'Remove coupon')}]")
    assert env.step(f"stop [{total}]")[1] == 0.0


def test_an_address_added_twice_scores_nothing() -> None:
    env = play(8, until="stop")
    env.step(f"goto [{SHOP}/account/addresses/new]")
    for label in ("Street", "Town"):
        env.step(f"type [{element(env, 'textbox', label)}] [Somewhere] [0]")
    env.step(f"type [{element(env, 'textbox', 'Postcode')}] [12345] [1]")
    assert env.step("stop []")[1] == 0.0


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
