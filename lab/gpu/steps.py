"""Steps of GRPO from Python: their duration, the share of sampling, and precision.

What a random model writes is never right, so every second episode is rewarded: each group then has
advantages, and every row is trained.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from peft import LoraConfig
from transformers import TrainerCallback

from lab.gpu.memory import COLUMN, finish_kernels, peak_gigabytes, reset_peak
from lab.gpu.models import model_folder, shapes
from lab.gpu.parts import Reading, Setting
from trainers import AgentGRPOConfig, AgentGRPOTrainer, EnvArguments, RolloutArguments
from trainers.models.fetched import smollm2_folder
from trainers.models.loading import load_policy
from trainers.options.configs import ModelArguments
from trainers.options.models import SMOLLM2, TINY

_GAP = "sampling/sampling_logp_difference"
_RATIO = "sampling/importance_sampling_ratio"


@dataclass(frozen=True)
class Case:
    """A few steps.

    Attributes:
        name: in the table.
        model: a folder, or a name of ours.
        dtype: of the weights.
        bf16: sample and train in bfloat16.
        lora: train an adapter on all linear layers.
        backend: what samples.
        steps: optimizer steps, of which the first only warms up.
        tasks: of a batch.
        group: episodes of a task.
        rows: of a pass.
        turns: of an episode.
        tokens: of a turn.
    """

    name: str
    model: str
    dtype: str = "bfloat16"
    bf16: bool = True
    lora: bool = False
    backend: str = "hf"
    steps: int = 3
    tasks: int = 8
    group: int = 8
    rows: int = 4
    turns: int = 10
    tokens: int = 40

    def at_size(self, *, small: bool) -> Case:
        """Return the case, or its rehearsal."""
        if not small:
            return self
        return replace(self, steps=min(self.steps, 2), tasks=2, group=2, rows=2, turns=2, tokens=8)


def steps(setting: Setting, _part: str) -> Iterator[Reading]:
    """Yield the duration of a step: all weights of both shapes, and an adapter on the larger."""
    names = [shape.name for shape in shapes(small=setting.small)]
    half, three = _random_models(setting)
    for case in (
        Case(f"{names[0]}, all weights", half),
        Case(f"{names[1]}, LoRA", three, lora=True),
        Case(f"{names[1]}, all weights", three),
    ):
        yield _timed(case, setting)


def precisions(setting: Setting, _part: str) -> Iterator[Reading]:
    """Yield how far the trained log-probabilities are from the sampled ones."""
    model = learner()
    for weights, computed, bf16 in (
        ("float32", "float32", False),
        ("float32", "bfloat16", True),
        ("bfloat16", "bfloat16", True),
    ):
        name = f"{model}, weights {weights}, sampled and trained in {computed}"
        yield _differing(Case(name, model, weights, bf16), setting)


def vllm_steps(setting: Setting, _part: str) -> Iterator[Reading]:
    """Yield a step where vLLM samples in this process."""
    name = shapes(small=setting.small)[0].name
    half, _ = _random_models(setting)
    yield _timed(Case(f"{name}, all weights, vLLM samples", half, backend="vllm"), setting)


def vllm_precisions(setting: Setting, _part: str) -> Iterator[Reading]:
    """Yield how far the trained log-probabilities are from those that vLLM sampled with."""
    model = learner()
    name = f"{model}, sampled by vLLM in bfloat16, trained in bfloat16"
    yield _differing(Case(name, model, backend="vllm"), setting)


def learner() -> str:
    """Return a pretrained model: `smollm2` if it is on disk, or `tiny`."""
    return SMOLLM2 if smollm2_folder().is_dir() else TINY


def _random_models(setting: Setting) -> list[str]:
    return [str(model_folder(shape, setting.shared)) for shape in shapes(small=setting.small)]


def _timed(case: Case, setting: Setting) -> Reading:
    case = case.at_size(small=setting.small)
    logs, seconds = train(case, setting)
    return Reading(case.name, {**step_values(case, logs, seconds), COLUMN: peak_gigabytes()})


def step_values(
    case: Case, logs: Sequence[dict[str, float]], seconds: Sequence[float]
) -> dict[str, Any]:
    """Return the duration of a step and its sampling, without the first one."""
    sampling = fmean(log["rollout_time"] for log in logs[1:])
    a_step = fmean(seconds[1:])
    return {
        "seconds a step": round(a_step, 2),
        "of it sampling": f"{sampling / a_step:.0%}",
        "episodes": case.tasks * case.group,
        "turns": case.turns,
        "tokens a turn": case.tokens,
    }


def _differing(case: Case, setting: Setting) -> Reading:
    case = replace(case, steps=1, tokens=64, turns=6).at_size(small=setting.small)
    logs, _ = train(case, setting)
    return Reading(case.name, {**gap_values(logs), COLUMN: peak_gigabytes()})


def gap_values(logs: Sequence[dict[str, float]]) -> dict[str, Any]:
    """Return statistics of the gap of sampled and trained log-probabilities."""
    return {
        "gap, mean (nats)": _rounded(fmean(log[f"{_GAP}/mean"] for log in logs)),
        "gap, most (nats)": _rounded(max(log[f"{_GAP}/max"] for log in logs)),
        "ratio, least": _rounded(min(log[f"{_RATIO}/raw_min"] for log in logs)),
        "ratio, most": _rounded(max(log[f"{_RATIO}/raw_max"] for log in logs)),
    }


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")


def alternating_reward(trajectories: list[Any], **_columns: Any) -> list[float]:
    """Reward every second episode."""
    return [float(place % 2) for place in range(len(trajectories))]


class StepTimes(TrainerCallback):  # type: ignore[misc]
    """Takes the time of every optimizer step, the playing of its episodes included.

    Attributes:
        seconds: of each step.
    """

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def on_step_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Read the clock."""
        finish_kernels()
        self._start = time.perf_counter()

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Read it again, once the GPU is done."""
        finish_kernels()
        self.seconds.append(time.perf_counter() - self._start)


def train(case: Case, setting: Setting) -> tuple[list[dict[str, float]], list[float]]:
    """Take the steps of a case.

    Returns:
        The logs and the seconds of each step.
    """
    reset_peak()
    named = ModelArguments(model_name_or_path=case.model, dtype=case.dtype)
    model, tokenizer = load_policy(named)
    times = StepTimes()
    trainer = AgentGRPOTrainer(
        model,
        EnvArguments(env=["TextCraft"], max_turns=case.turns),
        args=AgentGRPOConfig(
            output_dir=str(setting.folder / "run"),
            max_steps=case.steps,
            num_generations=case.group,
            per_device_train_batch_size=case.rows,
            gradient_accumulation_steps=case.tasks * case.group // case.rows,
            learning_rate=1e-6,
            bf16=case.bf16,
            logging_steps=1,
            eval_strategy="no",
            save_strategy="no",
            report_to=[],
        ),
        rollout=RolloutArguments(
            max_tokens_per_turn=case.tokens,
            backend=case.backend,
            save_trajectories_every=0,
        ),
        reward_funcs=alternating_reward,
        processing_class=tokenizer,
        peft_config=LoraConfig(r=16, target_modules="all-linear") if case.lora else None,
        callbacks=[times],
    )
    trainer.train()
    logs = [entry for entry in trainer.state.log_history if "rollout_time" in entry]
    trainer.task_environments.close()
    return logs, times.seconds
