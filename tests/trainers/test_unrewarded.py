"""Episodes without a finite reward train nothing, under every algorithm."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from agentgym_envs.trajectories.trajectory import Trajectory
from tests.trainers.ppo_toys import played
from tests.trainers.toys import ENV_ID, FAILED, Given, gradient, make_folder, make_tokenizer
from trainers.grpo import AgentGRPOTrainer
from trainers.online import OnlineTrainer
from trainers.options.arguments import EnvArguments
from trainers.ppo import AgentPPOTrainer
from trainers.reinforce_pp import AgentReinforcePPTrainer
from trainers.rloo import AgentRLOOTrainer

NAN, INF = float("nan"), float("inf")
ALGORITHMS: dict[str, tuple[type[OnlineTrainer], dict[str, Any]]] = {
    "grpo": (AgentGRPOTrainer, {}),
    "grpo with a KL": (AgentGRPOTrainer, {"beta": 0.5}),
    "dapo": (AgentGRPOTrainer, {"loss_type": "dapo"}),
    "gigpo": (AgentGRPOTrainer, {"turn_advantage_weight": 1.0}),
    "hgpo": (AgentGRPOTrainer, {"turn_credit": "hgpo"}),
    "gagpo": (AgentGRPOTrainer, {"turn_credit": "gagpo"}),
    "empg": (AgentGRPOTrainer, {"turn_credit": "empg"}),
    "turn returns": (AgentGRPOTrainer, {"turn_credit": "returns"}),
    "maxrl": (AgentGRPOTrainer, {"scale_rewards": "mean"}),
    "observations": (AgentGRPOTrainer, {"observation_loss_weight": 0.5}),
    "rloo": (AgentRLOOTrainer, {}),
    "reinforce++": (AgentReinforcePPTrainer, {}),
    "reinforce++ baseline": (AgentReinforcePPTrainer, {"baseline": "group"}),
    "ppo": (AgentPPOTrainer, {"num_iterations": 1}),
}
COUNTED = [
    played([0.0, 1.0], [1, 0, 1, 1], seed=1),
    played([0.0], [1, 1], seed=2),
    played([0.5], [1, 1, 1], seed=3),
]
Maker = Callable[..., OnlineTrainer]


def declines(episode_return: Sequence[float], num_turns: Sequence[int], **_: Any) -> list[Any]:
    """Pay the return; episodes of three turns get what the last of their rewards names."""
    refused = {7.0: None, 8.0: NAN, 9.0: INF}
    return [refused.get(paid, paid) for paid in episode_return]


UNREWARDED = {
    "failed": (FAILED, None),
    "the environment paid NaN": (played([NAN, 1.0], [1, 0, 1], seed=4), None),
    "the environment paid inf": (played([1.0, INF], [1, 0, 1], seed=4), None),
    "a NaN that the function does not look at": (
        played([0.0, NAN], [1, 0, 1], seed=4),
        lambda success, **_: [float(won) for won in success],
    ),
    "the function returned None": (played([0.0, 7.0], [1, 0, 1], seed=4), declines),
    "the function returned NaN": (played([0.0, 8.0], [1, 0, 1], seed=4), declines),
    "the function returned inf": (played([0.0, 9.0], [1, 0, 1], seed=4), declines),
}


@pytest.fixture
def scripted(tmp_path: Path) -> Maker:
    def make(
        kind: type[OnlineTrainer],
        given: Sequence[Trajectory],
        *,
        reward_funcs: Any = None,
        **options: Any,
    ) -> OnlineTrainer:
        size = {} if kind is AgentPPOTrainer else {"num_generations": len(given)}
        defaults: dict[str, Any] = {
            "per_device_train_batch_size": len(given), "gradient_accumulation_steps": 1,
            "max_steps": 1, "eval_strategy": "no", "save_strategy": "no", "disable_tqdm": True,
            "report_to": "none", "logging_steps": 1, **size,
            # The log-probabilities of given episodes are made up.
            "vllm_importance_sampling_correction": False,
        }  # fmt: skip
        trainer = kind(
            make_folder(tmp_path / "model"),
            EnvArguments(env=[ENV_ID], action_format="plain"),
            args=kind.config(str(tmp_path / "run"), **{**defaults, **options}),
            reward_funcs=reward_funcs,
            processing_class=make_tokenizer(),
        )
        trainer.player.rollout = Given(given)
        return trainer

    return make


@pytest.mark.parametrize(
    ("algorithm", "reason"),
    [
        *((algorithm, "the environment paid NaN") for algorithm in ALGORITHMS),
        *(
            pytest.param(
                algorithm, "the function returned None",
                marks=() if algorithm in ("grpo", "ppo") else pytest.mark.slow,
            )
            for algorithm in ALGORITHMS
        ),
    ],
)  # fmt: skip
def test_the_gradient_is_that_of_the_batch_without_the_episode(
    algorithm: str, reason: str, scripted: Maker
) -> None:
    kind, options = ALGORITHMS[algorithm]
    without, reward_funcs = UNREWARDED[reason]
    options = {**options, "reward_funcs": reward_funcs}
    alone = gradient(scripted(kind, COUNTED, **options))
    beside = gradient(scripted(kind, [*COUNTED, without], **options))
    assert alone.isfinite().all()
    assert alone.abs().max() > 1e-4
    assert torch.allclose(beside, alone, atol=1e-6)


@pytest.mark.parametrize("reason", UNREWARDED)
def test_every_reason_is_counted_and_leaves_the_numbers_of_the_others(
    reason: str, scripted: Maker, caplog: pytest.LogCaptureFixture
) -> None:
    without, reward_funcs = UNREWARDED[reason]
    trainer = scripted(
        AgentPPOTrainer,
        [*COUNTED, without],
        reward_funcs=reward_funcs,
        invalid_action_penalty=0.1,
    )
    with caplog.at_level(logging.WARNING):
        assert gradient(trainer).isfinite().all()
    entry = next(e for e in trainer.state.log_history if "reward" in e)
    has_failed = reason == "failed"
    assert entry["episodes/failed"] == has_failed
    assert entry["episodes/without_reward"] == (not has_failed)
    assert entry["episodes/success"] == pytest.approx(2 / 3)
    assert "All reward functions returned None" not in caplog.text
    expected = "25.0% of the episodes failed" if has_failed else "1 episodes have no finite reward"
    assert expected in caplog.text


def test_a_group_without_any_reward_trains_nothing_and_is_said_in_our_words(
    scripted: Maker, caplog: pytest.LogCaptureFixture
) -> None:
    given = [*COUNTED, *[FAILED] * 3]
    trainer = scripted(AgentGRPOTrainer, given, num_generations=3, max_steps=2)
    with caplog.at_level(logging.WARNING):
        trainer.train()
    assert "All reward functions returned None" not in caplog.text
    assert caplog.text.count("50.0% of the episodes failed because machinery broke") == 2
    assert caplog.text.count("step 2, the last: 50.0% of the episodes failed") == 1
    assert trainer.state.log_history[0]["frac_reward_zero_std"] == 0.5
