from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from trainers.credit.advantages import (
    anchor_state_advantages,
    discounted_returns,
    episode_rewards,
    kl_penalized_returns,
    leave_one_out,
    scale_by_environment,
    subtract_group_mean,
    token_turns,
    whiten,
    whiten_by_environment,
)
from trainers.credit.gae import SampledTokenIndex

NAN = math.nan


def tensor(values: object) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64)


def time_of(mask: list[list[int]], episodes: list[int] | None = None) -> SampledTokenIndex:
    """An episode a row, unless `episodes` says otherwise."""
    of_row = torch.tensor(list(range(len(mask))) if episodes is None else episodes)
    return SampledTokenIndex.from_mask(torch.tensor(mask), of_row, int(of_row.max()) + 1)


def close(got: torch.Tensor, expected: object) -> None:
    torch.testing.assert_close(got, tensor(expected), rtol=1e-12, atol=1e-12)


# By hand -----------------------------------------------------------------------------------------


def test_centred_takes_the_mean_of_each_group() -> None:
    close(subtract_group_mean(tensor([1, 0, 0, 1, 1, 1]), 3), [2 / 3, -1 / 3, -1 / 3, 0, 0, 0])


def test_centred_leaves_failed_episodes_out() -> None:
    close(subtract_group_mean(tensor([1, NAN, 0, NAN, NAN, NAN]), 3), [0.5, 0, -0.5, 0, 0, 0])


def test_leave_one_out_takes_the_mean_of_the_others() -> None:
    close(leave_one_out(tensor([1, 0, 0, 0.5]), 4), [5 / 6, -0.5, -0.5, 1 / 6])


def test_leave_one_out_leaves_failed_episodes_out() -> None:
    close(leave_one_out(tensor([1, NAN, 0, 5, NAN, NAN]), 3), [1, 0, -1, 0, 0, 0])


def test_an_episode_alone_in_its_group_has_no_advantage() -> None:
    close(leave_one_out(tensor([1, 2]), 1), [0, 0])
    close(subtract_group_mean(tensor([1, 2]), 1), [0, 0])


def test_whitened_values_are_those_of_two_passes_by_hand() -> None:
    values, mask = tensor([[3, 9, 1], [5, 9, 9]]), tensor([[1, 0, 1], [1, 0, 0]])
    deviation = 2.0 + 1e-6  # of 3, 1, 5: mean 3, variance (0 + 4 + 4) / 2
    close(whiten(values, mask), [[0, 0, -2 / deviation], [2 / deviation, 0, 0]])


@pytest.mark.parametrize("mask", [[[0, 0]], [[1, 0]]])
def test_whitening_fewer_than_two_tokens_gives_zeros(mask: list[list[int]]) -> None:
    close(whiten(tensor([[3, 4]]), tensor(mask)), [[0, 0]])


@pytest.mark.parametrize("paid", [0.7, -0.8, 33.3, 0.0])
def test_equal_rewards_have_no_advantage_to_the_last_bit(paid: float) -> None:
    """AdamW would make a whole step of what rounding leaves."""
    rewards = torch.full((16,), paid)
    rewards[3] = NAN
    assert not subtract_group_mean(rewards, 8).any()
    assert not leave_one_out(rewards, 8).any()
    assert not whiten(torch.full((64, 300), paid), torch.ones(64, 300)).any()


def test_the_kl_of_later_tokens_is_taken_from_an_earlier_one() -> None:
    # The last token is an observation after the last action; its divergence counts nowhere.
    time = time_of([[1, 0, 1, 0]])
    got = kl_penalized_returns(tensor([1.0]), tensor([[1, 9, 2, 9]]), time, beta=0.1)
    close(got, [[1 - 0.3, 0, 1 - 0.2, 0]])


def test_the_kl_of_an_episodes_later_windows_counts_too() -> None:
    """Two windows of the first episode, one of the second."""
    time = time_of([[1, 1], [0, 1], [1, 0]], episodes=[0, 0, 1])
    got = kl_penalized_returns(tensor([1.0, 5.0]), tensor([[1, 2], [9, 4], [3, 9]]), time, beta=0.1)
    close(got, [[1 - 0.7, 1 - 0.6], [0, 1 - 0.4], [5 - 0.3, 0]])


def test_a_failed_episode_has_no_reward() -> None:
    time = time_of([[0, 0]])
    close(kl_penalized_returns(tensor([NAN]), tensor([[1, 1]]), time, beta=0.1), [[0, 0]])


def test_discounted_returns_by_hand() -> None:
    assert discounted_returns([1.0, 0.0, 4.0], 0.5) == [2.0, 2.0, 4.0]
    assert discounted_returns([], 0.5) == []


def test_turns_are_compared_within_their_state_only() -> None:
    returns, anchors = [1.0, 3.0, 7.0, 5.0], ["a", "a", "alone", "a"]
    assert anchor_state_advantages(returns, anchors, scale_sets=None) == [-2.0, 0.0, 0.0, 2.0]
    scaled = anchor_state_advantages(returns, anchors, scale_sets=anchors)
    assert scaled == pytest.approx([-1.0, 0.0, 0.0, 1.0], rel=1e-5)


def test_turns_are_counted_through_the_rows_of_an_episode() -> None:
    mask = torch.tensor(
        [[1, 1, 0, 1, 0], [0, 1, 1, 0, 0], [1, 0, 1, 0, 1], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]]
    )
    got = token_turns(mask, torch.tensor([0, 0, 1, 2, -1]))
    assert got.tolist() == [
        [0, 0, -1, 1, -1],
        [-1, 2, 2, -1, -1],
        [0, -1, 1, -1, 2],
        [-1] * 5,
        [-1] * 5,
    ]


# Against loops -----------------------------------------------------------------------------------

REWARDS = st.one_of(st.just(NAN), st.floats(-5, 5))


@given(groups=st.lists(st.lists(REWARDS, min_size=4, max_size=4), min_size=1, max_size=4))
def test_group_baselines_equal_a_loop(groups: list[list[float]]) -> None:
    flat = tensor(groups).flatten()
    for got, leaves_out in ((subtract_group_mean(flat, 4), False), (leave_one_out(flat, 4), True)):
        expected = []
        for group in groups:
            for place, reward in enumerate(group):
                others = [
                    r
                    for i, r in enumerate(group)
                    if not (math.isnan(r) or leaves_out and i == place)
                ]
                alone = math.isnan(reward) or not others
                expected.append(0.0 if alone else reward - sum(others) / len(others))
        torch.testing.assert_close(got, tensor(expected), rtol=1e-9, atol=1e-9)


@settings(deadline=None)
@given(data=st.data(), rows=st.integers(1, 4), width=st.integers(1, 7))
def test_token_functions_equal_a_loop(data: st.DataObject, rows: int, width: int) -> None:
    def draw(element: st.SearchStrategy[float] | st.SearchStrategy[int]) -> list[list[float]]:
        line = st.lists(element, min_size=width, max_size=width)
        return data.draw(st.lists(line, min_size=rows, max_size=rows))

    mask, kl = draw(st.integers(0, 1)), draw(st.floats(-3, 3))
    rewards = [float(row) for row in range(rows)]
    got = kl_penalized_returns(tensor(rewards), tensor(kl), time_of(mask), beta=0.3)
    expected = [[0.0] * width for _ in range(rows)]
    for row in range(rows):
        for t in range(width):
            to_go = sum(kl[row][i] * mask[row][i] for i in range(t, width))
            expected[row][t] = (rewards[row] - 0.3 * to_go) * mask[row][t]
    torch.testing.assert_close(got, tensor(expected), rtol=1e-9, atol=1e-9)
    whitened = whiten(got, tensor(mask))
    kept = [expected[r][t] for r in range(rows) for t in range(width) if mask[r][t]]
    if len(kept) >= 2:
        mean = sum(kept) / len(kept)
        deviation = math.sqrt(sum((v - mean) ** 2 for v in kept) / (len(kept) - 1))
        scale = 0.0 if deviation <= 1e-6 * abs(mean) else 1 / (deviation + 1e-6)
        by_loop = [
            [(expected[r][t] - mean) * scale * mask[r][t] for t in range(width)]
            for r in range(rows)
        ]
        torch.testing.assert_close(whitened, tensor(by_loop), rtol=1e-6, atol=1e-6)


# Invariances -------------------------------------------------------------------------------------


@given(
    # Thousandths: smaller differences are rounding beside a shift of 9.
    group=st.lists(st.floats(-5, 5).map(lambda value: round(value, 3)), min_size=3, max_size=3),
    shift=st.floats(-9, 9),
    factor=st.floats(0.1, 9),
)
def test_a_groups_advantages_ignore_shifts_and_follow_scales(
    group: list[float], shift: float, factor: float
) -> None:
    rewards = tensor(group)
    for advantage in (subtract_group_mean, leave_one_out):
        plain = advantage(rewards, 3)
        torch.testing.assert_close(advantage(rewards + shift, 3), plain, rtol=1e-8, atol=1e-8)
        scaled = advantage(rewards * factor, 3)
        torch.testing.assert_close(scaled, plain * factor, rtol=1e-8, atol=1e-8)
        assert abs(float(plain.sum())) < 1e-8
        order = [2, 0, 1]
        torch.testing.assert_close(advantage(rewards[order], 3), plain[order])


def test_padding_changes_no_whitened_value() -> None:
    values, mask = tensor([[3, 9, 1], [5, 9, 9]]), tensor([[1, 0, 1], [1, 0, 0]])
    padded = whiten(torch.nn.functional.pad(values, (0, 4)), torch.nn.functional.pad(mask, (0, 4)))
    torch.testing.assert_close(padded[:, :3], whiten(values, mask))


def test_two_processes_whiten_as_one() -> None:
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(4, 5, generator=generator, dtype=torch.float64)
    mask = (torch.rand(4, 5, generator=generator) < 0.6).double()
    halves = [(values[:2], mask[:2]), (values[2:], mask[2:])]

    # What each process hands in at its two sums, so that either can be given both.
    sums: list[list[torch.Tensor]] = [[], []]
    whole_mean = (values * mask).sum() / mask.sum()
    for number, (v, m) in enumerate(halves):
        sums[number] = [
            torch.stack([m.sum(), (v * m).sum()]),
            (((v - whole_mean) ** 2) * m).sum(),
        ]
    for number, (v, m) in enumerate(halves):
        calls = iter(range(2))

        def reduce_sum(
            part: torch.Tensor, calls: object = calls, number: int = number
        ) -> torch.Tensor:
            call = next(calls)  # type: ignore[call-overload]
            torch.testing.assert_close(part, sums[number][call])
            return sums[0][call] + sums[1][call]

        got = whiten(v, m, reduce_sum=reduce_sum)
        torch.testing.assert_close(got, whiten(values, mask)[2 * number : 2 * number + 2])


def test_an_episode_has_a_reward_where_a_function_paid_a_finite_one() -> None:
    paid = tensor([[1, -0.5], [NAN, -0.5], [float("inf"), 0], [1, NAN], [1, 0]])
    counted = torch.tensor([True, True, True, True, False])
    got = episode_rewards(paid, tensor([2, 1]), counted, num_penalties=1)
    expected = tensor([1.5, NAN, NAN, 2, NAN])
    assert torch.equal(got.nan_to_num(nan=9.0), expected.nan_to_num(nan=9.0))


# By environment ----------------------------------------------------------------------------------


def test_an_environments_deviation_scales_its_advantages_alone() -> None:
    rewards = tensor([1.0, 0.0, 0.2, 0.4, NAN, 7.0])
    advantages = tensor([0.5, -0.5, -0.1, 0.1, 0.0, 0.0])
    environment = torch.tensor([0, 0, 1, 1, 1, 2])
    first, second = math.sqrt(0.5) + 1e-4, math.sqrt(0.02) + 1e-4
    expected = [0.5 / first, -0.5 / first, -0.1 / second, 0.1 / second, 0.0, 0.0]
    close(scale_by_environment(advantages, rewards, environment), expected)


def test_an_environment_that_pays_more_has_no_larger_advantages() -> None:
    rewards = tensor([0.0, 1.0, 0.0, 100.0])
    scaled = scale_by_environment(
        subtract_group_mean(rewards, 2), rewards, torch.tensor([0, 0, 1, 1])
    )
    torch.testing.assert_close(scaled[:2], scaled[2:], rtol=2e-4, atol=0.0)


def test_tokens_are_whitened_with_those_of_their_environment() -> None:
    values = tensor([[1.0, 3.0, 9.0], [5.0, 0.0, 0.0], [10.0, 30.0, 20.0]])
    mask = tensor([[1, 1, 0], [1, 0, 0], [1, 1, 1]])
    environment = torch.tensor([0, 0, 1])
    found = whiten_by_environment(values, mask, environment, num_environments=2)
    first, second = 2.0 + 1e-6, 10.0 + 1e-6
    expected = [[-2 / first, 0, 0], [2 / first, 0, 0], [-10 / second, 10 / second, 0]]
    close(found, expected)
    alone = whiten_by_environment(
        values, mask, torch.zeros(3, dtype=torch.int64), num_environments=1
    )
    close(alone, whiten(values, mask).tolist())
