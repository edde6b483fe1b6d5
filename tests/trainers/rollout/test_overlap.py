"""Episodes at their own pace; gates stand for environments that take long."""

from collections import Counter
from math import ceil

import pytest

from agentgym_envs import EnvFailure
from tests.helpers import COUNTING_ID, FragileEnv, register_helpers
from tests.trainers.rollout.adding import Adds
from tests.trainers.tiny_models import TEMPLATES, tiny_model, tiny_tokenizer
from tests.wrappers.vector.gates import (
    GATES,
    GatedEnv,
    GatedTasks,
    HangsOrDies,
    NappingEnv,
    open_all,
)
from trainers.backends.hf import HFBackend
from trainers.options.arguments import EnvArguments
from trainers.policies.model import ModelPolicy
from trainers.policies.scripted import ExpertPolicy, RandomPolicy
from trainers.rollout.policy import Reply
from trainers.rollout.rollout import Rollout
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Sampling
from wrappers import FailureRules, TextVectorEnv

register_helpers()
CHAT = ChatFormat.from_tokenizer(tiny_tokenizer(TEMPLATES["chatml"]))


@pytest.fixture(autouse=True)
def closed_gates():
    yield
    open_all()


def play(env, task_ids, policy=None, *, overlap=True, **kwargs):
    seen = {"on_trajectory": kwargs.pop("on_trajectory", None)}
    return Rollout(env, policy or Adds(), overlap=overlap, **kwargs).run(task_ids, **seen)


def opener(task_id, gate):
    """Return an `on_trajectory` that opens a gate once a task's episode has ended."""

    def on_trajectory(trajectory):
        if trajectory.task_id == task_id:
            GATES[gate].set()

    return on_trajectory


def test_the_policy_answers_while_an_environment_is_still_at_work():
    with TextVectorEnv([GatedTasks] * 2, backend="thread") as env:
        trajectories = play(
            env, ["counting_30", "counting_20"], on_trajectory=opener("counting_20", "30")
        )
    assert [t.task_id for t in trajectories] == ["counting_30", "counting_20"]


def test_one_of_four_goes_on_while_three_are_at_work():
    def on_trajectory(trajectory):
        if trajectory.task_id == "counting_20":
            for gate in ("30", "31", "32"):
                GATES[gate].set()

    task_ids = ["counting_30", "counting_31", "counting_20", "counting_32"]
    with TextVectorEnv([GatedTasks] * 4, backend="thread") as env:
        trajectories = play(env, task_ids, on_trajectory=on_trajectory)
    assert [t.task_id for t in trajectories] == task_ids


def test_an_episode_that_begins_slowly_holds_up_no_other():
    with TextVectorEnv([GatedEnv] * 2, backend="thread") as env:
        trajectories = play(
            env,
            ["counting_39", "counting_3", "counting_20"],
            on_trajectory=opener("counting_20", "begin"),
        )
    assert [t.task_id for t in trajectories] == ["counting_39", "counting_3", "counting_20"]


def test_a_free_slot_takes_the_next_task_while_others_are_at_work():
    task_ids = ["counting_30", *(f"counting_{n}" for n in range(6)), "counting_20"]
    with TextVectorEnv([GatedTasks] * 2, backend="thread") as env:
        trajectories = play(env, task_ids, on_trajectory=opener("counting_20", "30"))
    assert [t.task_id for t in trajectories] == task_ids


@pytest.mark.parametrize(
    ("backend", "num_envs"), [("sync", 4), ("thread", 2), ("thread", 7), ("process", 2)]
)
def test_episodes_are_those_of_taking_turns_together(backend, num_envs):
    task_ids = [f"counting_{n}" for n in (8, 0, 25, 0, 47, 3, 11, 35, 6)]
    with TextVectorEnv([NappingEnv] * num_envs) as env:
        together, policy = play(env, task_ids, overlap=False), Adds()
    with TextVectorEnv([NappingEnv] * num_envs, backend=backend) as env:
        apart = play(env, task_ids, policy)
        assert env.unanswered() == []
    assert [t.to_json() for t in apart] == [t.to_json() for t in together]
    assert sorted(policy.left) == list(range(1, 10))


@pytest.mark.parametrize("policy", [ExpertPolicy, RandomPolicy])
def test_policies_without_tokens_play_the_same_episodes_under_a_horizon(policy):
    task_ids = [f"counting_{n}" for n in (8, 30, 25, 0, 47, 3, 11, 35)]
    played = []
    for overlap, backend in ((False, "sync"), (True, "thread")):
        with TextVectorEnv([NappingEnv] * 3, backend=backend) as env:
            options = {"overlap": overlap, "schedule": lambda global_step: 3}
            trajectories = play(env, task_ids, policy(), **options)
            played.append([t.to_json() for t in trajectories])
    assert played[0] == played[1]
    assert {t["truncated_by"] for t in played[0]} >= {"horizon"}


def test_taking_turns_in_the_callers_thread_asks_all_at_once_as_without_overlap():
    asked = []
    for overlap in (False, True):
        policy = Adds()
        with TextVectorEnv(COUNTING_ID, 3) as env:
            play(env, [f"counting_{n}" for n in (8, 30, 25, 0, 47)], policy, overlap=overlap)
        asked.append(policy.asked)
    assert asked[0] == asked[1]


def test_the_policy_is_never_asked_for_less_than_a_quarter():
    task_ids = [f"counting_{n}" for n in range(20, 39)]
    policy, ended, shares = Adds(), [], []
    answer = policy.act

    def act(episodes):
        under_way = min(9, len(task_ids) - len(ended))
        shares.append((len(episodes), ceil(under_way / 4)))
        return answer(episodes)

    policy.act = act
    with TextVectorEnv([NappingEnv] * 9, backend="thread") as env:
        play(env, task_ids, policy, on_trajectory=ended.append)
    assert len(ended) == len(task_ids)
    assert all(asked >= least for asked, least in shares)


def test_mixed_scenarios_wait_for_whichever_answers(monkeypatch):
    with (
        TextVectorEnv([GatedTasks] * 2, backend="thread") as gated,
        TextVectorEnv([NappingEnv], backend="process") as other,
    ):
        monkeypatch.setattr(
            "trainers.rollout.rollout.task_env",
            lambda task_id, envs: other if task_id == "counting_21" else gated,
        )
        trajectories = play(
            {"gated": gated, "other": other},
            ["counting_30", "counting_21", "counting_4"],
            on_trajectory=opener("counting_21", "30"),
        )
    assert [t.task_id for t in trajectories] == ["counting_30", "counting_21", "counting_4"]
    assert all(t.status != "failed" for t in trajectories)


# What breaks ----------------------------------------------------------------------------------


class BreaksAtFirst(NappingEnv):
    """Breaks at the first two actions of each task from 5 on, over all its copies."""

    broke = Counter()

    def apply(self, action):
        if self.task.number >= 5 and self.broke[self.task.task_id] < 2:
            self.broke[self.task.task_id] += 1
            raise EnvFailure("the simulator broke")
        return super().apply(action)


def test_a_task_whose_environment_broke_is_played_again():
    BreaksAtFirst.broke.clear()
    policy = Adds()
    with TextVectorEnv([BreaksAtFirst] * 3, backend="thread") as env:
        trajectories = play(env, [f"counting_{n}" for n in (8, 3, 7, 1, 20)], policy)
    assert all(t.status != "failed" for t in trajectories)
    assert sum(BreaksAtFirst.broke.values()) == 6
    # Names follow from the task's place and its charges, whoever came first: the first time an
    # episode is played again as it was.
    assert sorted(policy.left) == [1, 1, 2, 3, 3, 4, 5, 5, 6, 8, 10]


@pytest.mark.full
def test_hung_and_dead_environments_fail_and_the_others_have_played_on():
    with TextVectorEnv([HangsOrDies] * 3, backend="process", step_timeout=3.0) as env:
        trajectories = play(
            env,
            ["counting_30", "counting_31", "counting_20"],
            failure_rules=FailureRules(retries=0, min_failed=3),
        )
    assert [t.status for t in trajectories[:2]] == ["failed"] * 2
    assert "gave no answer within 3 s" in trajectories[0].error
    assert "exit status 7" in trajectories[1].error
    assert trajectories[2].status != "failed"


def test_too_many_failures_stop_the_run():
    class SaysBreak(Adds):
        def answer(self, episode):
            return Reply("say break", "say break")

    with TextVectorEnv([FragileEnv] * 2, backend="thread") as env:
        with pytest.raises(EnvFailure, match="the simulator broke"):
            play(env, [f"counting_{n}" for n in range(5)], SaysBreak())
        assert env.unanswered() == []


def test_an_error_leaves_no_call_behind_and_the_environments_can_be_used_again():
    policy = Adds()
    with TextVectorEnv([GatedTasks] * 3, backend="thread") as env:
        with pytest.raises(ValueError, match="unknown task_id"):
            play(env, ["counting_30", "counting_4", "counting_3", "counting_777"], policy)
        assert env.unanswered() == []
        assert policy.known <= set(policy.left) <= {1, 2, 3}
        GATES["30"].set()
        trajectories = play(env, ["counting_30", "counting_3"])
    assert all(t.status != "failed" for t in trajectories)


# Sampled tokens -------------------------------------------------------------------------------


def sample(overlap, backend, seed=4, *, num_envs=4, finished=None):
    with TextVectorEnv([NappingEnv] * num_envs, backend=backend) as env:
        policy = ModelPolicy(HFBackend(tiny_model()), CHAT, sampling=Sampling(8, 1.2), seed=seed)
        rollout = Rollout(env, policy, schedule=lambda global_step: 4, overlap=overlap)
        return rollout.run([f"counting_{n}" for n in range(11)], finished=finished)


@pytest.mark.full
def test_with_a_stream_for_each_row_the_samples_do_not_depend_on_who_was_ready():
    together, apart, again = sample(False, "sync"), sample(True, "thread"), sample(True, "thread")
    for one, other, third in zip(together, apart, again, strict=True):
        assert one.trace.ids == other.trace.ids == third.trace.ids
        assert one.trace.action_mask == other.trace.action_mask
        assert other.trace.logprobs == pytest.approx(one.trace.logprobs, abs=1e-4)
    assert [t.trace.ids for t in sample(True, "thread", seed=5)] != [t.trace.ids for t in apart]


@pytest.mark.full
@pytest.mark.parametrize("kept", [(0, 1, 5), (2, 3, 4, 6, 7, 8, 9, 10)])
def test_what_is_played_again_is_played_as_it_would_have_been(kept) -> None:
    """Or the failures, which end late and so are those played again, would have a second chance."""
    whole = sample(False, "sync")
    again = sample(False, "sync", num_envs=3, finished={place: whole[place] for place in kept})
    assert [t.trace.ids for t in again] == [t.trace.ids for t in whole]


def test_overlap_without_threads_or_processes_is_refused() -> None:
    with pytest.raises(ValueError, match="overlap needs"):
        EnvArguments(env=["TextCraft"], overlap=True)
