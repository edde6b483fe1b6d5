"""The page on a phone, in headless Chromium: all is within the width, and within reach."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import write_jsonl
from tests.benchmarks.viewer.reading import summary
from tests.benchmarks.viewer.samples import made, sweep, traced, training_run

pytestmark = pytest.mark.browser
Open = Callable[..., Any]
WIDTH = 390


@pytest.fixture
def phone(page: Any) -> Any:
    """Return a page as wide as a phone."""
    page.set_viewport_size({"width": WIDTH, "height": 844})
    return page


def test_nothing_is_wider_than_the_screen(tmp_path: Path, phone: Any, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    page.wait_for_selector(".row .facts")
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) == WIDTH
    page.click("#row-0")
    page.wait_for_selector(".turn.end")
    assert page.evaluate(width) == WIDTH
    assert page.evaluate("document.querySelector('#episode-screen').scrollWidth") == WIDTH


def test_the_fields_under_more_are_on_the_screen(tmp_path: Path, phone: Any, opened: Open) -> None:
    page = opened(sweep(tmp_path, limits=(5, 10), seeds=2))
    page.click(".more summary")
    for field in page.locator(".more-fields input, .more-fields select").all():
        box = field.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= WIDTH


def test_the_chosen_run_is_named_above_the_list(tmp_path: Path, phone: Any, opened: Open) -> None:
    for name in ("first", "second"):
        sweep(tmp_path / name, seeds=12)
    page = opened(tmp_path)
    assert page.inner_text(".runs-toggle") == "Everything"
    assert not page.locator(".run-tree").is_visible()
    page.click(".runs-toggle")
    page.click(".run[title=second]")
    summary(page, "48 trajectories")
    assert page.inner_text(".runs-toggle") == "second"
    assert not page.locator(".run-tree").is_visible()


def test_a_row_has_its_course(tmp_path: Path, phone: Any, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    assert page.locator("#row-0 .strip i").count() == 2
    assert page.locator("#row-0 .strip").is_visible()


def test_part_of_the_fourth_attempt_is_on_the_screen(
    tmp_path: Path, phone: Any, opened: Open
) -> None:
    training_run(tmp_path, steps=0)
    group = [made(0, policy="mine", traces=[traced()]) for _ in range(6)]
    write_jsonl(tmp_path / "trajectories" / "train_000000.jsonl", group)
    page = opened(tmp_path, "#t=trajectories/train_000000.jsonl:1")
    page.wait_for_selector(".attempt")
    third, fourth = (page.locator(".attempt").nth(number).bounding_box() for number in (2, 3))
    assert third["x"] + third["width"] < fourth["x"] < WIDTH - 15
