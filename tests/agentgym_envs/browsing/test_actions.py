from __future__ import annotations

import json
from typing import Any

import pytest

from agentgym_envs.actions import ACTION_FORMATS, make_parser
from agentgym_envs.browsing.actions import DRAG, KINDS, VERBS, WebAction, example, parse_action
from agentgym_envs.errors import InvalidAction
from agentgym_envs.webarena.backticks import BacktickParser, find_action

WRITTEN = {
    "click [12]": WebAction("click", 12),
    " click[12] ": WebAction("click", 12),
    "hover [3]": WebAction("hover", 3),
    "type [7] [running shoes] [1]": WebAction("type", 7, "running shoes"),
    "type [7] [running shoes] [0]": WebAction("type", 7, "running shoes", press_enter=False),
    "type [7] [running shoes]": WebAction("type", 7, "running shoes"),
    "type [7] [] [0]": WebAction("type", 7, "", press_enter=False),
    "type [7] [a [b] c] [0]": WebAction("type", 7, "a [b] c", press_enter=False),
    "type [7] [x] [y] [0]": WebAction("type", 7, "x] [y", press_enter=False),
    "type [7] [a [b] c]": WebAction("type", 7, "a [b] c"),
    "type [7] [[a] [b]]": WebAction("type", 7, "[a] [b]"),
    "type [7] [:[]": WebAction("type", 7, ":["),
    "type [7] [a ] b]": WebAction("type", 7, "a ] b"),
    "type [7] [x] [press_enter_after=0]": WebAction("type", 7, "x", press_enter=False),
    "type [7] [x] [press_enter=1]": WebAction("type", 7, "x"),
    "type [7] [two\nlines] [0]": WebAction("type", 7, "two\nlines", press_enter=False),
    "select [9] [Price: low to high]": WebAction("select", 9, "Price: low to high"),
    "press [Ctrl+a]": WebAction("press", text="Ctrl+a"),
    "press []]": WebAction("press", text="]"),
    "scroll [down]": WebAction("scroll", text="down"),
    "scroll [direction=up]": WebAction("scroll", text="up"),
    "scroll down": WebAction("scroll", text="down"),
    "goto [http://map.test/?q=a b]": None,
    "goto [http://map.test/]": WebAction("goto", text="http://map.test/"),
    "new_tab": WebAction("new_tab"),
    "tab_focus [1]": WebAction("tab_focus", 1),
    "close_tab": WebAction("close_tab"),
    "go_back": WebAction("go_back"),
    "go_forward": WebAction("go_forward"),
    "stop": WebAction("stop"),
    "stop []": WebAction("stop"),
    "stop [N/A]": WebAction("stop", text="N/A"),
    "stop [a [b], c]": WebAction("stop", text="a [b], c"),
}


@pytest.mark.parametrize("text", [text for text, action in WRITTEN.items() if action])
def test_the_grammar_is_webarena_s(text: str) -> None:
    assert parse_action(text) == WRITTEN[text]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "There is no action"),
        ("fly [1]", "no action 'fly'"),
        ("click", r"click \[12\]"),
        ("click [x]", r"click \[12\]"),
        ("click [-1]", r"click \[12\]"),
        ("click [1] [2]", r"click \[12\]"),
        ("click [1234567890]", "no element"),
        ("click [" + "9" * 5000 + "]", "no element"),
        ("type [7]", r"type \[7\]"),
        ("type [4] [x] [2]", "third part is 0 or 1, got '2'"),
        ("type [4] [x] [yes]", "third part is 0 or 1, got 'yes'"),
        ("type [4] [x] [[0]]", "third part is 0 or 1"),
        ("type [4] [x] []", "third part is 0 or 1, got ''"),
        ("type [4] [:[] [2]", r"needs the third part behind it: type \[7\] \[a\] \[b\] \[1\]"),
        ("scroll [left]", r"scroll \[down\]"),
        ("goto [http://map.test/?q=a b]", r"goto \[http.*a space in an address is %20"),
        ("new_tab [1]", "new_tab"),
        ("```click [1]```", "There is no action"),
    ],
)
def test_what_is_no_action_is_told_how_one_is_written(text: str, message: str) -> None:
    with pytest.raises(InvalidAction, match=message):
        parse_action(text)


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize(
    "action",
    [
        "click [12]",
        "type [7] [running [red] shoes] [1]",
        "type [7] [] [0]",
        "select [9] [Price: low to high]",
        "press [Ctrl+a]",
        "scroll [down]",
        "goto [http://map.test/]",
        "tab_focus [1]",
        "new_tab",
        "close_tab",
        "go_back",
        "go_forward",
        "stop []",
        "stop [N/A]",
    ],
)
def test_every_action_survives_every_format(action_format: str, action: str) -> None:
    parser = BacktickParser() if action_format == "react" else make_parser(action_format, VERBS)
    assert parser.parse(parser.format(action, "I think so.")) == action


def test_calls_name_their_arguments() -> None:
    parser = make_parser("function_call", VERBS)
    call = {"name": "type", "arguments": {"element": 7, "content": "a", "press_enter": 1}}
    assert parser.parse(json.dumps(call)) == "type [7] [a] [1]"


@pytest.mark.parametrize(
    ("call", "action"),
    [
        ({"name": "stop", "arguments": {}}, "stop []"),
        ({"name": "type", "arguments": {"element": 7, "content": "a"}}, "type [7] [a] [1]"),
    ],
)
def test_what_may_be_left_out_in_brackets_may_be_left_out_of_a_call(
    call: dict[str, Any], action: str
) -> None:
    assert make_parser("function_call", VERBS).parse(json.dumps(call)) == action
    arguments = ", ".join(f"{key}={value!r}" for key, value in call["arguments"].items())
    written = f"```python\n{call['name']}({arguments})\n```"
    assert make_parser("code", VERBS).parse(written) == action


@pytest.mark.parametrize(
    ("action_format", "message"),
    [
        ("plain", "scroll is written like this: scroll [down]"),
        ("react", "scroll is written like this: scroll [down]"),
        (
            "function_call",
            'scroll is written like this: {"name": "scroll", "arguments": {"direction": "down"}}',
        ),
        ("code", "scroll is written like this: scroll(direction='down')"),
    ],
)
def test_messages_show_the_form_that_the_policy_writes(action_format: str, message: str) -> None:
    with pytest.raises(InvalidAction) as caught:
        parse_action("scroll [left]", action_format=action_format)
    assert str(caught.value) == message


@pytest.mark.parametrize("kind", [*KINDS, DRAG.name])
def test_every_example_is_an_action(kind: str) -> None:
    kinds = (*KINDS, DRAG.name)
    plain = parse_action(example(kind), kinds=kinds)
    assert plain.kind == kind
    parser = make_parser("function_call", (*VERBS, DRAG))
    assert parse_action(parser.parse(example(kind, "function_call")), kinds=kinds) == plain
    called = make_parser("code", (*VERBS, DRAG)).parse(f"```\n{example(kind, 'code')}\n```")
    assert parse_action(called, kinds=kinds) == plain


def test_a_wrong_press_enter_of_a_call_is_told_by_its_name() -> None:
    call = {"name": "type", "arguments": {"element": 7, "content": "a", "press_enter": 2}}
    action = make_parser("function_call", VERBS).parse(json.dumps(call))
    with pytest.raises(InvalidAction, match="press_enter is 0 or 1, got '2'"):
        parse_action(action, action_format="function_call")


def test_other_environments_may_have_other_actions() -> None:
    kinds = ("click", DRAG.name)
    assert parse_action("drag [12] [9]", kinds=kinds) == WebAction("drag", 12, onto=9)
    with pytest.raises(InvalidAction, match="no action 'goto'. The actions are click, drag."):
        parse_action("goto [http://map.test/]", kinds=kinds)
    with pytest.raises(InvalidAction, match=r"drag: there is no element \[99999"):
        parse_action("drag [1] [" + "9" * 50 + "]", kinds=kinds)
    with pytest.raises(InvalidAction, match="no action 'drag'"):
        parse_action("drag [12] [9]")


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("I look for it. ```click [12]``` and more", "click [12]"),
        ("```\nclick [12]\n```", "click [12]"),
        ("```click [1]``` or ```click [2]```", "click [1]"),
        ("``````", ""),
        ("```click [1]", None),
        ("click [1]", None),
        ("", None),
    ],
)
def test_the_first_pair_of_backticks_counts(text: str, action: str | None) -> None:
    assert find_action(text) == action


def test_an_answer_without_backticks_is_told_so() -> None:
    with pytest.raises(InvalidAction, match="triple backticks"):
        BacktickParser().parse("click [1]")


def test_an_answer_of_several_lines_is_read_whole() -> None:
    parser = BacktickParser(VERBS)
    assert parser.parse("Action: stop [Marlow Heath\nRedmarsh]") == "stop [Marlow Heath\nRedmarsh]"
    assert parser.parse("```stop [Marlow Heath\nRedmarsh]```") == "stop [Marlow Heath\nRedmarsh]"
    assert parser.parse("Action: type [5] [a\nb] [1]") == "type [5] [a\nb] [1]"
    assert parser.parse("Action: click [5]\nThen I wait.") == "click [5]"
