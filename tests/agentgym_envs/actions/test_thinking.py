"""Thoughts and invented continuations: what of a completion is no action."""

from __future__ import annotations

import gymnasium as gym
import pytest

from agentgym_envs import InvalidAction
from agentgym_envs.actions import CUT_THOUGHT, NO_END, ActionVerb, make_parser, strip_thinking
from agentgym_envs.actions.markup import first_turn
from agentgym_envs.searchqa.prompts import VERBS as SEARCHQA
from agentgym_envs.searchqa.tags import TagReactParser
from tests.agentgym_envs.actions.test_calls import VERBS
from tests.helpers import CountingEnv

ANSWERED = [
    ("<think>\nA?\n</think>\n\nlook", "look"),
    ("A?\n</think>\nlook", "look"),
    ("<think>a</think>b</think>look", "look"),
    ("<think>a <think> b</think>look", "look"),
    ("look", "look"),
    ("say <think>", "say <think>"),
    ("[THINK]A?[/THINK]look", "look"),
    ("<seed:think>A?</seed:think>\nlook", "look"),
    ("◁think▷A?◁/think▷look", "look"),
    ("<|START_THINKING|>A?<|END_THINKING|>look", "look"),
    ("<thinking>A?</thinking>\nlook", "look"),
    ("<Think>A?</Think>\nlook", "look"),
    ("<|begin_of_thought|>A?<|end_of_thought|>look", "look"),
    ("<|channel>thought\nA?<channel|>look", "look"),
]


@pytest.mark.parametrize(("completion", "answer"), ANSWERED)
def test_the_answer_is_what_follows_the_thought(completion: str, answer: str) -> None:
    assert strip_thinking(completion) == answer


@pytest.mark.parametrize(
    "completion",
    [
        "<think>I guess <answer>Paris</answer> would be wrong, so",
        "<think>\nAction: look",
        "\n<think>",
        "<think>a</think>\n<think>Action: look",
        "I think.\n<think>Action: look",
        "[THINK]Action: look",
        "<seed:think>Action: look",
        "<|START_THINKING|>Action: look",
        "<|channel|>analysis<|message|>Action: look",
        "<THINK>Action: look",
        "<s><think>Action: look",
        "<｜Assistant｜><think>\nAction: look",
        "<|im_start|>assistant <think>Action: look",
        "Thought: <think>Action: look",
    ],
)
def test_a_thought_without_an_end_is_no_answer(completion: str) -> None:
    assert strip_thinking(completion) == CUT_THOUGHT
    assert strip_thinking(CUT_THOUGHT) == CUT_THOUGHT


def test_the_harmony_format_s_final_message_is_the_answer() -> None:
    completion = (
        "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>look"
        "<|return|>"
    )
    assert make_parser("plain", VERBS).parse(strip_thinking(completion)) == "look"


@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
@pytest.mark.parametrize("thought", ["<think>{}", "<think>\nI could:\n{}\nor else"])
def test_nothing_is_played_of_a_thought_that_was_cut(action_format: str, thought: str) -> None:
    env = CountingEnv(action_format=action_format)
    env.reset(seed=0)
    completion = next(iter(env.expert()))
    observation, reward, *_, info = env.step(thought.format(completion))
    assert observation.startswith(NO_END) and "did not end" in NO_END
    assert (reward, info["is_valid_action"]) == (0.0, False)
    assert env.step(f"<think>hm</think>\n{completion}")[4]["is_valid_action"]


@pytest.mark.parametrize("action_format", ["plain", "react"])
def test_nothing_is_played_of_a_cut_thought_by_the_original_s_rules(action_format: str) -> None:
    env = CountingEnv(action_format=action_format, compat="agentgym")
    env.reset(seed=0)
    assert not env.step(strip_thinking("<think>\nAction: add 1"))[4]["is_valid_action"]


@pytest.mark.parametrize("action_format", ["function_call", "code"])
def test_the_original_s_protocol_has_text_formats_alone(action_format: str) -> None:
    with pytest.raises(ValueError, match=f"got '{action_format}'.*Take action_format='react', or"):
        CountingEnv(action_format=action_format, compat="agentgym")
    with pytest.raises(ValueError, match="leave compat out"):
        gym.make("agentgym/Maze-v0", action_format=action_format, compat="agentgym")


def test_an_answer_within_a_cut_thought_is_not_given() -> None:
    parser = TagReactParser(SEARCHQA)
    assert parser.parse("<think>x</think><search>a</search>") == "<search>a</search>"
    assert parser.parse("<search>a</search> <think>or <answer>b") == "<search>a</search>"
    with pytest.raises(InvalidAction, match="no action"):
        parser.parse("Hm. <think>I guess <answer>Paris</answer> would be wrong, so")


@pytest.mark.parametrize(
    ("completion", "action"),
    [
        ("Thought: x\nAction: look\nObservation: A room.\nAction: get 3 dirt", "look"),
        ("Action: get 1 dirt\nNo.\nAction: look\nObservation: A room.\nAction: get 3 dirt", "look"),
        ("Observation: A room.\nThought: x\nAction: look", "look"),
        ("Observation: A.\nAction: look\nObservation: B.\nAction: get 3 dirt", "look"),
        ("Action 1: look\nObservation 1: A.\nAction 2: get 3 dirt", "look"),
        ("**Action:** look\n**Observation:** A.\n**Action:** get 3 dirt", "look"),
        ("Action: look\n[Observation]: A.\nAction: get 3 dirt", "look"),
        ("Action: look\nUser: A.\nAssistant: Action: get 3 dirt", "look"),
        ("Action: look\n<observation>A.</observation>\nAction: get 3 dirt", "look"),
        ("Action: look<|im_end|>\n<|im_start|>user\nA.<|im_end|>\nAction: get 3 dirt", "look"),
        ("Action: look</s>\nAction: get 3 dirt", "look"),
        ("Action: look Observation: A room. Action: get 3 dirt", "look"),
        ("Action: get 3 dirt Observation 1: ok\nThought: x", "get 3 dirt"),
        ("Action: dance\nObservation: No.\nAction: look", "dance"),
        ("Action: say no Observation: x", "say no"),
    ],
)
def test_the_action_before_an_invented_observation_is_played(completion: str, action: str) -> None:
    assert make_parser("react", VERBS).parse(completion) == action


@pytest.mark.parametrize(
    ("action_format", "completion"),
    [
        ("plain", "type [7] [Hello,\nUser: you]"),
        ("react", "Action: type [7] [Hello,\nUser: you]"),
        ("function_call", '{"name": "type", "arguments": {"id": 7, "text": "Hello,\nUser: you"}}'),
        (
            "function_call",
            "<function=type><parameter=id>7</parameter><parameter=text>Hello,\nUser: you"
            "</parameter></function>",
        ),
        ("code", "type(7, '''Hello,\nUser: you''')"),
        ("code", "```python\ntype(7, '''Hello,\nUser: you''')\n```"),
    ],
)
def test_lines_of_an_argument_are_no_invented_answer(action_format: str, completion: str) -> None:
    types = ActionVerb("type", "type [{id}] [{text}]", "Type.", ("id",), is_multiline=True)
    parser = make_parser(action_format, (types,))
    assert parser.parse(completion) == "type [7] [Hello,\nUser: you]"


def test_an_end_of_turn_that_is_html_ends_no_line() -> None:
    assert first_turn("type [7] [<s>old</s> new]") == "type [7] [<s>old</s> new]"
    assert first_turn("look</s>") == first_turn("look</s>\n") == "look"


@pytest.mark.parametrize(
    "behind",
    [
        "\n\nObservation: Done.\n\n<think>Then on.</think>\n",
        "<|im_end|>\n<|im_start|>user\nOK.<|im_end|>\n<|im_start|>assistant\n<think>On.</think>\n",
        "\nUser: OK.\nAssistant: <think>On.</think>\n",
    ],
)
def test_a_thought_of_an_invented_turn_hides_no_action_before_it(behind: str) -> None:
    completion = f"<think>First.</think>\nAction: look{behind}Action: get 3 dirt"
    assert make_parser("react", VERBS).parse(completion) == "look"
    tags = TagReactParser(SEARCHQA)
    completion = f"<think>First.</think>\n<search>a</search>{behind}<search>b</search>"
    assert tags.parse(completion) == "<search>a</search>"
