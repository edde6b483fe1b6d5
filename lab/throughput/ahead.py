"""A training step in lockstep, with overlap, and prefetched, against a vLLM server.

Every turn of the environments takes an artificial delay, asleep, the same on all sides; what is
played is steered, so that all sides train on the same tasks, turns and numbers of tokens. So
playing is mostly waiting, and two busy cores show what several machines would: where playing and
training compute at once on the same cores, neither gains.
"""

from __future__ import annotations

import itertools
import json
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gymnasium as gym
from transformers import TrainerCallback

from lab.throughput.measure import Row
from lab.throughput.overlap import Delay, Delayed
from lab.vllm_process import vllm_servers
from trainers.grpo import AgentGRPOTrainer
from trainers.models.loading import load_policy, resolve_model
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig, ModelArguments

DELAY = Delay()
_LOOK = "Thought: I look.\nAction: inventory"


class Waiting(Delayed):
    """Looks into the inventory whatever the policy writes, after the measurement's delay."""

    def __init__(self, env: gym.Env[str, str]) -> None:
        super().__init__(env, DELAY)

    def step(self, action: str) -> tuple[str, Any, bool, bool, dict[str, Any]]:
        """Sleep and look."""
        return super().step(_LOOK)


@dataclass(frozen=True)
class Case:
    """The settings of a run.

    Attributes:
        name: in the table.
        overlap: environments step while others are sampled for.
        staleness: optimizer steps that episodes may be behind.
    """

    name: str
    overlap: bool = True
    staleness: int = 0


CASES = (
    Case("lockstep", overlap=False),
    Case("overlap"),
    Case("overlap, K = 1", staleness=1),
    Case("overlap, K = 2", staleness=2),
)


@dataclass(frozen=True)
class Work:
    """The work of a run.

    Attributes:
        steps: measured optimizer steps; one more warms up.
        tasks, group: tasks of a step, and episodes of each.
        turns, tokens: turns of every episode, and sampled tokens of each turn.
        delay: mean seconds of a turn.
    """

    steps: int = 8
    tasks: int = 4
    group: int = 4
    turns: int = 6
    tokens: int = 8
    delay: float = 0.5


def ahead_rows(
    repeats: int, *, cases: Sequence[Case] = CASES, work: Work | None = None
) -> Iterator[Row]:
    """Measure every case, `repeats` runs of each in turn."""
    work = Work() if work is None else work
    DELAY.mean = work.delay
    logs: dict[Case, list[dict[str, float]]] = {case: [] for case in cases}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with vllm_servers(resolve_model("tiny"), folder) as (server,):
            for repeat in range(min(repeats, 2)):
                for case in cases:
                    out = folder / f"{repeat}_{cases.index(case)}"
                    logs[case] += _train(case, work, server.url, out)
    longest: float | None = None
    for case in cases:
        playing, waiting, step = (
            statistics.median(entry[name] for entry in logs[case])
            for name in ("rollout_time", "async/rollout_wait", "step_seconds")
        )
        row = Row("async", f"training step, {case.name}", "steps", 1 / step, repeats=repeats)
        row.notes["seconds"] = round(step, 2)
        if case.staleness:
            row.notes["waited_for_episodes"] = round(waiting, 2)
            if longest is not None:
                row.notes["over_the_longer_one"] = f"{100 * (step / longest - 1):+.0f}%"
        else:
            row.notes["playing"] = round(playing, 2)
            row.notes["training"] = round(step - playing, 2)
            longest = max(playing, step - playing)
        yield row


def _train(case: Case, work: Work, url: str, out: Path) -> list[dict[str, float]]:
    """Train, and return the logs of the measured steps."""
    args = AgentGRPOConfig(
        output_dir=str(out),
        max_steps=work.steps + 1,
        num_generations=work.group,
        per_device_train_batch_size=work.tasks * work.group,
        gradient_accumulation_steps=1,
        learning_rate=1e-5,
        max_staleness=case.staleness,
        eval_strategy="no",
        save_strategy="no",
        disable_tqdm=True,
        report_to="none",
    )
    model, tokenizer = load_policy(ModelArguments(model_name_or_path="tiny"))
    env = EnvArguments(
        env=["TextCraft"],
        action_format="react",
        env_backend="thread",
        overlap=case.overlap,
        max_turns=work.turns,
        num_envs=work.tasks * work.group,
        wrapper=[f"{__name__}:Waiting"],
    )
    rollout = RolloutArguments(
        backend="vllm_server",
        server_url=[url],
        backend_kwargs=json.dumps({"weights_dir": str(out / "weights")}),
        max_tokens_per_turn=work.tokens,
        max_tokens_per_episode=1800,
    )
    moments = _Moments()
    trainer = AgentGRPOTrainer(
        model,
        env,
        args=args,
        rollout=rollout,
        processing_class=tokenizer,
        reward_funcs=_by_place,
        callbacks=[moments],
    )
    trainer.train()
    entries = [entry for entry in trainer.state.log_history if "rollout_time" in entry]
    seconds = [later - earlier for earlier, later in itertools.pairwise(moments.ends)]
    return [
        {"async/rollout_wait": 0.0, **entry, "step_seconds": step}
        for entry, step in zip(entries[1:], seconds, strict=True)
    ]


class _Moments(TrainerCallback):  # type: ignore[misc]
    """Notes when steps end."""

    def __init__(self) -> None:
        self.ends: list[float] = []

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        self.ends.append(time.perf_counter())


def _by_place(completions: Sequence[Any], **_: Any) -> list[float | None]:
    """Reward every other episode, so that each group has a gradient."""
    return [float(place % 2) for place in range(len(completions))]
