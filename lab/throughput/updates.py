"""Optimizer steps on the same episodes: our trainer against TRL's own.

Both sides train a copy of a model by GRPO on the same recorded episodes of TextCraft with the same
options, so their gradients agree; what differs is how the rows are laid out for a pass. Generation
costs neither side anything here (`lab.throughput.rollouts` measures it).
"""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from trl import GRPOConfig, GRPOTrainer

from agentgym_envs.trajectories.trajectory import Trajectory
from lab.throughput.measure import Row, Side, Stopwatch, compare
from trainers.credit.rewards import agent_reward
from trainers.grpo import AgentGRPOTrainer
from trainers.models.loading import load_policy
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.configs import ModelArguments
from trainers.policies.model import ModelPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from trainers.trl_bridge import make_rollout_func, task_dataset


@dataclass(frozen=True)
class Case:
    """One row.

    Attributes:
        goals: training goals played.
        group: episodes of each.
        turns: turns of an episode, at most.
        rows_per_pass: episodes of a micro-batch.
        most_repeats: bounds the timed runs, since one takes many seconds.
        model: which is trained.
        bf16: compute in bfloat16.
    """

    goals: int = 8
    group: int = 8
    turns: int = 14
    rows_per_pass: int = 8
    most_repeats: int = 3
    model: str = "tiny"
    bf16: bool = False


class _Recorded(Rollout):
    """Returns the recorded episodes, whatever is asked."""

    def __init__(self, trajectories: Sequence[Trajectory]) -> None:
        self.schedule = self.starts = None
        self._trajectories = list(trajectories)

    def run(self, task_ids: Sequence[str], **_options: Any) -> list[Trajectory]:
        """Return the recorded episodes."""
        return self._trajectories


def update_rows(repeats: int, *, case: Case | None = None) -> Iterator[Row]:
    """Measure one optimizer step on each side."""
    case = case or Case()
    yield compare_updates("GRPO update, agentgym", play(case), case, repeats)


def compare_updates(name: str, trajectories: Sequence[Trajectory], case: Case, repeats: int) -> Row:
    """Measure one optimizer step on given episodes on each side."""
    lengths = [len(trajectory.trace) for trajectory in trajectories]
    return compare(
        "update",
        Side(name, "tokens", Update(trajectories, case, stock=False).run),
        Side(
            "trl.GRPOTrainer, the same episodes",
            "tokens",
            Update(trajectories, case, stock=True).run,
        ),
        repeats=min(repeats, case.most_repeats),
        episodes=len(trajectories),
        tokens_of_an_episode=f"{sum(lengths) / len(lengths):.0f}, at most {max(lengths)}",
        torch_threads=torch.get_num_threads(),
    )


def play(case: Case) -> list[Trajectory]:
    """Play groups of training goals with `tiny`."""
    environments = Environments(
        EnvArguments(env=["TextCraft"], max_turns=case.turns, num_envs=case.goals * case.group)
    )
    model, tokenizer = load_policy(ModelArguments(model_name_or_path="tiny", dtype="float32"))
    budgets = EpisodeArguments(max_tokens_per_turn=160)
    rollout = environments.rollout(
        ModelPolicy.from_model(model, tokenizer, budgets, name="tiny", seed=0)
    )
    goals = environments.spread(environments.task_ids("train"), case.goals)
    try:
        return rollout.run([goal for goal in goals for _ in range(case.group)])
    finally:
        environments.close()


class Update:
    """One side.

    Attributes:
        gradients: the norm of each run's gradient.
    """

    def __init__(self, trajectories: Sequence[Trajectory], case: Case, *, stock: bool) -> None:
        self._trajectories = trajectories
        self._case = case
        self._stock = stock
        self.gradients: list[float] = []

    def run(self, watch: Stopwatch) -> None:
        """Take one optimizer step from the start."""
        with tempfile.TemporaryDirectory() as folder:
            trainer = self._trainer(folder)
            with watch.running():
                trainer.train()
        logged = [entry for entry in trainer.state.log_history if "grad_norm" in entry]
        self.gradients.append(logged[-1]["grad_norm"])
        watch.units += sum(len(trajectory.trace) for trajectory in self._trajectories)

    def _trainer(self, folder: str) -> Any:
        case = self._case
        model, tokenizer = load_policy(ModelArguments(model_name_or_path=case.model))
        options: dict[str, Any] = {
            "model": model,
            "reward_funcs": agent_reward,
            "processing_class": tokenizer,
            "train_dataset": task_dataset([f"textcraft_{n}" for n in range(case.goals)]),
            "args": GRPOConfig(
                output_dir=folder,
                per_device_train_batch_size=case.rows_per_pass,
                gradient_accumulation_steps=case.goals * case.group // case.rows_per_pass,
                num_generations=case.group,
                max_steps=1,
                logging_steps=1,
                # TRL's trainer has it only where its own engine has sampled.
                vllm_importance_sampling_correction=False,
                bf16=case.bf16,
                gradient_checkpointing=False,
                save_strategy="no",
                report_to="none",
                disable_tqdm=True,
                dataloader_pin_memory=False,
                use_cpu=True,
            ),
        }
        if self._stock:
            with warnings.catch_warnings():
                # TRL calls the hook experimental; the version is pinned and the hook under test.
                warnings.filterwarnings("ignore", message="You are using 'rollout_func'")
                recorded = make_rollout_func(_Recorded(self._trajectories))
                return GRPOTrainer(rollout_func=recorded, **options)
        trainer = AgentGRPOTrainer(env="TextCraft", **options)
        trainer.player.rollout = _Recorded(self._trajectories)
        return trainer
