"""Kinds of words around an action, what is refused, and texts of arguments that stay whole."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from agentgym_envs import InvalidAction
from agentgym_envs.actions import make_parser, strip_thinking
from agentgym_envs.actions.formats import ACTION_FORMATS
from agentgym_envs.actions.markup import NO_END
from agentgym_envs.searchqa.prompts import VERBS as SEARCHQA
from agentgym_envs.searchqa.tags import Tag, read_tag
from agentgym_envs.textcraft.env import TextCraftEnv
from agentgym_envs.wordle.env import WordleEnv
from tests.agentgym_envs.actions.test_dress import parser_of

ACTIONS = {
    "TextCraft": ("get 3 glass", "inventory"),
    "ALFWorld": ("take mug 1 from cabinet 2",),
    "WebArena": ("click [12]", "type [7] [a b] [1]"),
    "WebShop": ("click[buy now]",),
    "Wordle": ("c r a n e",),
    "SearchQA": ("<search>who is it</search>", "<answer>Paris</answer>"),
}
LABELS = (
    "Command: {}", "Step 1: {}", "Next step: {}", "act: {}", "Answer: {}", "Final answer: {}",
    "Action - {}", "Action – {}", "Action | {}", "My move is {}", "**Decision:** {}",
    "Execute: `{}`", "### Command\n{}", "动作：{}", "Thought: I go.\nCommand: {}",
)  # fmt: skip
ANNOUNCED = (
    "{}", "Sure! {}", "Sure, {}", "Okay. {}", "Sure!\n{}", "I will do: {}",
    "Here is my action:\n{}",
    "I choose {}.", "The best action is {}.", "I need this. {}", "Thought: I go.\n{}", "Now: {}",
)  # fmt: skip
REMARKS = (
    "{} # a start", "{} // a start", "{} (to begin)", "{}. This starts it.", "{};", "{} ✅",
    "{}, because I need it.", "{}\n\nThis helps.", "{}\nReason: I need it.", "{}\\n", "{}</step>",
)  # fmt: skip
WRAPPERS = (
    "<plan>a, then b</plan>\n{}", "<reflection>No.</reflection>{}",
    "<memory>x</memory><plan>y</plan>{}",
    "<analysis>Or {}</analysis>\n{}", "<step>{}</step>", "<next_move>{}</next_move>", "act({})",
    'env.step("{}")', '{{"reasoning": "x", "answer": "{}"}}',
    "\\[\\boxed{{{}}}\\]", "_{}_", "✅ {}",
)  # fmt: skip


@pytest.mark.parametrize("action_format", ["plain", "react"])
@pytest.mark.parametrize("dress", [*LABELS, *ANNOUNCED, *REMARKS, *WRAPPERS])
@pytest.mark.parametrize("env", ACTIONS)
def test_words_around_an_action_go(env: str, dress: str, action_format: str) -> None:
    for action in ACTIONS[env]:
        text = dress.replace("{{", "{").replace("}}", "}").replace("{}", action)
        if env == "Wordle" and dress == "{} # a start":
            continue  # "start" is a guess as well
        assert parser_of(env, action_format).parse(text) == action


@pytest.mark.parametrize(
    "text",
    [
        "1. get 3 glass\n2. inventory",
        "Step 1: get 3 glass\nStep 2: inventory",
        "get 3 glass\ninventory",
        "`get 3 glass` or `inventory`",
        "Plan: get 3 glass",
        "Thought: get 3 glass",
        "Previous action: get 3 glass",
        "Example: get 3 glass",
        "Don't: get 3 glass",
        "Observation: get 3 glass",
        "Should I get 3 glass?",
        "get 3 glass?",
        "Should I do `get 3 glass`?",
        "I could do `get 3 glass`.",
        "I could:\nget 3 glass\nor wait.",
        "I should not get 3 glass.",
        "I want to get 3 glass later",
        "I am out of ideas.",
        "<plan>\nAction: get 3 glass",
        "Okay. <think>I guess\nAction: get 3 glass",
    ],
)
def test_a_plan_a_question_and_a_thought_are_no_action(text: str) -> None:
    with pytest.raises(InvalidAction):
        parser_of("TextCraft", "react").parse(strip_thinking(text))
    try:
        assert parser_of("TextCraft", "plain").parse(strip_thinking(text)) != "get 3 glass"
    except InvalidAction as error:
        assert str(error) == NO_END


@pytest.mark.parametrize("text", ["get 3 glass; inventory", "get 3 glass. Then get 4 dirt."])
def test_a_second_action_is_no_remark(text: str) -> None:
    assert parser_of("TextCraft", "plain").parse(text) != "get 3 glass"


def test_a_sentence_is_no_action_of_verbs_that_take_any_text() -> None:
    react = make_parser("react", WordleEnv.verbs)
    with pytest.raises(InvalidAction, match="no 'Action:'"):
        react.parse("I think about it.")
    assert react.parse("c r a n e") == "c r a n e"


TEXTS = {
    "WebArena": (
        "type [7] [{}] [1]",
        ["</think> closes", "<think> opens", "see\n<analysis> here", "see\n<think> here", "</s>"]
        + ["<|im_end|> is a token", "<|action_end|>", "Observation: it rains", "Action: click [3]"]
        + ["<plan>x</plan>", "hi\nUser: you", "<|im_start|>assistant", '{"action": "click [3]"}']
        + ["Sure! ok", "a (b)", "x # y", "Command: ls", "a; b", "line\nAction: go"],
    ),
    "SearchQA": (
        "<search>{}</search>",
        ["what does <think> mean", "what does </think> mean", "</s>", "<|im_end|>", "<plan>"]
        + ["Step 1: what", "a # b", "[THINK]", "<b>x</b>", "<tool_call>x</tool_call> y"],
    ),
    "SQL": (
        "query SELECT '{}' FROM t",
        ["<think>", "</think>", "a </think> b", "<|im_end|>", "</s>", "Action: x", "Observation: x"]
        + ["<reason> why", "x # y"],
    ),
    "WebShop": ("search[{}]", ["</think>", "<think> toy", "<|im_end|>", "a; b", "toy (2 pack)"]),
}


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize(
    ("env", "text"), [(env, text) for env, (_, texts) in TEXTS.items() for text in texts]
)
def test_the_text_of_an_argument_stays_whole(env: str, text: str, action_format: str) -> None:
    parser, action = parser_of(env, action_format), TEXTS[env][0].replace("{}", text)
    for completion in (parser.format(action), f"<think>Hm.</think>\n{parser.format(action)}"):
        assert parser.parse(strip_thinking(completion)) == action
    assert parser.parse(strip_thinking(parser.format(action) + "<|im_end|>")) == action


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize(
    "opening",
    ["<think>", "<THINK>", "<think >", "<reasoning>", "<antThinking>", "<scratchpad>", "[THINK]"]
    + ["<|START_THINKING|>", "◁think▷", "<plan>"],
)
def test_a_thought_that_is_cut_is_not_played_wherever_it_begins(
    opening: str, action_format: str
) -> None:
    for env in ("TextCraft", "SearchQA", "WebArena", "SQL"):
        parser = parser_of(env, action_format)
        completion = parser.format({**ACTIONS, "SQL": ("columns t",)}[env][0])
        for text in ("Okay. {}I guess\n{}\nwould be wrong", "{}\n{}", "<s>{}Or {}", "I go. {}{}"):
            with pytest.raises(InvalidAction, match="did not end"):
                thought = strip_thinking(text.format(opening, completion))
                if thought == "<think>":  # as an environment does
                    raise InvalidAction(NO_END)
                parser.parse(thought)


def test_a_tag_in_free_text_is_no_thought_and_in_a_name_it_is() -> None:
    plain, react = parser_of("SQL", "plain"), parser_of("SQL", "react")
    statement = "query SELECT *\nFROM t\n-- <reason> why"
    assert plain.parse(statement) == react.parse(f"Action: {statement}") == statement
    with pytest.raises(InvalidAction, match="did not end"):
        react.parse("Action: columns t <think>or not")


@pytest.mark.parametrize(
    "completion",
    [
        '{"name": "get", "arguments": [3, "glass"]}',
        '{"name": "get", "arguments": [{"count": 3, "item": "glass"}]}',
        '{"command": "get", "args": {"count": 3, "item": "glass"}}',
        '{"name": "get", "arguments": {"count": 3, "item": "glass"}}\n' * 2,
        '"{\\"name\\": \\"get\\", \\"arguments\\": {\\"count\\": 3, \\"item\\": \\"glass\\"}}"',
        '<invoke name="get"><a:parameter name="count">3</a:parameter>'
        '<a:parameter name="item">glass</a:parameter></invoke>',
        '<plan>{"name": "inventory"}</plan>{"name": "get", "arguments": [3, "glass"]}',
    ],
)
def test_calls_that_are_meant_as_one_are_read(completion: str) -> None:
    assert parser_of("TextCraft", "function_call").parse(completion) == "get 3 glass"


@pytest.mark.parametrize(
    "body",
    [
        "return {}",
        "{}\n{}",
        "if True:\n    {}",
        "def main():\n    {}\n\nmain()",
        "print(f'{{}}')",
        "logger.info({})",
        "obs, reward, done, info = env.step({})",
        "{}.text",
        "In [1]: {}",
    ],
)
def test_the_one_call_of_a_verb_is_read_wherever_code_holds_it(body: str) -> None:
    code = body.replace("{}", 'get(3, "glass")')
    for text in (code, f"```python\n{code}\n```", f"```python\n{code}\n```\n" * 2):
        assert parser_of("TextCraft", "code").parse(text) == "get 3 glass"


MARKUP: dict[str, Callable[[str], str]] = {
    "Hermes": lambda text: f"<tool_call>{_call(text)}</tool_call>",
    "line breaks in JSON": lambda text: (
        f'{{"name": "type", "arguments": {{"element": 7, "content": "{text}"}}}}'
    ),
    "Qwen3-Coder": lambda text: (
        "<tool_call>\n<function=type>\n<parameter=element>\n7\n</parameter>\n<parameter=content>\n"
        f"{text}\n</parameter>\n</function>\n</tool_call>"
    ),
    "GLM": lambda text: (
        "<tool_call>type\n<arg_key>element</arg_key><arg_value>7</arg_value><arg_key>content</arg_key>"
        f"<arg_value>{text}</arg_value></tool_call>"
    ),
    "Mistral": lambda text: f"[TOOL_CALLS]type[ARGS]{json.dumps({'element': 7, 'content': text})}",
    "LFM2": lambda text: f"<|tool_call_start|>[type(7, {text!r})]<|tool_call_end|>",
    "Python": lambda text: f"type(7, '''{text}''')",
    "Gemma 4": lambda text: (
        f'<|tool_call>call:type{{element:7,content:<|"|>{text}<|"|>}}<tool_call|>'
    ),
    "FunctionGemma": lambda text: (
        f"<start_function_call>call:type{{element:7,content:<escape>{text}<escape>}}"
    ),
    "Kimi K3": lambda text: (
        '<|open|>call tool="type"<|sep|>'
        '<|open|>argument key="element"<|sep|>7<|close|>argument<|sep|>'
        f'<|open|>argument key="content"<|sep|>{text}<|close|>argument<|sep|><|close|>call<|sep|>'
    ),
}


def _call(text: str) -> str:
    return json.dumps({"name": "type", "arguments": {"element": 7, "content": text}})


@pytest.mark.parametrize("markup", MARKUP)
@pytest.mark.parametrize(
    "text",
    ["</think> closes", "see\n<think> here", "</s>", "<|im_end|>", "a\nUser: b", "<plan>x</plan>"],
)
def test_the_text_of_an_argument_stays_whole_in_the_markup_of_families(
    text: str, markup: str
) -> None:
    parser = parser_of("WebArena", "function_call")
    for before in ("", "<think>Hm.</think>\n"):
        completion = strip_thinking(before + MARKUP[markup](text))
        assert parser.parse(completion) == f"type [7] [{text}] [1]"


def test_an_action_in_the_answer_s_tags_is_no_answer() -> None:
    names = ("search", "answer")
    assert read_tag("<answer><search>a</search></answer>", names) == Tag("search", "a")
    assert read_tag("<answer><b>a</b></answer>", names) == Tag("answer", "<b>a</b>")


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize(
    "piece",
    ['"<think>', "</think>", "<plan>", "[a <|im_end|> ", "\nObservation:", "`a` ", "**a**", "</a>"]
    + [" ", "Sure! ", "my ", "because ", "'''"],
)
def test_endless_words_and_tags_are_read_in_no_time(piece: str, action_format: str) -> None:
    start = time.process_time()
    try:
        parser_of("TextCraft", action_format).parse(strip_thinking(piece * 8_000))
    except InvalidAction as error:
        assert len(str(error)) < 400
    assert time.process_time() - start < 2


@pytest.mark.parametrize(
    "code",
    [
        "# get(count=3, item='glass')",
        "def helper():\n    return get(count=3, item='glass')",
        "if False:\n    get(count=3, item='glass')",
    ],
)
def test_a_call_that_does_not_run_is_no_action(code: str) -> None:
    parser = make_parser("code", TextCraftEnv.verbs)
    with pytest.raises(InvalidAction):
        parser.parse(f"```python\n{code}\n```")
    called = "def go():\n    get(count=3, item='glass')\ngo()"
    assert parser.parse(f"```python\n{called}\n```") == "get 3 glass"


@pytest.mark.parametrize("text", ["see ```x``` there", "see\n```\nx\n```\nthere"])
def test_fences_in_the_strings_of_a_block_are_text(text: str) -> None:
    answer = f"```python\nsearch(query={text!r})\n```"
    assert make_parser("code", SEARCHQA).parse(answer) == f"<search>{text}</search>"
    two = "```python\nsearch(query='a')\n```\n```python\nsearch(query='b')\n```"
    with pytest.raises(InvalidAction, match="2 fenced blocks"):
        make_parser("code", SEARCHQA).parse(two)
