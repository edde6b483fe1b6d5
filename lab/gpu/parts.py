"""The parts in the order in which they run, with their requirements and time limits.

Imports nothing heavy; a part's own module is imported in the part's process.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

LONGEST = 600.0
"""Seconds: no part may take longer, since a command on a lent machine may not either."""

VLLM = "vllm is not installed; its CUDA build takes gigabytes and is not packed"
QUANTIZED = "bitsandbytes is not installed; `--pack FOLDER` takes it along"
DEEPSPEED = "deepspeed is not installed; docs/results/gpu.md says how to take it along"


@dataclass(frozen=True)
class Setting:
    """The folders and the size of a part's work.

    Attributes:
        folder: the part's own: logs, runs and what else it makes.
        shared: of what several parts use, such as models with random weights.
        small: sizes for a rehearsal on the CPU.
    """

    folder: Path
    shared: Path
    small: bool


@dataclass(frozen=True)
class Reading:
    """One line of a part's table.

    Attributes:
        name: what was measured.
        values: numbers and words by column, their unit in the column's name.
    """

    name: str
    values: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Part:
    """One part.

    Attributes:
        name: as `--only` takes it.
        purpose: what it shows, for the report.
        target: `module:function`, called with the setting and the part's name; yields readings.
        seconds: that it may take at full size, at most `LONGEST`.
        needs: importable packages, each with the message where it is missing.
    """

    name: str
    purpose: str
    target: str
    seconds: float
    needs: tuple[tuple[str, str], ...] = ()

    @property
    def reason_to_skip(self) -> str | None:
        """Return why the part cannot run here, or None if it can."""
        return next((reason for name, reason in self.needs if find_spec(name) is None), None)


_LAUNCHED = "lab.gpu.launched:launched"

_ALL = (
    Part(
        "tests",
        "the tests of what a CUDA device may do otherwise",
        "lab.gpu.device_tests:device_tests",
        180,
    ),
    Part(
        "rollout",
        "tokens per second of rollouts against transformers' `generate`, and memory",
        "lab.gpu.sampling:rollouts",
        480,
    ),
    Part(
        "step",
        "a step of GRPO: how much of it is sampling, and memory",
        "lab.gpu.steps:steps",
        420,
    ),
    Part(
        "precision",
        "how far apart sampled and trained log-probabilities are, by precision",
        "lab.gpu.steps:precisions",
        240,
    ),
    Part("lora", "SFT with `--config lora`", _LAUNCHED, 180),
    Part("qlora", "SFT with `--config qlora`", _LAUNCHED, 180, (("bitsandbytes", QUANTIZED),)),
    Part("fsdp2", "SFT under `accelerate launch` with fsdp2.yaml", _LAUNCHED, 180),
    Part(
        "zero2",
        "SFT under `accelerate launch` with zero2.yaml",
        _LAUNCHED,
        180,
        (("deepspeed", DEEPSPEED),),
    ),
    Part(
        "zero3",
        "SFT under `accelerate launch` with zero3.yaml",
        _LAUNCHED,
        180,
        (("deepspeed", DEEPSPEED),),
    ),
    Part(
        "vllm",
        "tokens per second of rollouts with vLLM in process",
        "lab.gpu.sampling:vllm_rollouts",
        240,
        (("vllm", VLLM),),
    ),
    Part(
        "vllm_step",
        "a step of GRPO where vLLM samples in process",
        "lab.gpu.steps:vllm_steps",
        300,
        (("vllm", VLLM),),
    ),
    Part(
        "vllm_precision",
        "how far apart log-probabilities are where vLLM samples",
        "lab.gpu.steps:vllm_precisions",
        240,
        (("vllm", VLLM),),
    ),
    Part(
        "learning",
        "SmolLM2 from SFT to GRPO by the public commands",
        "lab.gpu.learning:learning",
        LONGEST,
    ),
)

PARTS = {part.name: part for part in _ALL}
"""By name."""


def select(names: Sequence[str] | None) -> list[Part]:
    """Return the named parts in the order in which they run, or all of them for None."""
    return [part for part in _ALL if names is None or part.name in names]
