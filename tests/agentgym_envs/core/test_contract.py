"""The author's contract: class attributes, `play`, outcomes, and names that are TextEnv's own."""

from __future__ import annotations

import copy
import json
import pickle
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentgym_envs import (
    ConformanceError,
    ExpertMove,
    ListedTasks,
    Outcome,
    TaskSpec,
    TextEnv,
    check_text_env,
)
from agentgym_envs.actions import ActionVerb
from agentgym_envs.textcraft.env import TextCraftEnv
from tests.agentgym_envs.fuzzing import as_call, as_code

NUMBERS = {split: {"all": [number]} for number, split in enumerate(("train", "validation", "test"))}
VERBS = (
    ActionVerb("press", "press {button}", "Press a button."),
    ActionVerb("turn", "turn {knob} by {count} steps", "Turn a knob.", integers=("count",)),
    ActionVerb("write", "write on {place}: {words}", "Write.", free_text=("words",)),
    ActionVerb("wait", "wait", "Wait."),
)


class PanelEnv(TextEnv):
    """Press the red button."""

    task_set = ListedTasks("panel", NUMBERS)
    instructions = "Press the red button. Write: press red."
    verbs = VERBS
    default_max_turns = 9
    source = "panel/1"

    def begin(self, task: TaskSpec) -> str:
        self.goal = "press the red button"
        return "There is a panel."

    def play(self, verb: str, **arguments: Any) -> Outcome:
        if arguments.get("button") == "red":
            return Outcome.won("Well done.")
        return Outcome(f"{verb} {arguments}")

    def expert_moves(self) -> Iterator[ExpertMove]:
        while True:
            yield ExpertMove("press red")


def begun(kind: type[TextEnv] = PanelEnv, **kwargs: Any) -> TextEnv:
    env = kind(**kwargs)
    env.reset(options={"task_id": 0})
    return env


# Tasks, and which hook is written ---------------------------------------------------------------


def test_an_environment_without_an_init_keeps_the_contract() -> None:
    check_text_env(PanelEnv)


def test_tasks_may_be_passed_to_init_as_before() -> None:
    others = ListedTasks("panel", {"train": {}, "validation": {}, "test": {"all": [7]}})
    for env in (PanelEnv(others), PanelEnv(task_set=others)):
        assert env.task_ids("test") == ["panel_7"]
    assert PanelEnv().task_ids("test") == ["panel_2"]

    class Chosen(PanelEnv):
        def __init__(self, **kwargs: Any) -> None:
            self.task_set = others
            super().__init__(**kwargs)

    assert Chosen().task_ids("test") == ["panel_7"]


def test_tasks_a_hook_and_a_source_that_are_missing_are_named() -> None:
    class Taskless(PanelEnv):
        task_set = None  # type: ignore[assignment]

    class Idle(PanelEnv):
        play = TextEnv.play
        apply = TextEnv.apply

    class Sourceless(PanelEnv):
        source = None  # type: ignore[assignment]

    with pytest.raises(TypeError, match="Taskless must set task_set as a class attribute"):
        Taskless()
    with pytest.raises(TypeError, match=r"Idle must write play\(verb, \*\*arguments\), or apply"):
        Idle()
    with pytest.raises(TypeError, match="Sourceless must set source.*such as 'guess/1'"):
        begun(Sourceless)


# What `play` is given -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("press green", "press {'button': 'green'}"),
        ("  PRESS   Light\tGreen ", "press {'button': 'light green'}"),
        ("turn left  knob by 03 steps", "turn {'knob': 'left knob', 'count': 3}"),
        ("Write  on The Wall:  Two  Words ", "write {'place': 'the wall', 'words': 'Two  Words'}"),
        ("WAIT", "wait {}"),
    ],
)
def test_an_action_is_parsed_once_whatever_its_case_and_spaces(action: str, text: str) -> None:
    observation, *_, info = begun().step(action)
    assert (observation, info["is_valid_action"]) == (text, True)


def test_a_function_call_comes_with_its_arguments() -> None:
    env = begun(action_format="function_call")
    text = '{"name": "turn", "arguments": {"knob": "left", "count": 2}}'
    assert env.step(text)[0] == "turn {'knob': 'left', 'count': 2}"


@pytest.mark.parametrize("action", ["jump", "press", "turn left by two steps", "waiting"])
def test_what_is_no_action_is_answered_with_those_there_are(action: str) -> None:
    observation, reward, *_, info = begun().step(action)
    assert observation.startswith(f"'{action[:100]}")
    assert observation.endswith(
        "is no action; write one of: press <button>, turn <knob> by <count> steps, "
        "write on <place>: <words>, wait."
    )
    assert (reward, info["is_valid_action"]) == (0.0, False)


@pytest.mark.parametrize("action_format", ["plain", "react"])
def test_a_long_text_of_nothing_but_separators_is_answered_at_once(action_format: str) -> None:
    class Moving(PanelEnv):
        verbs = (
            *VERBS,
            ActionVerb("move", "move {thing} from {place} to {target}", "Move."),
            ActionVerb("note", "note: {text}", "Write.", free_text=("text",), is_multiline=True),
        )

    env = begun(Moving, action_format=action_format)
    start = time.process_time()
    env.step("Action: turn " + "x by 1 steps " * 20_000)
    env.step("Action: move" + " from" * 50_000)
    env.step("Action: press a" + " " * 50_000 + "x")
    assert time.process_time() - start < 1


@pytest.mark.parametrize("action", [f"turn {' ' * 1_900}x", "put a" + "\n" * 10**6 + "x"])
def test_a_long_run_of_spaces_is_read_at_once(action: str) -> None:
    verbs = (*VERBS, ActionVerb("put", "put {thing} down", "Put a thing down."))
    start = time.process_time()
    assert [verb.read(action) for verb in verbs] == [None] * 5
    assert time.process_time() - start < 1


def test_long_words_are_played_where_nothing_follows_them() -> None:
    words = "word " * 1_000 + "end"
    observation, *_ = begun().step(f"write on the wall: {words}")
    assert words in observation


@pytest.mark.parametrize("template", ["turn_to {degrees}", "set {knob} to {degrees}"])
@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
def test_a_number_of_too_many_digits_is_no_action(action_format: str, template: str) -> None:
    class Turning(PanelEnv):
        verbs = (
            ActionVerb(
                "turn_to", template, "", integers=("degrees",), patterns={"degrees": "-?[0-9]+"}
            ),
        )

    env = begun(Turning, action_format=action_format)
    arguments = {"knob": "left", "degrees": "9" * 5_000}
    arguments = {name: arguments[name] for name in env.verbs[0].parameters}
    action = f"Action: {env.verbs[0].fill(arguments)}"
    if action_format in ("function_call", "code"):
        write = as_code if action_format == "code" else as_call
        action = write("turn_to", arguments)
    assert env.step(action)[-1]["is_valid_action"] is False


def test_the_suite_says_that_names_with_capitals_come_in_small_letters() -> None:
    class Capital(PanelEnv):
        def play(self, verb: str, **arguments: Any) -> Outcome:
            if arguments.get("button") == "Red":
                return Outcome.won("Well done.")
            return Outcome.invalid("There is a button Red.")

        def expert_moves(self) -> Iterator[ExpertMove]:
            yield ExpertMove("press Red")

    with pytest.raises(ConformanceError, match="'press Red' must be an action") as raised:
        check_text_env(Capital)
    assert "name things in small letters" in str(raised.value.remedy)


def test_a_play_that_a_shipped_environment_never_calls_is_refused() -> None:
    class Playing(TextCraftEnv):
        def play(self, verb: str, **arguments: Any) -> Outcome:
            return Outcome.won("Well done.")

    class Dispatching(PanelEnv):
        def apply(self, action: str) -> Outcome:
            return self.dispatch(action)

        def dispatch(self, action: str) -> Outcome:
            return super().apply(action)

    class Dispatched(Dispatching):
        def play(self, verb: str, **arguments: Any) -> Outcome:
            return Outcome.won("Well done.")

    with pytest.raises(TypeError, match=r"Playing\.play is never called, for TextCraftEnv reads"):
        Playing()
    assert begun(Dispatched).step("press red")[1] == 1.0


def test_a_verb_that_another_hides_is_refused() -> None:
    take = ActionVerb("take", "take {thing}", "Take a thing.")
    take_from = ActionVerb("take_from", "take {thing} from {place}", "Take it from a place.")

    class Hiding(PanelEnv):
        verbs = (take, take_from)

    class Ordered(PanelEnv):
        verbs = (take_from, take)

    with pytest.raises(TypeError, match="set take_from before take in verbs"):
        Hiding()

    class Specific(PanelEnv):
        verbs = (
            ActionVerb("guess_letter", "guess {letter}", "", patterns={"letter": "[a-z]"}),
            ActionVerb("guess", "guess {word}", ""),
            ActionVerb("place_x", "place x", ""),
            ActionVerb("place", "place {mark}", ""),
        )

    Specific()
    observation = begun(Ordered).step("take key from box")[0]
    assert observation.startswith("take_from {'thing': 'key', 'place': 'box'}")


# Outcomes -----------------------------------------------------------------------------------------


def test_the_info_that_outcomes_share_cannot_change_and_travels() -> None:
    outcome = Outcome("Yes.")
    assert outcome.info == {}
    assert pickle.loads(pickle.dumps(outcome)) == outcome
    assert copy.deepcopy(outcome).info is outcome.info
    with pytest.raises(TypeError, match="is shared; pass a dict"):
        outcome.info["key"] = 1  # type: ignore[index]
    assert json.dumps(outcome.info) == "{}" and outcome.info | {"key": 1} == {"key": 1}  # type: ignore[operator]


def answered(outcome: Outcome) -> tuple[float, bool, dict[str, Any]]:
    class Answering(PanelEnv):
        def play(self, verb: str, **arguments: Any) -> Outcome:
            return outcome

    _, reward, terminated, _, info = begun(Answering).step("wait")
    return reward, terminated, {key: info[key] for key in ("success", "score", "is_valid_action")}


@pytest.mark.parametrize(
    ("outcome", "old", "reward", "is_over"),
    [
        (Outcome.won("Yes."), {"success": True}, 1.0, True),
        (Outcome.won("Yes.", 0.5), {"success": True}, 0.5, True),
        (Outcome.invalid("No."), {"is_valid_action": False}, 0.0, False),
        (Outcome("Half.", score=0.5), {"score": 0.5}, 0.0, False),
        (Outcome("Over.", 0.0, True, success=False), {"success": False}, 0.0, True),
    ],
)
def test_fields_of_an_outcome_say_what_keys_of_info_said(
    outcome: Outcome, old: dict[str, Any], reward: float, is_over: bool
) -> None:
    answer = answered(outcome)
    assert answer[:2] == (reward, is_over)
    assert answer == answered(Outcome(outcome.observation, reward, is_over, info=old))
    assert answer[2].items() >= old.items()


@pytest.mark.parametrize(
    ("outcome", "message"),
    [
        (Outcome("", success=1), "success of an Outcome must be a bool, got int: 1"),  # type: ignore[arg-type]
        (Outcome("", is_valid="yes"), "is_valid of an Outcome must be a bool"),  # type: ignore[arg-type]
        (Outcome("", info={"success": 1}), r"info\['success'\] of an Outcome must be a bool"),
    ],
)
def test_a_field_of_another_type_is_named(outcome: Outcome, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        answered(outcome)


# Names --------------------------------------------------------------------------------------------


def writes(name: str, value: Any) -> type[TextEnv]:
    """Return an environment that keeps something of its own under a name."""

    class Writing(PanelEnv):
        def begin(self, task: TaskSpec) -> str:
            setattr(self, name, value)
            return super().begin(task)

    return Writing


@pytest.mark.parametrize(
    ("name", "value"),
    [("_actions", ["a"]), ("_score", 3), ("_options", ["a"]), ("_make", 1), ("_horizon", 2)]
    + [("_turn", 99), ("_over", 1), ("_last", None), ("_task", 5), ("_draws_from", ())]
    + [("_random_state", 4), ("_info", {}), ("_system_prompt", 1), ("_shown", [])],
)
def test_names_that_an_author_is_likely_to_want_are_free(name: str, value: Any) -> None:
    kind = writes(name, value)
    check_text_env(kind)
    env = begun(kind, max_turns=3)
    env.step("press green")
    other = copy.deepcopy(env)
    assert getattr(other, name) == value
    assert other.step("wait") == env.step("wait")


@pytest.mark.parametrize(
    ("name", "value"),
    [("parser", None), ("task", "tidy up"), ("max_turns", 2), ("split", "left"), ("_text_env", {})]
    + [("is_over", False), ("num_turns_left", 3), ("system_prompt", ""), ("env_id", 4)]
    + [("available_actions", ["press red"]), ("expert", "me"), ("play", None)],
)
def test_a_name_of_text_envs_own_is_said_with_the_remedy(name: str, value: Any) -> None:
    remedy = rf"Writing sets self\.{name}, which TextEnv uses itself; give yours another name"
    kind = writes(name, value)
    with pytest.raises((TypeError, AttributeError), match=remedy):
        begun(kind)
    with pytest.raises(ConformanceError, match=remedy):
        check_text_env(kind)


def test_the_suite_says_which_name_of_text_envs_own_a_step_sets() -> None:
    class Splitting(PanelEnv):
        def play(self, verb: str, **arguments: Any) -> Outcome:
            self.split = "left"
            return super().play(verb, **arguments)

    with pytest.raises(ConformanceError, match=r"Splitting sets self\.split, which TextEnv uses"):
        check_text_env(Splitting)


def test_what_is_set_from_outside_and_functions_in_place_of_methods_are_taken() -> None:
    env = PanelEnv()
    env.max_turns = 1
    play: Callable[..., Outcome] = lambda verb, **_: Outcome("Replaced.")  # noqa: E731
    env.play = play  # type: ignore[method-assign]
    env.reset(seed=0)
    observation, _, _, truncated, _ = env.step("wait")
    assert (observation, truncated) == ("Replaced.", True)
