import pytest

from agentgym_envs.errors import NoExpert
from benchmarks.sweep.command import SweepArguments
from tests.helpers import COUNTING_ID, CountingEnv, FragileEnv, register_helpers
from trainers.options.policies import PolicyArguments
from trainers.policies.scripted import ExpertPolicy, FunctionPolicy, play, scripted_policy
from trainers.rollout.rollout import Rollout
from wrappers import FixedHorizon, TextVectorEnv

register_helpers()
TASK_IDS = [f"counting_{number}" for number in (30, 2, 11, 0, 59)]


class SilentExpert(CountingEnv):
    def expert_moves(self):
        yield from ()


class Unlisted(CountingEnv):
    def available_actions(self):
        return None


@pytest.mark.parametrize("backend", ["sync", "thread", "process"])
@pytest.mark.parametrize("action_format", ["plain", "react"])
def test_the_expert_solves_tasks_on_every_backend(backend, action_format):
    with TextVectorEnv(COUNTING_ID, 2, backend=backend, action_format=action_format) as env:
        trajectories = play(env, TASK_IDS, "expert")
    assert [t.task_id for t in trajectories] == TASK_IDS
    assert all(t.success and t.status == "terminated" for t in trajectories)
    assert all(t.traces == [] and t.policy == "expert" for t in trajectories)
    assert ("Action:" in trajectories[0].turns[0].completion) == (action_format == "react")


def test_the_expert_is_asked_within_the_horizon_only():
    with TextVectorEnv(COUNTING_ID, 2) as env:
        trajectories = Rollout(env, ExpertPolicy(), schedule=FixedHorizon(1)).run(TASK_IDS)
    assert [len(t.turns) for t in trajectories] == [1] * 5
    assert trajectories[0].truncated_by == "horizon"


def test_an_expert_without_a_move_ends_the_episode():
    with TextVectorEnv([SilentExpert] * 2) as env:
        trajectories = play(env, TASK_IDS[:3], "expert")
    assert [t.truncated_by for t in trajectories] == ["no_action"] * 3
    assert [t.turns for t in trajectories] == [[], [], []]


@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
@pytest.mark.parametrize("env_class", [CountingEnv, Unlisted])
def test_random_play_depends_on_seed_and_task_not_on_slots(action_format, env_class):
    def run(num_envs, seed):
        with TextVectorEnv([lambda: env_class(action_format=action_format)] * num_envs) as env:
            trajectories = play(env, TASK_IDS, "random", seed=seed)
        return [[turn.completion for turn in t.turns] for t in trajectories]

    assert run(1, 0) == run(3, 0)
    assert run(1, 0) != run(1, 1)


def test_random_actions_are_actions():
    with TextVectorEnv([CountingEnv]) as env:
        (trajectory,) = play(env, ["counting_59"], "random")
    assert all(turn.is_valid_action for turn in trajectory.turns)


def test_a_function_sees_the_observations_so_far():
    seen = []

    def always_one(observations):
        seen.append(observations)
        return "add 1"

    with TextVectorEnv([CountingEnv]) as env:
        (trajectory,) = play(env, ["counting_2"], always_one, global_step=4)
    assert trajectory.success
    assert (trajectory.policy, trajectory.global_step) == ("always_one", 4)
    assert seen[2][1:] == ("The counter is 1.", "The counter is 2.")
    assert [len(observations) for observations in seen] == [1, 2, 3]


def test_a_failed_task_is_played_again_without_its_old_observations():
    lengths = []

    def breaks_once(observations):
        lengths.append(len(observations))
        if len(lengths) == 2:
            return "say break"
        return "add 1"

    with TextVectorEnv([FragileEnv]) as env:
        (trajectory,) = play(env, ["counting_1"], breaks_once)
    assert trajectory.success
    assert lengths == [1, 2, 1, 2]


def test_a_policy_object_and_its_name_can_be_given():
    policy = FunctionPolicy(lambda observations: "double", name="doubler")
    with TextVectorEnv([CountingEnv]) as env:
        assert play(env, ["counting_3"], policy)[0].policy == "doubler"
        assert play(env, ["counting_3"], "expert", policy_name="x")[0].policy == "x"


def test_the_privileged_expert_is_a_policy_of_its_own():
    with TextVectorEnv("agentgym/BabyAI-v0", 1) as env:
        (privileged,) = play(env, ["babyai_31"], "expert:privileged")
        (explores,) = play(env, ["babyai_31"], "expert")
    assert (privileged.policy, explores.policy) == ("expert:privileged", "expert")
    assert len(privileged.turns) < len(explores.turns)


def test_an_environment_without_a_privileged_expert_says_so():
    with TextVectorEnv(COUNTING_ID, 1) as env:
        with pytest.raises(NoExpert, match="has no privileged expert; take expert"):
            play(env, TASK_IDS[:1], "expert:privileged")


@pytest.mark.parametrize("backend", ["sync", "thread", "process"])
def test_a_baseline_of_the_environment_is_a_policy(backend):
    with TextVectorEnv("agentgym/BabyAI-v0", 2, backend=backend) as env:
        trajectories = play(env, ["babyai_31", "babyai_3"], "baseline:word_overlap")
    assert [t.policy for t in trajectories] == ["baseline:word_overlap"] * 2
    assert all(t.turns for t in trajectories)


def test_a_baseline_by_the_name_that_files_of_0_1_hold_is_the_baseline():
    assert scripted_policy("floor:word_overlap").name == "baseline:word_overlap"
    assert PolicyArguments(policy="floor:word_overlap").policy == "baseline:word_overlap"
    sweep = SweepArguments(suite="maze-hard", policy=["floor:best_first"])
    assert sweep.policy == ["baseline:best_first"]


def test_a_baseline_that_is_not_there_is_named():
    with TextVectorEnv("agentgym/BabyAI-v0", 1) as env:
        with pytest.raises(NoExpert, match="no baseline 'luck'; it has: word_overlap"):
            play(env, ["babyai_31"], "baseline:luck")


def test_an_unknown_policy_is_named():
    with TextVectorEnv([CountingEnv]) as env, pytest.raises(ValueError, match="'clever'"):
        play(env, TASK_IDS, "clever")
