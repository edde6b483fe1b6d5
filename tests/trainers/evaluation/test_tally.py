from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs.core import UNSCORED
from agentgym_envs.trajectories.trajectory import Trajectory, Turn
from trainers.evaluation.intervals import wilson
from trainers.evaluation.tally import p_of, paired, pass_all_k, pass_at_k, tally


def episode(
    task, success, *, status="terminated", score=None, valid=(True,), tokens=3,
    env_id="agentgym/TextCraft-v0", source="",
):  # fmt: skip
    return Trajectory(
        env_id,
        task,
        source=source,
        status=status,
        success=success,
        score=float(success) if score is None else score,
        turns=[Turn("o", "a", 0.0, is_valid, 0.0, tokens) for is_valid in valid],
    )


@given(st.integers(1, 7), st.data())
def test_pass_at_k_is_the_share_of_subsets_with_a_success(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    outcomes = [True] * c + [False] * (n - c)
    subsets = list(combinations(outcomes, k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, subsets)) / len(subsets))


@given(st.integers(1, 7), st.data())
def test_pass_all_k_is_the_share_of_subsets_of_successes(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    subsets = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_all_k(n, c, k) == pytest.approx(sum(map(all, subsets)) / len(subsets))


@pytest.mark.parametrize("estimate", [pass_at_k, pass_all_k])
@pytest.mark.parametrize("case", [(3, 1, 4), (3, 4, 1), (3, 1, 0), (3, -1, 1)])
def test_pass_at_k_refuses_what_cannot_be(estimate, case):
    with pytest.raises(ValueError, match="expected 1 <= k"):
        estimate(*case)


def test_failed_episodes_are_counted_apart_and_enter_nothing_else():
    found = tally(
        [episode("t_1", True), episode("t_1", False, status="failed", valid=(False,) * 9)]
    )
    assert found.success().value == 1.0
    assert (found.failures, found.episodes, found.turns, found.invalid) == (1, 1, 1, 0)


def test_episodes_that_need_a_judge_are_unscored_and_not_failed():
    unscored = episode("t_1", False, status="failed")
    unscored.error = UNSCORED
    found = tally([episode("t_1", True), unscored])
    assert (found.failures, found.unscored, found.episodes, found.num_played) == (0, 1, 1, 2)


def test_the_turn_limit_is_read_off_the_episodes_that_it_ended():
    longer, cut = episode("t_1", True, valid=(True,) * 9), episode("t_2", False, valid=(True,) * 5)
    cut.truncated_by = "max_turns"
    assert [tally([longer]).longest_cut, tally([longer, cut]).longest_cut] == [0, 5]


def test_success_and_score_are_never_mixed():
    found = tally([episode("t_1", False, score=0.8), episode("t_2", True, score=1.0)])
    assert found.success().value == 0.5
    assert found.score().value == pytest.approx(0.9)


def test_one_episode_a_task_gets_wilsons_interval_and_more_one_over_tasks():
    once = [episode(f"t_{n}", n < 3) for n in range(10)]
    assert tally(once).success() == wilson(3, 10)
    # Both samples of a task agree: ten tasks, not twenty trials.
    twice = tally(once + once).success()
    assert twice == wilson(3, 10)


def test_samples_of_which_one_of_two_succeeds_are_worth_all_episodes():
    halves = [episode(f"t_{n}", success) for n in range(5) for success in (True, False)]
    assert tally(halves).success() == tally(halves).pass_at(1) == wilson(5, 10)
    assert tally(halves).pass_at(2) == wilson(5, 5)
    assert tally(halves).pass_all(2) == wilson(0, 5)


def test_no_interval_claims_certainty_from_a_few_tasks():
    found = tally([episode(f"t_{n}", False) for n in range(5)] * 2).success()
    assert found.value == 0.0
    assert found.high == wilson(0, 5).high


def test_pass_at_k_needs_k_episodes_of_every_task():
    found = tally([episode("t_1", True), episode("t_1", False), episode("t_2", False)])
    assert found.pass_at(2) is None and found.pass_all(2) is None
    assert found.pass_at(1).value == pytest.approx(0.25)


def test_the_p_value_of_several_panels_is_that_of_their_mean():
    one = paired(of_tasks(a=1.0, b=1.0, c=0.5), of_tasks(a=0.0, b=0.5, c=0.5))
    other = paired(of_tasks(d=1.0), of_tasks(d=0.0))
    # 3 tasks weigh as much as 1: gains of 1/3, 1/6 and 0, and of 1.
    assert p_of([one]) == 2 / 4 and p_of([other]) == 1.0
    assert p_of([one, other]) == 2 / 8


def of_tasks(**rates):
    return {("agentgym/TextCraft-v0", "", task): rate for task, rate in rates.items()}


def test_policies_are_compared_on_the_tasks_that_both_played():
    found = paired(of_tasks(a=1.0, b=0.5, c=1.0), of_tasks(a=0.0, b=0.5, d=1.0))
    assert (found.n_tasks, found.better, found.worse) == (2, 1, 0)
    assert found.gain.value == pytest.approx(0.5)
    assert paired(of_tasks(a=1.0), of_tasks(b=1.0)) is None


def test_one_id_in_two_environments_or_sources_is_two_tasks():
    here = episode("t_1", True, env_id="mine/Game-v0", source="game/1")
    there = episode("t_1", False, env_id="yours/Game-v0", source="game/1")
    later = episode("t_1", False, env_id="mine/Game-v0", source="game/2")
    assert tally([here, there, later]).task_success == {
        ("mine/Game-v0", "game/1", "t_1"): 1.0,
        ("yours/Game-v0", "game/1", "t_1"): 0.0,
        ("mine/Game-v0", "game/2", "t_1"): 0.0,
    }
    first, second = tally([here]).task_success, tally([there, later]).task_success
    assert paired(first, second) is None


@given(st.integers(1, 400), st.sampled_from([(0.0, 0.0), (1.0, 1.0), (0.5, 0.5), (1.0, 0.0)]))
def test_a_swap_of_the_policies_negates_the_interval_where_all_tasks_agree(n, rates):
    one, other = ({("env", "", str(task)): rate for task in range(n)} for rate in rates)
    gain, loss = paired(one, other).gain, paired(other, one).gain
    assert (loss.value, loss.low, loss.high) == (-gain.value, -gain.high, -gain.low)
    assert -1.0 <= gain.low < gain.high <= 1.0


def test_two_policies_that_always_fail_may_differ_either_way():
    never = of_tasks(**{f"t_{n}": 0.0 for n in range(20)})
    always = of_tasks(**{f"t_{n}": 1.0 for n in range(20)})
    width = wilson(0, 20).high
    assert paired(never, never).gain.low == -width
    assert paired(never, never).gain.high == width
    assert paired(always, never).gain.low == 1 - width
    assert paired(never, always).gain.high == width - 1
