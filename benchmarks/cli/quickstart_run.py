"""The run of `agentgym quickstart`: measures, trains, and measures again."""

from __future__ import annotations

import os
import shlex
import time
from functools import partial
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import atomic_write
from agentgym_envs.errors import activation
from agentgym_envs.trajectories.trajectory import write_jsonl
from benchmarks.cli.quickstart_options import PPO_STEPS, QuickstartArguments
from trainers.collect import expert_episodes
from trainers.evaluate import evaluate
from trainers.evaluation.results import EvalResult, paired_gain
from trainers.grpo import AgentGRPOTrainer
from trainers.models.loading import load_policy, resolve_model, save_policy
from trainers.options.arguments import EnvArguments, EpisodeArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig, AgentPPOConfig, ModelArguments
from trainers.options.offline import AgentSFTConfig
from trainers.policies.model import ModelPolicy
from trainers.ppo import AgentPPOTrainer
from trainers.rollout.environments import Environments
from trainers.runs.card import BaseModel, write_card
from trainers.runs.curve import (
    HELD_OUT,
    draw_success,
    frame,
    legend_below,
    series,
    shade_horizons,
)
from trainers.runs.folder import CURVE_FILE, SUMMARY_FILE, TRAJECTORIES, read_metrics, write_json
from trainers.runs.progress_bar import Watch
from trainers.runs.provenance import write_run
from trainers.runs.stopping import StopAfter
from trainers.sft import AgentSFTTrainer

ENV_ID = "agentgym/TextCraft-v0"
SLOTS = 100
"""Episodes advanced together, by one forward pass for all of them."""


class Measurement:
    """Plays the test goals with one policy, and keeps results and trajectories under a folder."""

    def __init__(self, arguments: QuickstartArguments, environments: Environments) -> None:
        self._arguments = arguments
        self._environments = environments
        test_ids = environments.task_ids("test")
        train_ids = environments.task_ids("train")
        self._panels = {"test": environments.spread(test_ids, arguments.num_tasks)}
        if arguments.train_tasks:
            self._panels["train"] = environments.spread(train_ids, arguments.train_tasks)

    def run(
        self, name: str, model: Any, tokenizer: Any, *, global_step: int = 0
    ) -> dict[str, EvalResult]:
        """Return a policy's results by panel and sampling, such as `"test_greedy"`."""
        arguments, folder = self._arguments, Path(self._arguments.output_dir)
        policy = ModelPolicy.from_model(
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
    """Train the model in place by PPO or GRPO, and return the number of optimizer steps."""
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
    return _train(arguments, trainer)


def train_sft(
    arguments: QuickstartArguments, environments: Environments, model: Any, tokenizer: Any
) -> int:
    """Train the model in place to imitate the expert, and return the number of optimizer steps."""
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
    return _train(arguments, trainer)


def _train(arguments: QuickstartArguments, trainer: Any) -> int:
    """Train under the quickstart's own name, and return the steps that were taken."""
    configs = [arguments, *trainer.run_options, trainer.args]
    write_run(arguments.output_dir, command="quickstart", seed=arguments.seed, configs=configs)
    trainer.run_file.is_written = True
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


def run(arguments: QuickstartArguments) -> None:
    """Measure, train and measure again, and leave everything in `arguments.output_dir`."""
    start = time.perf_counter()
    folder = Path(arguments.output_dir)
    # Written again, with the trainer's options, when training begins.
    write_run(folder, command="quickstart", seed=arguments.seed, configs=[arguments])
    environments = Environments(
        # `tiny` has never read that turns run out: told so, it reaches 23% in six turns, not 43%.
        EnvArguments(
            env=[ENV_ID],
            env_kwargs='{"turns_left": false}',
            max_turns=arguments.max_turns,
            num_envs=SLOTS,
        )
    )
    model, tokenizer = load_policy(
        ModelArguments(model_name_or_path=arguments.model, dtype="float32"), arguments
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
        base=BaseModel.from_name(resolve_model(arguments.model)),
        global_step=global_step,
    )
    _report(folder, summary)


def _report(folder: Path, summary: dict[str, Any]) -> None:
    low, high = summary["ci95_gain"]
    print(
        f"\nsuccess on {summary['n_tasks']} held-out goals: {summary['success_before']:.1%} -> "
        f"{summary['success_after']:.1%}, gain {summary['gain']:+.1%} "
        f"(95% interval {low:+.1%} to {high:+.1%}), {summary['wall_s']:.0f} s in all"
    )
    picture = _draw_curve(folder, summary)
    print(
        f"summary:        {folder / SUMMARY_FILE}\n"
        f"learning curve: {picture}\n"
        f"trajectories:   {folder / TRAJECTORIES}{os.sep}\n"
        f"the policy:     {folder / 'model'}\n"
        "results and failures: docs/results/quickstart.md\n\nnext:"
    )
    model = shlex.quote(str(folder / "model"))
    commands = {
        activation(): "",
        f"agentgym view {shlex.quote(str(folder))}": "read the episodes",
        f"agentgym eval --env TextCraft --model {model}": "measure the policy",
        "agentgym play TextCraft --split test": "play the same goals yourself",
    }
    width = max(map(len, commands))
    for command, comment in commands.items():
        if command:
            print(f"  {command:<{width}}  # {comment}" if comment else f"  {command}")


def _draw_curve(folder: Path, summary: dict[str, Any]) -> Path:
    """Draw success over training with the horizon's stages, and the measurements at both ends."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    entries = read_metrics(folder)
    steps, success = series(entries, "episodes/success")
    figure, axes = plt.subplots(figsize=(8, 4.2), layout="constrained")
    last = max([1, *steps.tolist()])
    if len(steps):
        shade_horizons(axes, *series(entries, "horizon"))
        draw_success(axes, steps, success)
    _draw_measurements(axes, summary, last)
    algorithm, seed = summary["algorithm"].upper(), summary["seed"]
    frame(axes, last, title=f"{summary['env_id']}: tiny policy, {algorithm}, seed {seed}")
    legend_below(axes, *axes.get_legend_handles_labels())
    path = folder / CURVE_FILE
    with atomic_write(path) as unfinished:
        figure.savefig(unfinished, dpi=130, format="png")
    plt.close(figure)
    return path


def _draw_measurements(axes: Any, summary: dict[str, Any], last: int) -> None:
    """Mark success on the test goals before and after training, with the numbers in the legend."""
    before, after = (summary[f"success_{name}"] for name in ("before", "after"))
    label = f"held-out test goals: {before:.1%} before, {after:.1%} after, 95% intervals"
    for step, name in ((0, "before"), (last, "after")):
        low, high = summary[f"ci95_{name}"]
        middle = summary[f"success_{name}"]
        axes.errorbar(
            step,
            middle,
            yerr=[[middle - low], [high - middle]],
            fmt="o",
            color=HELD_OUT,
            capsize=4,
            zorder=5,
            label=label if name == "before" else None,
        )
