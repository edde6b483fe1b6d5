"""Metrics, phases and two runs beside each other, served and exported, in headless Chromium."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import write_jsonl
from benchmarks.viewer.export import export
from benchmarks.viewer.index import Index
from tests.benchmarks.viewer.reading import summary
from tests.benchmarks.viewer.samples import phases, solved, training_run

pytestmark = pytest.mark.browser
Open = Callable[..., Any]


def logging_run(folder: Path, *, rate: float = 0.1, **options: Any) -> Path:
    """Write a training run that logged more than success."""
    training_run(folder)
    entries = [
        {
            "global_step": step,
            "episodes/success": 0.5,
            "loss": (-1) ** step * rate / step,
            "entropy": 10.0**-step,
            "kl": None,
            "horizon": 6,
            "rewards/agent_reward/mean": 0.25,
        }
        for step in range(1, 5)
    ]
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (folder / "metrics.jsonl").write_text(text)
    trained = {"learning_rate": rate, "beta": 0.0, **options}
    record = {"command": "train grpo", "seed": 7, "argv": ["--x"], "AgentGRPOConfig": trained}
    (folder / "run.json").write_text(json.dumps(record))
    return folder


@pytest.fixture(params=["server", "file"])
def shown(request: pytest.FixtureRequest, tmp_path: Path, page: Any, opened: Open) -> Open:
    """Return what opens a folder: by the server, or as one exported file."""

    def open_(folder: Path, address: str = "") -> Any:
        if request.param == "server":
            return opened(folder, address)
        saved = tmp_path / "page.html"
        export(Index(folder), saved)
        page.goto(saved.as_uri() + address)
        page.wait_for_selector("html[data-ready]")
        return page

    return open_


def test_any_metric_is_drawn_and_named_in_the_address(tmp_path: Path, shown: Open) -> None:
    page = shown(logging_run(tmp_path / "run"))
    page.wait_for_selector("select[name=metric] optgroup", state="attached")
    groups = page.locator("select[name=metric] optgroup").evaluate_all(
        "all => all.map(o => o.label)"
    )
    assert groups == ["Most looked at", "episodes", "rewards/agent_reward"]
    names = page.locator("select[name=metric] option").all_inner_texts()
    assert names[:4] == ["success", "loss", "entropy", "horizon"]
    page.select_option("select[name=metric]", "loss")
    label = "#curve svg[aria-label='loss: -0.1 at step 1, 0.025 at step 4']"
    page.wait_for_selector(label)
    assert page.locator("#curve circle.point").count() == 4
    assert page.locator("#curve .stage-name").count() == 1
    assert not page.locator("input[name=log]").is_visible()
    assert page.url.endswith("#metric=loss")
    page.select_option("select[name=metric]", "entropy")
    page.check("input[name=log]")
    page.locator("#curve svg text", has_text="1e-4").wait_for()
    assert page.url.endswith("#metric=entropy&log=yes")
    heights = page.locator("#curve circle.point").evaluate_all(
        "all => all.map(o => +o.getAttribute('cy'))"
    )
    gaps = [low - high for high, low in zip(heights, heights[1:], strict=False)]
    assert max(gaps) - min(gaps) < 0.01


def test_a_metric_of_any_name_is_drawn(tmp_path: Path, shown: Open) -> None:
    name = "größe (m²) & ?&=#%, \"a\" 'b' <i>\n/two"
    folder = logging_run(tmp_path / "run")
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    entries = [{**json.loads(line), name: 2.0} for line in lines]
    text = "".join(json.dumps(entry) + "\n" for entry in entries)
    (folder / "metrics.jsonl").write_text(text)
    page = shown(folder)
    page.wait_for_selector("select[name=metric] optgroup", state="attached")
    page.select_option("select[name=metric]", name)
    page.locator("#curve svg .point").nth(3).wait_for()
    label = f"{name}: 2 at step 1, 2 at step 4"
    assert page.locator("#curve svg").first.get_attribute("aria-label") == label
    page.reload()
    page.locator("#curve svg .point").nth(3).wait_for()
    assert page.locator("select[name=metric]").input_value() == name


def test_a_metric_stays_chosen_from_run_to_run_and_can_be_missing(
    tmp_path: Path, opened: Open
) -> None:
    logging_run(tmp_path / "one")
    training_run(tmp_path / "two")
    page = opened(tmp_path, "#run=one&metric=entropy")
    page.wait_for_selector("#curve svg[aria-label^=entropy]")
    page.click(".run[title=two]")
    page.locator(".readout", has_text="No entropy was logged.").wait_for()
    assert page.input_value("select[name=metric]") == "entropy"
    page.select_option("select[name=metric]", "")
    page.wait_for_selector("#curve svg[aria-label^='Success of training']")
    assert page.url.endswith("#run=two")


def test_two_runs_stand_side_by_side_with_what_differs(tmp_path: Path, shown: Open) -> None:
    logging_run(tmp_path / "one", rate=0.1)
    logging_run(tmp_path / "two", rate=0.2, lora_r=16)
    page = shown(tmp_path, "#run=one")
    page.select_option("select[name=vs]", "two")
    page.wait_for_selector(".options summary")
    assert page.inner_text(".options .differing > summary") == "1 option differs"
    assert page.locator("#grid .row").first.bounding_box()["y"] < 800  # the list is in sight
    assert page.inner_text(".gain").startswith("No paired gain")
    page.click(".options .differing > summary")
    page.wait_for_selector(".options table")
    head = page.locator(".options table").first.locator("thead th").all_inner_texts()
    assert head == ["Option", "one", "two"]
    lines = page.locator(".options table").first.locator("tbody tr").all_inner_texts()
    assert lines == ["learning_rate\t0.1\t0.2"]
    page.click(".options .alone summary")
    assert page.inner_text(".options .alone tbody tr") == "lora_r\t–\t16"
    page.click(".options .alike summary")
    same = page.locator(".options .alike tbody th").all_inner_texts()
    assert same == ["command", "seed", "beta"]
    assert page.locator("#curve .many path.line").count() == 2
    assert page.locator("#curve .legend span").all_inner_texts() == ["one", "two"]
    summary(page, "24 trajectories")
    assert page.locator(".run[aria-current]").count() == 2
    assert page.url.endswith("#run=one&vs=two")
    page.select_option("select[name=vs]", "")
    summary(page, "12 trajectories")
    assert page.url.endswith("#run=one")
    assert not page.locator(".options").is_visible()


def test_two_runs_tell_the_paired_gain_of_what_they_played_last(
    tmp_path: Path, shown: Open
) -> None:
    phases(tmp_path / "one")
    phases(tmp_path / "two")
    better = [solved(8, policy="after", global_step=4)] * 3
    write_jsonl(tmp_path / "two" / "trajectories" / "after_test.jsonl", better)
    page = shown(tmp_path, "#run=one&vs=two")
    page.wait_for_selector(".gain strong")
    assert page.inner_text(".gain") == (
        "two gains +33.3 points (−46.0 to +100.0) over one: 95% interval, paired over 1 task · "
        "p 1.0000 · better on 1, worse on 0 · after training"
    )
    page.goto(page.url.replace("run=one&vs=two", "run=two&vs=one"))
    page.locator(".gain", has_text="one gains −33.3 points (−100.0 to +46.0) over two").wait_for()


def test_validations_are_points_with_intervals_that_no_line_joins(
    tmp_path: Path, shown: Open
) -> None:
    for name in ("one", "two"):
        folder = training_run(tmp_path / name, steps=0)
        entries = [
            {"global_step": 5 * place, "eval_success": 0.1 * place,
             "eval_success_low": 0.05 * place, "eval_success_high": 0.2 * place}
            for place in range(5)
        ]  # fmt: skip
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        (folder / "metrics.jsonl").write_text(text)
    for address in ("#run=one&metric=eval_success", "#metric=eval_success", "#"):
        page = shown(tmp_path, address)
        page.wait_for_selector("#curve circle.validation")
        runs = 1 if "run=" in address else 2
        assert page.locator("#curve .picture > svg circle.validation").count() == 5 * runs
        assert page.locator("#curve .picture > svg path.interval").count() == 5 * runs
        lines = page.locator(
            "#curve path.each, #curve path.smooth, #curve .picture > svg path.line"
        )
        assert [one for one in lines.all() if one.get_attribute("d")] == []


def test_what_was_played_before_during_and_after_training_is_never_pooled(
    tmp_path: Path, shown: Open
) -> None:
    page = shown(phases(tmp_path / "run"))
    told = [
        "13 trajectories",
        "before training 0.0% of 2",
        "training at step 1 50.0% of 2",
        "validation at step 4 100.0% of 2",
        "after training 66.7% of 3",
    ]
    summary(page, " · ".join(told))
    assert page.inner_text(".run-tree .run-facts") == "training · 13 · 0.0% → 66.7%"
    page.click("#by-policy summary")
    page.wait_for_selector("#by-policy tbody tr")
    assert page.locator("#by-policy tbody tr").all_inner_texts() == [
        "before training\t0.0% of 2, cut off 100.0% (turn limit)",
        "training, step 1\t50.0% of 2, cut off 50.0% (turn limit)",
        "validation, step 2\t50.0% of 2, cut off 50.0% (turn limit)",
        "validation, step 4\t100.0% of 2",
        "after training\t66.7% of 3, cut off 33.3% (turn limit)",
    ]
    page.select_option("select[name=phase]", "after training")
    summary(page, "3 of 13 trajectories · success 66.7%")
    assert page.url.endswith("#phase=after+training")
    page.select_option("select[name=phase]", "validation")
    summary(page, "4 of 13 trajectories · validation at step 4 100.0% of 2")


def test_the_step_of_an_evaluated_checkpoint_is_shown(tmp_path: Path, opened: Open) -> None:
    folder = tmp_path / "played"
    folder.mkdir()
    (phases(tmp_path / "run") / "trajectories" / "after_test.jsonl").rename(folder / "a.jsonl")
    (tmp_path / "run" / "trajectories" / "before_test.jsonl").rename(folder / "b.jsonl")
    page = opened(folder)
    columns = page.locator("[role=columnheader]").all_inner_texts()
    steps = page.locator(".row").evaluate_all(
        f"all => all.map(row => row.children[{columns.index('Step')}].textContent)"
    )
    assert steps == ["4", "4", "4", "", ""]


def test_nothing_of_a_chosen_filter_is_cut_off(tmp_path: Path, opened: Open) -> None:
    page = opened(phases(tmp_path / "run"))
    room = """select => {
      const text = document.createElement("span");
      text.textContent = select.selectedOptions[0].textContent;
      text.style.cssText = "position: fixed; white-space: nowrap";
      text.style.font = getComputedStyle(select).font;
      document.body.append(text);
      return select.clientWidth - text.getBoundingClientRect().width;
    }"""
    page.select_option("select[name=phase]", "before training")
    selects = page.locator("#filters select, .curve-controls select").all()
    assert len(selects) >= 4
    assert min(select.evaluate(room) for select in selects) >= 16  # its arrow stands there
