"""The headroom's numbers are counts over episodes, and each advice follows from its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs.trajectories.trajectory import CUT, ModelCall, Trajectory, Turn
from trainers.evaluation.advice import advise
from trainers.evaluation.headroom import (
    SIZES,
    Headroom,
    HeadroomRow,
    Limits,
    TurnQuantiles,
    extrapolated,
    headroom,
    share_differing,
)
from trainers.evaluation.intervals import Estimate

ENV = "agentgym/TextCraft-v0"
CAUSES = (None, "horizon", "max_turns", "env_limit", "token_budget", "no_action")
LIMITS = Limits(horizon=3, longest=4, max_turns=6, max_tokens_per_turn=8)


def episode(
    task: int, rewards: Sequence[float], *, success: bool = False, cause: str | None = None,
    valid: bool = True, cut: bool = False, status: str = "terminated", env_id: str = ENV,
) -> Trajectory:  # fmt: skip
    call = ModelCall(finish_reason=CUT) if cut else None
    turns = [Turn("o", "a", reward, valid, 0.0, call=call) for reward in rewards]
    return Trajectory(
        env_id, f"textcraft_{task}", subtask=f"depth {task % 2}", turns=turns, status=status,
        success=success, truncated_by=cause, policy="tiny",
    )  # type: ignore[arg-type]  # fmt: skip


episodes = st.builds(
    episode,
    st.integers(0, 3),
    st.lists(st.sampled_from([0.0, 0.1, 0.2]), min_size=1, max_size=5),
    success=st.booleans(),
    cause=st.sampled_from(CAUSES),
    valid=st.booleans(),
    cut=st.booleans(),
    status=st.sampled_from(["terminated", "truncated", "failed"]),
)


@given(st.lists(episodes, min_size=2, max_size=18), st.lists(episodes, max_size=6))
def test_a_row_counts_the_episodes_of_its_tasks(
    played: list[Trajectory], guide: list[Trajectory]
) -> None:
    scored = [one for one in played if one.status != "failed"]
    tasks = {one.task_id: [o for o in scored if o.task_id == one.task_id] for one in scored}
    least = max(1, max(map(len, tasks.values()), default=0) // 2)
    tasks = {task: group for task, group in tasks.items() if len(group) > least}
    if not tasks:
        with pytest.raises(ValueError, match="no task has two episodes with a score"):
            headroom(played, num_generations=2)
        return
    expert = list({one.task_id: one for one in guide if one.status != "failed"}.values())
    result = headroom(played, num_generations=2, expert=expert, limits={ENV: LIMITS})["TextCraft"]
    for name, row in {None: result.total, **result.subtasks}.items():
        groups = [g for g in tasks.values() if name is None or g[0].subtask == name]
        check(row, groups, expert)
    assert sum(row.n_tasks for row in result.subtasks.values()) == len(tasks)


def check(row: HeadroomRow, groups: list[list[Trajectory]], expert: list[Trajectory]) -> None:
    every = [one for group in groups for one in group]
    turns = [turn for one in every for turn in one.turns]
    rates = [fmean(one.success for one in group) for group in groups]
    assert row.success.value == pytest.approx(fmean(rates))
    assert (row.n_tasks, row.never, row.always) == (len(groups), rates.count(0), rates.count(1))
    assert row.samples == min(map(len, groups))
    pairs = [list(combinations(group, 2)) for group in groups]
    assert row.pass_at_k == pytest.approx(
        fmean(fmean(any(one.success for one in pair) for pair in each) for each in pairs)
    )
    assert row.differ[2] == pytest.approx(
        fmean(fmean(not equal(pair) for pair in each) for each in pairs)
    )
    solved = sorted(len(one.turns) for one in every if one.success)
    assert row.num_successes == len(solved)
    assert row.turns == (TurnQuantiles(*quantiles(solved)) if solved else None)
    ids = {one.task_id for one in every}
    ends = ("horizon", "max_turns", "env_limit")
    own = [
        one for one in expert if one.task_id in ids and (one.success or one.truncated_by in ends)
    ]
    over = [one for one in own if not one.success or len(one.turns) > 4]
    assert row.out_of_reach == (pytest.approx(len(over) / len(own)) if own else None)
    assert row.cut_by_turns == pytest.approx(fmean(one.truncated_by in ends for one in every))
    out = [one.truncated_by == "token_budget" for one in every]
    assert row.cut_by_tokens == pytest.approx(fmean(out))
    assert row.cut_turns == pytest.approx(fmean(turn.is_cut for turn in turns))
    assert row.invalid_actions == pytest.approx(fmean(not turn.is_valid_action for turn in turns))


def equal(pair: Sequence[Trajectory]) -> bool:
    # Exact sums: 0.1 + 0.2 is 0.2 + 0.1.
    one, other = (sum(Fraction(str(turn.reward)) for turn in each.turns) for each in pair)
    return one == other


def quantiles(ordered: list[int]) -> tuple[int, int]:
    """Return the smallest values that half, and nine in ten, do not exceed."""
    return tuple(  # type: ignore[return-value]
        next(v for v in ordered if 10 * sum(o <= v for o in ordered) >= part * len(ordered))
        for part in (5, 9)
    )


@given(st.lists(st.integers(0, 4), min_size=2, max_size=4).filter(lambda c: sum(c) >= 2), st.data())
def test_the_share_that_differs_is_that_of_the_subsets(counts: list[int], data: Any) -> None:
    returns = [value for value, count in enumerate(counts) for _ in range(count)]
    size = data.draw(st.integers(1, len(returns)))
    subsets = list(combinations(returns, size))
    expected = fmean(len(set(subset)) > 1 for subset in subsets)
    assert share_differing(counts, size) == pytest.approx(expected)


@pytest.mark.parametrize("samples", [4, 8, 16])
@pytest.mark.parametrize("power", [0.2, 1.0, 3.0])
def test_a_power_law_is_extrapolated_exactly(samples: int, power: float) -> None:
    def share(k: int) -> float:
        return 0.9 * (1 - k**-power)

    for size in (2, samples, samples + 1, 32, 64):
        assert extrapolated(share, samples, size) == pytest.approx(share(size))


def test_an_extrapolated_share_stays_within_its_bounds() -> None:
    assert extrapolated(lambda k: 0.0, 8, 32) == 0
    assert extrapolated(lambda k: 1.0, 2, 32) == 1
    assert extrapolated(lambda k: k / 8, 8, 32) == 1
    # A rare event: the truth is 0.27, and each doubling adds at most as much as the last one.
    assert extrapolated(lambda k: 1 - 0.99**k, 8, 32) == pytest.approx(0.153, abs=0.001)


def test_environments_are_told_apart_and_an_expert_that_gives_up_needs_unknown_turns() -> None:
    other = "agentgym/BabyAI-v0"
    played = [episode(1, [1.0], success=True), episode(1, [0.0])]
    played += [episode(2, [0.0], env_id=other), episode(2, [0.0], env_id=other)]
    gave_up = episode(1, [0.0], cause="no_action", status="truncated")
    result = headroom(played, num_generations=2, expert=[gave_up], limits={ENV: LIMITS})
    assert {name: part.differing for name, part in result.items()} == {"TextCraft": 1, "BabyAI": 0}
    assert result["TextCraft"].total.expert is None
    assert result["BabyAI"].limits == Limits()


def test_twice_the_needed_turns_are_enough_and_the_rest_is_idle() -> None:
    played = [episode(1, [0.0, 1.0], success=True), episode(1, [0.0] * 9, cause="horizon")]
    expert = [episode(1, [0.0, 0.0, 1.0], success=True)]
    alone = headroom(played, num_generations=2)["TextCraft"].total
    guided = headroom(played, num_generations=2, expert=expert)["TextCraft"].total
    assert (alone.enough_turns, alone.idle_turns) == (4, 5 / 11)
    assert (guided.enough_turns, guided.idle_turns) == (6, 3 / 11)
    several = {ENV: replace(LIMITS, actions_per_turn=2)}
    fewer = headroom(played, num_generations=2, expert=expert, limits=several)["TextCraft"]
    assert fewer.total.expert == TurnQuantiles(2, 2)
    stuck = [episode(1, [0.0] * 9, cause="max_turns")]
    assert headroom(played, num_generations=2, expert=stuck)["TextCraft"].total.enough_turns is None


# -- Advice ----------------------------------------------------------------------------------------

ROW = HeadroomRow(
    n_tasks=40,
    samples=8,
    success=Estimate(0.5, 0.4, 0.6),
    pass_at_k=0.55,
    differ={4: 0.5, 8: 0.5, 16: 0.7, 32: 0.8},
    never=10,
    always=10,
    num_successes=160,
    turns=TurnQuantiles(4, 6),
    expert=TurnQuantiles(3, 5),
    out_of_reach=0.1,
    enough_turns=12,
    idle_turns=0.0,
    cut_by_turns=0.4,
    cut_by_tokens=0.01,
    cut_turns=0.1,
    invalid_actions=0.3,
)
"""Numbers that ask for nothing: each is as far as it may go."""


def part_of(
    row: HeadroomRow = ROW, limits: dict[str, Any] | None = None, **subtasks: Any
) -> Headroom:
    bounds = Limits(horizon=20, longest=20, max_turns=30, max_tokens_per_turn=48)
    return Headroom(8, replace(bounds, **(limits or {})), row, subtasks)


def row(*, success: float | None = None, differ: Any = None, **changes: Any) -> HeadroomRow:
    if success is not None:
        changes["success"] = Estimate(success, 0.0, 1.0)
        changes.setdefault("pass_at_k", success)
    if differ is not None:
        changes["differ"] = differ if isinstance(differ, dict) else dict.fromkeys(SIZES, differ)
    return replace(ROW, **changes)


def given_to(part: Headroom) -> dict[str, dict[str, Any]]:
    return {one.rule: one.options for one in advise(part)}


def test_numbers_within_their_bounds_ask_for_nothing() -> None:
    assert advise(part_of()) == []
    assert advise(part_of(easy=ROW, hard=ROW)) == []


E = 1e-6
SIX = {"horizon": 6, "longest": 6}
LEARNABLE = {"task_sampling": "learnable"}
SILENT = row(differ=0.0, success=0.0, n_tasks=4, never=4, always=0)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (part_of(row(success=0.1 - E, differ=0.25 - E)), {"imitate": {}}),
        (part_of(row(success=0.1 - E, differ=0.25)), {"progress": {}}),
        (part_of(row(success=0.1, differ=0.25)), {}),
        (part_of(row(success=0.1, differ=0.25 - E)), {"few_groups": LEARNABLE}),
        (part_of(row(success=0.9, differ=0.25 - E)), {"few_groups": LEARNABLE}),
        (part_of(row(pass_at_k=0.6 + E)), {"room": {}}),
        (part_of(row(success=0.05, pass_at_k=0.15 + E, differ=0.3)), {"room": {}}),
        (part_of(row(success=0.05, pass_at_k=0.15 + E, differ=0.2)), {"imitate": {}}),
        (part_of(row(success=0.9)), {}),
        (part_of(row(success=0.9 + E, differ=0.0)), {"mastered": {}}),
        (
            part_of(row(success=0.95), easy=row(success=0.99), hard=row(success=0.9)),
            {"mastered": {"tasks": ["hard"]}},
        ),
        (part_of(easy=ROW, hard=SILENT), {"tasks": {"tasks": ["easy"]}}),
        (part_of(easy=ROW, hard=replace(SILENT, n_tasks=3)), {}),
        (part_of(easy=ROW, hard=replace(SILENT, differ={8: 0.01})), {}),
        (part_of(row(success=0.0, differ=0.0), easy=SILENT, hard=SILENT), {"imitate": {}}),
        (
            part_of(row(differ={8: 0.5 - E, 16: 0.6, 32: 0.9})),
            {"group_size": {"num_generations": 16}},
        ),
        (part_of(row(differ={8: 0.5 - E, 16: 0.6 - 3 * E, 32: 0.9})), {}),
        (part_of(row(success=0.0, differ={8: 0.1, 16: 0.4, 32: 0.9})), {"imitate": {}}),
        (part_of(row(out_of_reach=0.1 + E)), {"longer_horizon": {"horizon": 10}}),
        (
            part_of(row(out_of_reach=0.2, expert=TurnQuantiles(9, 19))),
            {"longer_horizon": {"horizon": 30}},
        ),
        (
            part_of(row(out_of_reach=0.2, expert=TurnQuantiles(9, None))),
            {"longer_horizon": {"horizon": 30}},
        ),
        (
            part_of(row(out_of_reach=0.2), {"longest": 30, "horizon": 30}),
            {"longer_horizon": {"max_turns": 60, "horizon": 60}},
        ),
        (  # the expert is quick enough, and the policy's episodes are cut
            part_of(row(success=0.0, differ=0.0, cut_by_turns=0.5 + E), SIX),
            {"longer_horizon": {"horizon": 10}, "imitate_later": {}},
        ),
        (
            part_of(row(success=0.0, differ=0.0, cut_by_turns=0.6, expert=None), SIX),
            {"longer_horizon": {"horizon": 12}, "imitate_later": {}},
        ),
        (
            part_of(row(success=0.0, differ=0.0, cut_by_turns=0.6), {**SIX, "max_turns": 8}),
            {"longer_horizon": {"horizon": 8}, "imitate_later": {}},
        ),
        (  # the first stage of a schedule
            part_of(row(success=0.0, differ=0.0, cut_by_turns=0.6), {"horizon": 4, "longest": 12}),
            {"longer_horizon": {"horizon": 12}, "imitate_later": {}},
        ),
        (
            part_of(row(success=0.0, differ=0.0, cut_by_turns=0.6), {"horizon": 10, "longest": 10}),
            {"imitate": {}},
        ),
        (part_of(row(success=0.0, differ=0.0), SIX), {"imitate": {}}),
        (part_of(row(cut_by_turns=0.6), SIX), {}),
        (
            part_of(row(success=0.0, differ=0.0, cut_by_turns=1.0, invalid_actions=0.5 + E), SIX),
            {"imitate": {}, "invalid": {}},
        ),
        (part_of(row(out_of_reach=None, expert=None)), {}),
        (part_of(row(idle_turns=0.1)), {"shorter_horizon": {"horizon": 12}}),
        (part_of(row(idle_turns=0.1, enough_turns=20)), {}),
        (part_of(row(idle_turns=0.1, enough_turns=None)), {}),
        (part_of(row(idle_turns=0.1, num_successes=9)), {}),
        (part_of(row(idle_turns=0.1), {"longest": 30}), {}),
        (part_of(row(idle_turns=0.1), {"longest": None, "horizon": None}), {}),
        (part_of(row(cut_turns=0.1 + E)), {"cut_turns": {"max_tokens_per_turn": 96}}),
        (part_of(row(cut_by_tokens=0.01 + E)), {"out_of_tokens": {}}),
        (
            part_of(row(cut_by_tokens=0.02), {"max_tokens_per_episode": 900}),
            {"out_of_tokens": {"max_tokens_per_episode": 1800}},
        ),
        (part_of(row(invalid_actions=0.3 + E)), {"invalid": {"invalid_action_penalty": 0.1}}),
        (
            part_of(row(invalid_actions=0.4, success=0.0, differ=0.0)),
            {"imitate": {}, "invalid": {}},
        ),
        (
            part_of(row(cut_turns=0.2, success=0.0, differ=0.0)),
            {"cut_turns": {"max_tokens_per_turn": 96}, "imitate_later": {}},
        ),
        (
            part_of(row(cut_turns=0.2, success=0.0, differ=0.0, invalid_actions=0.7 + E)),
            {"cut_turns": {"max_tokens_per_turn": 96}, "imitate": {}, "invalid": {}},
        ),
        (  # cut turns are invalid, and no reason to imitate
            part_of(row(cut_turns=0.79, success=0.0, differ=0.0, invalid_actions=0.98)),
            {"cut_turns": {"max_tokens_per_turn": 192}, "imitate_later": {}},
        ),
        (part_of(row(expert=None, success=0.0, differ=0.0)), {"imitate_later": {}}),
        (
            part_of(easy=ROW, hard=replace(SILENT, out_of_reach=0.5 + E)),
            {},
        ),
    ],
)  # fmt: skip
def test_each_advice_follows_from_its_number_alone(
    part: Headroom, expected: dict[str, dict[str, Any]]
) -> None:
    assert given_to(part) == expected
