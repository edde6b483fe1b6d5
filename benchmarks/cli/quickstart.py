"""`agentgym quickstart`: a small policy learns to pursue the goal, in minutes on a laptop.

Measures the shipped `tiny` policy on TextCraft's held-out test goals, trains it on the training
goals by GRPO under a growing turn horizon, measures it again on the same test goals, and leaves a
summary, the learning curve as a picture and every trajectory. `--algorithm ppo` trains by PPO on as
many episodes; `--algorithm sft` imitates the expert instead, for comparison.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Literal

from agentgym_envs.trajectory import write_jsonl
from trainers.collect import expert_episodes
from trainers.evaluate import evaluate
from trainers.evaluation.results import EvalResult, paired_gain
from trainers.grpo import AgentGRPOTrainer
from trainers.models.loading import load_policy, resolve_model, save_policy
from trainers.options.arguments import EnvArguments, EpisodeArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig, AgentSFTConfig, ModelArguments
from trainers.options.errors import check_bounds
from trainers.options.parser import CommandParser
from trainers.policies.model import ModelPolicy
from trainers.ppo import AgentPPOConfig, AgentPPOTrainer
from trainers.rollout.environments import Environments
from trainers.rollout.mixtures import spread
from trainers.runs.card import BaseModel, write_card
from trainers.runs.folder import SUMMARY_FILE, TRAJECTORIES, write_json
from trainers.runs.progress_bar import Watch
from trainers.runs.provenance import write_run
from trainers.runs.stopping import StopAfter
from trainers.sft import AgentSFTTrainer

ENV_ID = "agentgym/TextCraft-v0"
PPO_STEPS = 2
"""Optimizer steps on each batch of PPO's, each on a part of its own."""
SLOTS = 100
"""Episodes advanced together; one forward pass serves all of them."""


@dataclass
class QuickstartArguments:
    """What the quickstart does."""

    _argument_group_name: ClassVar[str] = "quickstart"

    output_dir: str = field(default="runs/quickstart", metadata={"help": "Where everything goes."})
    algorithm: Literal["grpo", "ppo", "sft"] = field(
        default="grpo", metadata={"help": "grpo or ppo, or sft: imitate the expert instead."}
    )
    model: str = field(default="tiny", metadata={"help": "tiny, a folder or a Hugging Face id."})
    batches: int = field(
        default=32,
        metadata={
            "help": "Batches of episodes: one optimizer step on each, two for ppo; sft: steps.",
            "min": 1,
        },
    )
    minutes: float = field(
        default=0.0, metadata={"help": "Stop training after so many minutes; 0 never does."}
    )
    max_turns: int = field(
        default=16,
        metadata={
            "help": "Turns of an episode; TextCraft's own limit is 30, the expert mostly needs 16."
        },
    )
    max_tokens_per_turn: int = field(default=96, metadata={"help": "Sampled tokens of a turn."})
    horizon: str | None = field(
        default=None,
        metadata={"help": "Turn horizon over training; by default three stages of equal length."},
    )
    learning_rate: float = field(
        default=6e-4,
        metadata={"help": "Learning rate at the start; it falls to 0 in a straight line."},
    )
    episodes: int = field(default=64, metadata={"help": "Episodes of a batch."})
    num_generations: int = field(
        default=8, metadata={"help": "grpo: episodes of a goal.", "min": 1}
    )
    samples: int = field(
        default=2, metadata={"help": "Episodes per test goal and measurement.", "min": 1}
    )
    num_tasks: int = field(default=0, metadata={"help": "Test goals; 0 takes all 100."})
    train_tasks: int = field(
        default=0, metadata={"help": "Training goals to measure besides; 0 measures none."}
    )
    greedy: bool = field(default=False, metadata={"help": "Measure greedily too."})
    seed: int = field(default=0, metadata={"help": "Seed of everything that is drawn.", "min": 0})

    def __post_init__(self) -> None:
        """Check the numbers, and that a batch divides into what each optimizer step takes.

        Raises:
            ValueError: one is not allowed, or it does not.
        """
        check_bounds(self)
        part = self.num_generations * (PPO_STEPS if self.algorithm == "ppo" else 1)
        if self.algorithm != "sft" and (self.episodes < 1 or self.episodes % part):
            raise ValueError(
                f"episodes must be a multiple of {part} with --algorithm {self.algorithm} and "
                f"--num_generations {self.num_generations}, got {self.episodes}"
            )

    @property
    def max_steps(self) -> int:
        """Optimizer steps."""
        return self.batches * (PPO_STEPS if self.algorithm == "ppo" else 1)

    @property
    def schedule(self) -> str:
        """The turn horizon over training, in optimizer steps."""
        return self.horizon or f"scaling:6,10,14@{max(1, self.max_steps // 3)}"


class Measurement:
    """Plays the test goals with one policy, and keeps results and trajectories under a folder."""

    def __init__(self, arguments: QuickstartArguments, environments: Environments) -> None:
        self._arguments = arguments
        self._environments = environments
        test_ids = environments.task_ids("test")
        train_ids = environments.task_ids("train")
        self._panels = {"test": spread(test_ids, arguments.num_tasks)}
        if arguments.train_tasks:
            self._panels["train"] = spread(train_ids, arguments.train_tasks)

    def run(
        self, name: str, model: Any, tokenizer: Any, *, global_step: int = 0
    ) -> dict[str, EvalResult]:
        """Measure a policy; results by panel and way of sampling, such as `"test_greedy"`."""
        arguments, folder = self._arguments, Path(self._arguments.output_dir)
        policy = ModelPolicy.of_model(
            model,
            tokenizer,
            EpisodeArguments(max_tokens_per_turn=arguments.max_tokens_per_turn),
            name=name,
            seed=arguments.seed,
        )
        rollout = self._environments.rollout(policy)
        results = {}
        for panel, task_ids in self._panels.items():
            ways = [(panel, arguments.samples, 1.0)]
            ways += [(f"{panel}_greedy", 1, 0.0)] if arguments.greedy else []
            for label, samples, temperature in ways:
                path = folder / TRAJECTORIES / f"{name}_{label}.jsonl"
                with Watch(name, samples * len(task_ids)) as watch:
                    results[label] = evaluate(
                        rollout,
                        task_ids,
                        samples=samples,
                        temperature=temperature,
                        seed=arguments.seed,
                        global_step=global_step,
                        on_trajectory=watch,
                        on_trajectories=partial(write_jsonl, path),
                    )
                results[label].save(folder / f"{name}_{label}.json")
        return results


def train_online(
    arguments: QuickstartArguments, environments: Environments, model: Any, tokenizer: Any
) -> int:
    """Train by PPO or GRPO under the growing horizon; the model is changed in place.

    Returns:
        The optimizer steps that were taken.
    """
    per_device = arguments.num_generations
    parts = arguments.episodes // per_device
    common: dict[str, Any] = {
        "output_dir": arguments.output_dir,
        "per_device_train_batch_size": per_device,
        "steps_per_generation": parts,
        "learning_rate": arguments.learning_rate,
        "lr_scheduler_type": "linear",
        "max_steps": arguments.max_steps,
        "eval_strategy": "no",
        "save_strategy": "no",
        "seed": arguments.seed,
        "report_to": "none",
    }
    rollout = RolloutArguments(
        horizon=arguments.schedule,
        max_tokens_per_turn=arguments.max_tokens_per_turn,
        save_trajectories_every=10,
    )
    further: dict[str, Any] = {
        "rollout": rollout,
        "processing_class": tokenizer,
        "callbacks": [StopAfter(arguments.minutes)],
    }
    trainer: AgentPPOTrainer | AgentGRPOTrainer
    if arguments.algorithm == "ppo":
        ppo = AgentPPOConfig(
            **common,
            gradient_accumulation_steps=parts // PPO_STEPS,
            num_iterations=1,
            critic_learning_rate=1e-3,
        )
        trainer = AgentPPOTrainer(model, environments, args=ppo, **further)
    else:
        grpo = AgentGRPOConfig(
            **common,
            gradient_accumulation_steps=parts,
            num_generations=arguments.num_generations,
        )
        trainer = AgentGRPOTrainer(model, environments, args=grpo, **further)
    trainer.train()
    return int(trainer.state.global_step)


def train_sft(
    arguments: QuickstartArguments, environments: Environments, model: Any, tokenizer: Any
) -> int:
    """Imitate the expert on the training goals for the same time; the model is changed in place.

    Returns:
        The optimizer steps that were taken.
    """
    trainer = AgentSFTTrainer(
        model,
        expert_episodes(environments, environments.task_ids("train")),
        args=AgentSFTConfig(
            output_dir=arguments.output_dir,
            per_device_train_batch_size=16,
            learning_rate=arguments.learning_rate,
            max_steps=1_000_000 if arguments.minutes else arguments.max_steps,
            eval_strategy="no",
            save_strategy="no",
            seed=arguments.seed,
            report_to="none",
        ),
        processing_class=tokenizer,
        callbacks=[StopAfter(arguments.minutes)],
    )
    trainer.train()
    return int(trainer.state.global_step)


def summarize_run(
    arguments: QuickstartArguments,
    before: dict[str, EvalResult],
    after: dict[str, EvalResult],
    *,
    wall_s: float,
    train_s: float,
) -> dict[str, Any]:
    """Return the content of `summary.json`."""
    gain = paired_gain(before["test"], after["test"])
    return {
        "env_id": ENV_ID,
        "algorithm": arguments.algorithm,
        "seed": arguments.seed,
        "success_before": before["test"].success,
        "success_after": after["test"].success,
        "ci95_before": list(before["test"].ci95),
        "ci95_after": list(after["test"].ci95),
        "gain": gain.gain,
        "ci95_gain": list(gain.ci95),
        "n_tasks": gain.n_tasks,
        "samples_per_task": arguments.samples,
        "wall_s": round(wall_s, 1),
        "train_s": round(train_s, 1),
        "batches": arguments.batches,
        "max_steps": arguments.max_steps,
        "global_step": after["test"].global_step,
        "max_turns": arguments.max_turns,
        "horizon": arguments.schedule,
        "panels": {
            label: {"before": before[label].success, "after": after[label].success}
            for label in before
        },
    }


def main(argv: list[str] | None = None) -> int:
    """Run the quickstart."""
    start = time.perf_counter()
    parser = CommandParser(
        (QuickstartArguments,),
        command="agentgym quickstart",
        description="Watch a small policy learn to pursue the goal: measure, train, measure again.",
    )
    (arguments,) = parser.parse(argv)
    folder = Path(arguments.output_dir)
    write_run(folder, command="quickstart", seed=arguments.seed, configs=[arguments])
    environments = Environments(
        EnvArguments(env=[ENV_ID], max_turns=arguments.max_turns, num_envs=SLOTS)
    )
    model, tokenizer = load_policy(
        ModelArguments(model_name_or_path=arguments.model, dtype="float32")
    )
    measurement = Measurement(arguments, environments)
    print("1/3  measuring the start on held-out test goals ...", flush=True)
    before = measurement.run("before", model, tokenizer)
    print(before["test"], flush=True)
    print(f"2/3  training by {arguments.algorithm} on training goals ...", flush=True)
    train_start = time.perf_counter()
    train = train_sft if arguments.algorithm == "sft" else train_online
    global_step = train(arguments, environments, model, tokenizer)
    train_s = time.perf_counter() - train_start
    save_policy(model, tokenizer, folder / "model")
    print("3/3  measuring the trained policy on the same goals ...", flush=True)
    after = measurement.run("after", model, tokenizer, global_step=global_step)
    print(after["test"], flush=True)
    environments.close()
    summary = summarize_run(
        arguments, before, after, wall_s=time.perf_counter() - start, train_s=train_s
    )
    write_json(folder / SUMMARY_FILE, summary)
    write_card(
        folder / "model",
        folder,
        algorithm=arguments.algorithm,
        base=BaseModel.of(resolve_model(arguments.model)),
        global_step=global_step,
    )
    _report(folder, summary)
    return 0


def _report(folder: Path, summary: dict[str, Any]) -> None:
    from benchmarks.cli.quickstart_curve import draw_quickstart_curve

    low, high = summary["ci95_gain"]
    print(
        f"\nsuccess on {summary['n_tasks']} held-out goals: {summary['success_before']:.1%} -> "
        f"{summary['success_after']:.1%}, gain {summary['gain']:+.1%} "
        f"(95% interval {low:+.1%} to {high:+.1%}), {summary['wall_s']:.0f} s in all"
    )
    picture = draw_quickstart_curve(folder)
    print(
        f"summary:       {folder / SUMMARY_FILE}\n"
        f"learning curve: {picture}\n"
        f"trajectories:  {folder / TRAJECTORIES}{os.sep}\n"
        f"the policy:    {folder / 'model'}   (agentgym eval --env TextCraft --model "
        f"{folder / 'model'})\n"
        "play the same tasks yourself: agentgym play TextCraft --split test\n"
        "what the gain is made of, and what it is not: docs/studies/quickstart.md"
    )


if __name__ == "__main__":
    sys.exit(main())
