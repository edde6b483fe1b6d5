"""The page lists and writes metrics by the table of `trainers.metrics`, in Node.js."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.benchmarks.viewer.modules import needs_node, run_script
from trainers.metrics import METRICS

SCRIPT = """
import { groups, written } from "./metrics.js";

const names = NAMES;
const values = names.map((name) => written(0.5, name));
console.log(JSON.stringify([groups(names), values, written(2.5, "x_share"), written(12345, "x")]));
"""


@needs_node
def test_the_page_lists_the_tables_metrics_first_and_shares_in_percent(tmp_path: Path) -> None:
    numbers = ["zeta", "kl", "horizon", "loss", "share/TextCraft", "reward", "episodes/mine"]
    shares = [
        *("eval_success_low", "success/Two\nlines", "truncated/horizon", "my_share"),
        *("clip_ratio/region_mean", "mean_token_accuracy", "frac_reward_zero_std/Wordle"),
    ]
    script = SCRIPT.replace("NAMES", json.dumps([*numbers, *shares]))
    groups, values, above_one, large = run_script(tmp_path, script)
    assert groups[0] == [
        "Most looked at", ["loss", "reward", "kl", "horizon", "clip_ratio/region_mean"],
    ]  # fmt: skip
    assert ["episodes", ["episodes/mine"]] in groups
    assert values == ["0.5"] * len(numbers) + ["50.0%"] * len(shares)
    assert (above_one, large) == ("2.5", "12,345")


def test_each_key_stands_once_and_is_a_pattern_that_the_page_can_read() -> None:
    keys = [metric.key for metric in METRICS]
    assert len(set(keys)) == len(keys)
    assert [key for key in keys if not re.fullmatch(r"[\w/*]+", key)] == []


@pytest.mark.parametrize("place", ["line", "card", "viewer"])
def test_each_metric_that_is_shown_can_be_written(place: str) -> None:
    shown = [metric for metric in METRICS if getattr(metric, place)]
    assert shown
    assert all(metric.label and f"{0.5:{metric.format}}" for metric in shown)
