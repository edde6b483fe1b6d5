"""The turns of a batch: their states, the rewards to come, and where they lie in processes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch

from agentgym_envs.trajectories.trajectory import Trajectory, Turn
from trainers.credit.turns import (
    TurnBatch,
    mean_per_turn,
    overlap,
    similar_states,
)


def played(*turns: tuple[str, float]) -> Trajectory:
    made = [Turn(text, "act", paid, True, 0.0) for text, paid in turns]
    return Trajectory("toy/Letters-v0", "letters_0", turns=made)


def batch(given: list[Trajectory], **options: Any) -> TurnBatch:
    defaults: dict[str, Any] = {
        "counted": [True] * len(given), "first": 0, "group_size": 2, "gather": list,
        "environment": [0] * len(given),
    }  # fmt: skip
    rewards = [[turn.reward for turn in one.turns] for one in given]
    return TurnBatch.from_trajectories(given, rewards, **{**defaults, **options})


GIVEN = [
    played(("start", 0.0), ("left", 0.0), ("door", 1.0)),
    played(("start", 0.0), ("right", 0.0), ("door", 0.5)),
    played(("start", 2.0)),
    played(("start", 0.0), ("start", 4.0)),
]


def test_states_are_equal_within_a_group_where_observations_are() -> None:
    a, left, door, b, right, other_door, c, d, e = batch(GIVEN).states
    assert a == b != c
    assert c == d == e
    assert len({a, left, right, door}) == 4
    assert door == other_door


def test_a_history_is_another_one_at_each_turn() -> None:
    a, _, door, b, _, other_door, c, d, e = batch(GIVEN, anchor="history").states
    assert a == b and c == d != e and door != other_door


def test_an_invalid_action_leaves_a_valid_state_as_it_was() -> None:
    refused = "Nothing happens."
    given = [
        Trajectory("toy/Letters-v0", "letters_0", turns=turns)
        for turns in (
            [Turn("bed", "a", 0.0, False, 0.0), Turn(refused, "a", 0.0, False, 0.0),
             Turn(refused, "a", 0.0, True, 0.0), Turn("drawer", "a", 0.0, False, 0.0)],
            [Turn("drawer", "a", 0.0, False, 0.0), Turn(refused, "a", 1.0, True, 0.0)],
        )
    ]  # fmt: skip
    bed, again, once_more, drawer, other, refused_there = batch(given, anchor="valid").states
    assert bed == again == once_more != drawer == other == refused_there
    _, again, once_more, _, _, refused_there = batch(given).states
    assert again == once_more == refused_there, "the observation alone takes them for one state"


def test_an_episode_that_does_not_count_has_no_turns() -> None:
    turns = batch(GIVEN, counted=[True, False, True, True])
    assert turns.episodes == [0, 0, 0, 2, 3, 3]
    assert turns.groups == [0, 0, 0, 1, 1, 1]
    values = [float(n) for n in range(6)]
    assert turns.local_values(values, first=0, count=4) == [[0, 1, 2], [], [3], [4, 5]]
    assert turns.local_values(values, first=2, count=2) == [[3], [4, 5]]


def test_returns_and_numbers_begin_anew_with_each_episode() -> None:
    turns = batch(GIVEN)
    assert turns.returns(0.5) == [0.25, 0.5, 1.0, 0.125, 0.25, 0.5, 2.0, 2.0, 4.0]
    assert turns.numbers == [0, 1, 2, 0, 1, 2, 0, 0, 1]


@pytest.mark.parametrize("anchor", ["observation", "valid", "history", "similar"])
def test_two_processes_see_the_turns_that_one_would(anchor: str) -> None:
    """Three groups of four in two processes of six episodes: the second group is in both."""
    given = [played(("the start", 0.0), (f"the {n % 3} door", 1.0)) for n in range(12)]
    options: dict[str, Any] = {
        "group_size": 4, "environment": [0] * 4 + [1] * 8, "anchor": anchor, "similarity": 0.6,
    }  # fmt: skip
    alone = batch(given, **options)
    sent: list[Any] = []
    for half in (0, 6):
        batch(given[half : half + 6], first=half, **options, gather=lambda x: sent.extend(x) or x)
    together = [
        batch(given[half : half + 6], first=half, **options, gather=lambda _: sent)
        for half in (0, 6)
    ]
    assert together == [alone, alone]
    assert len(set(alone.states)) == (6 if anchor == "similar" else 12)


def test_similar_observations_are_one_state_and_clusters_lie_within_a_group() -> None:
    texts = ["a b c d", "a b c e", "x y", "a b f g", "a b c d"]
    # Overlaps with the first: 3/4, 0, 2/4, 1.
    assert similar_states(texts, [0] * 5, threshold=0.75) == [0, 0, 1, 2, 0]
    assert similar_states(texts, [0] * 5, threshold=0.5) == [0, 0, 1, 0, 0]
    assert similar_states(texts, [0, 1, 0, 0, 1], threshold=0.5) == [0, 0, 1, 0, 0]


def test_an_overlap_counts_each_word_as_often_as_it_comes() -> None:
    assert overlap(Counter("aab"), Counter("abb")) == pytest.approx(4 / 6)
    assert overlap(Counter(), Counter()) == 1.0
    assert overlap(Counter("a"), Counter()) == 0.0


def test_a_turns_mean_goes_through_the_rows_of_its_episode() -> None:
    values = torch.tensor([[1.0, 3.0, 9.0, 5.0], [9.0, 2.0, 9.0, 9.0], [7.0, 9.0, 9.0, 9.0]])
    turn = torch.tensor([[0, 0, -1, 1], [-1, 2, -1, -1], [0, -1, -1, -1]])
    got = mean_per_turn(values, turn, torch.tensor([0, 0, 2]), 4)
    assert got == [[2.0, 5.0, 2.0], [], [7.0], []]
