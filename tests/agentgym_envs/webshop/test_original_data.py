from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rapidfuzz")

from agentgym_envs.webshop.catalogue import NO_LIMIT, Shop
from agentgym_envs.webshop.original_data import original_shop
from tests.agentgym_envs.webshop.shops import ATTRIBUTES, ITEMS, item, original_folder


def read(folder: Path, goals: str = "synthetic", **changes: Any) -> Shop:
    return original_shop(original_folder(folder, **changes), goals=goals, num_products=None)


def test_products_are_read_as_the_original_reads_them(tmp_path: Path) -> None:
    reviews = [
        {"asin": "B0HAIR0001", "average_rating": "4.5",
         "reviews": [{"title": "Good", "stars": "5.0", "review": "Soft hair."}]}
    ]  # fmt: skip
    serum, comb, card = read(tmp_path, reviews=reviews).products
    assert serum.options == {"color": ("rose | gold", "black"), "size": ("30 ml", "60 ml")}
    assert (serum.query, serum.price, serum.price_tag) == ("hair serum", 12.5, "$12.5")
    assert (serum.rating, serum.reviews[0].score, serum.reviews[0].body) == (
        "4.5", "5.0", "Soft hair."
    )  # fmt: skip
    assert comb.bullets == ("Wood.",)
    assert comb.price_tag == "$3.0 to $7.0"
    assert 3 <= comb.price <= 7
    assert (card.price, card.price_tag, card.rating) == (100.0, "$100.0", "N.A.")


def test_synthetic_goals_stand_where_the_original_s_shuffle_puts_them(tmp_path: Path) -> None:
    dice = random.Random(233)
    limit_of_serum = max(dice.sample([20.0, 30.0, 40.0, 50.0], 2))
    limit_of_comb = max(dice.sample([10.0, 20.0, 30.0, 40.0], 2))
    serum = "Find me sulfate free hair serums with color: {}, and size: {}"
    expected = [
        *((serum.format(colour, size), limit_of_serum)
          for colour in ("rose | gold", "black") for size in ("30 ml", "60 ml")),
        ("Find me natural ingredients combs", limit_of_comb),
    ]  # fmt: skip
    random.Random(233).shuffle(expected)
    goals = read(tmp_path).goals
    texts = [f"{text}, and price lower than {limit:.2f} dollars" for text, limit in expected]
    assert [goal.instruction for goal in goals] == texts
    assert [goal.price_limit for goal in goals] == [limit for _, limit in expected]


def test_people_s_goals_come_with_each_limit(tmp_path: Path) -> None:
    goals = read(tmp_path, goals="human").goals
    assert sorted(goal.instruction for goal in goals) == [
        f"i want a black serum, and price lower than {limit}.00 dollars"
        for limit in (20, 30, 40, 50)
    ]
    assert {goal.options for goal in goals} == {(("", "black"),)}


def test_a_price_that_has_no_two_limits_above_it_has_none(tmp_path: Path) -> None:
    items = [item("B0HAIR0001", "Golden Serum", pricing="$985.00")]
    (goal,) = read(tmp_path, items_shuffle_1000=items).goals
    assert goal.price_limit == NO_LIMIT
    assert goal.instruction == "Find me sulfate free hair serums"


def test_the_source_names_the_content(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    one = read(tmp_path / "one").source
    two = read(tmp_path / "two", items_shuffle_1000=ITEMS[:2]).source
    assert one.startswith("data_dir:one@")
    assert one.partition("@")[2] != two.partition("@")[2]


def test_so_many_products_are_read(tmp_path: Path) -> None:
    shop = original_shop(original_folder(tmp_path), goals="synthetic", num_products=1)
    assert [product.asin for product in shop.products] == ["B0HAIR0001"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"items_ins_v2_1000": None}, "has no items_ins_v2"),
        ({"items_shuffle_1000": [{"asin": "B1"}]}, "not in the original's form .KeyError"),
        ({"items_ins_v2_1000": {}}, "hold no synthetic goal for 3 products"),
        ({"items_ins_v2_1000": [ATTRIBUTES]}, "not in the original's form .AttributeError"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read(tmp_path, **changes)
