"""Advantages of turns that several episodes share: by hand, as a loop, and in expectation."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from trainers.credit.turn_methods import shared_turn_advantages


def reference(
    advantages: list[float], turns: list[list[str]], counted: list[bool]
) -> list[list[float]]:
    """The mean A_i of the d that hold a turn, times (n - 1) / (n - d) of the n that count."""
    result = []
    for episode, own in enumerate(turns):
        values = []
        for turn in own if counted[episode] else []:
            shared = [advantages[i] for i in range(len(turns)) if counted[i] and turn in turns[i]]
            others = sum(counted) - len(shared)
            factor = (sum(counted) - 1) / others if others else 0.0
            values.append(factor * sum(shared) / len(shared))
        result.append(values)
    return result


def test_a_shared_turn_is_compared_with_the_episodes_that_do_not_share_it() -> None:
    """Three of four share the first turn: (4 - 1) / (4 - 3) times the mean of their advantages."""
    turns = [["a", "b", "c"], ["a", "d"], ["a", "b", "e"], ["f"]]
    advantages = [1.0, -1.0, 0.5, -0.5]
    assert shared_turn_advantages(advantages, turns, [True] * 4, group_size=4) == [
        pytest.approx([0.5, 0.75 * 3 / 2, 1.0]),
        pytest.approx([0.5, -1.0]),
        pytest.approx([0.5, 0.75 * 3 / 2, 0.5]),
        [-0.5],
    ]


def test_a_turn_that_all_share_has_no_advantage() -> None:
    turns = [["a", "b"], ["a", "c"]]
    assert shared_turn_advantages([1.0, -1.0], turns, [True] * 2, group_size=2) == [
        [0.0, 1.0], [0.0, -1.0],
    ]  # fmt: skip


def test_an_episode_that_does_not_count_is_in_no_mean() -> None:
    turns, counted = [["a", "b"], ["a"], ["c"]], [True, False, True]
    expected = [[2, 2], [], [-2]]
    assert shared_turn_advantages([2.0, 7.0, -2.0], turns, counted, group_size=3) == expected


@pytest.mark.parametrize("seed", range(5))
def test_random_trees_of_several_groups_have_the_advantages_of_the_loop(seed: int) -> None:
    draws = random.Random(seed)
    groups: list[list[list[str]]] = []
    for group in range(2):
        groups.append([])
        for episode in range(8):
            root = draws.choice(groups[-1]) if groups[-1] else []
            shared = root[: draws.randint(0, len(root))]
            own = (f"{group}.{episode}.{n}" for n in range(draws.randint(1, 4)))
            groups[-1].append([*shared, *own])
    advantages = [draws.gauss(0, 1) for _ in range(16)]
    counted = [draws.random() < 0.8 for _ in range(16)]
    turns = [episode for group in groups for episode in group]
    result = shared_turn_advantages(advantages, turns, counted, group_size=8)
    parts = [slice(0, 8), slice(8, 16)]
    expected = [row for at in parts for row in reference(advantages[at], turns[at], counted[at])]
    for own, values in zip(result, expected, strict=True):
        assert own == pytest.approx(values)


# In expectation ----------------------------------------------------------------------------------

FIRST, SECOND = 0.3, (0.6, 0.2)
"""Probabilities of action 1 at the first turn, and at the second one behind each action."""
REWARDS = ((0.0, 1.0), (0.2, 0.7))


def probability(first: int, second: int | None = None) -> float:
    """Return that of the first turn's action, or of the second's behind it."""
    p, action = (FIRST, first) if second is None else (SECOND[first], second)
    return p if action else 1 - p


def expected_gradient(roots: int, branches: int) -> list[float]:
    """Return the exact expectation of (1 / n) sum_i sum_t A_it d log pi, by the three logits.

    Every outcome of a group is played: so many roots of two turns, and branches that take turns to
    share the first turn of a root.
    """
    size = roots + branches
    total = [0.0, 0.0, 0.0]
    for firsts in itertools.product((0, 1), repeat=roots):
        actions = [firsts[n % roots] for n in range(size)]
        names = [[f"first {n % roots}", f"second {n}"] for n in range(size)]
        of_firsts = math.prod(probability(first) for first in firsts)
        for seconds in itertools.product((0, 1), repeat=size):
            pairs = list(zip(actions, seconds, strict=True))
            weight = of_firsts * math.prod(probability(*pair) for pair in pairs)
            rewards = [REWARDS[first][second] for first, second in pairs]
            centred = [reward - sum(rewards) / size for reward in rewards]
            credit = shared_turn_advantages(centred, names, [True] * size, group_size=size)
            for (first, second), (of_first, of_second) in zip(pairs, credit, strict=True):
                total[0] += weight / size * of_first * (first - FIRST)
                total[1 + first] += weight / size * of_second * (second - SECOND[first])
    return total


@pytest.mark.parametrize(("roots", "branches"), [(2, 2), (2, 4), (3, 3), (4, 1)])
def test_branched_groups_have_the_expected_gradient_of_unbranched_ones(
    roots: int, branches: int
) -> None:
    """(1 - 1 / n) times the true one, at every turn: the mean holds an episode's own reward."""
    value = [sum(probability(a, b) * REWARDS[a][b] for b in (0, 1)) for a in (0, 1)]
    true = [
        FIRST * (1 - FIRST) * (value[1] - value[0]),
        *(
            probability(a) * SECOND[a] * (1 - SECOND[a]) * (REWARDS[a][1] - REWARDS[a][0])
            for a in (0, 1)
        ),
    ]
    share = 1 - 1 / (roots + branches)
    expected = [share * of_logit for of_logit in true]
    assert expected_gradient(roots, branches) == pytest.approx(expected, abs=1e-12)
    if roots + branches == 4:
        assert expected_gradient(4, 0) == pytest.approx(expected, abs=1e-12)
