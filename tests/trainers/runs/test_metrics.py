"""A metric that a reward function logs arrives wherever a run's metrics are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.viewer.index import Index
from benchmarks.viewer.logged import metric_curve
from trainers.runs.folder import read_metrics

ODD = {
    "episodes/my_thing": 0.25,
    "truncated/mine": 0.5,
    "größe (m²) & ?#=%, \"a\" 'b' <i>": 2.0,
    "two\nlines/of it\t": 3.0,
    "constructor": 4.0,
}


def logging(metrics: dict[str, float]) -> Callable[..., list[float]]:
    def odd(trajectories: list[Any], log_metric: Any, **_columns: Any) -> list[float]:
        for key, value in metrics.items():
            log_metric(key, value)
        return [1.0] * len(trajectories)

    return odd


def test_a_metric_of_any_name_reaches_the_file_the_trackers_and_the_viewer(
    trainer_in: Callable[..., Any],
) -> None:
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    trainer = trainer_in(
        max_steps=1, report_to=["tensorboard"], trainer={"reward_funcs": logging(ODD)}
    )
    trainer.train()
    folder = Path(trainer.args.output_dir)
    (entry,) = [entry for entry in read_metrics(folder) if "loss" in entry]
    assert {key: entry[key] for key in ODD} == ODD
    assert "episodes/turns" in entry
    index = Index(folder)
    index.update()
    assert metric_curve(index.runs[0], list(ODD))["rows"] == [[1, *ODD.values()]]
    events = {path.parent for path in folder.rglob("events.out.*")}
    tags = accumulator.EventAccumulator(str(events.pop())).Reload().Tags()["scalars"]
    assert {f"train/{key}" for key in ODD} <= set(tags)


def test_a_metric_of_the_trainer_is_refused_with_another_name(
    trainer_in: Callable[..., Any],
) -> None:
    trainer = trainer_in(max_steps=1, trainer={"reward_funcs": logging({"episodes/success": 1.0})})
    with pytest.raises(ValueError, match=r"'odd' logs 'episodes/success', .* as 'odd/success'"):
        trainer.train()
