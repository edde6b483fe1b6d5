"""What is recorded of a solution: its moves, and how far down a page each of them rests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.content import open_content
from agentgym_envs.webarena.expert import RecordedMove, read_record
from tests.worlds.tasks.arriving import task_of
from worlds.tasks.drawing import STRIDE, TEMPLATES
from worlds.tasks.playing import play_solution, record_moves
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.template import Case

ROWS = [Node("row", f"row {n}", {}, [Node("link", f"link {n}")]) for n in range(20)]
PAGE = Page("http://a.test/", "", Node("RootWebArea", "", {}, ROWS))


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_shipped_moves_are_those_of_the_solution(template: int) -> None:
    task = task_of(template * STRIDE + 4)
    expected = record_moves(task, open_content(), TEMPLATES[template].solve)
    assert read_record(open_content(), task) == expected


def test_a_task_in_the_making_is_played_before_it_has_evaluators() -> None:
    task = replace(task_of(STRIDE * min(TEMPLATES)), eval={})
    solve = TEMPLATES[min(TEMPLATES)].solve
    assert record_moves(task, open_content(), solve)[1][-1].action.startswith("stop")


def test_every_task_has_moves_that_end_it() -> None:
    for each in open_content().templates:
        records = [json.loads(line) for line in open_content().read_moves(each)]
        assert len(records) == len(each.task_ids)
        assert {moves[-1]["action"].split()[0] for _, moves in records} == {"stop"}


def test_what_is_listed_without_a_name_is_read_and_what_is_found_by_its_name_is_not() -> None:
    screen = Screen(lambda: PAGE)
    assert screen.has("row", "row 19") and screen.find("row", "row 19") and screen.last_read == 0
    assert len(screen.all("row")) == 20 and screen.last_read == 40
    screen.starting("row", "row 1")
    assert screen.last_read == 40


def test_a_part_of_a_page_is_read_alone() -> None:
    screen = Screen(lambda: PAGE)
    row = screen.starting("row", "row 12")
    assert screen.last_read == 26
    assert [link.name for link in screen.below(row, "link")] == ["link 12"]
    assert screen.last_read == 27


def test_of_another_page_nothing_is_read() -> None:
    pages = [PAGE, Page("http://b.test/", "", Node("RootWebArea", "", {}))]
    screen = Screen(lambda: pages[0])
    screen.all("row")
    del pages[0]
    assert screen.last_read == 0


def solve_twice(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    del case
    rows = screen.all("listitem")
    yield screen.click("link", "My account", f"{len(rows)} products.")
    yield screen.fill("searchbox", "Search the shop", "30 [x]", "I search.", enter=True)
    yield screen.click("link", "No such product")


def test_a_record_names_elements_and_ends_where_the_way_is_lost() -> None:
    starts, (first, second) = record_moves(task_of(0), open_content(), solve_twice)
    assert starts == ["http://shopping.test/"]
    assert (first.role, first.name, first.nth) == ("link", "My account", 0)
    assert first.action == "click [{element}]" and first.last_read > 0
    search = "type [{element}] [30 [x]] [1]"
    assert second == RecordedMove(search, "I search.", "searchbox", "Search the shop")
    with pytest.raises(ElementNotFound), play_solution(task_of(0), open_content(), solve_twice):
        pass
