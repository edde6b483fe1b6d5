"""Advantages of turns that several episodes share, against ARPO's equation as a loop."""

from __future__ import annotations

import random

import pytest

from trainers.credit.branches import shared_turn_advantages


def reference(
    advantages: list[float], turns: list[list[str]], counted: list[bool]
) -> list[list[float]]:
    """A_shared = (1 / d) sum of the A_i of the d episodes that hold the turn; else A_i."""
    result = []
    for episode, own in enumerate(turns):
        values = []
        for turn in own if counted[episode] else []:
            shared = [advantages[i] for i in range(len(turns)) if counted[i] and turn in turns[i]]
            values.append(sum(shared) / len(shared))
        result.append(values)
    return result


def test_a_shared_turn_has_the_mean_of_those_that_share_it() -> None:
    turns = [["a", "b", "c"], ["a", "d"], ["a", "b", "e"], ["f"]]
    advantages = [1.0, -1.0, 0.5, -0.5]
    third = 0.5 / 3
    assert shared_turn_advantages(advantages, turns, [True] * 4) == [
        pytest.approx([third, 0.75, 1.0]),
        pytest.approx([third, -1.0]),
        pytest.approx([third, 0.75, 0.5]),
        [-0.5],
    ]


def test_an_episode_that_does_not_count_is_in_no_mean() -> None:
    assert shared_turn_advantages([2.0, 7.0], [["a", "b"], ["a"]], [True, False]) == [[2, 2], []]


@pytest.mark.parametrize("seed", range(5))
def test_random_trees_have_the_advantages_of_the_paper(seed: int) -> None:
    draws = random.Random(seed)
    turns: list[list[str]] = []
    for episode in range(8):
        root = draws.choice(turns) if turns else []
        shared = root[: draws.randint(0, len(root))]
        turns.append([*shared, *(f"{episode}.{n}" for n in range(draws.randint(1, 4)))])
    advantages = [draws.gauss(0, 1) for _ in turns]
    counted = [draws.random() < 0.8 for _ in turns]
    result = shared_turn_advantages(advantages, turns, counted)
    for own, expected in zip(result, reference(advantages, turns, counted), strict=True):
        assert own == pytest.approx(expected)
