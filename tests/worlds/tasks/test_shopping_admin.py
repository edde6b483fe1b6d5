from __future__ import annotations

import pytest

from agentgym_envs.browsing.page import Node, Page
from tests.worlds.tasks.arriving import WORLD
from worlds.dice import Dice
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.shopping_admin import TEMPLATES
from worlds.tasks.shopping_admin.draws import Period, draw_month, draw_period, plain_categories
from worlds.tasks.shopping_admin.steps import line_with, lines


def test_the_numbers_are_the_sites_own_and_a_third_of_the_templates_is_kept_for_the_test() -> None:
    numbers = [template.number for template in TEMPLATES]
    assert len(set(numbers)) == len(numbers)
    assert set(numbers) <= {*range(30, 60), *range(150, 153)}
    splits = [template.split for template in TEMPLATES]
    assert splits.count("test") == 10
    assert splits.count("validation") == 2
    impossible = [template.split for template in TEMPLATES if template.is_impossible]
    assert sorted(impossible) == ["test", "test", "train", "train", "validation"]


def test_periods_are_whole_months() -> None:
    dice = Dice(0)
    periods = {draw_period(dice) for _ in range(300)} | {draw_month(dice) for _ in range(300)}
    assert Period("the first quarter of 2025", "2025-01-01", "2025-03-31") in periods
    assert Period("the second half of 2024", "2024-07-01", "2024-12-31") in periods
    assert Period("February 2026", "2026-02-01", "2026-02-28") in periods
    assert min(p.first for p in periods) == "2024-04-01"
    assert max(p.last for p in periods) == "2026-02-28"


def test_a_category_is_asked_for_only_if_the_text_filter_finds_no_other() -> None:
    categories = plain_categories(WORLD)
    assert "Tools" not in categories  # the filter would also show garden tools
    assert len(categories["Pantry"]) == 4
    assert len(categories["Curtains & Rugs"]) == 1


def screen() -> Screen:
    tick = Node("checkbox", "Tick A-1")
    rows = [
        Node("row", "E-mail | somebody@post.test"),
        Node("row", "Tick | Name | SKU | Now"),
        Node("row", "| Bowl | A-1 | $3.00", children=[tick, Node("link", "Bowl")]),
        Node("row", "| Jug | A-2", children=[Node("link", "Jug")]),
    ]
    page = Page("http://shopping-admin.test/", "", Node("RootWebArea", "", children=rows))
    return Screen(lambda: page)


def test_lines_are_read_by_the_headings_above_them() -> None:
    result = [dict(line.cells) for line in lines(screen(), "SKU")]
    assert result == [
        {"Tick": "", "Name": "Bowl", "SKU": "A-1", "Now": "$3.00"},
        {"Tick": "", "Name": "Jug", "SKU": "A-2", "Now": ""},
    ]


def test_an_expert_gives_up_where_a_line_is_missing() -> None:
    assert line_with(screen(), "Name", "Jug").cells["SKU"] == "A-2"
    with pytest.raises(ElementNotFound, match="no row with SKU 'A-3'"):
        line_with(screen(), "SKU", "A-3")
