"""The runs beside the list, and what is said of several at once, in headless Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import write_jsonl
from tests.benchmarks.viewer.reading import rows, runs, summary
from tests.benchmarks.viewer.samples import made, solved, sweep, training_run

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def trained(folder: Path, *names: str) -> Path:
    """Write a training run of each name, whose policy is its folder."""
    for name in names:
        training_run(folder / name, steps=0)
        played = [solved(0, policy=f"/runs/{name}")]
        write_jsonl(folder / name / "trajectories" / "train_000000.jsonl", played)
    return folder


def test_policies_whose_folders_end_alike_have_names_of_their_own(
    tmp_path: Path, opened: Open
) -> None:
    names = ["grpo/seed_0/model", "ppo/seed_0/model", "ppo/seed_1/model"]
    page = opened(trained(tmp_path, *names))
    assert rows(page, "player") == [*names[:2], "seed_1/model"]
    assert rows(page, "runLabel") == names
    page.click("#row-0")
    page.wait_for_selector("#compare")
    labels = page.locator("#compare optgroup").evaluate_all("all => all.map(one => one.label)")
    assert labels == names[1:]
    page.select_option("#compare", index=1)
    page.wait_for_selector(".pair")
    heads = page.locator(".side-head h3").all_inner_texts()
    assert heads == [f"A · {names[0]}, step 0", f"B · {names[1]}, step 0"]


def test_a_sweep_is_a_folder_whose_cells_stand_in_natural_order(
    tmp_path: Path, opened: Open
) -> None:
    for name in ("first", "second"):
        sweep(tmp_path / name, limits=(10, 5, 20), seeds=2)
    page = opened(tmp_path)
    assert runs(page) == ["first", "second"]
    page.click("[data-folds=first]")
    cells = [
        f"{policy} · {limit} turns · seed {seed}"
        for policy in ("expert", "random")
        for limit in (5, 10, 20)
        for seed in (0, 1)
    ]
    assert runs(page) == ["first", *cells, "second"]
    assert page.evaluate("document.activeElement.dataset.folds") == "first"
    page.click(".run[title=second]")
    summary(page, "24 trajectories")
    assert page.url.endswith("#folder=second")
    page.select_option("select[name=limit]", "5 turns")
    page.select_option("select[name=seed]", "1")
    summary(page, "4 of 24 trajectories")
    assert set(rows(page, "runLabel")) == {"5 turns · seed 1"}
    assert page.locator("[role=columnheader]", has_text="Step").count() == 0


def test_clearing_the_filters_keeps_the_chosen_run(tmp_path: Path, opened: Open) -> None:
    page = opened(sweep(tmp_path / "one", seeds=2).parent, "#folder=one")
    page.select_option("select[name=seed]", "1")
    page.fill("input[name=q]", "counter")
    summary(page, "4 of 8")
    page.click(".clear")
    summary(page, "8 trajectories")
    assert page.url.endswith("#folder=one")
    assert page.input_value("input[name=q]") == ""


def test_unlike_policies_are_told_one_by_one_and_not_averaged(tmp_path: Path, opened: Open) -> None:
    page = opened(sweep(tmp_path))
    summary(page, "4 trajectories · 2 policies: not averaged")
    page.click("#by-policy summary")
    page.wait_for_selector("#by-policy tbody tr")
    assert page.locator("#by-policy tbody tr").all_inner_texts() == [
        "expert\t100.0% of 2",
        "random\t0.0% of 2, cut off 100.0% (turn limit)",
    ]
    page.select_option("select[name=policy]", "expert")
    summary(page, "2 of 4 trajectories · success 100.0%")
    assert not page.locator("#by-policy").is_visible()


def test_the_curves_of_several_runs_lie_over_each_other(tmp_path: Path, opened: Open) -> None:
    names = ("grpo/seed_0", "grpo/seed_1", "ppo/seed_0")
    for name in names:
        training_run(tmp_path / name)
    page = opened(tmp_path)
    page.wait_for_selector("#curve .many")
    assert page.locator("#curve .many path.line").count() == 3
    assert page.locator(".legend").inner_text().split() == ["grpo,", "2", "runs", "ppo"]
    page.click(".run[title=grpo]")
    page.locator("#curve .many path.line").nth(2).wait_for(state="detached")
    page.hover("#curve .many")
    assert "success 50.0%" in page.inner_text(".readout")
    page.click("#curve .many")
    page.wait_for_selector(".stage-name")
    assert "#run=grpo/seed_" in page.url


def test_a_run_that_was_measured_once_is_seen_among_others(tmp_path: Path, opened: Open) -> None:
    training_run(tmp_path / "grpo")
    imitation = training_run(tmp_path / "sft", steps=0)
    entry = {"global_step": 3, "eval_success": 0.25}
    (imitation / "metrics.jsonl").write_text(json.dumps(entry) + "\n")
    page = opened(tmp_path)
    page.wait_for_selector("#curve .many")
    assert page.locator("#curve .many path.line").first.bounding_box()["width"] > 100
    assert page.locator("#curve .many circle.validation").bounding_box()["width"] >= 8


def test_the_curve_tells_the_values_of_the_step_under_the_pointer(
    tmp_path: Path, opened: Open
) -> None:
    page = opened(training_run(tmp_path))
    box = page.locator("#curve svg").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] - 46, box["y"] + 60)
    told = "step 4 · success 50.0% · average 50.0% · horizon 7"
    page.locator(".readout", has_text=told).wait_for()


def test_a_circle_keeps_the_focus_while_the_run_is_read_again_and_space_presses_it(
    tmp_path: Path, opened: Open
) -> None:
    page = opened(training_run(tmp_path))
    page.focus(".kept[data-step='1']")
    with (tmp_path / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"global_step": 9, "episodes/success": 1.0}) + "\n")
    page.locator("#curve svg[aria-label*='at step 9']").wait_for()
    assert page.evaluate("document.activeElement.dataset.step") == "1"
    before = page.locator("#curve svg").first.element_handle()
    with page.expect_response("**/api/curve?**"):
        pass
    page.keyboard.press("Space")
    summary(page, "6 of 12 trajectories")
    assert before.evaluate("node => node.isConnected")


def test_the_box_about_a_run_stays_open(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    page.click("#about summary")
    page.select_option("select[name=result]", "success")
    summary(page, "6 of 12 trajectories")
    write_jsonl(tmp_path / "trajectories" / "train_000007.jsonl", [solved(5, global_step=7)])
    summary(page, "7 of 13 trajectories")
    assert page.locator("#about dl").is_visible()


def test_a_run_without_trajectories_promises_none(tmp_path: Path, opened: Open) -> None:
    training_run(tmp_path / "round_1", steps=0)
    write_jsonl(tmp_path / "played.jsonl", [made(0)])
    page = opened(tmp_path)
    facts = page.locator(".run-tree .run-facts").all_inner_texts()
    assert facts == ["1 · 0.0%", "training · no trajectories"]


def test_no_row_is_active_before_one_is_chosen(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    assert page.locator("#grid").get_attribute("aria-activedescendant") is None
    page.keyboard.press("j")
    assert page.locator("#grid").get_attribute("aria-activedescendant") == "row-0"


def test_the_ninth_curve_is_dashed_and_one_of_one_step_is_a_ring(
    tmp_path: Path, opened: Open
) -> None:
    for number in range(9):
        training_run(tmp_path / f"run_{number}", steps=1, tasks=1)
    entry = {"global_step": 0, "episodes/success": 0.25}
    (tmp_path / "run_3" / "metrics.jsonl").write_text(json.dumps(entry) + "\n")
    page = opened(tmp_path)
    page.wait_for_selector("svg.many")
    dashes = page.locator("svg.many .line").evaluate_all(
        "all => all.map(one => getComputedStyle(one).strokeDasharray)"
    )
    assert dashes == ["none"] * 8 + ["6px, 3px"]
    labels = page.locator("svg.many text").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().right)"
    )
    ring = page.locator("svg.many .line").nth(3).bounding_box()
    assert ring["width"] == pytest.approx(ring["height"]) and ring["width"] >= 8
    assert min(labels) < ring["x"]  # and not upon the label of its height
