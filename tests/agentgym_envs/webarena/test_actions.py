from __future__ import annotations

import json

import pytest

from agentgym_envs.actions import ACTION_FORMATS, make_parser
from agentgym_envs.errors import InvalidAction
from agentgym_envs.webarena.actions import DRAG, VERBS, WebAction, parse_action
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
    ("text", "told"),
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
        ("scroll [left]", r"scroll \[down\]"),
        ("goto [http://map.test/?q=a b]", r"goto \[http"),
        ("new_tab [1]", "new_tab"),
        ("```click [1]```", "There is no action"),
    ],
)
def test_what_is_no_action_is_told_how_one_is_written(text: str, told: str) -> None:
    with pytest.raises(InvalidAction, match=told):
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
