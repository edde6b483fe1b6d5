"""Function calls in the markup of the families: a test of each row of `markup.toml`."""

from __future__ import annotations

import pytest

from agentgym_envs.actions import ActionVerb, make_parser
from agentgym_envs.actions.markup import CALLS
from agentgym_envs.errors import InvalidAction

VERBS = (
    ActionVerb("get", "get {count} {item}", "Take.", ("count",)),
    ActionVerb("look", "look", "Look."),
    ActionVerb("say", "say {words}", "Say.", free_text=("words",)),
)
JSON = '{"count": 3, "item": "oak log"}'
DSML = "｜DSML｜"

FAMILIES: dict[str, list[tuple[str, str]]] = {
    "Qwen3-Coder": [
        (
            "I take it.\n<tool_call>\n<function=get>\n<parameter=count>\n3\n</parameter>\n"
            "<parameter=item>\noak log\n</parameter>\n</function>\n</tool_call>",
            "get 3 oak log",
        ),
        ("<tool_call>\n<function=look>\n</function>\n</tool_call><|im_end|>", "look"),
        (
            "<seed:tool_call><function=get><parameter=count>3</parameter><parameter=item>oak log"
            "</parameter></function></seed:tool_call>",
            "get 3 oak log",
        ),
        (f"<function=get>{JSON}</function>", "get 3 oak log"),
        ("<function=get><parameter=count>3<parameter=item>oak log", "get 3 oak log"),
    ],
    "Anthropic": [
        (
            '<function_calls>\n<invoke name="get">\n<parameter name="count">3</parameter>\n'
            '<parameter name="item">oak log</parameter>\n</invoke>\n</function_calls>',
            "get 3 oak log",
        ),
        (
            '<minimax:tool_call>\n<invoke name="get"><parameter name="count">3</parameter>'
            '<parameter name="item">oak log</parameter></invoke>\n</minimax:tool_call>',
            "get 3 oak log",
        ),
        (
            f'<{DSML}function_calls>\n<{DSML}invoke name="get">\n<{DSML}parameter name="count" '
            f'string="false">3</{DSML}parameter>\n<{DSML}parameter name="item" string="true">oak '
            f"log</{DSML}parameter>\n</{DSML}invoke>\n</{DSML}function_calls>",
            "get 3 oak log",
        ),
        (
            "<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜>"
            '<steptml:invoke name="say"><steptml:parameter name="words">1 < 2</steptml:parameter>'
            "</steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
            "say 1 < 2",
        ),
        (
            '<atem:function_calls>\n<atem:invoke name="look">\n</atem:invoke>\n'
            "</atem:function_calls>",
            "look",
        ),
    ],
    "GLM-4.5": [
        (
            "\n<tool_call>get\n<arg_key>count</arg_key>\n<arg_value>3</arg_value>\n"
            "<arg_key>item</arg_key>\n<arg_value>oak log</arg_value>\n</tool_call><|observation|>",
            "get 3 oak log",
        ),
        ("<tool_call>look</tool_call>", "look"),
        (
            "<tool_call>get<tool_sep><arg_key>count</arg_key><arg_value>3</arg_value>"
            "<arg_key>item</arg_key><arg_value>oak log</arg_value></tool_call>",
            "get 3 oak log",
        ),
    ],
    "Kimi K3": [
        (
            '<|open|>tools<|sep|><|open|>call tool="get" index="1"<|sep|><|open|>argument '
            'key="count" type="number"<|sep|>3<|close|>argument<|sep|><|open|>argument key="item" '
            'type="string"<|sep|>oak log<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools'
            "<|sep|>",
            "get 3 oak log",
        ),
    ],
    "MiniCPM 5": [
        (
            '<function name="get"><param name="count">3</param><param name="item">oak log</param>'
            "</function>",
            "get 3 oak log",
        ),
    ],
    "gpt-oss": [
        (
            "<|channel|>analysis<|message|>I look first.<|end|><|start|>assistant<|channel|>"
            f"commentary to=functions.get <|constrain|>json<|message|>{JSON}<|call|>",
            "get 3 oak log",
        ),
        (
            f"<|start|>assistant to=functions.get<|channel|>commentary json<|message|>{JSON}"
            "<|call|>",
            "get 3 oak log",
        ),
        (" to=functions.look<|channel|>commentary json<|message|>{}<|call|>", "look"),
    ],
    "DeepSeek V2.5": [
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get\n```json\n"
            f"{JSON}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
            "get 3 oak log",
        ),
    ],
    "DeepSeek V3.1": [
        (
            f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get<｜tool▁sep｜>{JSON}<｜tool▁call▁end｜>"
            "<｜tool▁calls▁end｜>",
            "get 3 oak log",
        ),
    ],
    "Kimi K2": [
        (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get:0"
            f"<|tool_call_argument_begin|>{JSON}<|tool_call_end|><|tool_calls_section_end|>",
            "get 3 oak log",
        ),
        ("<|tool_call_begin|>look:12<|tool_call_argument_begin|>{}<|tool_call_end|>", "look"),
    ],
    "Mistral": [
        (f"[TOOL_CALLS]get[ARGS]{JSON}</s>", "get 3 oak log"),
        (f"[TOOL_CALLS]get[CALL_ID]a1b2c3d4e[ARGS]{JSON}", "get 3 oak log"),
        (f"[TOOL_CALLS]get{JSON}", "get 3 oak log"),
    ],
    "Functionary": [(f">>>get\n{JSON}", "get 3 oak log")],
    "Qwen-Agent": [(f"✿FUNCTION✿: get\n✿ARGS✿: {JSON}\n✿RESULT✿: ok", "get 3 oak log")],
    "ReAct": [
        (f"Thought: I need wood.\nAction: get\nAction Input: {JSON}", "get 3 oak log"),
        (f"**Action:** get\n**Action Input:**\n```json\n{JSON}\n```", "get 3 oak log"),
    ],
    "FunctionGemma": [
        (
            "<start_function_call>call:get{count:3,item:<escape>oak log<escape>}"
            "<end_function_call>",
            "get 3 oak log",
        ),
        ('<|tool_call>call:get{count:3,item:<|"|>oak log<|"|>}<tool_call|>', "get 3 oak log"),
        ('<|tool_call>call:say{words:<|"|>a, b: {c}<|"|>}<tool_call|>', "say a, b: {c}"),
        ("<|tool_call>call:look{}<tool_call|>", "look"),
    ],
    "LFM2": [
        (
            '<|tool_call_start|>[get(count=3, item="oak log")]<|tool_call_end|>I take.<|im_end|>',
            "get 3 oak log",
        ),
    ],
    "OLMo 3": [
        ('<function_calls>\nget(count=3, item="oak log")\n</function_calls>', "get 3 oak log"),
    ],
    "Llama 4": [("<|python_start|>[look()]<|python_end|><|eot|>", "look")],
    "Llama 3's": [("<|python_tag|>get(count=3, item='oak log')<|eom_id|>", "get 3 oak log")],
    "Gemma 3": [
        ('```tool_code\nget(count=3, item="oak log")\n```', "get 3 oak log"),
        (
            'I go.\n```tool_code\nprint(get(count=3, item="oak log"))\n```<end_of_turn>',
            "get 3 oak log",
        ),
        ("```tool_code\nprint(default_api.look())\n```", "look"),
    ],
    "Hermes": [("<tool_call>\nget(3, 'oak log')\n</tool_call>", "get 3 oak log")],
}
"""Completions by the first words of the row that reads them, and the actions that are meant."""

CALL = '{"name": "get", "arguments": {"count": 3, "item": "oak log"}}'
OBJECTS: dict[str, str] = {
    "bare": CALL,
    "Hermes, Qwen2.5, Qwen3": f"<tool_call>\n{CALL}\n</tool_call><|im_end|>",
    "Hunyuan A13B, Jamba": f"<tool_calls>[{CALL}]</tool_calls>",
    "Granite 3, Phi-4-mini": f"<|tool_call|>[{CALL}]<|/tool_call|>",
    "Granite 20B": f"<function_call> {CALL}",
    "Mistral": f"[TOOL_CALLS] [{CALL}]</s>",
    "Nemotron": f"<TOOLCALL>[{CALL}]</TOOLCALL>",
    "xLAM": f"[{CALL}]",
    "LongCat": f"<longcat_tool_call>{CALL}</longcat_tool_call>",
    "InternLM": '<|action_start|><|plugin|>\n{"name": "get", "parameters": '
    + JSON
    + "}<|action_end|><|im_end|>",
    "Llama 3.1": '<|python_tag|>{"name": "get", "parameters": ' + JSON + "}<|eom_id|>",
    "Llama 3.1, type": '{"type": "function", "name": "get", "parameters": ' + JSON + "}",
    "Cohere": '<|START_ACTION|>[\n{"tool_call_id": "0", "tool_name": "get", "parameters": '
    + JSON
    + "}\n]<|END_ACTION|><|END_OF_TURN_TOKEN|>",
    "Command R": 'Action: ```json\n[{"tool_name": "get", "parameters": ' + JSON + "}]\n```",
    "Apertus": '<|tools_prefix|>[{"get": ' + JSON + "}]<|tools_suffix|>",
    "OpenAI": '{"type": "function", "function": {"name": "get", "arguments": ' + JSON + "}}",
    "OpenAI, arguments as a text": (
        '{"id": "a", "type": "function", "function": {"name": "get", "arguments": '
        '"{\\"count\\": 3, \\"item\\": \\"oak log\\"}"}}'
    ),
    "OpenAI's message": '{"role": "assistant", "content": null, "tool_calls": [{"type": "function",'
    ' "function": {"name": "get", "arguments": ' + JSON + "}}]}",
    "AgentGym": '{"thought": "x", "function_name": "get", "arguments": ' + JSON + "}",
    "LangChain": '```json\n{"action": "get", "action_input": ' + JSON + "}\n```",
    "action as an object": '{"thought": "x", "action": ' + CALL + "}",
    "tool and args": '{"tool": "get", "args": ' + JSON + "}",
    "Anthropic's block": '{"type": "tool_use", "id": "t", "name": "get", "input": ' + JSON + "}",
    "function as a name": '{"function": "get", "arguments": ' + JSON + "}",
    "the plain action": '{"thought": "x", "action": "get 3 oak log"}',
    "beside the name": '{"name": "get", "count": 3, "item": "oak log"}',
    "one brace too few": CALL[:-1],
    "one brace too few in tags": f"<tool_call>\n{CALL[:-1]}\n</tool_call>",
    "single quotes": CALL.replace('"', "'"),
    "namespace": CALL.replace('"get"', '"functions.get"'),
    "spelling": CALL.replace('"get"', '"Get"'),
    "number as a text": CALL.replace("3", '"3"'),
    "Llama's Python": "[get(count=3, item='oak log')]",
    "Python": 'get(count=3, item="oak log")',
    "in a box": f"\\boxed{{{CALL}}}",
    "invented answer": f"<tool_call>{CALL}</tool_call>\n<tool_response>ok</tool_response>\n"
    '<tool_call>{"name": "look", "arguments": {}}</tool_call>',
    "invented turn": f'{CALL}<|im_end|>\n<|im_start|>user\nok<|im_end|>{{"name": "look"}}',
    "invented observation": f'{CALL}\nObservation: ok\n{{"name": "look", "arguments": {{}}}}',
}


@pytest.mark.parametrize(
    ("completion", "action"), [row for rows in FAMILIES.values() for row in rows]
)
def test_a_family_s_markup_is_read(completion: str, action: str) -> None:
    assert make_parser("function_call", VERBS).parse(completion) == action


@pytest.mark.parametrize("name", OBJECTS)
def test_a_call_as_one_object_is_read_in_every_spelling(name: str) -> None:
    assert make_parser("function_call", VERBS).parse(OBJECTS[name]) == "get 3 oak log"


def test_every_row_of_the_table_is_the_first_that_reads_its_examples() -> None:
    assert len(CALLS) == len(FAMILIES)
    for markup, (name, rows) in zip(CALLS, FAMILIES.items(), strict=True):
        assert markup.family.startswith(name)
        for completion, _ in rows:
            assert markup.opening.search(completion), completion


@pytest.mark.parametrize(
    ("completion", "message"),
    [
        ('<function=get>{"count":', "a JSON object"),
        ("<function=jump></function>", "no function 'jump'"),
        ("<tool_call>get<arg_key>count</arg_key><arg_value>3</arg_value></tool_call>", "get takes"),
        ("[TOOL_CALLS]get[ARGS]three", "no JSON object"),
        ("<|tool_call_start|>[look(), get(1, 'x')]<|tool_call_end|>", "2 function calls"),
        ("<|tool_call>call:get{count:", "get takes"),
        ('<invoke name="get"><parameter name="count">x</parameter>', "get takes"),
        ('{"name": "get", "arguments": {"count": 3, "item": "oak', "no JSON object"),
        ("get(3, item=open('x'))", "no JSON object"),
    ],
)
def test_a_broken_call_is_told_and_raises_nothing_else(completion: str, message: str) -> None:
    with pytest.raises(InvalidAction, match=message) as caught:
        make_parser("function_call", VERBS).parse(completion)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("row", range(len(CALLS)))
def test_hostile_markup_is_read_in_no_time(row: int) -> None:
    for completion, _ in list(FAMILIES.values())[row]:
        for size in (5, 12, 25, 60):
            try:
                make_parser("function_call", VERBS).parse(completion[:size] * (50_000 // size))
            except InvalidAction as error:
                assert len(str(error)) < 400
