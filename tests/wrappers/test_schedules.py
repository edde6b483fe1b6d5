from __future__ import annotations

from typing import Any

import pytest

from wrappers import FixedHorizon, ScalingInter, parse_schedule


def test_scaling_inter_grows_in_stages_and_keeps_the_last() -> None:
    schedule = ScalingInter(horizons=(6, 13, 20), every=100)
    steps = (0, 99, 100, 199, 200, 300, 10**9)
    assert [schedule(step) for step in steps] == [6, 6, 13, 13, 20, 20, 20]


def test_a_fixed_horizon_stays() -> None:
    assert {FixedHorizon(20)(step) for step in (0, 1, 1000)} == {20}


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("fixed:20", FixedHorizon(20)),
        ("20", FixedHorizon(20)),
        ("scaling:6,13,20@100", ScalingInter((6, 13, 20), 100)),
        ("scaling:5@1", ScalingInter((5,), 1)),
    ],
)
def test_schedules_are_read_from_text(text: str, schedule: object) -> None:
    assert parse_schedule(text) == schedule


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2.5",
        "fixed",
        "fixed:x",
        "fixed:0",
        "scaling:6,13",
        "scaling:@9",
        "scaling:9,6@5",
        "f:1",
    ],
)
def test_text_that_is_no_schedule_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"write turns alone \(20\), or scaling:6,13,20@100"):
        parse_schedule(text)


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("scaling:6,12", "the optimizer steps of a stage are missing, such as scaling:6,12@100"),
        ("adaptive:6,x@20", "'x' is no whole number"),
        ("stepwise:6@3", "'stepwise' is no kind of schedule"),
        ("scaling:6,12@", "'' is no whole number"),
    ],
)
def test_what_is_wrong_with_a_schedule_is_named(text: str, mistake: str) -> None:
    with pytest.raises(ValueError, match=f"cannot read the horizon '{text}': {mistake}; write"):
        parse_schedule(text)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: FixedHorizon(0), "horizon must be >= 1, got 0"),
        (lambda: ScalingInter(()), "horizons must hold numbers >= 1"),
        (lambda: ScalingInter((0, 5)), "horizons must hold numbers >= 1"),
        (lambda: ScalingInter((9, 5)), "must not fall"),
        (lambda: ScalingInter((5,), every=0), "every must be >= 1, got 0"),
    ],
)
def test_impossible_schedules_are_refused(make: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        make()
