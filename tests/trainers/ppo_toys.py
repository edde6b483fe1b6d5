"""PPO trainers on the toy game, or on given episodes. Shared by the tests of PPO."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from agentgym_envs.trajectories.trajectory import Trajectory, Turn
from tests.trainers.toys import ENV_ID, Given, episode, make_model, make_tokenizer, trace
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.ppo import AgentPPOConfig, AgentPPOTrainer

Maker = Callable[..., AgentPPOTrainer]


def played(
    rewards: Sequence[float], *masks: Sequence[int], seed: int = 0, **changes: Any
) -> Trajectory:
    """An episode with a row for each mask and a turn for each run of ones."""
    traces = [trace(3, mask, seed=seed + n) for n, mask in enumerate(masks)]
    made = episode(sum(rewards), traces=traces, **changes)
    made.turns = [Turn("look", "act", reward, True, 0.0) for reward in rewards]
    made.final_observation = "No."
    return made


class Scripted(AgentPPOTrainer):
    """Keeps the batches."""

    def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
        self.batch = super()._generate_and_score_completions(inputs)
        return self.batch


def maker(folder_of_runs: Path) -> Maker:
    """Return a function that makes a small trainer on the toy game, or on given episodes."""

    def make(
        folder: str = "run",
        *,
        given: Sequence[Trajectory] = (),
        env: dict[str, Any] | None = None,
        rollout: dict[str, Any] | None = None,
        model: Any = None,
        trainer: dict[str, Any] | None = None,
        **options: Any,
    ) -> AgentPPOTrainer:
        defaults: dict[str, Any] = {
            "per_device_train_batch_size": len(given) or 4,
            "gradient_accumulation_steps": 1 if given else 2,
            "learning_rate": 1e-2,
            "critic_learning_rate": 1e-2,
            "max_steps": 1 if given else 2,
            "eval_strategy": "no",
            "save_strategy": "no",
            "disable_tqdm": True,
            "report_to": "none",
            # The log-probabilities of given episodes are made up.
            "vllm_importance_sampling_correction": not given,
        }
        made = Scripted(
            make_model() if model is None else model,
            EnvArguments(env=[ENV_ID], action_format="plain", **(env or {})),
            args=AgentPPOConfig(output_dir=str(folder_of_runs / folder), **{**defaults, **options}),
            rollout=RolloutArguments(max_tokens_per_turn=4, **(rollout or {})),
            processing_class=make_tokenizer(),
            **(trainer or {}),
        )
        if given:
            made.player.rollout = Given(given)
        return made

    return make


def with_head(trainer: AgentPPOTrainer) -> AgentPPOTrainer:
    """Give the fresh critic a head that tells states apart."""
    torch.manual_seed(0)
    torch.nn.init.normal_(trainer.critic.head.weight, std=0.1)
    return trainer


def logged(trainer: AgentPPOTrainer, name: str) -> list[float]:
    return [entry[name] for entry in trainer.state.log_history if name in entry]


def weights(module: torch.nn.Module) -> list[torch.Tensor]:
    return [p.detach().clone() for p in module.parameters()]


def moved(before: Sequence[torch.Tensor], module: torch.nn.Module) -> bool:
    pairs = zip(before, module.parameters(), strict=True)
    return any(not torch.equal(one, other) for one, other in pairs)
