"""What language models write around an action, by format; every slip is read as what is meant."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import gymnasium as gym
import pytest

import agentgym_envs
from agentgym_envs import InvalidAction
from agentgym_envs.actions import ActionVerb, clean_action, make_parser
from tests.helpers import EMBEDDED, unless_missing

VERBS = (
    ActionVerb("get", "get {count} {item}", "Take.", integers=("count",)),
    ActionVerb("go_to", "go to {thing}", "Go."),
    ActionVerb("say", "say {words}", "Say.", free_text=("words",)),
    ActionVerb("look", "look", "Look."),
)

Slip = Callable[[str], str]
AROUND: dict[str, Slip] = {
    "nothing": str,
    "space": "\n  {} \n".format,
    "backticks": "`{}`".format,
    "fence": "```\n{}\n```".format,
    "fence on one line": "```{}```".format,
    "fence with a language": "```text\n{}\n```".format,
    "bold": "**{}**".format,
    "quotes": '"{}"'.format,
    "curly quotes": "“{}”".format,
    "single quotes": "'{}'".format,
    "bold in quotes": '"**{}**"'.format,
    "label": "Action: {}".format,
    "full stop": "{}.".format,
    "exclamation": "{}!".format,
    "capital and full stop": lambda action: f"{action[0].upper()}{action[1:]}.",
    "quotes and a full stop": '"{}".'.format,
}
"""Slips around a plain action; under react they follow `Action:`."""

LABELS: dict[str, Slip] = {
    "small": "I look first.\naction: {}".format,
    "large": "THOUGHT: hm\nACTION: {}".format,
    "bold": "**Thought:** hm\n**Action:** {}".format,
    "bold, colon outside": "**Action**: {}".format,
    "heading": "### Action: {}".format,
    "space before the colon": "Action : {}".format,
    "next line": "Action:\n{}".format,
    "block behind it": "Action:\n```\n{}\n```\nThat will do.".format,
}

WHOLE_LINES: dict[str, Slip] = {
    "bold": "I look.\n**Action: {}**".format,
    "backticks": "`Action: {}`".format,
    "underlined": "__Action: {}__".format,
    "quotes": 'I look.\n"Action: {}"'.format,
    "fence on one line": "```Action: {}```".format,
    "fence that ends on the line": "```\nThought: hm\nAction: {}```".format,
}
"""Slips around the label and the action."""

CALLS: dict[str, Slip] = {
    "bare": str,
    "fence": "```json\n{}\n```".format,
    "prose": "I go there now.\n\n{}\n\nThen I look.".format,
    "Qwen and Hermes": "<tool_call>\n{}\n</tool_call>".format,
    "Qwen, not closed": "I go.\n<tool_call>{}".format,
    "Llama": lambda call: "<|python_tag|>" + call.replace('"arguments"', '"parameters"'),
    "Mistral": "[TOOL_CALLS] [{}]".format,
    "OpenAI": lambda call: json.dumps(
        {"id": "call_1", "type": "function", "function": _with_text(call)}
    ),
    "OpenAI's message": lambda call: json.dumps(
        {"role": "assistant", "tool_calls": [{"type": "function", "function": _with_text(call)}]}
    ),
    "function tag": lambda call: "<function={name}>{arguments}</function>".format(
        name=json.loads(call)["name"], arguments=json.dumps(json.loads(call)["arguments"])
    ),
    "Qwen's coder": lambda call: "<tool_call>\n<function={}>\n{}</function>\n</tool_call>".format(
        json.loads(call)["name"],
        "".join(
            f"<parameter={key}>\n{value}\n</parameter>\n"
            for key, value in json.loads(call)["arguments"].items()
        ),
    ),
}

CODE: dict[str, Slip] = {
    "fence": str,
    "no fence": lambda block: block.removeprefix("```python\n").removesuffix("\n```"),
    "Gemma": lambda block: block.replace("```python", "```tool_code"),
    "not closed": lambda block: block.removesuffix("```"),
    "Llama": lambda block: "[" + CODE["no fence"](block) + "]",
}

SLIPS: list[tuple[str, str, Slip]] = [
    *(("plain", name, slip) for name, slip in AROUND.items()),
    ("plain", "label in a heading", "### Action: {}".format),
    *(
        ("react", f"{label}, {name}", lambda action, a=write, b=slip: a(b(action)))
        for label, write in LABELS.items()
        for name, slip in AROUND.items()
        if not (label.startswith("block") and name.startswith("fence"))
    ),
    *(
        (
            "react",
            f"whole line, {line}, {name}",
            lambda action, a=write, b=AROUND[name]: a(b(action)),
        )
        for line, write in WHOLE_LINES.items()
        for name in ("nothing", "full stop")
    ),
    *(("function_call", name, slip) for name, slip in CALLS.items()),
    *(("code", name, slip) for name, slip in CODE.items()),
    *(
        ("code", f"no fence, {name}", lambda block, b=slip: b(CODE["no fence"](block)))
        for name, slip in AROUND.items()
        # A call's own arguments have single quotes, and Python tells capitals apart.
        if name not in ("single quotes", "capital and full stop")
    ),
]
IDS = [f"{action_format}-{name}" for action_format, name, _ in SLIPS]


def _with_text(call: str) -> dict[str, str]:
    value = json.loads(call)
    return {"name": value["name"], "arguments": json.dumps(value["arguments"])}


def slipped(action_format: str, action: str, slip: Slip) -> str:
    """Write an action in a format with a slip."""
    if action_format in ("plain", "react"):
        return slip(action)
    return slip(make_parser(action_format, VERBS).format(action))


@pytest.mark.parametrize("action", ["look", "get 2 oak log", "go to red ball 1"])
@pytest.mark.parametrize(("action_format", "name", "slip"), SLIPS, ids=IDS)
def test_a_slip_is_read_as_the_action(
    action_format: str, name: str, slip: Slip, action: str
) -> None:
    parser = make_parser(action_format, VERBS)
    assert parser.parse(slipped(action_format, action, slip)) == action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ('go to "red ball 1"', "go to red ball 1"),
        ("get 2 `oak log`.", "get 2 oak log"),
        ('say "No."', 'say "No."'),
        ("say Hello. Who is it?", "say Hello. Who is it?"),
        ("say no!", "say no!"),
        ('"a" or "b"', '"a" or "b"'),
        ("dance", "dance"),
        ("jump.", "jump."),
        ("`", "`"),
        ("", ""),
        ("look\nget 3 dirt", "look\nget 3 dirt"),
    ],
)
def test_free_text_and_what_is_no_wrapping_stay(text: str, action: str) -> None:
    assert clean_action(text, VERBS) == action


@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
@pytest.mark.parametrize("before", ["", "Thought: x\nAction: "])
@pytest.mark.parametrize(
    "piece", ["`", "~", "**", '"', "Action:", '{"', "```\n", "<function=a>", "[[", "_", "``` ", "‘"]
)
def test_hostile_text_is_read_in_no_time(action_format: str, before: str, piece: str) -> None:
    verbs = (*VERBS, ActionVerb("type", "type [{a}] [{b}] [{c}]", "Type."))
    start = time.process_time()
    try:
        make_parser(action_format, verbs).parse(before + piece * 100_000)
    except InvalidAction as error:
        assert len(str(error)) < 400
    assert time.process_time() - start < 2


@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
@pytest.mark.parametrize("env_id", [*map(unless_missing, EMBEDDED)])
def test_every_environment_reads_every_slip(env_id: str, action_format: str) -> None:
    env = gym.make(env_id, action_format=action_format).unwrapped
    assert isinstance(env, agentgym_envs.TextEnv)
    env.reset(seed=0)
    completion = next(iter(env.expert()))
    expected = env.parser.parse(completion)
    for each_format, slip_name, slip in SLIPS:
        if each_format == action_format:
            text = completion if action_format in ("function_call", "code") else expected
            action = env.parser.parse(slip(text))
            if "capital" in slip_name:  # an argument may be the first word
                action = action[:1].lower() + action[1:]
            assert action == expected, slip_name
    env.close()


@pytest.mark.parametrize("name", ["ALFWorld", "BabyAI", "TextCraft"])
def test_the_original_s_strictness_stays(name: str) -> None:
    env = gym.make(f"agentgym/{name}-v0", compat="agentgym").unwrapped
    assert isinstance(env, agentgym_envs.TextEnv)
    assert env.parser.parse("`inventory`") == "`inventory`"
    env.close()
