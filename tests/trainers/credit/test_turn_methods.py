"""Each method that credits turns against its paper's equations, written out as loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trainers.credit.advantages import (
    divide_by_group_mean,
    keep_by_variance,
    subtract_group_mean,
)
from trainers.credit.turn_methods import (
    empg,
    gagpo,
    gigpo,
    hgpo,
    information_gain,
    pays_along_the_way,
    turn_returns,
)
from trainers.credit.turns import TurnBatch

GAMMA = 0.9
NAN = math.nan
Episode = list[tuple[str, float]]
"""The state and the reward of each turn."""


def turns_of(
    groups: Sequence[Sequence[Episode]], measures: Sequence[float] | None = None
) -> TurnBatch:
    flat = [(g, episode) for g, group in enumerate(groups) for episode in group]
    episodes = [n for n, (_, episode) in enumerate(flat) for _ in episode]
    of_group = [g for g, episode in flat for _ in episode]
    return TurnBatch(
        episodes,
        of_group,
        [g % 2 for g in of_group],
        [(g, state) for g, episode in flat for state, _ in episode],
        [reward for _, episode in flat for _, reward in episode],
        [0.0] * len(episodes) if measures is None else list(measures),
    )


def to_go(episode: Episode, t: int) -> float:
    return sum(GAMMA ** (k - t) * episode[k][1] for k in range(t, len(episode)))


def normal(value: float, others: Sequence[float], *, scaled: bool) -> float:
    """Return (value - mean) / std of the others, its own among them; 0 where it is alone."""
    if len(others) < 2:
        return 0.0
    mean = sum(others) / len(others)
    deviation = math.sqrt(sum((other - mean) ** 2 for other in others) / (len(others) - 1))
    return (value - mean) / (deviation + 1e-6) if scaled else value - mean


EPISODES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from([0.0, 0.0, 1.0, 0.25])),
    min_size=1,
    max_size=4,
)
GROUPS = st.lists(st.lists(EPISODES, min_size=1, max_size=4), min_size=1, max_size=2)
SCALES = {"group": True, "none": False}
close = pytest.approx


def authors_hgpo(group: list[Episode], context: int, *, scaled: bool) -> list[float]:
    """Return HGPO's advantages of a group's turns, by what verl-agent's recipe does.

    A turn is in a set for each of its last 1, 2, .. K + 1 states, as far back as its episode goes.
    In a set of two turns or more it has (R - mean) / (population deviation + 1e-6). Those that are
    not 0 are averaged with the weight 1 + the set's number of states.
    """
    sets: dict[tuple[str, ...], list[float]] = {}
    spots = [(episode, t) for episode in group for t in range(len(episode))]

    def histories(episode: Episode, t: int) -> list[tuple[str, ...]]:
        states = [state for state, _ in episode[: t + 1]]
        return [tuple(states[-size:]) for size in range(1, min(context, t) + 2)]

    for episode, t in spots:
        for history in histories(episode, t):
            sets.setdefault(history, []).append(to_go(episode, t))
    advantages = []
    for episode, t in spots:
        weighted, weights = 0.0, 0
        for history in histories(episode, t):
            returns = sets[history]
            mean = math.fsum(returns) / len(returns)
            deviation = math.sqrt(math.fsum((r - mean) ** 2 for r in returns) / len(returns))
            value = to_go(episode, t) - mean
            if abs(value) > 1e-9:  # what float64 leaves of equal returns
                value = value / (deviation + 1e-6) if scaled else value
                weighted += (1 + len(history)) * value
                weights += 1 + len(history)
        advantages.append(weighted / weights if weights else 0.0)
    return advantages


@settings(deadline=None)
@given(groups=GROUPS, context=st.integers(0, 2), scale=st.sampled_from(sorted(SCALES)))
def test_hgpo_is_the_authors_mean_over_the_levels_that_a_turn_has(
    groups: list[list[Episode]], context: int, scale: str
) -> None:
    got = hgpo(turns_of(groups), discount=GAMMA, scale=scale, context=context)
    expected = [
        value for group in groups for value in authors_hgpo(group, context, scaled=SCALES[scale])
    ]
    assert got == close(expected, abs=1e-6)


def test_hgpo_damps_no_turn_that_few_histories_share() -> None:
    """Turn b has a second state in common with none: its first level is all there is."""
    groups: list[list[Episode]] = [[[("a", 0.0), ("b", 1.0)], [("c", 0.0), ("b", 0.0)]]]
    got = hgpo(turns_of(groups), discount=GAMMA, scale="group", context=2)
    assert got == close([0.0, 1.0, 0.0, -1.0], abs=1e-5)


def test_hgpo_without_context_is_gigpos_turn_advantage_but_for_the_deviation() -> None:
    groups: list[list[Episode]] = [[[("a", 0.0), ("b", 1.0)], [("a", 0.0), ("b", 0.0)]]]
    turns = turns_of(groups)
    one = hgpo(turns, discount=GAMMA, scale="none", context=0)
    assert one == close(gigpo(turns, discount=GAMMA, scale="none"))
    one = hgpo(turns, discount=GAMMA, scale="group", context=0)
    of_sample = gigpo(turns, discount=GAMMA, scale="group")
    assert one == close([math.sqrt(2) * value for value in of_sample], rel=1e-5)


@pytest.mark.parametrize("paid", [1.0, 0.7, 33.3])
@pytest.mark.parametrize("scale", ["group", "batch"])
def test_equal_rewards_credit_no_turn_to_the_last_bit(paid: float, scale: str) -> None:
    """The mean of equal numbers is not always theirs, and the deviation of the rest is as small."""
    episode: Episode = [("a", 0.0), ("b", 0.0), ("c", 0.0), ("d", paid)]
    turns = turns_of([[episode] * 7, [episode] * 3], measures=[0.1 + 0.2] * 40)
    for discount in (0.95, 0.9, 0.99):
        options: dict[str, Any] = {"discount": discount, "scale": scale}
        assert not any(gigpo(turns, **options))
        assert not any(hgpo(turns, **options, context=2))
        assert not any(gagpo(turns, **options, lam=0.95, episode_advantages=[0.0] * 40))
        assert not any(turn_returns(turns, **options))


@settings(deadline=None)
@given(groups=GROUPS, lam=st.sampled_from([0.0, 0.5, 1.0]), scale=st.sampled_from(sorted(SCALES)))
def test_gagpo_is_gae_by_the_groups_mean_returns(
    groups: list[list[Episode]], lam: float, scale: str
) -> None:
    turns = turns_of(groups)
    fallback = [10.0 + place for place in range(len(turns.states))]
    got = gagpo(turns, discount=GAMMA, scale=scale, lam=lam, episode_advantages=fallback)
    expected = []
    for group in groups:
        met: dict[str, list[float]] = {}
        for episode in group:
            for t, (state, _) in enumerate(episode):
                met.setdefault(state, []).append(to_go(episode, t))
        value = {state: sum(returns) / len(returns) for state, returns in met.items()}
        estimates, states = [], []
        for episode in group:
            ahead, after, own = 0.0, 0.0, []
            for state, reward in reversed(episode):
                ahead = reward + GAMMA * after - value[state] + GAMMA * lam * ahead
                after = value[state]
                own.append(ahead)
            estimates += own[::-1]
            states += [state for state, _ in episode]
        for estimate, state in zip(estimates, states, strict=True):
            unique = len(met[state]) == 1
            credited = normal(estimate, estimates, scaled=SCALES[scale])
            expected.append(fallback[len(expected)] if unique else credited)
    assert got == close(expected, abs=1e-6)


def test_gagpo_credits_the_turn_at_which_success_was_decided() -> None:
    """Both episodes play a and b; what differs is what was done in b."""
    won: Episode = [("a", 0.0), ("b", 1.0)]
    lost: Episode = [("a", 0.0), ("b", 0.0)]
    options: dict[str, object] = {"lam": 0.0, "episode_advantages": [0.0] * 4}
    got = gagpo(turns_of([[won, lost]]), discount=1.0, scale="none", **options)  # type: ignore[arg-type]
    assert got == close([0.0, 0.5, 0.0, -0.5])


def test_empg_by_hand() -> None:
    """Two episodes of two turns and one; entropies 1, 3 and 2, so 0, 1 and 0.5."""
    episodes: list[Episode] = [[("a", 0.0), ("b", 1.0)], [("a", 0.0)]]
    turns = turns_of([episodes], measures=[1.0, 3.0, 2.0])
    got = empg(turns, episode_advantages=[2.0, 2.0, -1.0])
    sure = [1.0, math.exp(-1.0), math.exp(-0.5)]
    mean = sum(sure) / 3
    raw = [2 * sure[0] / mean + 0.05 * sure[1], 2 * sure[1] / mean, -sure[2] / mean]
    assert got == close([value - sum(raw) / 3 for value in raw])


def test_empg_of_equal_entropies_changes_nothing_but_the_mean() -> None:
    turns = turns_of([[[("a", 0.0)], [("a", 0.0)]]], measures=[0.7, 0.7])
    assert empg(turns, episode_advantages=[3.0, 1.0]) == close([1.0, -1.0])
    assert empg(turns_of([]), episode_advantages=[]) == []


@settings(deadline=None)
@given(groups=GROUPS, scale=st.sampled_from(sorted(SCALES)))
def test_turn_returns_compare_turns_of_the_same_number(
    groups: list[list[Episode]], scale: str
) -> None:
    got = turn_returns(turns_of(groups), discount=GAMMA, scale=scale)
    expected = [
        normal(
            to_go(episode, t),
            [to_go(other, t) for other in group if len(other) > t],
            scaled=SCALES[scale],
        )
        for group in groups
        for episode in group
        for t in range(len(episode))
    ]
    assert got == close(expected, abs=1e-6)


def test_rewards_of_last_turns_alone_are_none_along_the_way() -> None:
    assert not pays_along_the_way(turns_of([[[("a", 0.0), ("b", 1.0)]]]))
    assert pays_along_the_way(turns_of([[[("a", 0.5), ("b", 1.0)]]]))


@settings(deadline=None)
@given(groups=GROUPS, data=st.data(), scale=st.sampled_from(sorted(SCALES)))
def test_information_gain_is_the_discounted_sum_of_normalized_gains(
    groups: list[list[Episode]], data: st.DataObject, scale: str
) -> None:
    size = sum(len(episode) for group in groups for episode in group)
    likely = data.draw(st.lists(st.floats(0, 1), min_size=size, max_size=size))
    got = information_gain(turns_of(groups, likely), discount=GAMMA, scale=scale)
    expected: list[float] = []
    at = 0
    for group in groups:
        rewards: list[list[float]] = []
        for episode in group:
            p = likely[at : at + len(episode)]
            at += len(episode)
            last = len(episode) - 1
            gains = [p[t + 1] - p[t] if t < last else 0.0 for t in range(len(episode))]
            rewards.append([r + gain for (_, r), gain in zip(episode, gains, strict=True)])
        pooled = [reward for own in rewards for reward in own]
        for own in rewards:
            scaled = [normal(reward, pooled, scaled=SCALES[scale]) for reward in own]
            expected += [
                sum(GAMMA ** (k - t) * scaled[k] for k in range(t, len(own)))
                for t in range(len(own))
            ]
    assert got == close(expected, abs=1e-6)


@pytest.mark.parametrize("scale", ["batch", "environment"])
def test_other_scales_take_their_deviation_over_more_turns(scale: str) -> None:
    groups: list[list[Episode]] = [
        [[("a", 1.0)], [("a", 0.0)]], [[("a", 3.0)], [("a", 9.0)]], [[("a", 2.0)], [("a", 4.0)]],
    ]  # fmt: skip
    got = gigpo(turns_of(groups), discount=GAMMA, scale=scale)
    centred = torch.tensor([0.5, -0.5, -3.0, 3.0, -1.0, 1.0], dtype=torch.float64)
    returns = torch.tensor([1.0, 0.0, 3.0, 9.0, 2.0, 4.0], dtype=torch.float64)
    sets = {"batch": [[0, 1, 2, 3, 4, 5]], "environment": [[0, 1, 4, 5], [2, 3]]}[scale]
    for places in sets:
        centred[places] /= returns[places].std() + 1e-6
    assert got == close(centred.tolist())


# Whole episodes ----------------------------------------------------------------------------------


def test_maxrl_weighs_successes_by_how_rare_they_are() -> None:
    rewards = torch.tensor([1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, NAN])
    got = divide_by_group_mean(subtract_group_mean(rewards, 4), rewards, 4)
    assert got.tolist() == close([3, -1, -1, -1, 1 / 3, 1 / 3, 1 / 3, -1, 0, 0, 0, 0])


@settings(deadline=None)
@given(
    group=st.lists(
        st.one_of(st.floats(-1, 1), st.sampled_from([1.0, -1.0, -1.0 + 1e-6, NAN])),
        min_size=4,
        max_size=4,
    )
)
@example(group=[1.0, -1.0 + 1e-6, 0.0, 0.0])
@example(group=[-1.0, -1.0, -0.5, 0.0])
def test_maxrls_advantages_are_bounded_whatever_the_sign_of_rewards(group: list[float]) -> None:
    """A mean near 0 would make them of any size, and one below 0 would turn them round."""
    rewards = torch.tensor(group, dtype=torch.float64)
    centred = subtract_group_mean(rewards, 4)
    got = divide_by_group_mean(centred, rewards, 4)
    assert got.abs().max() <= 4 + 1
    assert torch.equal(got.sign(), centred.sign())


@settings(deadline=None)
@given(
    groups=st.lists(
        st.lists(st.sampled_from([0.0, 1.0, 0.5, NAN]), min_size=4, max_size=4),
        min_size=1,
        max_size=5,
    ),
    share=st.sampled_from([0.5, 0.9, 1.0]),
)
def test_the_filter_keeps_the_fewest_groups_that_hold_the_share(
    groups: list[list[float]], share: float
) -> None:
    kept = keep_by_variance(torch.tensor(groups).flatten(), 4, share=share).view(-1, 4)
    deviations = []
    for group in groups:
        paid = [reward for reward in group if not math.isnan(reward)]
        mean = sum(paid) / max(len(paid), 1)
        squares = sum((reward - mean) ** 2 for reward in paid)
        deviations.append(math.sqrt(squares / max(len(paid) - 1, 1)))
    assert all(len(set(row)) == 1 for row in kept.tolist())
    chosen = [deviation for deviation, row in zip(deviations, kept, strict=True) if row[0]]
    left = [deviation for deviation, row in zip(deviations, kept, strict=True) if not row[0]]
    assert sum(chosen) >= share * sum(deviations) - 1e-9
    assert not chosen or min(chosen) > 0
    assert not chosen or sum(chosen) - min(chosen) < share * sum(deviations)
    assert not (chosen and left) or min(chosen) >= max(left)


def test_the_filter_ranks_groups_by_the_standard_deviation_as_its_authors_do() -> None:
    """Deviations 2 / sqrt(3) and three of 0.4 / sqrt(3); variances 4 / 3 and three of 0.16 / 3.

    A share of 0.9 takes all four of the first, and of the second the first group alone.
    """
    groups = [[2.0, 0.0, 2.0, 0.0], *([0.4, 0.0, 0.4, 0.0] for _ in range(3))]
    kept = keep_by_variance(torch.tensor(groups).flatten(), 4, share=0.9)
    assert kept.all()
    assert (
        keep_by_variance(torch.tensor(groups).flatten(), 4, share=0.8).view(4, 4)[:, 0].sum() == 3
    )
