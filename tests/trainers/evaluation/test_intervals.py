from __future__ import annotations

import tracemalloc
from itertools import product
from math import comb
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainers.evaluation.intervals import (
    NUM_RESAMPLES,
    Estimate,
    bootstrap_mean,
    mean_gain,
    mean_of,
    mean_over_seeds,
    mean_over_tasks,
    sign_flip_p,
    t975,
    wilson,
)


def test_wilson_agrees_with_published_values() -> None:
    # Newcombe 1998, Statistics in Medicine 17:857, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for hits, total, low, high in (
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ):
        found = wilson(hits, total)
        assert found.low == pytest.approx(low, abs=5e-5)
        assert found.high == pytest.approx(high, abs=5e-5)


@pytest.mark.parametrize("case", [(0, 0), (-1, 3), (4, 3)])
def test_wilson_refuses_what_cannot_be(case: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="expected 0 <= hits <= total"):
        wilson(*case)


@pytest.mark.parametrize("num_tasks", [1, 2, 13, 14, 333, 2000])
def test_a_bootstrap_in_slices_draws_the_numbers_of_one_in_a_block(num_tasks: int) -> None:
    values = np.random.default_rng(num_tasks).random(num_tasks)
    picks = np.random.default_rng(0).integers(num_tasks, size=(NUM_RESAMPLES, num_tasks))
    low, high = np.quantile(values[picks].mean(axis=1), [0.025, 0.975])
    assert bootstrap_mean(values.tolist()) == (low, high)


def test_a_bootstraps_memory_does_not_grow_with_the_tasks() -> None:
    values = np.random.default_rng(0).random(4000).tolist()
    tracemalloc.start()
    bootstrap_mean(values)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * 2**20


def test_where_each_task_has_0_or_1_the_interval_of_a_mean_is_wilsons() -> None:
    assert mean_over_tasks([0.0, 1.0, 1.0]) == wilson(2, 3)
    assert mean_over_tasks([0.0] * 5) == wilson(0, 5)
    assert mean_over_tasks([1.0] * 5) == wilson(5, 5)
    assert mean_over_tasks([0.0, 1.0, 1.0], episodes=12) == wilson(2, 3)


def test_shares_are_worth_as_many_trials_as_their_variance_says() -> None:
    # By hand: mean 1/2, variance of the shares 6/16 / 8 = 3/64, so n = 1/2 * 1/2 / (3/64 / 9) = 48
    # effective trials, times (1.96 / 2.306)^2 for 8 degrees of freedom.
    shares = [0.25, 0.75, 0.5] * 3
    trials = 48 * (1.959964 / 2.306) ** 2
    expected = wilson(trials / 2, trials)
    for found in (mean_over_tasks(shares), mean_over_tasks(shares, episodes=36)):
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-6)
    assert mean_over_tasks(shares, episodes=18) == wilson(9, 18)
    assert mean_over_tasks(shares[:3]) == wilson(1.5, 3), "at least the tasks"


def test_students_quantiles_agree_with_tables() -> None:
    for freedom, quantile in ((1, 12.706), (9, 2.262), (10, 2.228), (30, 2.042), (120, 1.980)):
        assert t975(freedom) == pytest.approx(quantile, abs=3e-3)


def test_tasks_that_agree_are_worth_their_episodes_and_no_certainty() -> None:
    assert mean_over_tasks([0.5] * 8, episodes=16) == wilson(8, 16)
    assert mean_over_tasks([0.5] * 8) == wilson(4, 8)
    assert mean_over_tasks([0.1 + 0.2] * 3, episodes=30).high == pytest.approx(wilson(9, 30).high)
    assert mean_over_tasks([0.5], episodes=10) == wilson(0.5, 1)


@pytest.mark.parametrize(("tasks", "samples"), [(20, 4), (5, 8)])
@pytest.mark.parametrize("rates", [(0.5, 0.5), (0.1, 0.1), (0.5, 1.0), (0.1, 0.5)])
def test_the_interval_of_a_mean_over_tasks_covers_it(
    rates: tuple[float, float], tasks: int, samples: int
) -> None:
    draws = np.random.default_rng(0)
    covered = 0
    for _ in range(2000):
        shares = draws.binomial(samples, draws.choice(rates, tasks)) / samples
        found = mean_over_tasks(shares.tolist(), episodes=samples * tasks)
        covered += found.low <= sum(rates) / 2 <= found.high
    assert 0.93 <= covered / 2000 <= 0.99


@given(st.integers(1, 500), st.sampled_from([-1.0, -0.25, 0.0, 0.5, 1.0]))
def test_where_all_gains_agree_their_interval_is_as_wide_as_wilsons(n: int, gain: float) -> None:
    found, negated = mean_gain([gain] * n), mean_gain([-gain] * n)
    reach = wilson(0, n).high
    assert found.value == gain
    assert found.low == max(-1.0, gain - reach)
    assert found.high == min(1.0, gain + reach)
    assert (negated.value, negated.low, negated.high) == (-found.value, -found.high, -found.low)


def test_gains_that_differ_by_rounding_alone_agree() -> None:
    gains = [0.5 - 0.1, 0.7 - 0.3, 0.9 - 0.5]
    assert len(set(gains)) == 2
    found, equal = mean_gain(gains), mean_gain([0.4] * 3)
    assert (found.low, found.high) == pytest.approx((equal.low, equal.high))
    assert mean_gain(gains[::-1]) == found


def test_gains_that_differ_are_bootstrapped() -> None:
    found = mean_gain([0.5, -1.0, 0.0])
    assert (found.low, found.high) == tuple(-x for x in bootstrap_mean([-0.5, 0.0, 1.0])[::-1])


def test_an_interval_needs_values() -> None:
    for estimate in (mean_over_tasks, mean_gain):
        with pytest.raises(ValueError, match="at least one value"):
            estimate([])


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=9), st.randoms())
def test_the_order_of_the_tasks_changes_no_interval(shares: list[float], random: Random) -> None:
    shuffled = random.sample(shares, len(shares))
    assert mean_over_tasks(shares) == mean_over_tasks(shuffled)
    assert mean_over_tasks(shares, episodes=36) == mean_over_tasks(shuffled, episodes=36)
    gains = [share - 0.5 for share in shares]
    assert mean_gain(gains) == mean_gain([share - 0.5 for share in shuffled])


def test_the_negated_gains_have_the_negated_interval() -> None:
    gain, loss = mean_gain([0.25, 1.0, -0.5]), mean_gain([-1.0, 0.5, -0.25])
    assert (loss.value, loss.low, loss.high) == (-gain.value, -gain.high, -gain.low)


def test_the_mean_of_two_proportions_has_newcombes_interval() -> None:
    # Newcombe 1998, Statistics in Medicine 17:873, method 10, gives the difference of 56/70 and
    # 48/80 as 0.0524 to 0.3339; a sum differs from it by the other proportion's sign alone.
    first, second = wilson(56, 70), wilson(48, 80)
    negated = Estimate(-second.value, -second.high, -second.low)
    found = mean_of([first, negated])
    assert (2 * found.low, 2 * found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_a_mean_over_environments_claims_no_certainty_and_stays_within_bounds() -> None:
    found = mean_of([wilson(5, 5), wilson(5, 5), wilson(0, 5)])
    assert found.value == pytest.approx(2 / 3)
    assert 0 < found.low < found.value < found.high < 1
    assert mean_of([wilson(0, 3), wilson(0, 4)]).low == 0
    assert mean_of([wilson(2, 5)]) == wilson(2, 5)


def test_the_interval_of_a_mean_over_environments_covers_it() -> None:
    draws = np.random.default_rng(0)
    rates, tasks = (0.9, 0.3, 0.05), (10, 14, 20)
    covered = 0
    for _ in range(2000):
        found = mean_of(
            [wilson(draws.binomial(n, p), n) for p, n in zip(rates, tasks, strict=True)]
        )
        covered += found.low <= sum(rates) / 3 <= found.high
    assert 0.93 <= covered / 2000 <= 0.99


THIRDS_AND_QUARTERS = st.sampled_from([n / d for d in (1, 3, 4) for n in range(-d, d + 1)])


@given(st.lists(THIRDS_AND_QUARTERS, min_size=1, max_size=9))
def test_the_sign_flip_test_counts_all_choices_of_signs(gains: list[float]) -> None:
    observed = abs(sum(gains))
    choices = list(product((1, -1), repeat=len(gains)))
    sums = [abs(sum(s * g for s, g in zip(signs, gains, strict=True))) for signs in choices]
    expected = sum(total >= observed - 1e-9 for total in sums) / len(choices)
    assert sign_flip_p(gains) == pytest.approx(expected)
    assert sign_flip_p([-gain for gain in gains]) == pytest.approx(expected)


@pytest.mark.parametrize(("better", "worse"), [(0, 0), (1, 0), (9, 2), (6, 6), (40, 20)])
def test_with_single_episodes_the_sign_flip_test_is_mcnemars(better: int, worse: int) -> None:
    total = better + worse
    tail = sum(comb(total, count) for count in range(max(better, worse), total + 1)) / 2**total
    gains = [1.0] * better + [-1.0] * worse + [0.0] * 7
    assert sign_flip_p(gains) == pytest.approx(min(1.0, 2 * tail))


def test_the_sign_flip_test_finds_no_difference_in_noise() -> None:
    draws = np.random.default_rng(0)
    p = [sign_flip_p((draws.binomial(3, 0.5, (30, 2)) @ [1 / 3, -1 / 3]).tolist())
         for _ in range(400)]  # fmt: skip
    assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.06
    assert sign_flip_p(draws.normal(1.0, 1.0, 200).tolist()) < 1e-9  # rounded to steps


def test_the_interval_over_seeds_is_students() -> None:
    # Their variance is 0.025, and t has 4 degrees of freedom.
    mean = mean_over_seeds([0.5, 0.1, 0.3, 0.2, 0.4])
    half = 2.776 * (0.025 / 5) ** 0.5
    assert (mean.value, mean.low, mean.high) == pytest.approx((0.3, 0.3 - half, 0.3 + half))


def test_the_interval_over_seeds_holds_the_mean_in_19_of_20_cases() -> None:
    draws = np.random.default_rng(0).normal(size=(4000, 5))
    means = [mean_over_seeds(row.tolist()) for row in draws]
    assert np.mean([mean.low <= 0 <= mean.high for mean in means]) == pytest.approx(0.95, abs=0.01)
    assert mean_over_seeds([0.1, 0.3] * 6).high > mean_over_seeds([0.1, 0.3] * 7).high


def test_one_seed_has_no_interval() -> None:
    with pytest.raises(ValueError, match="at least 2 values, got 1"):
        mean_over_seeds([0.5])
