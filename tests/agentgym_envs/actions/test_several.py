"""Several actions in one turn: how a completion lists them, and how they are played."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import Outcome
from agentgym_envs.actions import ActionVerb, make_parser, parse_several
from agentgym_envs.errors import InvalidAction
from tests.helpers import EMBEDDED, CountingEnv, unless_missing

VERBS = (
    ActionVerb("turn", "turn {side}", "Turn.", patterns={"side": "left|right"}),
    ActionVerb("go", "go to {thing}", "Go."),
    ActionVerb("craft", "craft {output} using {ingredients}", "Craft."),
    ActionVerb("look", "look", "Look."),
    ActionVerb("say", "say[{words}]", "Say.", free_text=("words",)),
)
TWO = ["turn right", "go to grey key 2"]


def listed(completion: str, action_format: str = "plain") -> list[str]:
    return parse_several(make_parser(action_format, VERBS), completion, VERBS)


@pytest.mark.parametrize(
    "completion",
    [
        "turn right, go to grey key 2",
        "turn right; go to grey key 2",
        "turn right\ngo to grey key 2",
        "1. turn right\n2. go to grey key 2",
        "- turn right\n- go to grey key 2",
        "turn right, then go to grey key 2",
        "turn right and then go to grey key 2.",
        "```\nturn right\ngo to grey key 2\n```",
        "I look for the key.\nturn right\ngo to grey key 2\nThat brings me there.",
        "Action: turn right, go to grey key 2",
        "turn right; go to grey key 2<|im_end|>\nlook",
        "turn right\ngo to grey key 2\nObservation: you see it\nlook",
        "<think>look, turn left</think>turn right, go to grey key 2",
    ],
)
def test_a_list_is_read_in_its_order(completion: str) -> None:
    assert listed(completion) == TWO
    thought = "" if "Action:" in completion or "<think>" in completion else "Thought: so\nAction: "
    assert listed(thought + completion, "react") == TWO or "\n\n" in completion


@pytest.mark.parametrize(
    ("completion", "actions"),
    [
        ("craft 1 bed using 3 wool, 3 planks", ["craft 1 bed using 3 wool, 3 planks"]),
        ("craft 1 a using 3 b, 3 c, look, look", ["craft 1 a using 3 b, 3 c", "look", "look"]),
        ("look", ["look"]),
        ("look\nlook", ["look", "look"]),
        ("say[look, turn left]", ["say[look, turn left]"]),
        ("say[then, look], look", ["say[then, look]", "look"]),
        ("Sure! I will turn: look", ["look"]),
    ],
)
def test_a_comma_in_an_action_does_not_split_it(completion: str, actions: list[str]) -> None:
    assert listed(completion) == actions


@pytest.mark.parametrize(
    "completion",
    [
        "say[a; turn left; turn right; b]",
        "I could turn left:\nturn left\nturn right\nBut I will look.",
        "turn left, <think>look",
    ],
)
def test_what_is_only_talked_about_is_not_played(completion: str) -> None:
    try:
        assert len(listed(completion)) == 1
    except InvalidAction:
        pass


def test_free_text_at_an_actions_end_takes_what_follows() -> None:
    verbs = (ActionVerb("answer", "answer {text}", "Answer.", free_text=("text",)),)
    for completion in ("answer SELECT 1, answer FROM x", "answer a, then answer b"):
        assert parse_several(make_parser("plain", verbs), completion, verbs) == [completion]


def test_what_lists_no_actions_is_read_as_one() -> None:
    for completion in ("look, fly", "look\nI could also fly\nturn left", "look or turn left"):
        for action_format in ("plain", "react"):
            parser = make_parser(action_format, VERBS)
            try:
                expected = [parser.parse(completion)]
            except InvalidAction as error:
                with pytest.raises(InvalidAction, match=str(error)[:40]):
                    listed(completion, action_format)
            else:
                assert listed(completion, action_format) == expected


@pytest.mark.parametrize(
    "completion",
    [
        '[{"name": "turn", "arguments": {"side": "right"}}, '
        '{"name": "go", "arguments": {"thing": "grey key 2"}}]',
        '{"name": "turn", "arguments": {"side": "right"}}\n{"name": "go", "arguments": '
        '{"thing": "grey key 2"}}',
        '<tool_call>{"name": "turn", "arguments": {"side": "right"}}</tool_call>\n<tool_call>'
        '{"name": "go", "arguments": {"thing": "grey key 2"}}</tool_call>',
    ],
)
def test_calls_are_read_in_their_order(completion: str) -> None:
    assert listed(completion, "function_call") == TWO


def test_a_block_of_code_may_hold_several_calls() -> None:
    block = "```python\nturn('right')\nturn('right')\ngo(thing='grey key 2')\n```"
    assert listed(block, "code") == ["turn right", *TWO]
    assert listed("```python\nlook()\n```", "code") == ["look"]
    branches = "```python\nif seen:\n    turn('left')\nelse:\n    turn('right')\n```"
    with pytest.raises(InvalidAction):
        listed(branches, "code")
    with pytest.raises(InvalidAction, match="literals"):
        listed("```python\nturn('right')\nturn(side)\n```", "code")


def test_a_turn_ends_at_an_invalid_action_and_says_what_was_not_played() -> None:
    env = CountingEnv(actions_per_turn=3)
    env.reset(options={"task_id": 29})
    observation, reward, terminated, _, info = env.step("add 4; add 50; double")
    assert observation.startswith("> add 4\n") and "> add 50\n" in observation
    assert "Not played: double" in observation
    assert (reward, terminated, info["turn"], info["is_valid_action"]) == (0.0, False, 1, False)
    observation, *_, info = env.step("double; double; add 9; add 5")
    assert observation.count("> ") == 3 and "Not played: add 5" in observation
    assert info["is_valid_action"] and info["turn"] == 2
    observation, reward, terminated, _, info = env.step("add 5; double")
    assert terminated and info["success"] and reward == 1.0
    assert "Not played" not in observation and "> double" not in observation


class PartialEnv(CountingEnv):
    """Gives a score for the first action alone, and shows the whole state."""

    shows_state = True

    def apply(self, action: str) -> Outcome:
        if action == "double":
            return Outcome("half", 0.5, score=0.5)
        return Outcome.invalid("no") if action == "say no" else Outcome("nothing")


def test_a_turn_keeps_an_earlier_score_and_the_last_state() -> None:
    env = PartialEnv(actions_per_turn=3)
    env.reset(options={"task_id": 11})
    observation, reward, *_, info = env.step("double; add 1")
    assert (reward, info["score"]) == (0.5, 0.5)
    assert observation == "> add 1\nnothing"
    observation, *_, info = env.step("double; add 2; say no")
    assert observation == "> add 2\nnothing\n> say no\nno" and not info["is_valid_action"]


def test_one_action_is_answered_as_ever() -> None:
    one, several = CountingEnv(), CountingEnv(actions_per_turn=4)
    for env in (one, several):
        env.reset(options={"task_id": 11})
    for completion in ("add 3", "nonsense", "say a, b", "add 9"):
        assert one.step(completion) == several.step(completion)


@pytest.mark.parametrize("env_id", map(unless_missing, EMBEDDED))
@pytest.mark.parametrize(
    "action_format", ["function_call", pytest.param("code", marks=pytest.mark.full)]
)
def test_the_experts_actions_two_a_turn_give_what_they_give_one_a_turn(
    env_id: str, action_format: str
) -> None:
    env: Any = gym.make(env_id, action_format="plain")
    task_id = env.unwrapped.task_ids("train")[3]
    env.reset(options={"task_id": task_id})
    actions, rewards = [], []
    for action in env.unwrapped.expert():
        _, reward, *_, expected = env.step(action)
        actions.append(action)
        rewards.append(reward)
    env.close()
    pair: Any = gym.make(env_id, action_format=action_format, actions_per_turn=2)
    pair.reset(options={"task_id": task_id})
    total, num_turns, is_over = 0.0, 0, False
    while not is_over and actions:
        texts = [pair.unwrapped.parser.format(action) for action in actions[:2]]
        if action_format == "code":
            calls = "\n".join(text.removeprefix("```python\n")[:-4] for text in texts)
            texts = [f"```python\n{calls}\n```"]
        _, reward, terminated, truncated, info = pair.step("\n".join(texts))
        actions, total = actions[2:], total + reward
        num_turns, is_over = num_turns + 1, terminated or truncated
    assert num_turns == info["turn"]
    for key in ("success", "score", "task_id"):
        assert info[key] == expected[key]
    assert total == pytest.approx(sum(rewards))
    pair.close()


def test_the_prompt_says_how_many() -> None:
    for action_format in ("plain", "react", "function_call", "code"):
        env = CountingEnv(action_format=action_format, actions_per_turn=5)
        assert "up to 5" in env.system_prompt.splitlines()[-1]
        assert "up to" not in CountingEnv(action_format=action_format).system_prompt


def test_numbers_that_are_not_allowed_are_refused() -> None:
    with pytest.raises(ValueError, match="actions_per_turn must be .*>= 1, got 0"):
        CountingEnv(actions_per_turn=0)
    free = type("Free", (CountingEnv,), {"verbs": (ActionVerb("say", "{text}", "Say."),)})
    with pytest.raises(ValueError, match="takes any text as an action"):
        free(actions_per_turn=2)
    with pytest.raises(ValueError, match="leave one of the two out"):
        gym.make("agentgym/TextCraft-v0", compat="agentgym", actions_per_turn=2)
