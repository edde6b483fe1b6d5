"""The table of families in `docs/howto/history.md`, from the templates that TRL ships.

`python -m tests.trainers.tokens.template_table` prints it.
"""

from __future__ import annotations

import json
import re
from typing import Any

from transformers import PreTrainedTokenizerFast
from trl import chat_template_utils

from tests.trainers.tiny_models import tiny_tokenizer
from trainers.tokens.chat import ChatFormat
from trainers.tokens.template_settings import with_settings

FAMILIES: list[tuple[str, str, list[dict[str, Any]]]] = [
    ("Llama 3", "llama3", [{}]),
    ("Llama 3.1, 3.2", "llama3_1", [{}]),
    ("Gemma 3", "gemma3", [{}]),
    ("Phi-3.5", "phi3_5", [{}]),
    ("Qwen2.5", "qwen2_5", [{}]),
    ("Qwen3", "qwen3", [{}, {"enable_thinking": False}]),
    ("Qwen3 Instruct 2507", "qwen3_instruct_2507", [{}]),
    ("Qwen3.5, up to 2B", "qwen3_5_nothink", [{}, {"enable_thinking": True}]),
    ("Qwen3.5, from 4B", "qwen3_5_think", [{}, {"enable_thinking": False}]),
    ("Qwen3.6", "qwen3_6", [{}, {"enable_thinking": False}, {"preserve_thinking": True}]),
    ("Qwen3.8", "qwen3_8", [{}, {"enable_thinking": False}]),
    ("GLM-4.5", "glm4moe", [{}, {"enable_thinking": False}]),
    ("gpt-oss", "gptoss", [{}]),
    (
        "Nemotron 3 Nano",
        "nemotron_3_nano",
        [{}, {"truncate_history_thinking": False}, {"enable_thinking": False}],
    ),
    (
        "Nemotron 3 Ultra",
        "nemotron_3_ultra",
        [{}, {"truncate_history_thinking": False}, {"enable_thinking": False}],
    ),
    ("LFM2", "lfm2_v2", [{}]),
    ("LFM2.5", "lfm2_2_5_v2", [{}, {"preserve_thinking": True}]),
    ("DeepSeek-R1 distilled", "deepseek_r1_distill", [{}]),
    ("DeepSeek-V3", "deepseekv3", [{}]),
]
"""Label, TRL's name of the template, and the variables that it is shown with."""

_MARKUP = re.compile(
    r"<[|｜][^\s<>'\"{}]+?[|｜]>|<(?:start|end)_of_turn>|<(?:sop|bos|eos)>|\[gMASK\]"
)
_COLUMNS = (
    *("models", "`chat_template_kwargs`", "thoughts", "thoughts of earlier turns"),
    "an answer alone is written",
)


def tokenizer_of(template: str) -> PreTrainedTokenizerFast:
    """A small tokenizer with a template's markup."""
    tokenizer = tiny_tokenizer("")
    specials = sorted(set(_MARKUP.findall(template)))
    tokenizer.add_special_tokens({"additional_special_tokens": specials})
    tokenizer.chat_template = template
    return tokenizer


def cells_of(name: str, kwargs: dict[str, Any]) -> tuple[str, ...]:
    """The cells behind a model's label, as Markdown."""
    template = getattr(chat_template_utils, f"{name}_chat_template")
    chat = ChatFormat.from_tokenizer(tokenizer_of(template), template_kwargs=kwargs)
    form = chat.form
    thoughts = "free"
    if form.opened:
        thoughts = "opened"
    elif form.is_quiet:
        thoughts = "empty"
    elif form.key is not None:
        thoughts = "own markup"
    earlier = "kept"
    if chat.rewrites_history:
        earlier = "dropped"
    elif chat.frames.template != with_settings(template, kwargs):
        earlier = "kept by TRL's variant"
    written = chat.tokenizer.decode(chat.action_ids("ANSWER")).replace("\n", "\\n")
    variables = f"`{json.dumps(kwargs)}`" if kwargs else ""
    return (variables, thoughts, earlier, f"`{written}`".replace("|", "\\|"))


def table() -> str:
    """The table, as Markdown. Models whose cells are equal share a row."""
    labels: dict[tuple[str, ...], list[str]] = {}
    for label, name, each in FAMILIES:
        for kwargs in each:
            labels.setdefault(cells_of(name, kwargs), []).append(label)
    rows = [("; ".join(models), *cells) for cells, models in labels.items()]
    lines = [f"| {' | '.join(cells)} |" for cells in (_COLUMNS, *rows)]
    return "\n".join([lines[0], "|---" * len(_COLUMNS) + "|", *lines[1:]])


if __name__ == "__main__":
    print(table())
