from __future__ import annotations

import warnings
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs import InvalidAction
from agentgym_envs.actions import ACTION_FORMATS, ActionVerb, make_parser

VERBS = (
    ActionVerb("get", "get {count} {item}", "Take.", integers=("count",)),
    ActionVerb("craft", "craft {output} using {ingredients}", "Craft."),
    ActionVerb("look", "look", "Look."),
)
ACTIONS = ("get 3 oak log", "craft 1 stick using 2 oak planks, 1 dye", "look", 'get 1 it\'s "é"\\d')


def parse(action_format: str, completion: str) -> str:
    return make_parser(action_format, VERBS).parse(completion)


def code(body: str) -> str:
    return f"```python\n{body}\n```"


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize("action", ACTIONS)
def test_what_a_format_writes_it_reads_back(action_format: str, action: str) -> None:
    parser = make_parser(action_format, VERBS)
    assert parser.parse(parser.format(action)) == action
    assert parser.parse(parser.format(action, "first a thought\nof two lines")) == action


@pytest.mark.parametrize(
    ("action_format", "completion", "action"),
    [
        ("plain", "  look\n", "look"),
        ("react", "Thought: hm\nAction: look", "look"),
        ("react", "Action: get 1 x\nThought: no\nAction:\n look \nmore", "look"),
        ("react", "Action: look\nThought: my next action: get 1 x", "look"),
        ("react", "Thought: hm. Action: look", "look"),
        ("react", "Action: get 1 x. My next action: look", "get 1 x. My next action: look"),
        ("react", "Action: ```python\r\nlook\r\n```", "look"),
        ("function_call", ' {"arguments": {}, "name": "look"}\n', "look"),
        ("function_call", '{"name":"get","arguments":{"count":2,"item":65.4}}', "get 2 65.4"),
        ("function_call", '{"name":"get","arguments":{"count":2,"item":[5,"x"]}}', "get 2 5, x"),
        ("function_call", '{"name":"get","arguments":{"count":"2","item":"x"}}', "get 2 x"),
        (
            "function_call",
            '{"name":"craft","arguments":{"output":"1 a","ingredients":["1 b","2 c"]}}',
            "craft 1 a using 1 b, 2 c",
        ),
        ("code", "I look.\n```python\nlook()\n```\nDone.", "look"),
        ("code", "```\nget(2, item='x')\n```", "get 2 x"),
        ("code", "```py\nget(item='x', count=2)\n```", "get 2 x"),
        ("code", code("# why\nget(1, r'\\d')"), "get 1 \\d"),
        ("code", "```Python\r\nlook()\r\n```", "look"),
        ("code", "1. Look:\n   ```python\n   look()\n   ```", "look"),
        ("code", "~~~python\nlook()\n~~~", "look"),
    ],
)
def test_every_format_finds_the_action(action_format: str, completion: str, action: str) -> None:
    assert parse(action_format, completion) == action


@pytest.mark.parametrize(
    ("action_format", "completion", "message"),
    [
        ("react", "I look.", "no 'Action:'"),
        ("react", "Action: look\nAction: \n", "Nothing follows"),
        ("function_call", "look", "no JSON object"),
        (
            "function_call",
            '{"name":"look","arguments":{}}{"name":"get","arguments":{"count":1,"item":"x"}}',
            "2 function calls; write one",
        ),
        ("function_call", "[" * 100_000, "no JSON object"),
        ("function_call", '{"a":' * 20_000, "no JSON object"),
        ("function_call", "<function=" * 10_000, "no JSON object"),
        ("function_call", '["look"]', "no JSON object"),
        ("function_call", '{"thought":"look"}', "no JSON object"),
        ("function_call", '{"name":"look","arguments":{},"why":1}', "leave out 'why'"),
        ("function_call", '{"name":"look","arguments":"at"}', "must be a JSON object"),
        ("function_call", '{"name":"get","arguments":[1]}', "get takes"),
        ("function_call", '{"name":"jump","arguments":{}}', "'jump'; the functions are get, craft"),
        ("function_call", '{"name":"get","arguments":{"count":2.5,"item":"x"}}', "an int, got 2.5"),
        ("function_call", '{"name":"get","arguments":{"count":2,"item":NaN}}', "a str, got nan"),
        ("function_call", '{"name":["look"],"arguments":{}}', "no function list"),
        ("function_call", '{"name":"get","arguments":{"count":1}}', r"get\(count: int, item"),
        ("function_call", '{"name":"look","arguments":{"at":1}}', r"look takes look\(\)"),
        ("function_call", '{"name":"get","arguments":{"count":true,"item":"x"}}', "int, got True"),
        ("function_call", '{"name":"get","arguments":{"count":1.5,"item":"x"}}', "an int, got 1.5"),
        ("function_call", '{"name":"get","arguments":{"count":"a","item":"x"}}', "an int, got 'a'"),
        ("function_call", '{"name":"get","arguments":{"count":1,"item":null}}', "a str, got None"),
        ("code", "I look.", "not valid Python"),
        ("code", code("look()") + code("get(1, 'x')"), "2 fenced blocks; write one"),
        ("code", code("look("), "not valid Python"),
        ("code", code("look()\nget(1, 'x')"), "one call of one function"),
        ("code", code("x = 1"), "one call of one function"),
        ("code", code("x = look()\ny = get(1, 'x')"), "one call of one function"),
        ("code", code("print(1)"), "no function 'print'"),
        ("code", code("jump()"), "no function 'jump'"),
        ("code", code("look(1)"), "look takes"),
        ("code", code("get(*[1, 'x'])"), "literals"),
        ("code", code("get(**{'count': 1})"), "get takes"),
        ("code", code("get(1, count=1)"), "'count' twice"),
        ("code", code("get(1, item=open('f'))"), "literals"),
        ("code", code("get(1, item=f'{1}')"), "literals"),
        ("code", code("get(0x" + "f" * 9999 + ", 'x')"), "too large"),
        ("code", code("get([0x" + "f" * 9999 + "], 'x')"), "an int, got list"),
        ("code", code("get(" + "-" * 40_000 + "1)"), "not valid Python|literals"),
        ("code", "--look" * 1500, "one call of one function"),
        ("code", code("look" + " - x" * 1500), "one call of one function"),
        ("code", code("get(" + "[" * 90 + "]" * 90 + ", 'x')"), "an int, got list"),
    ],
)  # fmt: skip
def test_what_is_no_action_is_told_shortly(
    action_format: str, completion: str, message: str
) -> None:
    with pytest.raises(InvalidAction, match=message) as caught:
        parse(action_format, completion)
    assert len(str(caught.value)) < 400


SAY = ActionVerb("say", "say {word} {times} {how}", "Say.", ("times",), {"times": 1, "how": "low"})


@pytest.mark.parametrize(
    ("body", "action"),
    [
        ("say('a')", "say a 1 low"),
        ("say('a', how='high')", "say a 1 high"),
        ("say('a', 2)", "say a 2 low"),
        ("say('a', 2, 'high')", "say a 2 high"),
    ],
)
def test_arguments_with_a_default_may_be_left_out(body: str, action: str) -> None:
    assert make_parser("code", (SAY,)).parse(code(body)) == action


def test_defaults_are_told_and_arguments_without_one_stay_needed() -> None:
    parser = make_parser("function_call", (SAY,))
    assert "say(word: str, times: int = 1, how: str = 'low')" in parser.instructions
    with pytest.raises(InvalidAction, match=r"say takes say\(word: str, times: int = 1"):
        parser.parse('{"name": "say", "arguments": {"times": 1}}')


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"defaults": {"first": ""}}, r"defaults come last; got \['first'\]"),
        ({"defaults": {"third": ""}}, r"\['third'\] are not in 'do {first} {second}'"),
        ({"notes": {"third": ""}}, "are not in"),
        ({"integers": ("third",)}, "are not in"),
    ],
)
def test_a_verb_that_contradicts_its_template_is_refused(
    wrong: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ActionVerb("do", "do {first} {second}", "Do.", **wrong)


def test_endless_argument_names_are_not_repeated_at_length() -> None:
    with pytest.raises(InvalidAction) as caught:
        parse("code", code(f"get({'a' * 100_000}=1)"))
    assert len(str(caught.value)) < 400


def test_the_program_s_warning_filters_do_not_change_what_is_read() -> None:
    completion = code(r"get(1, '\d')")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strict = parse("code", completion)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lenient = parse("code", completion)
    assert strict == lenient == r"get 1 \d"
    assert caught == []


def test_an_action_of_no_verb_cannot_be_written_as_a_call() -> None:
    with pytest.raises(ValueError, match="no verb builds the action 'jump'"):
        make_parser("code", VERBS).format("jump")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown action_format 'xml'; allowed: plain, react"):
        make_parser("xml", VERBS)


@pytest.mark.parametrize("action_format", ["function_call", "code"])
def test_instructions_list_every_verb(action_format: str) -> None:
    instructions = make_parser(action_format, VERBS).instructions
    for signature in (
        "get(count: int, item: str)",
        "craft(output: str, ingredients: str)",
        "look()",
    ):
        assert signature in instructions


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["count", "item", "x"]), json_values))
def test_any_arguments_build_an_action_or_are_told(arguments: dict[str, Any]) -> None:
    try:
        assert VERBS[0].build(arguments).startswith("get ")
    except InvalidAction as error:
        assert str(error)


@pytest.mark.parametrize("name", ["pass", "go to", "look-at", "", "2nd"])
def test_a_verb_that_code_cannot_call_is_refused(name: str) -> None:
    with pytest.raises(
        ValueError, match=f"must be a Python identifier and no keyword.*got {name!r}"
    ):
        ActionVerb(name, "go", "Go.")


@pytest.mark.parametrize("template", ["go {room", "go room}", "go {the room}", "go {}"])
def test_a_template_with_half_a_slot_is_refused(template: str) -> None:
    with pytest.raises(ValueError, match="go: a slot of a template is written {name}; got"):
        ActionVerb("go", template, "Go.")
