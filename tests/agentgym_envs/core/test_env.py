from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded

from agentgym_envs import (
    EnvFailure,
    ExpertMove,
    ListedTasks,
    NoExpert,
    Outcome,
    TaskSpec,
    TextEnv,
)
from agentgym_envs.actions import ACTION_FORMATS, ActionVerb
from agentgym_envs.core import INFO_KEYS
from tests.helpers import CountingEnv, FragileEnv


class UnlistedEnv(CountingEnv):
    available_actions = TextEnv.available_actions  # type: ignore[assignment]


@pytest.fixture
def env() -> CountingEnv:
    return CountingEnv()


def begin(env: CountingEnv, number: int) -> tuple[str, dict[str, Any]]:
    return env.reset(options={"task_id": f"counting_{number}"})


def test_reset_gives_the_task_that_is_named_and_every_info_key(env: CountingEnv) -> None:
    observation, info = begin(env, 4)
    assert observation == "Goal: bring the counter to 5. The counter is 0."
    assert set(info) == set(INFO_KEYS)
    assert info["task_id"] == "counting_4"
    assert info["subtask"] == "small"
    assert info["split"] == "train"
    assert info["goal"] == "bring the counter to 5"
    assert (info["success"], info["score"], info["turn"]) == (False, 0.0, 0)
    assert info["is_valid_action"] is True
    assert info["truncated_by"] is None
    assert json.loads(json.dumps(info)) == info


def test_an_int_names_the_task_with_that_number(env: CountingEnv) -> None:
    assert env.reset(options={"task_id": 4}) == begin(env, 4)


def test_reset_takes_ids_of_any_split(env: CountingEnv) -> None:
    assert begin(env, 55)[1]["split"] == "test"


def test_success_pays_once_and_terminates(env: CountingEnv) -> None:
    begin(env, 4)
    observation, reward, terminated, truncated, info = env.step("add 5")
    assert (observation, reward, terminated, truncated) == ("The counter is 5.", 1.0, True, False)
    assert (info["success"], info["score"], info["turn"]) == (True, 1.0, 1)
    with pytest.raises(ResetNeeded, match=r"call reset\(\)"):
        env.step("add 5")


def test_a_lost_game_terminates_without_success(env: CountingEnv) -> None:
    begin(env, 4)
    _, reward, terminated, _, info = env.step("add 9")
    assert (reward, terminated, info["success"]) == (0.0, True, False)


def test_max_turns_truncates_and_says_so() -> None:
    env = CountingEnv(max_turns=2)
    begin(env, 30)
    assert env.step("add 1")[3] is False
    _, _, terminated, truncated, info = env.step("add 1")
    assert (terminated, truncated, info["truncated_by"]) == (False, True, "max_turns")
    with pytest.raises(ResetNeeded):
        env.step("add 1")


def test_success_on_the_last_turn_is_no_truncation() -> None:
    env = CountingEnv(max_turns=1)
    begin(env, 4)
    _, reward, terminated, truncated, info = env.step("add 5")
    assert (reward, terminated, truncated, info["truncated_by"]) == (1.0, True, False, None)


def test_what_holds_no_action_is_answered_and_costs_a_turn() -> None:
    env = CountingEnv(action_format="react")
    begin(env, 30)
    env.step("Action: add 9")
    observation, reward, terminated, truncated, info = env.step("I would add 9")
    assert "no 'Action:'" in observation
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert (info["is_valid_action"], info["turn"]) == (False, 2)


def test_whether_it_is_over_and_how_many_turns_are_left_is_public() -> None:
    env = CountingEnv(max_turns=5)
    assert env.is_over
    env.reset(options={"task_id": 4, "horizon": 3})
    assert (env.is_over, env.num_turns_left) == (False, 3)
    env.step("add 1")
    assert (env.is_over, env.num_turns_left) == (False, 2)
    env.step("add 4")
    assert env.is_over


def test_a_rejected_completion_leaves_the_score_as_it_was() -> None:
    env = CountingEnv(action_format="react")
    begin(env, 9)
    score = env.step("Action: add 5")[4]["score"]
    assert score == 0.5
    assert env.step("no action")[4]["score"] == 0.5


def test_step_before_reset_is_refused(env: CountingEnv) -> None:
    with pytest.raises(ResetNeeded):
        env.step("add 1")
    with pytest.raises(ResetNeeded, match="no task"):
        _ = env.task


def test_the_expert_and_the_possible_actions_need_a_reset_too() -> None:
    env = UnlistedEnv()
    with pytest.raises(ResetNeeded, match="call reset"):
        env.expert()
    with pytest.raises(ResetNeeded, match="call reset"):
        env.available_actions()
    begin(env, 30)
    assert env.available_actions() is None


def test_a_failure_of_the_machinery_ends_the_episode() -> None:
    env = FragileEnv()
    begin(env, 30)
    with pytest.raises(EnvFailure):
        env.step("say break")
    with pytest.raises(ResetNeeded):
        env.step("add 1")
    begin(env, 30)
    assert env.step("add 1")[0] == "The counter is 1."


def test_an_action_must_be_a_string_and_costs_nothing_otherwise(env: CountingEnv) -> None:
    begin(env, 30)
    with pytest.raises(TypeError, match="must be a str, got int"):
        env.step(3)  # type: ignore[arg-type]
    assert env.step("add 1")[4]["turn"] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task_id": "counting_99"}, "60 tasks"),
        ({"task_id": "babyai_1"}, "counting_<number>"),
        ({"task_id": "counting_"}, "counting_<number>"),
        ({"task_id": -1}, "unknown task_id"),
        ({"task_id": True}, "as an int"),
        ({"task_id": 1.0}, "as an int"),
        ({"task": 1}, "allowed: task_id"),
        ({"task_id": 1, 2: 3}, "unknown reset options"),
        ("counting_1", r"options must be a dict.*got 'counting_1'.*\{'task_id': 'counting_1'\}"),
        (["task_id"], r"options must be a dict.*got \['task_id'\]"),
        (0, "options must be a dict.*got 0"),
    ],
)
def test_unknown_options_are_refused_by_name(env: CountingEnv, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        env.reset(options=options)


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"split": "dev"}, "unknown split 'dev'.*train, validation, test"),
        ({"action_format": "xml"}, "unknown action_format 'xml'.*plain, react"),
        ({"compat": "gym"}, "unknown compat 'gym'.*agentgym"),
        ({"max_turns": 0}, "max_turns must be >= 1 or None, got 0"),
        ({"max_turns": "5"}, "max_turns must be >= 1 or None, got '5'.*quotes: max_turns=5"),
        ({"max_turns": 2.5}, "max_turns must be >= 1 or None, got 2.5; give a whole number"),
        ({"max_turns": True}, "max_turns must be >= 1 or None, got True"),
        ({"render_mode": "human"}, "unknown render_mode 'human'"),
        ({"tasks": ["tiny"]}, "'tiny'.*'large', 'small'"),
        ({"tasks": []}, "match nothing"),
        ({"tasks": 3.5}, r"tasks=3.5.*a list of.*tasks=\['large'\]"),
        ({"tasks": [3.5]}, r"tasks=\[3.5\]: 3.5 is neither"),
        ({"tasks": True}, "tasks=True.*a list of"),
        ({"tasks": [["small"]]}, r"\['small'\] is neither"),
        ({"tasks": {"small": 1}}, "tasks=.*a list of"),
    ],
)
def test_unknown_arguments_are_refused_by_name(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        CountingEnv(**kwargs)


def test_unknown_keyword_arguments_raise_type_error() -> None:
    with pytest.raises(TypeError, match="spilt"):
        CountingEnv(spilt="train")


def test_seed_draws_the_task_and_changes_nothing_in_it(env: CountingEnv) -> None:
    drawn = [env.reset(seed=seed)[1]["task_id"] for seed in range(20)]
    assert drawn == [env.reset(seed=seed)[1]["task_id"] for seed in range(20)]
    assert len(set(drawn)) > 5
    named = [env.reset(seed=seed, options={"task_id": 7}) for seed in range(3)]
    assert named[0] == named[1] == named[2]


def test_split_and_tasks_steer_the_draw() -> None:
    env = CountingEnv(split="test", tasks=["small"])
    env.reset(seed=0)
    drawn = {env.reset()[1]["task_id"] for _ in range(50)}
    assert drawn == {"counting_50", "counting_51", "counting_52"}


def test_task_ids_lists_the_env_s_own_split_or_another(env: CountingEnv) -> None:
    assert len(env.task_ids()) == 40
    assert env.task_ids("validation")[0] == "counting_40"
    with pytest.raises(ValueError, match="unknown split 'dev'"):
        env.task_ids("dev")


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
def test_the_expert_solves_in_every_format_from_any_state(action_format: str) -> None:
    env = CountingEnv(action_format=action_format)
    begin(env, 33)
    env.step(env.parser.format("add 7"))
    terminated = False
    for action in env.expert():
        _, reward, terminated, _, info = env.step(action)
    assert terminated
    assert (reward, info["success"]) == (1.0, True)


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
def test_the_system_prompt_holds_the_format_s_rules(action_format: str) -> None:
    env = CountingEnv(action_format=action_format)
    assert env.system_prompt == f"{env.instructions}\n\n{env.parser.instructions}"


def test_a_class_without_its_attributes_is_told_which_are_missing() -> None:
    class Verbless(TextEnv):
        instructions = "Play."
        source = "none/1"

        def begin(self, task: TaskSpec) -> str:
            return ""

        def apply(self, action: str) -> Outcome:
            return Outcome("")

    tasks = ListedTasks("verbless", {"train": {"one": [0]}})
    with pytest.raises(TypeError, match="Verbless must set verbs, default_max_turns"):
        Verbless(tasks)


def test_begin_must_set_the_goal() -> None:
    class Goalless(CountingEnv):
        def begin(self, task: TaskSpec) -> str:
            observation = super().begin(task)
            del self.goal
            return observation

    with pytest.raises(TypeError, match=r"Goalless\.begin must set self\.goal"):
        Goalless().reset(seed=0)


def test_apply_must_return_an_outcome(env: CountingEnv) -> None:
    class Talking(CountingEnv):
        def apply(self, action: str) -> Any:
            return "The counter is 1."

    talking = Talking()
    begin(talking, 3)
    with pytest.raises(TypeError, match=r"Talking\.apply must return an Outcome, got str: 'The"):
        talking.step("add 1")


def test_play_must_return_an_outcome() -> None:
    class Silent(CountingEnv):
        apply = TextEnv.apply

        def play(self, verb: str, *args: Any, **arguments: Any) -> Any:
            return None

    silent = Silent()
    begin(silent, 3)
    with pytest.raises(TypeError, match=r"Silent\.play must return an Outcome, got NoneType"):
        silent.step("add 1")


def test_an_empty_split_is_refused_when_it_is_drawn_from() -> None:
    class Partial(ListedTasks):
        def explain_empty(self, split: str) -> str:
            return "the file dev.jsonl is missing"

    class Sparse(CountingEnv):
        def __init__(self, tasks: ListedTasks) -> None:
            TextEnv.__init__(self, tasks, split="validation")

    table: dict[str, dict[str, range]] = {"train": {"small": range(3)}, "validation": {}}
    env = Sparse(ListedTasks("counting", table))
    with pytest.raises(ValueError, match="split 'validation' holds no task to draw"):
        env.reset()
    env = Sparse(Partial("counting", table))
    with pytest.raises(ValueError, match="no task to draw.*: the file dev.jsonl is missing"):
        env.reset()


def test_ansi_shows_the_last_action_and_its_answer() -> None:
    env = CountingEnv(render_mode="ansi")
    observation, _ = begin(env, 4)
    assert env.render() == observation
    env.step("add 1")
    assert env.render() == "> add 1\nThe counter is 1."
    assert CountingEnv().render() is None


class Returning(CountingEnv):
    """Answers every action with one value."""

    value: Any = None

    def apply(self, action: str) -> Any:
        return self.value


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (("x", 0.0, False, {}), "must return an Outcome, got tuple"),
        (Outcome(None), "observation of an Outcome must be a str, got NoneType: None"),  # type: ignore[arg-type]
        (Outcome("x", "1"), "reward of an Outcome must be a number, got str: '1'"),  # type: ignore[arg-type]
        (Outcome("x", float("nan")), "the reward must be a finite number, got nan"),
        (Outcome("x", 0.0, 1), "terminated of an Outcome must be a bool, got int: 1"),  # type: ignore[arg-type]
        (Outcome("x", info=None), "info of an Outcome must be a mapping, got NoneType"),  # type: ignore[arg-type]
        (Outcome("x", info={"success": "yes"}), r"info\['success'\] of an Outcome must be a bool"),
        (Outcome("x", info={"score": "0"}), r"info\['score'\] of an Outcome must be a number"),
        (Outcome("x", info={"score": 2}), r"the score must be in 0\.\.1, got 2"),
        (Outcome("x", info={"turn": 3}), "info must not hold turn, which TextEnv sets"),
    ],
)
def test_what_apply_must_not_return_is_named_with_its_task(value: Any, told: str) -> None:
    env = Returning()
    env.reset(options={"task_id": 4})
    env.value = value
    with pytest.raises((TypeError, ValueError), match=f"Returning.apply.*{told}") as raised:
        env.step("double")
    assert raised.value.__notes__ == ["raised in counting_4, turn 1: 'double'"]


def test_a_number_of_any_kind_is_a_reward() -> None:
    env = Returning()
    for reward in (1, True, np.float32(0.5)):
        env.reset()
        env.value = Outcome("x", reward)
        assert type(env.step("double")[1]) is float


class Breaking(CountingEnv):
    """Raises wherever its name says."""

    def begin(self, task: TaskSpec) -> str:
        if task.number == 7:
            raise KeyError("room")
        return super().begin(task)

    def expert_moves(self) -> Iterator[ExpertMove]:
        yield ExpertMove("add 1")
        raise KeyError("way")


def test_what_begin_and_the_expert_raise_names_the_task() -> None:
    env = Breaking()
    with pytest.raises(KeyError, match="room") as raised:
        env.reset(options={"task_id": 7})
    assert raised.value.__notes__ == ["raised where counting_7 begins"]
    env.reset(options={"task_id": 8})
    moves = env.expert()
    env.step(next(moves))
    with pytest.raises(KeyError, match="way") as raised:
        next(moves)
    assert raised.value.__notes__ == ["raised by the expert in counting_8, after turn 1"]


def by_fives(env: CountingEnv) -> Iterator[ExpertMove]:
    while True:
        yield ExpertMove("add 5", f"the counter is {env.counter}")


class Floored(CountingEnv):
    baselines = {"by_fives": by_fives, "broken": lambda env: iter([ExpertMove(str(1 // 0))])}


def test_baselines_play_by_name_in_the_action_format() -> None:
    env = Floored(action_format="react")
    env.reset(options={"task_id": 9})
    actions = env.baseline("by_fives")
    assert next(actions) == "Thought: the counter is 0\nAction: add 5"
    env.step("Action: add 5")
    assert env.step(next(actions))[4]["success"]


def test_a_baseline_that_is_not_there_is_named_with_those_that_are() -> None:
    env = Floored()
    with pytest.raises(ResetNeeded):
        env.baseline("by_fives")
    env.reset()
    with pytest.raises(NoExpert, match="Floored has no baseline 'luck'; it has: by_fives, broken"):
        env.baseline("luck")
    env = CountingEnv()
    env.reset()
    with pytest.raises(NoExpert, match="it has: none, but chance is the policy random"):
        env.baseline("luck")


def test_what_a_baseline_raises_names_it_and_the_task() -> None:
    env = Floored()
    env.reset(options={"task_id": 8})
    with pytest.raises(ZeroDivisionError) as raised:
        next(env.baseline("broken"))
    assert raised.value.__notes__ == ["raised by the baseline broken in counting_8, after turn 0"]


def test_verbs_of_one_name_are_refused() -> None:
    class Doubled(CountingEnv):
        verbs = (*CountingEnv.verbs, ActionVerb("add", "add {amount} more", "Add more."))

    with pytest.raises(TypeError, match="Doubled: .* by their names, and add is the name of sever"):
        Doubled()


class KeyedEnv(CountingEnv):
    """A counter that takes a secret."""

    def __init__(self, *, api_key: str = "", folder: Path | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)


def test_an_environment_says_by_which_arguments_it_was_made_without_secrets() -> None:
    env = KeyedEnv(api_key="sk-123", folder=Path("here"), max_turns=4)
    assert env.env_kwargs == {"api_key": "***", "folder": "here", "max_turns": 4}
    made = gym.make("agentgym/BabyAI-v0", list_actions=False, max_episode_steps=3)
    kwargs = {"list_actions": False, "max_episode_steps": 3}
    assert made.get_wrapper_attr("env_kwargs") == kwargs
    with pytest.raises(AttributeError, match="env_kwargs"):
        env.env_kwargs = {}
