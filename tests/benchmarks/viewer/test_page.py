"""The page in headless Chromium: clicks, keys, filters, addresses, and texts that would be code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.core import UNSCORED
from agentgym_envs.trajectories.trajectory import write_jsonl
from benchmarks.viewer.export import export
from benchmarks.viewer.index import Index
from tests.benchmarks.viewer.reading import FIRST, rows, summary
from tests.benchmarks.viewer.samples import made, solved, training_run

pytestmark = pytest.mark.browser
Open = Callable[..., Any]

HOSTILE = (
    "</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
    "<a href=\"javascript:document.title='taken'\">press</a><style>*{display:none}</style>"
)


def test_the_list_tells_what_there_is_and_a_click_opens_it(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    summary(page, "12 trajectories · training at step 1 50.0% of 6")
    assert page.inner_text(".run-facts") == "training · 12 · training, step 1: 50.0%"
    page.click("#row-1")
    page.wait_for_selector(".turn.end.success")
    assert page.url.endswith("#t=trajectories/train_000000.jsonl:2")
    assert page.inner_text(".turn .thought .passage") == "once"
    assert page.inner_text(".turn .action .passage") == "add 1"
    page.click("#back")
    page.wait_for_selector("#row-1")
    assert page.locator("#row-1").get_attribute("aria-selected") == "true"


def test_invalid_actions_and_truncation_stand_out(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path), f"#t={FIRST}")
    assert page.locator(".turn.invalid").get_attribute("data-turn") == "2"
    assert page.inner_text(".turn.invalid .chip.invalid") == "invalid action"
    assert page.inner_text(".turn.end.cut h3") == "Cut off: turn limit"
    assert not page.locator(".system .passage").is_visible()


def test_a_failed_episode_says_what_broke_and_counts_nowhere(tmp_path: Path, opened: Open) -> None:
    broken = made(1, status="failed", truncated_by=None, error="the simulator died")
    write_jsonl(tmp_path / "played.jsonl", [solved(0), broken])
    page = opened(tmp_path)
    summary(page, "success 100.0%")
    summary(page, "1 failed, counted apart")
    page.click("#row-1")
    assert page.inner_text(".turn.end.failed .error .passage") == "the simulator died"


def test_an_episode_that_nobody_could_score_counts_nowhere(tmp_path: Path, opened: Open) -> None:
    unscored = made(1, status="failed", truncated_by=None, error=UNSCORED)
    write_jsonl(tmp_path / "played.jsonl", [solved(1), made(1), unscored])
    page = opened(tmp_path)
    summary(page, "success 50.0%")
    summary(page, "1 unscored, counted apart")
    page.click("#row-2")
    assert page.inner_text(".turn.end.failed h3").startswith("Nobody could score it")
    assert "1 of 2 reached the goal" in page.inner_text(".group h2")


def test_the_address_of_a_run_stays_its_own_when_others_come(tmp_path: Path, opened: Open) -> None:
    for name, count in (("a", 1), ("c", 3)):
        write_jsonl(tmp_path / f"{name}.jsonl", [made(task) for task in range(count)])
    page = opened(tmp_path)
    page.click(".run[title='c.jsonl']")
    summary(page, "3 trajectories")
    address = page.url.partition("#")[2]
    write_jsonl(tmp_path / "b.jsonl", [made(0), made(1)])
    again = opened(tmp_path, f"#{address}")
    summary(again, "3 trajectories")


def test_keys_walk_the_list_the_trajectories_and_their_turns(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    for key in ("j", "j", "ArrowDown", "k", "Enter"):
        page.keyboard.press(key)
    page.wait_for_selector(".turn.end")
    assert page.inner_text(".where") == "2 of 12"
    page.keyboard.press("l")
    page.locator(".where", has_text="3 of 12").wait_for()
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.locator(".turn.current").get_attribute("data-turn") == "2"
    assert page.url.endswith("&turn=2")
    page.keyboard.press("ArrowLeft")
    page.locator(".where", has_text="2 of 12").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector("#list-screen:not([hidden])")
    page.keyboard.press("/")
    page.wait_for_selector("input[name=q]:focus")
    page.keyboard.type("jk?")
    assert page.input_value("input[name=q]") == "jk?"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()


def test_filters_and_order_stand_in_the_address(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    page.select_option("select[name=result]", "success")
    summary(page, "6 of 12 trajectories")
    page.select_option("select[name=step]", "1")
    summary(page, "3 of 12 trajectories")
    for _ in range(2):
        page.click("[aria-label='Sort by goal']")
    goals = [f"bring the counter to {number}" for number in (3, 2, 1)]
    assert rows(page) == goals
    page.reload()
    page.wait_for_selector("html[data-ready]")
    assert rows(page) == goals
    page.click(".clear")
    summary(page, "12 trajectories")


def test_ranges_keep_what_lies_within(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    page.click(".more summary")
    page.fill("input[name=turns_min]", "2")
    summary(page, "6 of 12 trajectories")
    page.fill("input[name=return_min]", "0.5")
    assert page.inner_text(".empty") == "Nothing passes these filters."


def test_the_search_finds_words_of_an_action(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    page.fill("input[name=q]", "JUMP")
    summary(page, "6 of 12")


def test_what_comes_in_later_is_searched_too(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    page.fill("input[name=q]", "JUMP")
    summary(page, "6 of 12")
    write_jsonl(tmp_path / "trajectories" / "train_000007.jsonl", [made(5, global_step=7)])
    summary(page, "7 of 13")


def test_an_address_leads_to_a_turn(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path), f"#t={FIRST}&turn=2")
    assert page.locator(".turn.current").get_attribute("data-turn") == "2"
    assert page.evaluate("document.activeElement.dataset.turn") == "2"


def test_the_attempts_of_a_group_stand_in_a_row(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path), f"#t={FIRST}")
    assert page.locator(".attempt").count() == 2
    assert "1 of 2 reached the goal" in page.inner_text(".group h2")
    page.click(".attempt:not([aria-current])")
    page.wait_for_selector(".turn.end.success")


def test_tokens_take_the_place_of_texts_and_go_again(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path), f"#t={FIRST}")
    page.keyboard.press("t")
    page.wait_for_selector(".tokens:visible")
    assert not page.locator(".turn[data-turn='1'] .block.action").is_visible()
    page.keyboard.press("t")
    page.wait_for_selector(".turn[data-turn='1'] .block.action:visible")


def test_the_curve_names_the_stages_and_its_steps_filter(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    assert page.locator(".stage-name").all_text_contents() == ["horizon 6", "horizon 7"]
    page.click("[aria-label='List the trajectories of step 1']")
    summary(page, "6 of 12 trajectories")


def test_what_a_run_writes_comes_in_by_itself(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    page.keyboard.press("G")
    assert page.locator(".row[aria-selected=true]").get_attribute("id") == "row-11"
    write_jsonl(tmp_path / "trajectories" / "train_000007.jsonl", [solved(5, global_step=7)])
    summary(page, "13 ")
    assert page.locator(".row[aria-selected=true]").get_attribute("id") == "row-11"


def test_ten_thousand_trajectories_draw_only_what_is_in_sight(tmp_path: Path, opened: Open) -> None:
    write_jsonl(tmp_path / "played.jsonl", [solved(task) for task in range(10_000)])
    page = opened(tmp_path)
    summary(page, "10,000 ")
    assert page.locator(".row").count() < 60
    page.keyboard.press("G")
    page.wait_for_selector("#row-9999")
    assert page.locator(".row").count() < 60
    assert rows(page)[-1] == "bring the counter to 10000"


def test_text_that_is_code_is_shown_and_changes_nothing(tmp_path: Path, opened: Open) -> None:
    hostile = made(
        0,
        goal=HOSTILE,
        policy=HOSTILE,
        subtask=HOSTILE,
        system_prompt=HOSTILE,
        final_observation=HOSTILE,
        error=HOSTILE,
    )
    for turn in hostile.turns:
        turn.observation, turn.completion = HOSTILE, f"Thought: {HOSTILE}\nAction: {HOSTILE}"
        turn.action = turn.completion
    write_jsonl(tmp_path / "<b>odd<" / "pl'a\"yed.jsonl", [hostile, hostile])
    page = opened(tmp_path)
    page.click("#row-0")
    page.wait_for_selector(".turn.end")
    assert page.inner_text("#episode-title") == HOSTILE
    assert page.inner_text(".turn .action .passage") == HOSTILE
    assert "taken" not in page.title()
    assert page.locator("main img, main script, main style").count() == 0
    assert page.locator("[href^='javascript:']").count() == 0
    saved = tmp_path / "page.html"
    export(Index(tmp_path), saved)
    page.goto(f"{saved.as_uri()}#q=press")
    page.wait_for_selector("html[data-ready]")
    assert rows(page) == [HOSTILE, HOSTILE]
    assert "taken" not in page.title()


def test_the_exported_file_works_without_a_server_or_a_network(tmp_path: Path, page: Any) -> None:
    saved = tmp_path / "page.html"
    export(Index(training_run(tmp_path / "run")), saved)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(saved.as_uri())
    page.wait_for_selector("html[data-ready]")
    assert page.locator(".stage-name").count() == 2
    page.fill("input[name=q]", "JUMP")
    summary(page, "6 of 12")
    page.click("#row-0")
    page.wait_for_selector(".turn.end.cut")
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    assert [url for url in asked if url.startswith("file") and "page.html" not in url] == []
