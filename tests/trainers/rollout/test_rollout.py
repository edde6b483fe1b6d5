from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_envs import EnvFailure, Trajectory
from tests.helpers import COUNTING_ID, CountingEnv, FragileEnv, register_helpers
from tests.quick import examples
from tests.trainers.families import KEEPS
from tests.trainers.tiny_models import TEMPLATES, forward_logprobs, tiny_model, tiny_tokenizer
from trainers.backends.hf import HFBackend
from trainers.credit.rewards import episode_columns
from trainers.history.notes import Notes
from trainers.history.summary import Summary
from trainers.history.views import LastTurns
from trainers.policies.model import ModelPolicy
from trainers.policies.scripted import play
from trainers.rollout.policy import Failure, Policy, Reply
from trainers.rollout.rollout import Rollout
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Backend, Generated, Sampling
from wrappers import FailureRules, FixedHorizon, HorizonCurriculum, TextVectorEnv

register_helpers()
CHATS = {
    name: ChatFormat.from_tokenizer(tiny_tokenizer(template))
    for name, template in TEMPLATES.items()
}
CHAT = CHATS["chatml"]
FAMILIES = {"qwen2.5": "qwen2", "llama3": "llama"}


class Scripted(Backend):
    """A backend that writes given texts, one per turn, and notes what it was asked."""

    def __init__(self, *texts, stop=True, chat=CHAT):
        self.texts, self.stop, self.chat = texts, stop, chat
        self.turns = Counter()
        self.asked = []
        self.finished = []

    def generate(self, prompts, sampling, *, keys, budgets=None):
        self.asked.append((list(keys), sampling, budgets))
        answers = []
        limits = budgets or [sampling.max_new_tokens] * len(keys)
        for key, limit in zip(keys, limits, strict=True):
            text = self.texts[min(self.turns[key], len(self.texts) - 1)]
            self.turns[key] += 1
            ids = self.chat.action_ids(text)
            ids = (ids if self.stop else ids[:-1])[:limit]
            answers.append(Generated(ids, [-0.5] * len(ids), ids[-1] in sampling.stop_ids))
        return answers

    def finish(self, keys):
        self.finished += keys


def rollout_of(
    env, backend, chat=CHAT, *, schedule=None, failure_rules=None, overlap=False, **policy
):
    rules = {"schedule": schedule, "failure_rules": failure_rules, "overlap": overlap}
    return Rollout(env, ModelPolicy(backend, chat, **policy), **rules)


def vector(num_envs=3, env=COUNTING_ID, **kwargs):
    return TextVectorEnv(env, num_envs, **kwargs)


def check_trace(trace, model, chat, temperature=1.0):
    """Everything that must hold of one trace; returns the error of its logprobs."""
    num = len(trace.completion_ids)
    assert num == len(trace.action_mask) == len(trace.logprobs) > 0
    assert trace.action_mask[-1] == 1
    assert all(m or lp == 0.0 for m, lp in zip(trace.action_mask, trace.logprobs, strict=True))
    expected = forward_logprobs(model, trace.ids, temperature)[-num:]
    sampled = torch.tensor(trace.action_mask, dtype=torch.bool)
    return float((expected - torch.tensor(trace.logprobs))[sampled].abs().max())


@pytest.mark.parametrize("style", sorted(TEMPLATES))
@settings(max_examples=examples(4))
@given(
    numbers=st.lists(st.integers(0, 59), min_size=1, max_size=7),
    num_envs=st.integers(1, 4),
    max_new_tokens=st.integers(1, 12),
    temperature=st.sampled_from([0.0, 0.7, 1.0, 1.5]),
    history=st.sampled_from([LastTurns(), LastTurns(1), LastTurns(2), Summary(), Notes(2)]),
    cache=st.booleans(),
)
def test_recorded_ids_are_what_one_forward_pass_reproduces(
    style, numbers, num_envs, max_new_tokens, temperature, history, cache
):
    model, chat = tiny_model(FAMILIES.get(style, "qwen3")), CHATS[style]
    task_ids = [f"counting_{number}" for number in numbers]
    with vector(num_envs, max_turns=4) as env:
        engine = rollout_of(
            env,
            HFBackend(model, cache=cache),
            chat,
            sampling=Sampling(max_new_tokens, temperature),
            history=history,
        )
        trajectories = engine.run(task_ids)
    assert [t.task_id for t in trajectories] == task_ids
    for trajectory in trajectories:
        assert trajectory.status in ("terminated", "truncated")
        traces = trajectory.traces
        sampled = [
            i for t in traces for i, m in zip(t.completion_ids, t.action_mask, strict=True) if m
        ]
        assert len(sampled) == sum(turn.num_tokens for turn in trajectory.turns)
        assert all(turn.num_tokens <= max_new_tokens for turn in trajectory.turns)
        for trace in traces:
            assert check_trace(trace, model, chat, temperature or 1.0) < 1e-4


def test_a_trace_is_prompt_actions_and_observations_in_their_order():
    backend = Scripted("add 9", "double", "add 1")
    with vector(1) as env:
        (trajectory,) = rollout_of(env, backend, CHAT, sampling=Sampling(20)).run(["counting_18"])
    trace = trajectory.trace
    assert trace.prompt_ids == CHAT.prompt_ids(
        env_prompt(), "Goal: bring the counter to 19. The counter is 0."
    )
    pieces = [
        (CHAT.action_ids("add 9"), 1),
        (CHAT.observation_ids("The counter is 9.", closed=True), 0),
        (CHAT.action_ids("double"), 1),
        (CHAT.observation_ids("The counter is 18.", closed=True), 0),
        (CHAT.action_ids("add 1"), 1),
    ]
    assert trace.completion_ids == [i for ids, _ in pieces for i in ids]
    assert trace.action_mask == [m for ids, m in pieces for _ in ids]
    assert trace.logprobs == [-0.5 * m for m in trace.action_mask]
    assert trajectory.status == "terminated"
    assert trajectory.success
    assert trajectory.score == trajectory.episode_return == 1.0
    assert trajectory.final_observation == "The counter is 19."
    assert [turn.completion for turn in trajectory.turns] == ["add 9", "double", "add 1"]
    assert trajectory.turns[1].observation == "The counter is 9."


def env_prompt():
    env = CountingEnv()
    return env.system_prompt


def test_the_record_says_what_was_played():
    seen = []
    with vector(2) as env:
        engine = rollout_of(
            env,
            Scripted("say hello"),
            CHAT,
            sampling=Sampling(20),
            name="tiny",
            schedule=FixedHorizon(2),
        )
        task_ids = ["counting_3", "counting_50", "counting_4"]
        trajectories = engine.run(task_ids, global_step=7, on_trajectory=seen.append)
    assert {id(t) for t in seen} == {id(t) for t in trajectories}
    trajectory = trajectories[1]
    assert trajectory.env_id == COUNTING_ID
    assert (trajectory.subtask, trajectory.split) == ("small", "test")
    assert trajectory.source == "counting/1"
    assert trajectory.goal == "bring the counter to 51"
    assert trajectory.system_prompt == env_prompt()
    assert (trajectory.policy, trajectory.global_step) == ("tiny", 7)
    assert (trajectory.status, trajectory.truncated_by) == ("truncated", "horizon")
    assert not trajectory.success


def test_the_horizon_follows_the_global_step():
    with vector(2) as env:
        engine = rollout_of(
            env,
            Scripted("say hi"),
            CHAT,
            sampling=Sampling(20),
            schedule=lambda global_step: 2 + global_step,
        )
        for global_step in (0, 3):
            trajectories = engine.run(["counting_30"] * 3, global_step=global_step)
            assert [len(t.turns) for t in trajectories] == [2 + global_step] * 3


def test_results_keep_the_order_of_the_tasks_and_slots_are_used_again():
    task_ids = [f"counting_{n}" for n in (8, 0, 5, 0, 7, 3, 1, 2, 6)]
    backend = Scripted("add 1")
    with vector(2) as env:
        trajectories = rollout_of(env, backend, CHAT, sampling=Sampling(20)).run(task_ids)
    assert [t.task_id for t in trajectories] == task_ids
    assert [len(t.turns) for t in trajectories] == [9, 1, 6, 1, 8, 4, 2, 3, 7]
    widths = [len(keys) for keys, _, _ in backend.asked]
    assert max(widths) == 2
    assert sum(widths) == sum(len(t.turns) for t in trajectories)
    assert len(widths) < 1.2 * sum(widths) / 2
    assert sorted(backend.finished) == sorted(backend.turns)


def test_no_tasks_give_no_trajectories():
    with vector(2) as env:
        assert rollout_of(env, Scripted("x"), CHAT, sampling=Sampling(2)).run([]) == []


def test_a_turn_without_a_stop_id_is_played_and_closed_by_given_ids():
    backend = Scripted("add 9", "double", stop=False)
    with vector(1) as env:
        (trajectory,) = rollout_of(env, backend, CHAT, sampling=Sampling(20)).run(["counting_17"])
    assert trajectory.success
    trace = trajectory.trace
    first = CHAT.action_ids("add 9")[:-1]
    given = CHAT.observation_ids("The counter is 9.", closed=False)
    assert given[0] == CHAT.stop_ids[0]
    assert trace.completion_ids[: len(first) + len(given)] == first + given
    assert trace.action_mask[: len(first) + len(given)] == [1] * len(first) + [0] * len(given)
    assert trace.action_mask[-1] == 1
    assert trace.completion_ids[-1] not in CHAT.stop_ids


def test_the_turn_budget_cuts_a_turn():
    with vector(1, max_turns=2) as env:
        engine = rollout_of(env, Scripted("say hello there"), CHAT, sampling=Sampling(3))
        (trajectory,) = engine.run(["counting_5"])
    assert [turn.num_tokens for turn in trajectory.turns] == [3, 3]
    assert [turn.is_cut for turn in trajectory.turns] == [True, True]
    assert trajectory.truncated_by == "max_turns"
    assert episode_columns([trajectory])["num_cut"] == [2]
    assert Trajectory.from_json(trajectory.to_json()).turns == trajectory.turns


def test_a_turn_that_ended_by_itself_is_not_cut():
    with vector(1) as env:
        (trajectory,) = rollout_of(env, Scripted("add 5"), CHAT, sampling=Sampling(20)).run(
            ["counting_4"]
        )
    assert [turn.is_cut for turn in trajectory.turns] == [False]


def test_no_action_is_played_of_a_thought_that_the_prompt_has_opened_and_nothing_ended():
    chat = ChatFormat.from_tokenizer(KEEPS.tokenizer())
    assert chat.form.opened
    backend = Scripted("<think>\nadd 5\n</think>\n\nadd 6", chat=chat)
    with vector(1, max_turns=1) as env:
        (trajectory,) = rollout_of(env, backend, chat, sampling=Sampling(3)).run(["counting_4"])
    (turn,) = trajectory.turns
    assert turn.is_cut and turn.action == "<think>" and not turn.is_valid_action
    assert trajectory.final_observation.startswith("Your thought did not end")


@pytest.mark.parametrize("spare", range(0, 60, 3))
def test_an_episode_that_would_overflow_is_truncated_by_the_token_budget(spare):
    prompt = CHAT.prompt_ids(env_prompt(), "Goal: bring the counter to 6. The counter is 0.")
    most = len(prompt) + spare
    with vector(1) as env:
        engine = rollout_of(
            env, Scripted("say abc"), CHAT, sampling=Sampling(20), max_episode_tokens=most
        )
        (trajectory,) = engine.run(["counting_5"])
    assert (trajectory.status, trajectory.truncated_by) == ("truncated", "token_budget")
    if not spare:
        assert trajectory.turns == trajectory.traces == []
        return
    trace = trajectory.trace
    assert len(trace) <= most
    assert trace.action_mask[-1] == 1
    assert sum(trace.action_mask) == sum(turn.num_tokens for turn in trajectory.turns)


def test_the_last_k_turns_stay_in_view_exactly():
    backend = Scripted("say a", "say bb", "say ccc", "say dddd", "say e")
    with vector(1, max_turns=5, turns_left=False) as env:
        engine = rollout_of(env, backend, CHAT, sampling=Sampling(20), history=LastTurns(2))
        (trajectory,) = engine.run(["counting_9"])
    first, second, third = trajectory.traces
    said = "The counter is 0."
    prompt = CHAT.prompt_ids(env_prompt(), f"Goal: bring the counter to 10. {said}")
    observed = CHAT.observation_ids(said, closed=True)
    assert first.prompt_ids == prompt
    assert sum(first.action_mask) == sum(
        len(CHAT.action_ids(t)) for t in ("say a", "say bb", "say ccc")
    )
    expected = prompt + CHAT.observation_ids(said, closed=False) + CHAT.action_ids("say bb")
    expected += observed + CHAT.action_ids("say ccc") + observed
    assert second.prompt_ids == expected
    assert second.completion_ids == CHAT.action_ids("say dddd")
    assert second.action_mask == [1] * len(second.completion_ids)
    assert third.prompt_ids[len(prompt) + len(observed) + 1 :][
        : len(CHAT.action_ids("say ccc"))
    ] == (CHAT.action_ids("say ccc"))
    assert third.completion_ids == CHAT.action_ids("say e")


def test_a_run_may_have_a_temperature_of_its_own():
    backend = Scripted("add 1")
    with vector(1) as env:
        engine = rollout_of(env, backend, CHAT, sampling=Sampling(20, 1.0))
        engine.run(["counting_0"], temperature=0.0)
        engine.run(["counting_0"])
    assert [s.temperature for _, s, _ in backend.asked] == [0.0, 1.0]
    assert all(s.stop_ids == CHAT.stop_ids for _, s, _ in backend.asked)


def test_scenarios_can_be_mixed():
    with vector(2) as counting, vector(1, max_turns=2) as other:
        envs = {"counting": counting, "elsewhere": other}
        engine = rollout_of(envs, Scripted("add 1"), CHAT, sampling=Sampling(20))
        assert len(engine.run(["counting_1", "counting_2", "counting_0"])) == 3
        with pytest.raises(ValueError, match=r"'maze_1' belongs to none"):
            engine.run(["counting_1", "maze_1"])


def test_an_unknown_task_is_the_callers_mistake_and_frees_the_rows():
    backend = Scripted("add 1")
    with vector(1) as env:
        engine = rollout_of(env, backend, CHAT, sampling=Sampling(20))
        with pytest.raises(ValueError, match="unknown task_id"):
            engine.run(["counting_3", "counting_777"])
        assert engine.run(["counting_0"])[0].success
    assert sorted(backend.finished) == sorted([*backend.turns, 1])


class BreaksAtFirst(FragileEnv):
    """Breaks at the first `num_breaks` actions of each task, over all its copies."""

    num_breaks = 2
    broke: Counter[str] = Counter()

    def apply(self, action):
        if self.task.number >= 5 and self.broke[self.task.task_id] < self.num_breaks:
            self.broke[self.task.task_id] += 1
            raise EnvFailure("the simulator broke")
        return super().apply(action)


def test_a_task_whose_environment_broke_is_played_again_from_the_start():
    BreaksAtFirst.broke.clear()
    with TextVectorEnv([BreaksAtFirst] * 2) as env:
        engine = rollout_of(env, Scripted("add 4", "add 5"), CHAT, sampling=Sampling(20))
        trajectories = engine.run(["counting_8", "counting_3", "counting_8"])
    assert all(t.status == "terminated" for t in trajectories)
    assert BreaksAtFirst.broke["counting_8"] == 2
    for trajectory in trajectories:
        assert sum(trajectory.trace.action_mask) == sum(t.num_tokens for t in trajectory.turns)
        assert trajectory.error is None


def test_a_task_that_keeps_failing_is_marked_and_the_batch_goes_on():
    BreaksAtFirst.broke.clear()
    with TextVectorEnv([BreaksAtFirst] * 2) as env:
        engine = rollout_of(
            env,
            Scripted("add 4", "add 5"),
            CHAT,
            sampling=Sampling(20),
            failure_rules=FailureRules(retries=1, max_failed_share=0.5),
        )
        trajectories = engine.run(["counting_3", "counting_8", "counting_0"])
    assert [t.status for t in trajectories] == ["terminated", "failed", "terminated"]
    assert "the simulator broke" in trajectories[1].error


@pytest.mark.parametrize("backend", ["sync", "thread", "process"])
def test_an_error_of_an_environments_code_fails_its_episode_and_is_logged(backend, caplog):
    class BreaksInOneTask(CountingEnv):
        def apply(self, action):
            if self.task.number == 8:
                raise KeyError("a bug")
            return super().apply(action)

    rules = FailureRules(retries=1, max_outage=600)
    with TextVectorEnv([BreaksInOneTask] * 2, backend=backend) as env:
        engine = rollout_of(
            env, Scripted("add 4"), CHAT, sampling=Sampling(20), failure_rules=rules
        )
        trajectories = engine.run(["counting_3", "counting_8", "counting_3"])
    assert [t.status for t in trajectories] == ["terminated", "failed", "terminated"]
    assert trajectories[1].error.startswith("the environment raised KeyError: 'a bug'")
    logged = [r.message for r in caplog.records if "failed: the environment" in r.message]
    assert len(logged) == 2
    assert all(message.startswith("counting_8 failed:") for message in logged)
    assert [", in apply\n" in message for message in logged] == [True, False]


def test_an_error_that_every_episode_meets_stops_the_run_at_once():
    rules = FailureRules(max_outage=600)
    with TextVectorEnv([FragileEnv] * 2) as env:
        engine = rollout_of(
            env, Scripted("say bug"), CHAT, sampling=Sampling(20), failure_rules=rules
        )
        with pytest.raises(EnvFailure, match="5 of 5 episodes failed .* KeyError: 'a bug'"):
            engine.run([f"counting_{n}" for n in range(5)])


def test_too_many_failures_stop_the_run_and_name_the_cause():
    with TextVectorEnv([FragileEnv] * 2) as env:
        engine = rollout_of(env, Scripted("say break"), CHAT, sampling=Sampling(20))
        with pytest.raises(EnvFailure, match="the simulator broke"):
            engine.run([f"counting_{n}" for n in range(5)])


def test_a_budget_below_one_is_refused():
    with pytest.raises(ValueError, match="max_episode_tokens must be >= 1"):
        rollout_of({}, Scripted("x"), CHAT, sampling=Sampling(2), max_episode_tokens=0)


def test_a_closed_thought_is_recorded_but_not_played():
    chat = CHATS["qwen3"]
    backend = Scripted("<think>\nfive\n</think>\n\nadd 5", chat=chat)
    with vector(1) as env:
        (trajectory,) = rollout_of(env, backend, chat, sampling=Sampling(40)).run(["counting_4"])
    assert trajectory.success
    assert trajectory.turns[0].completion.startswith("<think>")
    assert trajectory.turns[0].action == "add 5"


@pytest.mark.parametrize(
    "completion, action",
    [
        ("<think>a</think>b</think>add 5", "add 5"),
        ("I see. <think>plan</think>\n\nadd 5", "add 5"),
        ("the template opened it</think>add 5", "add 5"),
        ("<think>add 5", "<think>"),
        ("add 5", "add 5"),
    ],
)
def test_every_policy_is_read_by_one_rule(completion, action):
    """A local model and a function, which stands for a model behind an API."""
    with vector(1, max_turns=1) as env:
        (sampled,) = rollout_of(env, Scripted(completion), CHAT, sampling=Sampling(60)).run(
            ["counting_4"]
        )
        (written,) = play(env, ["counting_4"], lambda observations: completion)
    assert sampled.turns[0].action == written.turns[0].action == action
    assert (sampled.score, sampled.turns[0].reward) == (written.score, written.turns[0].reward)
    assert sampled.turns[0].completion == completion


def test_a_curriculum_is_given_as_a_schedule():
    with vector(1) as env:
        curriculum = HorizonCurriculum(env, FixedHorizon(2))
        with pytest.raises(TypeError, match="TextVectorEnv"):
            rollout_of(curriculum, Scripted("x"), CHAT)


class Unreliable(Policy):
    """Loses its first answers to each task; then plays."""

    name = "unreliable"

    def __init__(self, losses):
        self.losses = losses
        self.lost = Counter()

    def act(self, episodes):
        return [self.answer(episode) for episode in episodes]

    def answer(self, episode):
        task_id = episode.trajectory.task_id
        if self.lost[task_id] < self.losses:
            self.lost[task_id] += 1
            return Failure("the server is gone")
        return Reply("add 9")


def test_a_failure_of_the_policy_is_retried_like_one_of_the_environment():
    seen = []
    with vector(2) as env:
        rollout = Rollout(env, Unreliable(losses=2))
        trajectories = rollout.run(["counting_8", "counting_8"], on_trajectory=seen.append)
    assert [t.status for t in trajectories] == ["terminated", "terminated"]
    assert len(seen) == 2
    with vector(2) as env, pytest.raises(EnvFailure, match="the server is gone"):
        Rollout(env, Unreliable(losses=3)).run(["counting_8"])


def test_runs_with_equal_seeds_are_equal():
    def run():
        generator = torch.Generator().manual_seed(5)
        backend = HFBackend(tiny_model(), generator=generator)
        with vector(2, max_turns=3) as env:
            engine = rollout_of(env, backend, CHAT, sampling=Sampling(8))
            return [t.to_json() for t in engine.run([f"counting_{n}" for n in range(5)])]

    assert run() == run()
