"""Means over tasks, or runs, with their 95% intervals. The order of either does not matter.

A mean of shares has Wilson's interval for as many independent trials as the shares are worth, since
the episodes of one task are not independent. A bootstrap would claim certainty where tasks agree;
only gains have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import fsum, lcm, sqrt

import numpy as np

NUM_RESAMPLES = 10_000
Z95 = 1.959963984540054
"""The standard normal's 97.5% quantile."""
T975 = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
"""Student's t for 1 to 9 degrees of freedom, the 97.5% quantiles."""
_ROUNDING = 1e-12
"""Sums, spans and sums of squares below come from rounding."""
_FINEST = 1_000_000
"""The largest number of steps that a test of differences divides their sum into."""
_DRAWS_AT_ONCE = 2**17
"""Draws that a bootstrap holds in memory: 16 bytes each."""


def t975(freedom: int) -> float:
    """Return the 97.5% quantile of Student's t distribution.

    From ten degrees of freedom on it is the expansion at the normal's (Abramowitz and Stegun 1964,
    26.7.5, two terms), right to 0.003.
    """
    if freedom <= len(T975):
        return T975[freedom - 1]
    first = (Z95**3 + Z95) / (4 * freedom)
    second = (5 * Z95**5 + 16 * Z95**3 + 3 * Z95) / (96 * freedom**2)
    return Z95 + first + second


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95% interval."""

    value: float
    low: float
    high: float


def wilson(hits: float, total: float) -> Estimate:
    """Return a proportion with Wilson's 95% score interval (Wilson 1927, JASA 22:209).

    Args:
        hits: the successes.
        total: the trials; both are fractions if the trials are effective ones.

    Raises:
        ValueError: there are no trials, or more hits than trials.
    """
    if total < 1 or not 0 <= hits <= total:
        raise ValueError(f"expected 0 <= hits <= total and total >= 1, got {hits} of {total}")
    share = hits / total
    scale = 1 + Z95**2 / total
    middle = (share + Z95**2 / (2 * total)) / scale
    half = Z95 / scale * sqrt(share * (1 - share) / total + Z95**2 / (4 * total**2))
    return Estimate(share, max(0.0, middle - half), min(1.0, middle + half))


def bootstrap_mean(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95% percentile bootstrap interval of a mean, the same for the same values.

    Raises:
        ValueError: there is no value.
    """
    if not values:
        raise ValueError("a bootstrap needs at least one value")
    data = np.asarray(values, dtype=np.float64)
    generator = np.random.default_rng(0)
    means = np.empty(NUM_RESAMPLES)
    # All resamples at once would take 160 KB a task. The slices draw the same numbers in the same
    # order, so their length changes no interval.
    rows = max(1, _DRAWS_AT_ONCE // len(data))
    for start in range(0, NUM_RESAMPLES, rows):
        part = means[start : start + rows]
        picks = generator.integers(len(data), size=(len(part), len(data)))
        part[:] = data[picks].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def mean_over_tasks(shares: Sequence[float], *, episodes: int | None = None) -> Estimate:
    """Return the mean of shares in 0..1, such as success rates, with its interval over tasks.

    It is Wilson's for n = mean (1 - mean) / (variance / T) (z / t)^2 effective trials, T being the
    tasks, the variance that of their shares, and z and t the quantiles of the normal and of
    Student's distribution with T - 1 degrees of freedom, for a few tasks tell their variance badly
    (Korn and Graubard 1998, Survey Methodology 24:193; with Wilson's interval: Franco et al. 2019,
    Journal of Survey Statistics and Methodology 7:334).

    1. n is at most the number of episodes: chance makes tasks agree more than episodes could.
    2. n is at least T. So it is T where each task has 0 or 1, and for a single task.
    3. Where all tasks have 0, or all have 1, n is T: nothing tells whether their episodes agree by
       chance. The same holds for shares that are equal, where the episodes are not given.

    Args:
        shares: one value per task.
        episodes: all episodes behind the success rates; None for other shares, such as scores.

    Raises:
        ValueError: there are no values.
    """
    if not shares:
        raise ValueError("a mean over tasks needs at least one value")
    tasks = len(shares)
    value = min(1.0, fsum(shares) / tasks)
    squares = fsum((share - value) ** 2 for share in shares)
    if value in (0.0, 1.0) or tasks == 1:
        trials = float(tasks)
    elif squares < _ROUNDING:
        trials = float(episodes or tasks)
    else:
        trials = value * (1 - value) * tasks * (tasks - 1) / squares * (Z95 / t975(tasks - 1)) ** 2
        trials = max(tasks, trials if episodes is None else min(trials, episodes))
    return wilson(value * trials, trials)


def mean_gain(gains: Sequence[float]) -> Estimate:
    """Return the mean of differences of success rates, in -1..1, with its interval.

    It is a percentile bootstrap over tasks. If all tasks have the same gain, it reaches as far from
    there as Wilson's from 0 hits: to both sides, and inwards from 1 and -1. Negated gains have the
    negated interval.

    Raises:
        ValueError: there are no values.
    """
    if gains and max(gains) - min(gains) < _ROUNDING:
        value = fsum(gains) / len(gains)
        reach = wilson(0, len(gains)).high
        return Estimate(value, max(-1.0, value - reach), min(1.0, value + reach))
    # One order and one sign for all that hold the same values: an interval is the same wherever
    # the tasks come from, and negated where the values are.
    ordered, negated = sorted(gains), sorted(-gain for gain in gains)
    low, high = bootstrap_mean(max(ordered, negated))
    if negated > ordered:
        low, high = -high, -low
    return Estimate(float(np.mean(ordered)), low, high)


def sign_flip_p(gains: Sequence[float]) -> float:
    """Return the two-sided p value of the mean of paired differences (Fisher 1935, section 21).

    It is the share of the 2^n choices of signs whose mean is at least as far from 0. The share is
    exact, counted sum by sum rather than choice by choice (Pagano and Tritchler 1983, JASA 78:435).
    With one episode a task on each side it is McNemar's exact test (1947, Psychometrika 12:153).

    1. Differences are multiples of the largest fraction that fits all of them, or, where that is
       below a millionth of their sum, rounded to such.
    2. Differences of 0 have no sign and change nothing.
    """
    total = fsum(map(abs, gains))
    if total < _ROUNDING:
        return 1.0
    shares = [Fraction(gain / total).limit_denominator(_FINEST) for gain in gains]
    unit = min(_FINEST, lcm(*(share.denominator for share in shares)))
    steps = [round(share * unit) for share in shares]
    sums = np.ones(1)  # the chance of each sum of the steps whose sign is +
    for step in filter(None, map(abs, steps)):
        longer = np.zeros(len(sums) + step)
        longer[:-step] = sums / 2
        longer[step:] += sums / 2
        sums = longer
    from_zero = np.abs(2 * np.arange(len(sums)) - (len(sums) - 1))
    return min(1.0, float(sums[from_zero >= abs(sum(steps))].sum()))


def mean_over_seeds(values: Sequence[float]) -> Estimate:
    """Return the mean of a few independent runs with Student's 95% interval.

    Student (1908), Biometrika 6:1. A bootstrap of five values would be too narrow.

    Raises:
        ValueError: there are fewer than two values.
    """
    count = len(values)
    if count < 2:
        raise ValueError(f"an interval over seeds needs at least 2 values, got {count}")
    value = fsum(values) / count
    deviation = float(np.std(values, ddof=1))
    half = t975(count - 1) * deviation / sqrt(count)
    return Estimate(value, value - half, value + half)


def mean_of(estimates: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent estimates, such as the success in each environment.

    The interval is made of theirs (MOVER: Zou and Donner 2008, Statistics in Medicine 27:1693,
    equation 1 with equal weights c = 1/K): its ends lie sqrt(sum c^2 (value_k - end_k)^2) from the
    mean. So it claims no certainty unless all of them do.

    Raises:
        ValueError: there are none.
    """
    if len(estimates) == 1:
        return estimates[0]
    if not estimates:
        raise ValueError("a mean needs at least one estimate")
    count = len(estimates)
    value = sum(one.value for one in estimates) / count
    below = sqrt(sum((one.value - one.low) ** 2 for one in estimates)) / count
    above = sqrt(sum((one.high - one.value) ** 2 for one in estimates)) / count
    return Estimate(value, value - below, value + above)
