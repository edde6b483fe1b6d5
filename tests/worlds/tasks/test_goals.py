"""What goals say: one reading alone, and what the site shows decides."""

from __future__ import annotations

import re

import pytest

from tests.worlds.tasks.arriving import TASKS, baselines_of, cases
from worlds.dice import Dice
from worlds.tasks.drawing import TEMPLATES
from worlds.tasks.reddit import phrases
from worlds.tasks.template import World


def test_days_of_the_month_are_days_that_every_month_has() -> None:
    dice = Dice(0)
    texts = [draw(dice) for draw in (phrases.remark, phrases.rule) for _ in range(2000)]
    ordinals = {ordinal for text in texts for ordinal in re.findall(r"by the (\d+\w\w)", text)}
    assert {"2nd", "3rd", "11th", "12th", "13th", "21st", "22nd", "23rd"} <= ordinals
    days = {int(ordinal) for text in texts for ordinal in re.findall(r"on day (\d+)", text)}
    assert max(days | {int(ordinal[:-2]) for ordinal in ordinals}) == 28


def test_the_latest_review_is_of_a_later_day_than_the_one_before(world: World) -> None:
    for case in cases(2):
        days = world.rows(
            "shopping",
            "SELECT date(r.created_at) FROM reviews r JOIN products p ON p.id = r.product_id "
            "WHERE r.status = 'approved' AND p.name = ? AND r.rating = ? ORDER BY 1 DESC",
            case.values["product"],
            int(case.values["stars"][0]),
        )
        assert len(days) == 1 or tuple(days[0]) > tuple(days[1]), case.values


def test_the_worst_rating_is_the_worst_as_it_is_shown(world: World) -> None:
    for case in cases(51):
        rows = world.rows(
            "shopping",
            "SELECT avg(r.rating) AS mean FROM reviews r JOIN products p ON p.id = r.product_id "
            "WHERE r.status = 'approved' AND p.brand = ? GROUP BY p.id HAVING count(*) >= ? "
            "ORDER BY 1",
            case.values["brand"],
            int(case.values["number"]),
        )
        assert f"{rows[0]['mean']:.1f}" != f"{rows[1]['mean']:.1f}", case.values


@pytest.mark.parametrize(
    ("template", "wrong", "right"),
    [
        (15, "Which costs less", "100 g of"),
        (132, "my Forgeyard project", "the Forgeyard project"),
    ],
)
def test_a_goal_asks_for_what_is_judged(template: int, wrong: str, right: str) -> None:
    for intent in TEMPLATES[template].intents:
        assert wrong not in intent and right in intent


@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_instances_differ_in_what_is_judged(split: str) -> None:
    result = baselines_of(TASKS.numbers(split))
    assert result.goals >= 0.85 * result.possible
    assert result.fixed_answer < 0.02
