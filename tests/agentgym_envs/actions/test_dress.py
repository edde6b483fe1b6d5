"""The dress of other trainers and of chat templates around an action, in every environment.

`python -m tests.agentgym_envs.actions.test_dress` prints the share that is read as it is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gymnasium as gym
import pytest

pytest.importorskip("rapidfuzz")  # which WebShop's module imports

from agentgym_envs import TextEnv
from agentgym_envs.actions import ActionParser, ActionVerb, make_parser, strip_thinking
from agentgym_envs.actions.formats import ACTION_FORMATS
from agentgym_envs.actions.markup import TURN_ENDS
from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.babyai.skills import VERBS as BABYAI
from agentgym_envs.browsing.actions import DRAG
from agentgym_envs.browsing.actions import VERBS as WEBARENA
from agentgym_envs.errors import InvalidAction
from agentgym_envs.maze.env import MazeEnv
from agentgym_envs.sciworld.verbs import CALLABLE as SCIWORLD
from agentgym_envs.searchqa.prompts import VERBS as SEARCHQA
from agentgym_envs.searchqa.tags import TagReactParser
from agentgym_envs.sql.env import SQLEnv
from agentgym_envs.textcraft.env import TextCraftEnv
from agentgym_envs.webarena.backticks import BacktickParser
from agentgym_envs.webshop.env import WebShopEnv
from agentgym_envs.wordle.env import WordleEnv
from tests.helpers import EMBEDDED, unless_missing

Dress = Callable[[str], str]

ACTIONS: dict[str, tuple[tuple[ActionVerb, ...], tuple[str, ...]]] = {
    "ALFWorld": (
        ALFWorldEnv.verbs,
        ("go to cabinet 2", "take mug 1 from cabinet 2", "move mug 1 to shelf 1", "look"),
    ),
    "BabyAI": (
        BABYAI,
        ("turn left", "go to red ball 1", "pick up grey key 1", "toggle and go through red door 1"),
    ),
    "Maze": (MazeEnv.verbs, ("move up", "move left")),
    "SciWorld": (
        SCIWORLD,
        (
            "look around",
            "open door to kitchen",
            "focus on metal pot",
            "use thermometer on water",
            "wait1",
            "pour cup in jug",
            "0",
        ),
    ),
    "SearchQA": (
        SEARCHQA,
        (
            "<search>who wrote the Takisawan treaty</search>",
            "<open>Doc 2</open>",
            "<answer>Paris</answer>",
            "<python>print(6 * 7)</python>",
        ),
    ),
    "SQL": (
        SQLEnv.verbs,
        (
            "columns orders",
            "query SELECT count(*) FROM orders WHERE name LIKE '%a%'",
            "answer SELECT max(price) - min(price) FROM items",
            "query WITH t AS (SELECT 1 AS a) SELECT a FROM t",
        ),
    ),
    "TextCraft": (
        TextCraftEnv.verbs,
        ("get 3 glass", "craft 4 stick using 2 oak planks", "inventory"),
    ),
    "WebArena": (
        WEBARENA,
        (
            "click [12]",
            "type [7] [running shoes] [1]",
            "scroll [down]",
            "stop [42]",
            "go_back",
            "goto [http://homepage.test/]",
        ),
    ),
    "WebShop": (WebShopEnv.verbs, ("search[red running shoes]", "click[b0012]", "click[< prev]")),
    "Wordle": (WordleEnv.verbs, ("s h i r e", "crane")),
    "MiniWoB++": ((*WEBARENA, DRAG), ("click [12]", "drag [12] [9]", "type [7] [- a > b] [0]")),
}

OTHER = {
    **{"ALFWorld": "inventory", "BabyAI": "drop", "Maze": "move down", "SciWorld": "inventory"},
    **{"SearchQA": "<answer>Rome</answer>", "SQL": "answer SELECT 1", "TextCraft": "get 9 dirt"},
    **{"WebArena": "stop [no]", "WebShop": "click[buy now]", "Wordle": "p l a n t"},
    "MiniWoB++": "stop []",
}
"""Another action, which a policy invents behind the environment's answer."""

AROUND: dict[str, Dress] = {
    "bare": str,
    "tag": "<action>{}</action>".format,
    "tag with spaces": "<action> {} </action>".format,
    "tag on lines": "<action>\n{}\n</action>".format,
    "tag, capital": "<ACTION>{}</ACTION>".format,
    "tag, open": "<action>{}".format,
    "tag of commands": "<command>{}</command>".format,
    "quote": "> {}".format,
    "quote, tight": ">{}".format,
    "prompt": ">>> {}".format,
    "shell": "$ {}".format,
    "bullet": "- {}".format,
    "star": "* {}".format,
    "dot": "• {}".format,
    "number": "1. {}".format,
    "number in brackets": "1) {}".format,
    "arrow": "-> {}".format,
    "long arrow": "→ {}".format,
    "box": "\\boxed{{{}}}".format,
    "box in dollars": "$\\boxed{{{}}}$".format,
    "box with text": "\\boxed{{\\text{{{}}}}}".format,
    "backticks": "`{}`".format,
    "fence on a line": "```{}```".format,
    "fence": "```\n{}\n```".format,
    "fence with a language": "```text\n{}\n```".format,
    "bold": "**{}**".format,
    "italics": "*{}*".format,
    "quotes": '"{}"'.format,
    "curly quotes": "“{}”".format,
    "brackets": "[{}]".format,
    "angles": "<{}>".format,
    "bold in backticks": "`**{}**`".format,
    "bold bullet": "- **{}**".format,
    "quoted backticks": "> `{}`".format,
    "tag in a fence": "```\n<action>{}</action>\n```".format,
    "backticks in a tag": "<action>`{}`</action>".format,
    "tag, closed alone": "{}</action>".format,
    "square tags": "[action]{}[/action]".format,
    "box in prose": "The best is $\\boxed{{{}}}$.".format,
    "backticks in prose": "Now I do `{}`.".format,
    "bold in prose": "Now I do **{}**, then wait.".format,
    "beginning": "<s>{}".format,
    "header": "<|im_start|>assistant\n{}<|im_end|>".format,
    "header, Gemma's": "<start_of_turn>model\n{}<end_of_turn>".format,
    "header without its tokens": "assistant\n{}".format,
    "name of the speaker": "Assistant: {}".format,
    "heading of Alpaca": "### Response:\n{}".format,
    "tag with an attribute": '<action type="text">{}</action>'.format,
    "double backticks": "``{}``".format,
    "arrow, emoji": "➡ {}".format,
    "fence, open": "```text\n{}".format,
    "braces": "{{{}}}".format,
    "tag of the next action": "<next_action>{}</next_action>".format,
    "tag of InternLM": "<|action_start|>{}<|action_end|>".format,
}
LABELS: dict[str, Dress] = {
    "label": "Action: {}".format,
    "number": "Action 1: {}".format,
    "number, tight": "Action1: {}".format,
    "hash": "Action #2: {}".format,
    "small": "action: {}".format,
    "large": "ACTION: {}".format,
    "bold": "**Action:** {}".format,
    "bold, colon outside": "**Action**: {}".format,
    "bold line": "**Action: {}**".format,
    "bold number": "**Action 3:** {}".format,
    "italics": "*Action:* {}".format,
    "heading": "### Action: {}".format,
    "heading above": "### Action\n{}".format,
    "bold above": "**Action**\n{}".format,
    "line above": "Action:\n{}".format,
    "wide colon": "Action：{}".format,
    "brackets": "[action] {}".format,
    "brackets, capital": "[Action] {}".format,
    "brackets and colon": "[ACTION]: {}".format,
    "parentheses": "(action) {}".format,
    "equals": "Action = {}".format,
    "arrow": "Action -> {}".format,
    "quote": "> Action: {}".format,
    "bullet": "- Action: {}".format,
    "bullet and bold": "- **Action:** {}".format,
    "next": "Next action: {}".format,
    "tag behind": "Action: <action>{}</action>".format,
    "backticks behind": "**Action:** `{}`".format,
    "quote behind": "Action: > {}".format,
    "box behind": "Action: \\boxed{{{}}}".format,
    "brackets behind": "Action: [{}]".format,
    "bullet below": "Action:\n- {}".format,
}
ENDS: dict[str, Dress] = {
    **{end: (lambda text, end=end: text + end) for end in TURN_ENDS},
    "end on a line": "{}\n<|im_end|>\n".format,
    "end behind a space": "{} </s>".format,
    "two ends": "{}<|im_end|><|endoftext|>".format,
}
CODE: dict[str, Dress] = {
    "print": "print({})".format,
    "name": "x = {}".format,
    "env": "env.{}".format,
    "name and env": "observation = env.{}".format,
    "await": "await {}".format,
    "print of a name": "result = {}\nprint(result)".format,
    "comment behind": "{}  # this is it".format,
    "semicolon": "{};".format,
    "list": "[{}]".format,
    "step": "env.step({})".format,
    "import": "import env\nenv.{}".format,
}


RESULTS = (
    "Observation: It is done.",
    "Observation 1: It is done.",
    "**Observation:** It is done.",
    "<observation>It is done.</observation>",
    "<tool_response>\nIt is done.\n</tool_response>",
    "<|im_end|>\n<|im_start|>user\nIt is done.<|im_end|>\n<|im_start|>assistant",
)
"""What a policy invents of the environment's answer."""

HEADERS = ("header", "header, Gemma's", "header without its tokens", "heading of Alpaca")
"""What stands at a completion's beginning alone."""

FENCEABLE = ("bare", "tag", "tag with spaces", "tag on lines", "tag, capital", "tag, open")
"""What a block in a fence may stand in."""

UNREAD = {
    ("SQL", "italics"): "a star is a sign of SQL, too",
    ("SQL", "quotes"): "text stands in quotes in Python, too",
    ("SearchQA", "italics"): "a star is a sign of Python, too",
    ("Wordle", "in prose"): "any words might be a guess",
    ("SciWorld", "in prose"): "any words might be an action",
    ("SQL", "bold in prose"): "two stars are a sign of SQL, too",
    ("SearchQA", "bold in prose"): "two stars are a sign of Python, too",
    ("WebShop", "angles"): "the name of a button holds an angle",
    ("MiniWoB++", "angles"): "what is typed holds an angle",
}
"""Dresses that are not taken off of each action, and why."""


def parser_of(env: str, action_format: str) -> ActionParser:
    """Return what reads an environment's completions."""
    verbs = ACTIONS[env][0]
    if action_format == "react" and env == "SearchQA":
        return TagReactParser(verbs)
    if action_format == "react" and env == "WebArena":
        return BacktickParser(verbs)
    return make_parser(action_format, verbs)


def forms(parser: ActionParser, action_format: str, action: str) -> dict[str, str]:
    """Return what is dressed of an action in a format, by a name."""
    if action_format == "react":
        return {"behind a label, ": action, "behind a thought, ": action}
    if action_format == "plain":
        return {"": action}
    if action_format == "function_call":
        return {"": parser.format(action)}
    call = parser.format(action).removeprefix("```python\n").removesuffix("\n```")
    calls = {"": call, **{f"{name}, ": dress(call) for name, dress in CODE.items()}}
    fenced = {f"fenced, {name}": f"```python\n{text}\n```" for name, text in calls.items()}
    return {**calls, **fenced}


def completions(env: str, action_format: str) -> Iterator[tuple[str, str, str]]:
    """Yield dressed completions: the dress's name, the completion, the action that is meant."""
    parser = parser_of(env, action_format)
    other = parser.format(OTHER[env])
    has_own_grammar = env in ("SearchQA", "WebArena")
    for action in ACTIONS[env][1][: 2 if action_format == "code" else None]:
        for form, text in forms(parser, action_format, action).items():
            is_fenced = "```" in text
            before = {"": "", "b": "Thought: I go.\n"}[form[:1] if action_format == "react" else ""]
            label = "Action: " if form == "behind a label, " else ""
            for name, dress in AROUND.items():
                if is_fenced and name not in FENCEABLE:
                    continue
                if name in ("tag, closed alone", "fence, open", *HEADERS) and before:
                    continue
                if name.endswith("in prose") and "\n" in text:
                    continue
                if name == "bare" and before and not (label or env == "SearchQA"):
                    continue
                yield form + name, f"{before}{label}{dress(text)}", action
            for name, dress in LABELS.items():
                if not is_fenced or name == "line above":
                    yield f"{form}label, {name}", before + dress(text), action
            whole = f"{before}Action: {text}" if before and not has_own_grammar else before + text
            if before and env == "WebArena":
                whole = parser.format(action, "I go.")
            for name, dress in ENDS.items():
                yield f"{form}end, {name}", dress(whole), action
            for result in RESULTS:
                yield f"{form}invented, {result}", f"{whole}\n{result}\n{other}", action
            thought = f"<think>I go, or {other}.</think>\n"
            yield f"{form}verl-agent", f"{thought}<action>{text}</action>", action
            yield f"{form}thought", f"{thought}\n{whole}", action


def misread(env: str, action_format: str) -> tuple[int, list[tuple[str, str, str]]]:
    """Return how many completions there are, and those that are not read as they are meant."""
    parser, wrong, total = parser_of(env, action_format), [], 0
    for name, completion, action in completions(env, action_format):
        total += 1
        try:
            result = parser.parse(strip_thinking(completion))
        except InvalidAction as error:
            result = f"InvalidAction: {error}"
        if result != action:
            wrong.append((name, completion, result[:120]))
    return total, wrong


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize("env", ACTIONS)
def test_a_dressed_action_is_the_action_that_is_meant(env: str, action_format: str) -> None:
    total, wrong = misread(env, action_format)
    known = tuple(dress for name, dress in UNREAD if name == env)
    assert [one for one in wrong if not (known and one[0].endswith(known))] == []
    assert len(wrong) <= 0.03 * total


@pytest.mark.parametrize(
    ("env", "text"),
    [
        ("SQL", "query SELECT '- a' || '> b' AS [x] -- Action: none"),
        ("SQL", 'answer SELECT "a" FROM `t`'),
        ("SQL", "query SELECT *\nFROM t\nWHERE a > 1"),
        ("SQL", "-- all of them\nSELECT * FROM t"),
        ("SQL", "(SELECT 1) UNION (SELECT 2)"),
        ("WebArena", "type [7] [- first\n- second] [1]"),
        ("WebArena", "type [7] [<action>look</action>] [0]"),
        ("WebArena", "type [7] [Action: look] [1]"),
        ("WebArena", "type [7] [<s>old</s> new]"),
        ("WebArena", "stop [> 5]"),
        ("WebArena", 'stop [{"action": "look"}]'),
        ("WebArena", "type [7] [Assistant: hello] [1]"),
        ("WebArena", "type [7] [<cmd>ls</cmd>] [1]"),
        ("SearchQA", "<search>action: the film</search>"),
        ("WebArena", "stop [[1, 2]]"),
        ("WebArena", "scroll down"),
        ("SearchQA", "<search>- what is [x] > 1?</search>"),
        ("SearchQA", "<answer>**Paris**</answer>"),
        ("SearchQA", "<python>print(['> a', '- b'])\nprint(1)</python>"),
        ("WebShop", "search[- red > blue [size 4]]"),
        ("WebShop", "click[[b0012]]"),
        ("BabyAI", "go to [red] ball 1"),
        ("Wordle", "c r a n e"),
    ],
)
def test_what_is_an_action_as_it_stands_is_played_as_it_stands(env: str, text: str) -> None:
    assert parser_of(env, "plain").parse(text) == text


@pytest.mark.parametrize(
    "text", ['"""I go."""\nget(3, "glass")', 'thought = "I go."\nget(3, "glass")']
)
def test_a_thought_beside_a_call_of_code_is_no_statement(text: str) -> None:
    assert parser_of("TextCraft", "code").parse(f"```python\n{text}\n```") == "get 3 glass"


@pytest.mark.parametrize("fence", ["```python {}```", "```py {}\n```", "```{}```"])
def test_a_block_of_code_may_stand_on_one_line(fence: str) -> None:
    assert parser_of("TextCraft", "code").parse(fence.format('get(3, "glass")')) == "get 3 glass"


@pytest.mark.parametrize("action_format", ["plain", "react"])
@pytest.mark.parametrize("before", ["", "I go.\n"])
def test_an_action_in_a_json_object_is_read(action_format: str, before: str) -> None:
    text = before + '{"thought": "I go.", "action": "get 3 glass"}'
    for completion in (text, f"{before}```json\n{text.removeprefix(before)}\n```"):
        assert parser_of("TextCraft", action_format).parse(completion) == "get 3 glass"


@pytest.mark.parametrize(
    "text",
    [
        '{"functionCall": {"name": "get", "args": {"count": 3, "item": "glass"}}}',
        '{"name": "get", "arguments": {"count": 3, "item": "glass"},}',
    ],
)
def test_gemini_s_call_and_a_comma_too_many_are_read(text: str) -> None:
    assert parser_of("TextCraft", "function_call").parse(text) == "get 3 glass"


def test_a_label_inside_the_only_line_is_read() -> None:
    completion = "Thought: I go. Action: get 3 glass"
    assert parser_of("TextCraft", "plain").parse(completion) == "get 3 glass"


STEPS: dict[str, Dress] = {
    "verl-agent": "<think>\nI go on.\n</think>\n<action>{}</action>".format,
    "box": "\\boxed{{{}}}".format,
    "quote and end": "> {}<|im_end|>".format,
    "bullet": "- {}".format,
    "invented": "{}\nObservation: It is done.".format,
}


@pytest.mark.parametrize("action_format", ["plain", "function_call"])
@pytest.mark.parametrize("env_id", [*map(unless_missing, EMBEDDED)])
def test_an_environment_plays_a_dressed_action(env_id: str, action_format: str) -> None:
    env = gym.make(env_id, action_format=action_format).unwrapped
    assert isinstance(env, TextEnv)
    env.reset(seed=0, options={"task_id": env.task_ids()[0]})
    action = next(iter(env.expert()))
    expected = env.step(action)
    assert expected[4]["is_valid_action"]
    for name, dress in STEPS.items():
        env.reset(seed=0, options={"task_id": env.task_ids()[0]})
        assert env.step(dress(action)) == expected, name
    env.close()


def main() -> None:
    """Print the share of each environment and format."""
    for env in ACTIONS:
        shares = []
        for action_format in ACTION_FORMATS:
            total, wrong = misread(env, action_format)
            shares.append(f"{action_format} {total - len(wrong)} of {total}")
        print(env, *shares, sep="  ")


if __name__ == "__main__":
    main()
