"""Chat templates with the structure of families that think, each in a few lines of ours.

`test_families` holds them against the templates that TRL ships of these families.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from transformers import PreTrainedTokenizerFast

from tests.trainers.tiny_models import tiny_tokenizer

_LAST_USER = (
    "{%- set ns = namespace(last=-1) %}{%- for m in messages %}{%- if m.role == 'user' %}"
    "{%- set ns.last = loop.index0 %}{%- endif %}{%- endfor %}"
)
_SPLIT = (
    "{%- set c = m.content %}{%- set t = m.reasoning_content or '' %}"
    "{%- if not t and '</think>' in c %}"
    "{%- set t = c.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}"
    "{%- set c = c.split('</think>')[-1].lstrip('\n') %}{%- endif %}"
)
_CHATML_OTHER = "{{- '<|im_start|>' + m.role + '\n' + m.content | trim + '<|im_end|>\n' }}"
_ASK_OPEN = (
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}"
    "{{- '<think>\n\n</think>\n\n' }}{%- else %}{{- '<think>\n' }}{%- endif %}{%- endif %}"
)

OPENS_AND_DROPS = (
    _LAST_USER
    + "{%- for m in messages %}{%- if m.role == 'assistant' %}"
    + _SPLIT
    + "{%- if loop.index0 > ns.last %}{%- set c = '<think>\n' + t | trim + '\n</think>\n\n' + c %}"
    "{%- endif %}{{- '<|im_start|>assistant\n' + c + '<|im_end|>\n' }}"
    "{%- else %}" + _CHATML_OTHER + "{%- endif %}{%- endfor %}" + _ASK_OPEN
)
OPENS_AND_KEEPS = (
    "{%- for m in messages %}{%- if m.role == 'assistant' %}"
    "{{- '<|im_start|>assistant\n<think>\n' + (m.reasoning_content or '') | trim"
    " + '\n</think>\n\n' + m.content | trim + '<|im_end|>\n' }}"
    "{%- else %}" + _CHATML_OTHER + "{%- endif %}{%- endfor %}" + _ASK_OPEN
)
ENDS_WITH_NEXT_ROLE = (
    "[gMASK]<sop>"
    + _LAST_USER
    + "{%- for m in messages %}{%- if m.role == 'assistant' %}"
    + _SPLIT
    + "{%- if not (loop.index0 > ns.last) %}{%- set t = '' %}{%- endif %}"
    "{{- '<|assistant|>\n<think>' + t | trim + '</think>\n' + c | trim }}"
    "{%- else %}{{- '<|' + m.role + '|>\n' + m.content }}"
    "{{- '/nothink' if m.role == 'user' and enable_thinking is defined and not enable_thinking }}"
    "{%- endif %}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|assistant|>' }}"
    "{{- '\n<think></think>' if enable_thinking is defined and not enable_thinking }}{%- endif %}"
)
CHANNELS = (
    "{%- for m in messages %}{%- if m.role == 'assistant' %}"
    "{%- if loop.last and not add_generation_prompt %}"
    "{%- if 'thinking' in m %}"
    "{{- '<|start|>assistant<|channel|>analysis<|message|>' + m.thinking + '<|end|>' }}{%- endif %}"
    "{{- '<|start|>assistant<|channel|>final<|message|>' + m.content + '<|return|>' }}"
    "{%- else %}"
    "{{- '<|start|>assistant<|channel|>final<|message|>' + m.content + '<|end|>' }}{%- endif %}"
    "{%- elif m.role == 'system' %}"
    "{{- '<|start|>developer<|message|># Instructions\n\n' + m.content + '\n\n<|end|>' }}"
    "{%- else %}{{- '<|start|>user<|message|>' + m.content + '<|end|>' }}{%- endif %}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{%- endif %}"
)
EMPTIES_THOUGHTS = (
    "{%- set think = enable_thinking if enable_thinking is defined else true %}"
    "{%- set cut = truncate_history_thinking if truncate_history_thinking is defined else true %}"
    + _LAST_USER
    + "{%- if messages[0].role != 'system' %}{{- '<|im_start|>system\n<|im_end|>\n' }}{%- endif %}"
    "{%- for m in messages %}{%- if m.role == 'assistant' %}{%- set c = m.content %}"
    "{%- if m.reasoning_content %}"
    "{%- set c = '<think>\n' + m.reasoning_content + '</think>' + c %}{%- endif %}"
    "{%- if '<think>' not in c and '</think>' not in c %}{%- set c = '<think></think>' + c %}"
    "{%- elif cut and loop.index0 < ns.last %}"
    "{%- set c = '<think></think>' + c.split('</think>')[-1] %}{%- endif %}"
    "{{- '<|im_start|>assistant\n' + c | trim + '<|im_end|>\n' }}"
    "{%- else %}{{- '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{%- endif %}"
    "{%- endfor %}{%- if add_generation_prompt %}"
    "{{- '<|im_start|>assistant\n' + ('<think>\n' if think else '<think></think>') }}{%- endif %}"
)
DROPS_ON_REQUEST = (
    "{{- bos_token }}{%- set keep = preserve_thinking | default(false) %}"
    + _LAST_USER
    + "{%- for m in messages %}{{- '<|im_start|>' + m.role + '\n' }}{%- set c = m.content %}"
    "{%- if m.role == 'assistant' %}{%- if keep or loop.index0 > ns.last %}"
    "{%- if m.thinking %}{{- '<think>' + m.thinking + '</think>' }}{%- endif %}"
    "{%- elif '</think>' in c %}{%- set c = c.split('</think>')[-1] | trim %}{%- endif %}"
    "{%- endif %}{{- c + '<|im_end|>\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}"
)
DROPS_EVEN_THE_LAST = (
    "{{- bos_token }}{%- for m in messages %}{%- if m.role == 'system' %}{{- m.content }}"
    "{%- elif m.role == 'user' %}{{- '<｜User｜>' + m.content }}{%- else %}"
    "{{- '<｜Assistant｜>' + m.content.split('</think>')[-1] + '<｜end▁of▁sentence｜>' }}"
    "{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '<｜Assistant｜><think>\n' }}"
    "{%- endif %}"
)


@dataclass(frozen=True)
class Family:
    """One structure.

    Attributes:
        template: ours.
        names: the templates that TRL ships of it.
        specials: tokens of its markup; the last one ends the text.
        key: the entry of a message that holds a thought; None where the content does.
        with_thought, without: how it writes the turn of the thought "hm" and the answer "go", and
            of the answer alone.
        kwargs: variables by which it does not change earlier turns.
    """

    template: str
    names: tuple[str, ...]
    specials: tuple[str, ...]
    with_thought: str
    without: str
    key: str | None = None
    kwargs: dict[str, Any] = field(default_factory=dict)

    def tokenizer(self) -> PreTrainedTokenizerFast:
        """A small tokenizer with this markup."""
        tokenizer = tiny_tokenizer(self.template)
        tokenizer.add_special_tokens({"additional_special_tokens": list(self.specials)})
        tokenizer.eos_token = self.specials[-1]
        return tokenizer

    def messages(
        self, system_prompt: str, observations: Sequence[str], completions: Sequence[str]
    ) -> list[dict[str, str]]:
        """A conversation as the template takes it."""
        messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
        for index, observation in enumerate(observations):
            messages.append({"role": "user", "content": observation})
            for text in completions[index : index + 1]:
                reply = {"content": text}
                if self.key is not None and "</think>" in text:
                    thought, answer = text.removeprefix("<think>").split("</think>")
                    reply = {"content": answer.strip(), self.key: thought.strip()}
                messages.append({"role": "assistant", **reply})
        return messages


FAMILIES = {
    "opens and drops": Family(
        OPENS_AND_DROPS,
        ("qwen3_5_think", "qwen3_6"),
        ("<|im_start|>", "<|im_end|>"),
        "hm\n</think>\n\ngo<|im_end|>",
        "\n</think>\n\ngo<|im_end|>",
    ),
    "ends with the next role": Family(
        ENDS_WITH_NEXT_ROLE,
        ("glm4moe",),
        ("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|endoftext|>"),
        "\n<think>hm</think>\ngo<|user|>",
        "\n<think></think>\ngo<|user|>",
        kwargs={"enable_thinking": False},
    ),
    "channels": Family(
        CHANNELS,
        ("gptoss",),
        ("<|start|>", "<|channel|>", "<|message|>", "<|end|>", "<|return|>"),
        "<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>go"
        "<|return|>",
        "<|channel|>final<|message|>go<|return|>",
        key="thinking",
    ),
    "empties thoughts": Family(
        EMPTIES_THOUGHTS,
        ("nemotron_3_5_lightning", "nemotron_3_ultra"),
        ("<|im_start|>", "<|im_end|>"),
        "hm</think>go<|im_end|>",
        "</think>go<|im_end|>",
        kwargs={"truncate_history_thinking": False},
    ),
    "drops on request": Family(
        DROPS_ON_REQUEST,
        ("lfm2_2_5", "lfm2_2_5_v2"),
        ("<|im_start|>", "<|im_end|>"),
        "<think>hm</think>go<|im_end|>",
        "go<|im_end|>",
        kwargs={"preserve_thinking": True},
    ),
    "drops even the last": Family(
        DROPS_EVEN_THE_LAST,
        ("deepseekv3", "deepseek_r1_distill"),
        ("<｜User｜>", "<｜Assistant｜>", "<｜end▁of▁sentence｜>"),
        "hm\n</think>\n\ngo<｜end▁of▁sentence｜>",
        "\n</think>\n\ngo<｜end▁of▁sentence｜>",
    ),
}
"""All change earlier turns, unless `kwargs` say otherwise."""

KEEPS = Family(
    OPENS_AND_KEEPS,
    ("qwen3_8",),
    ("<|im_start|>", "<|im_end|>"),
    "hm\n</think>\n\ngo<|im_end|>",
    "\n</think>\n\ngo<|im_end|>",
    key="reasoning_content",
)
"""Opens thoughts and keeps them."""
