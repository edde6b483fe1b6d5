from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.quick import examples
from trainers.credit.advantages import token_turns, whiten
from trainers.credit.gae import (
    AdvantageEstimate,
    SampledTokenIndex,
    gae,
    rewards_at_turn_ends,
    token_gae,
    turn_gae,
)


def credit_of(
    rewards: Sequence[Sequence[float]],
    values: Sequence[Sequence[float]],
    mask: Sequence[Sequence[int]],
    episode_of_row: Sequence[int],
    *,
    num_episodes: int,
    by_turn: bool = False,
    gamma: float = 0.9,
    lam: float = 0.5,
    critic_lam: float = 0.5,
    bootstrap: Sequence[float] | None = None,
) -> AdvantageEstimate:
    action_mask, rows = torch.tensor(mask), torch.tensor(episode_of_row)
    axis = SampledTokenIndex.from_mask(action_mask, rows, num_episodes)
    tensors = [torch.tensor(x, dtype=torch.float64) for x in (rewards, values)]
    options = {
        "gamma": gamma,
        "lam": lam,
        "critic_lam": critic_lam,
        "bootstrap": None if bootstrap is None else torch.tensor(bootstrap, dtype=torch.float64),
    }
    if by_turn:
        return turn_gae(*tensors, axis, token_turns(action_mask, rows), **options)
    return token_gae(*tensors, axis, **options)


def loop_reference(
    rewards: list[float],
    values: list[float],
    *,
    gamma: float,
    lam: float,
    last: float = 0.0,
) -> list[float]:
    """GAE of one episode, by its definition: a sum of discounted TD errors."""
    ahead = [*values, last][1:]
    deltas = [r + gamma * a - v for r, a, v in zip(rewards, ahead, values, strict=True)]
    return [
        sum((gamma * lam) ** step * delta for step, delta in enumerate(deltas[start:]))
        for start in range(len(deltas))
    ]


# By hand ----------------------------------------------------------------------------------------


def test_the_estimate_goes_on_from_the_next_sampled_token_and_never_from_a_given_one() -> None:
    """Two turns of two and one tokens; 99 is what the critic says of the observation's tokens."""
    credit = credit_of(
        [[0.0, 0.0, 0.0, 0.0, 1.0, 0.0]],
        [[0.5, 0.4, 99.0, 99.0, 0.2, 99.0]],
        [[1, 1, 0, 0, 1, 0]],
        [0],
        num_episodes=1,
    )
    # delta_3 = 1 - 0.2; delta_2 = 0.9 * 0.2 - 0.4; delta_1 = 0.9 * 0.4 - 0.5; factor 0.45
    third = 0.8
    second = -0.22 + 0.45 * third
    first = -0.14 + 0.45 * second
    assert credit.advantages.dtype == torch.float64
    assert credit.advantages[0].tolist() == pytest.approx([first, second, 0, 0, third, 0])
    assert credit.returns[0].tolist() == pytest.approx([first + 0.5, second + 0.4, 0, 0, 1.0, 0])
    assert credit.value_mask.tolist() == [[True, True, False, False, True, False]]


def test_an_observation_after_the_last_action_changes_nothing() -> None:
    with_it = credit_of([[0, 1, 0, 0]], [[0.3, 0.6, 9, 9]], [[1, 1, 0, 0]], [0], num_episodes=1)
    without = credit_of([[0, 1]], [[0.3, 0.6]], [[1, 1]], [0], num_episodes=1)
    assert torch.equal(with_it.advantages[:, :2], without.advantages)
    assert (with_it.advantages[:, 2:] == 0).all()


def test_an_episodes_rows_are_one_time_axis() -> None:
    rows = credit_of(
        [[0, 0, 0], [0, 0.5, 0], [1, 0, 0]],
        [[0.1, 0.2, 7], [7, 0.3, 7], [0.4, 7, 7]],
        [[1, 1, 0], [0, 1, 0], [1, 0, 0]],
        [0, 0, 0],
        num_episodes=1,
    )
    one = credit_of([[0, 0, 0.5, 1]], [[0.1, 0.2, 0.3, 0.4]], [[1] * 4], [0], num_episodes=1)
    assert rows.advantages[rows.value_mask].tolist() == pytest.approx(one.advantages[0].tolist())
    assert rows.returns[rows.value_mask].tolist() == pytest.approx(one.returns[0].tolist())


def test_all_masked_rows_fillers_and_padding_get_nothing_and_give_nothing() -> None:
    """Row 1 is a failed episode, row 3 a filler, whose -1 belongs to no episode."""
    credit = credit_of(
        [[0, 1, 5], [5, 5, 5], [1, 5, 5], [5, 5, 5]],
        [[0.5, 0.5, 5], [5, 5, 5], [0.25, 5, 5], [5, 5, 5]],
        [[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]],
        [0, 1, 2, -1],
        num_episodes=3,
        gamma=1.0,
        lam=1.0,
        critic_lam=1.0,
    )
    expected = [[0.5, 0.5, 0], [0, 0, 0], [0.75, 0, 0], [0, 0, 0]]
    assert credit.advantages.tolist() == expected
    assert credit.returns.tolist() == [[1, 1, 0], [0, 0, 0], [1, 0, 0], [0, 0, 0]]


def test_a_batch_without_a_sampled_token_is_all_zero() -> None:
    for by_turn in (False, True):
        credit = credit_of([[1, 1]], [[1, 1]], [[0, 0]], [0], num_episodes=1, by_turn=by_turn)
        assert not credit.advantages.any()
        assert not credit.value_mask.any()


def test_with_gamma_and_lambda_1_the_advantage_is_the_return_less_the_value() -> None:
    credit = credit_of(
        [[0, 0.25, 0.5]], [[0.1, 0.2, 0.3]], [[1, 1, 1]], [0], num_episodes=1,
        gamma=1.0, lam=1.0, critic_lam=1.0,
    )  # fmt: skip
    assert credit.advantages[0].tolist() == pytest.approx([0.65, 0.55, 0.2])
    assert credit.returns[0].tolist() == pytest.approx([0.75, 0.75, 0.5])


def test_values_have_a_lambda_of_their_own() -> None:
    rewards, values = [0.0, 0.0, 1.0], [0.2, 0.5, 0.1]
    credit = credit_of([rewards], [values], [[1, 1, 1]], [0], num_episodes=1, critic_lam=1.0)
    assert credit.advantages[0].tolist() == pytest.approx(
        loop_reference(rewards, values, gamma=0.9, lam=0.5)
    )
    assert credit.returns[0].tolist() == pytest.approx([0.81, 0.9, 1.0])


def test_a_bootstrap_value_stands_after_the_last_token() -> None:
    credit = credit_of(
        [[0, 0]], [[0.5, 0.25]], [[1, 1]], [0], num_episodes=1, bootstrap=[1.0], lam=0.0
    )
    assert credit.advantages[0].tolist() == pytest.approx([0.9 * 0.25 - 0.5, 0.9 - 0.25])


def test_turns_are_credited_as_a_whole_from_the_value_at_their_first_token() -> None:
    """Turns of two, one and two tokens, the last in a row of its own."""
    credit = credit_of(
        [[0, 0.5, 0, 0], [9, 0.25, 0.75, 9]],
        [[0.4, 9, 9, 0.2], [9, 0.6, 9, 9]],
        [[1, 1, 0, 1], [0, 1, 1, 0]],
        [0, 0],
        num_episodes=1,
        by_turn=True,
    )
    third = 1.0 - 0.6
    second = 0.9 * 0.6 - 0.2 + 0.45 * third
    first = 0.5 + 0.9 * 0.2 - 0.4 + 0.45 * second
    assert credit.advantages.tolist() == [
        pytest.approx([first, first, 0, second]),
        pytest.approx([0, third, third, 0]),
    ]
    assert credit.returns.tolist() == [
        pytest.approx([first + 0.4, 0, 0, second + 0.2]),
        pytest.approx([0, 1.0, 0, 0]),
    ]
    assert credit.value_mask.tolist() == [[True, False, False, True], [False, True, False, False]]


def test_turns_of_one_token_are_credited_as_tokens_are() -> None:
    given = ([[0, 1.0, 0.5]], [[0.2, 0.3, 0.4]], [[1, 0, 1]], [0])
    tokens, turns = (credit_of(*given, num_episodes=1, by_turn=b) for b in (False, True))
    assert torch.allclose(tokens.advantages, turns.advantages)
    assert torch.allclose(tokens.returns, turns.returns)


# Against a loop, on random masks ----------------------------------------------------------------


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[list[int]], list[int], int]:
    """Rows of up to three episodes, some without tokens, some fillers at the end."""
    width = draw(st.integers(1, 7))
    num_episodes = draw(st.integers(1, 3))
    rows = [e for e in range(num_episodes) for _ in range(draw(st.integers(1, 3)))]
    row = st.lists(st.integers(0, 1), min_size=width, max_size=width)
    mask = [draw(row) for _ in rows]
    for _ in range(draw(st.integers(0, 2))):
        mask.append([0] * width)
        rows.append(-1)
    return mask, rows, num_episodes


@settings(max_examples=examples(60))
@given(
    batches(),
    st.integers(0, 2**31 - 1),
    st.sampled_from([1.0, 0.97]),
    st.sampled_from([0.0, 0.9, 1.0]),
    st.booleans(),
)
def test_rows_of_random_masks_agree_with_a_loop_over_episodes(
    batch: tuple[list[list[int]], list[int], int],
    seed: int,
    gamma: float,
    lam: float,
    by_turn: bool,
) -> None:
    mask, rows, num_episodes = batch
    generator = torch.Generator().manual_seed(seed)
    shape = (len(mask), len(mask[0]))
    rewards = torch.randn(shape, generator=generator, dtype=torch.float64)
    values = torch.randn(shape, generator=generator, dtype=torch.float64)
    last = torch.randn(num_episodes, generator=generator, dtype=torch.float64).tolist()
    credit = credit_of(
        rewards.tolist(), values.tolist(), mask, rows, num_episodes=num_episodes,
        by_turn=by_turn, gamma=gamma, lam=lam, critic_lam=1.0, bootstrap=last,
    )  # fmt: skip
    expected = torch.zeros_like(rewards)
    targets = torch.zeros_like(rewards)
    for episode in range(num_episodes):
        tokens = [
            (row, column)
            for row, owner in enumerate(rows)
            for column, sampled in enumerate(mask[row])
            if owner == episode and sampled
        ]
        steps: list[list[tuple[int, int]]] = []
        for row, column in tokens:
            goes_on = bool(steps) and steps[-1][-1] == (row, column - 1)
            if by_turn and goes_on:
                steps[-1].append((row, column))
            else:
                steps.append([(row, column)])
        paid = [sum(rewards[place].item() for place in step) for step in steps]
        known = [values[step[0]].item() for step in steps]
        options = {"gamma": gamma, "last": last[episode]}
        for step, advantage, target, value in zip(
            steps,
            loop_reference(paid, known, lam=lam, **options),
            loop_reference(paid, known, lam=1.0, **options),
            known,
            strict=True,
        ):
            for place in step:
                expected[place] = advantage
            targets[step[0]] = target + value
    assert torch.allclose(credit.advantages, expected, atol=1e-12)
    assert torch.allclose(credit.returns, targets, atol=1e-12)
    whitened = whiten(credit.advantages, torch.tensor(mask))
    assert not whitened[torch.tensor(mask) == 0].any()


def test_times_of_no_episode_are_passed_over() -> None:
    valid = torch.tensor([[True, False, True]])
    rewards = torch.tensor([[0.0, 9.0, 1.0]], dtype=torch.float64)
    values = torch.tensor([[0.5, 9.0, 0.25]], dtype=torch.float64)
    found = gae(rewards, values, valid, gamma=0.9, lam=0.5)
    first, second = loop_reference([0.0, 1.0], [0.5, 0.25], gamma=0.9, lam=0.5)
    assert found[0].tolist() == pytest.approx([first, 0.0, second])


# Rewards ----------------------------------------------------------------------------------------


def test_each_turn_is_paid_on_its_last_token_over_rows() -> None:
    mask = torch.tensor([[1, 1, 0, 1, 0], [0, 1, 1, 0, 0], [1, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    rows = torch.tensor([0, 0, 1, -1])
    paid = rewards_at_turn_ends([[0.25, 0.5, -1.0], [2.0]], token_turns(mask, rows), rows)
    assert paid.tolist() == [
        [0, 0.25, 0, 0.5, 0],
        [0, 0, -1.0, 0, 0],
        [2.0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]


def test_an_episode_without_tokens_is_paid_nothing() -> None:
    mask, rows = torch.tensor([[0, 0]]), torch.tensor([0])
    assert not rewards_at_turn_ends([[1.0, 1.0]], token_turns(mask, rows), rows).any()


@pytest.mark.parametrize("rewards", [[[1.0]], [[1.0, 2.0, 3.0]]])
def test_rewards_that_do_not_fit_the_turns_are_refused(rewards: list[list[float]]) -> None:
    mask, rows = torch.tensor([[1, 0, 1]]), torch.tensor([0])
    with pytest.raises(ValueError, match="turn rewards for 2 runs"):
        rewards_at_turn_ends(rewards, token_turns(mask, rows), rows)
