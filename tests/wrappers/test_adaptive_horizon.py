from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np
import pytest

from tests.helpers import CountingEnv
from wrappers import AdaptiveHorizon, HorizonCurriculum, parse_schedule


def play(schedule: AdaptiveHorizon, successes: Sequence[float], first: int = 0) -> list[int]:
    """Record one success per step; return the horizon that each step was played at."""
    horizons = []
    for step, success in enumerate(successes, first):
        horizons.append(schedule(step))
        schedule.record(step, success)
    return horizons


def test_a_stage_ends_after_two_windows_of_equal_success() -> None:
    schedule = AdaptiveHorizon((6, 13, 20), window=3)
    assert play(schedule, [0.5] * 14) == [6] * 6 + [13] * 6 + [20] * 2
    assert schedule.starts == (0, 6, 12)


def test_a_stage_lasts_while_success_grows() -> None:
    schedule = AdaptiveHorizon((6, 13), window=4)
    growing = [0.02 * step for step in range(40)]
    assert set(play(schedule, growing)) == {6}
    assert play(schedule, [0.8] * 12, first=40) == [6] * 8 + [13] * 4


def test_a_gain_within_chance_ends_a_stage_and_one_beyond_does_not() -> None:
    before, after = [0.4, 0.6, 0.4, 0.6], [0.44, 0.64, 0.44, 0.64]
    # Sample variances 0.04/3 of both windows, so the standard error is (0.02/3)**0.5 = 0.0816.
    assert play(AdaptiveHorizon((1, 2), window=4), [*before, *after, 0.0])[-1] == 2
    assert play(AdaptiveHorizon((1, 2), window=4, tolerance=0.5), [*before, *after, 0.0])[-1] == 2
    assert play(AdaptiveHorizon((1, 2), window=4, tolerance=0.48), [*before, *after, 0.0])[-1] == 1
    assert play(AdaptiveHorizon((1, 2), window=4, tolerance=0.0), [*before, *after, 0.0])[-1] == 1


def test_noise_around_a_level_ends_every_stage_within_a_few_windows() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        schedule = AdaptiveHorizon((1, 2, 3), window=10)
        play(schedule, random.binomial(64, 0.5, size=120) / 64)
        assert len(schedule.starts) == 3


def test_it_looks_once_per_window() -> None:
    schedule = AdaptiveHorizon((1, 2), window=3, tolerance=0.0)
    # The last three of eight are worse than the three before; the window of the ninth is better.
    play(schedule, [0.0, 0.0, 0.0, 0.1, 0.1, 0.1, 0.0, 0.0, 0.6])
    assert schedule.starts == (0,)
    play(schedule, [0.1, 0.1, 0.1], first=9)
    assert schedule.starts == (0, 12)


def test_earlier_steps_keep_the_horizon_they_were_played_at() -> None:
    schedule = AdaptiveHorizon((6, 13), window=2)
    horizons = play(schedule, [0.5] * 8)
    assert [schedule(step) for step in range(8)] == horizons


def test_batches_of_one_step_count_as_one_step() -> None:
    schedule = AdaptiveHorizon((1, 2), window=2)
    for step in range(4):
        schedule.record(step, 1.0)
        schedule.record(step, 0.0)
    assert schedule.starts == (0, 4)
    schedule.record(3, 1.0)  # a late batch of a stage that has ended
    assert schedule.state_dict() == {"starts": [0, 4], "recorded": []}


@pytest.mark.parametrize("cut", range(1, 30, 4))
def test_a_schedule_that_is_loaded_goes_on_as_if_it_had_not_stopped(cut: int) -> None:
    successes = np.random.default_rng(1).random(30).tolist()
    whole = AdaptiveHorizon((1, 2, 3), window=4)
    expected = play(whole, successes)
    first, second = (AdaptiveHorizon((1, 2, 3), window=4) for _ in range(2))
    found = play(first, successes[:cut])
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    found += play(second, successes[cut:], first=cut)
    assert found == expected
    assert second.state_dict() == whole.state_dict()
    assert len(set(expected)) == 3


def test_an_empty_state_begins_anew() -> None:
    schedule = AdaptiveHorizon((1, 2), window=2)
    play(schedule, [0.5] * 4)
    schedule.load_state_dict({})
    assert schedule.starts == (0,)
    assert schedule(100) == 1


def test_a_saved_stage_that_the_horizons_lack_is_refused() -> None:
    schedule = AdaptiveHorizon((1, 2), window=2)
    with pytest.raises(ValueError, match="resume with the horizons the run began with"):
        schedule.load_state_dict({"starts": [0, 10, 20]})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"horizons": ()}, "horizons must hold numbers >= 1"),
        ({"horizons": (5, 3)}, "must not fall"),
        ({"window": 1}, "window must be >= 2 steps, got 1"),
        ({"tolerance": -1.0}, "tolerance must be >= 0, got -1.0"),
    ],
)
def test_impossible_schedules_are_refused(options: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        AdaptiveHorizon(**options)  # type: ignore[arg-type]


def test_it_is_read_from_text() -> None:
    assert parse_schedule("adaptive:6,13,20@25") == AdaptiveHorizon((6, 13, 20), window=25)
    with pytest.raises(ValueError, match="window must be >= 2"):
        parse_schedule("adaptive:6,13@1")


def test_the_curriculum_plays_it_as_any_schedule() -> None:
    schedule = AdaptiveHorizon((1, 2), window=2)
    env = HorizonCurriculum(CountingEnv(), schedule)
    assert env.reset(options={"task_id": 30, "global_step": 0})[1]["horizon"] == 1
    play(schedule, [0.5] * 4)
    assert env.reset(options={"task_id": 30, "global_step": 4})[1]["horizon"] == 2
