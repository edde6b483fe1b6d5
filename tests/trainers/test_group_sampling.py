"""`--branch_roots` and `--dynamic_sampling` in training: what is credited, and what is counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch

from agentgym_envs import read_jsonl
from tests.trainers.test_algorithms import played
from tests.trainers.test_turn_credit import Credited, credited  # noqa: F401
from tests.trainers.toys import EASY_ID, ENV_ID, LARGEST_GAP, LettersEnv
from trainers.grpo import AgentGRPOTrainer
from trainers.options.configs import AgentGRPOConfig
from trainers.options.errors import UsageError

Make = Callable[..., AgentGRPOTrainer]


def test_branches_are_trained_on_as_they_were_sampled(trainer_in: Make) -> None:
    env = {"env": [EASY_ID], "max_turns": 4}
    # The further term has a pass made over rows without an advantage, too.
    options = {"branch_roots": 2, "observation_loss_weight": 0.1}
    trainer = trainer_in(env=env, max_steps=1, **options)
    trainer.train()
    logged = trainer.state.log_history[0]
    assert logged[LARGEST_GAP] < 1e-4
    # Two turns an episode; of two episodes in four, the first turn is another one's.
    assert logged["frac_turns_played"] == pytest.approx(6 / 8)
    for start in (0, 4):
        group = trainer.trajectories[start : start + 4]
        assert len({episode.task_id for episode in group}) == 1
        assert [len({id(e.turns[0]) for e in group}), len({id(e.turns[1]) for e in group})] == [
            2,
            4,
        ]


def test_shared_turns_are_compared_with_the_episodes_that_do_not_share_them(
    credited: Credited,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    won, lost = played(["start", "middle"], [0.0, 1.0]), played(["start", "middle"], [0.0, 0.0])
    other = played(["start", "else"], [0.0, 1.0])
    lost.turns[0] = won.turns[0]
    group = [won, lost, other, other]
    monkeypatch.setattr(
        "trainers.rollout.players.play_branched", lambda rollout, task_ids, **_: group
    )
    batch, _ = credited(group, branch_roots=3, scale_rewards="none")
    # Advantages 0.25, -0.75, 0.25, 0.25; the first turn of the first two is one: -0.25 * 3 / 2.
    expected = [[-0.375, 0, 0.25, 0.25], [-0.375, 0, -0.75, -0.75]]
    assert torch.allclose(batch["advantages"][:2], torch.tensor(expected))


class Decides(gym.Wrapper):  # type: ignore[misc]
    """Odd tasks are never won, even ones where the second action has an even length."""

    def step(self, action: Any) -> Any:
        observation, _, terminated, truncated, info = self.env.step(action)
        number = int(info["task_id"].partition("_")[2])
        won = terminated and number % 2 == 0 and len(action) % 2 == 0
        return observation, float(won), terminated, truncated, {**info, "success": won}


def test_success_is_that_of_all_that_was_played(trainer_in: Make, tmp_path: Path) -> None:
    env = {"env": [EASY_ID], "wrapper": [f"{__name__}:Decides"]}
    trainer = trainer_in(env=env, dynamic_sampling=3.0, max_steps=1)
    seen: list[dict[str, float]] = []
    trainer.on_episodes = seen.append  # type: ignore[method-assign, assignment]
    trainer.train()
    logged = trainer.state.log_history[0]
    everything = [*trainer.trajectories, *trainer.extra_episodes]
    assert len(trainer.trajectories) == 8
    assert logged["batches_played"] == pytest.approx(len(everything) / 8)
    assert 1 < logged["batches_played"] <= 3
    returns = [e.episode_return for e in everything]
    groups = [returns[n : n + 4] for n in range(0, len(returns), 4)]
    zero = sum(len(set(group)) == 1 for group in groups) / len(groups)
    assert logged["frac_reward_zero_std"] == pytest.approx(zero)
    success = sum(e.success for e in everything) / len(everything)
    assert logged["episodes/success"] == pytest.approx(success)
    assert success < sum(e.success for e in trainer.trajectories) / 8
    assert seen[0]["episodes/success"] == logged["episodes/success"]
    files = sorted((tmp_path / "run/trajectories").glob("train*"))
    assert len(list(read_jsonl(files[0]))) == len(everything)


def test_without_variance_in_reach_the_batch_is_played_as_often_as_allowed(
    trainer_in: Make,
) -> None:
    trainer = trainer_in(env={"env": [EASY_ID]}, dynamic_sampling=2.0, max_steps=1)
    trainer.train()  # every episode wins
    logged = trainer.state.log_history[0]
    assert logged["batches_played"] == 2.0
    assert logged["episodes/success"] == logged["frac_reward_zero_std"] == 1.0


def test_branches_count_in_dynamic_sampling_too(trainer_in: Make) -> None:
    trainer = trainer_in(env={"env": [EASY_ID]}, dynamic_sampling=1.5, branch_roots=2, max_steps=1)
    trainer.train()
    assert trainer.state.log_history[0]["batches_played"] == 1.5
    assert trainer.state.log_history[0]["frac_turns_played"] == pytest.approx(6 / 8)


@pytest.mark.full
@pytest.mark.parametrize(
    ("env", "options", "metric"),
    [
        ({"env": [ENV_ID], "max_turns": 4}, {"branch_roots": 2}, "frac_turns_played"),
        (
            {"env": [EASY_ID], "wrapper": [f"{__name__}:Decides"]},
            {"dynamic_sampling": 2.0},
            "batches_played",
        ),
    ],
)
def test_a_resumed_run_is_the_uninterrupted_one(
    env: dict[str, Any], options: dict[str, Any], metric: str, trainer_in: Make
) -> None:
    def trained(folder: str, steps: int, *, resume: bool = False) -> AgentGRPOTrainer:
        saving = {"save_strategy": "steps", "save_steps": 2, "lr_scheduler_type": "constant"}
        trainer = trainer_in(folder, env=env, max_steps=steps, seed=2, **saving, **options)
        trainer.train(resume_from_checkpoint=resume)
        return trainer

    whole = trained("whole", 4)
    trained("parts", 2)
    resumed = trained("parts", 4, resume=True)
    one, other = (
        [{k: v for k, v in entry.items() if "time" not in k} for entry in logged if "loss" in entry]
        for logged in (whole.state.log_history, resumed.state.log_history)
    )
    assert one == other and len(one) == 4
    assert any(entry[metric] != 1 for entry in one[2:]), "the option acts behind the checkpoint"
    assert any(entry["loss"] for entry in one[2:])
    weights = zip(whole.model.parameters(), resumed.model.parameters(), strict=True)
    assert all(torch.equal(*pair) for pair in weights)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"branch_roots": 4}, "branch_roots must be below num_generations=4, got 4"),
        ({"branch_roots": 1}, "share its first turn, which is then compared with no other"),
        ({"branch_roots": 2, "turn_credit": "gigpo"}, "credits shared turns itself"),
        ({"branch_roots": -1}, "branch_roots must be >= 0"),
        ({"dynamic_sampling": 0.5}, "dynamic_sampling must be >= 1"),
        ({"dynamic_sampling": 2.0, "task_sampling": "learnable"}, "draws further tasks alike"),
        ({"dynamic_sampling": 2.0, "max_staleness": 1}, "dynamic_sampling plays a batch in"),
        ({"branch_roots": 2, "max_staleness": 1}, "branch_roots plays a batch in several parts"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AgentGRPOConfig(num_generations=4, per_device_train_batch_size=4, **options)


def test_own_reward_functions_are_refused_beside_dynamic_sampling(trainer_in: Make) -> None:
    def length(completion_ids: list[list[int]], **_: Any) -> list[float]:
        return [float(len(ids)) for ids in completion_ids]

    with pytest.raises(UsageError, match="let a wrapper pay it"):
        trainer_in(dynamic_sampling=2.0, trainer={"reward_funcs": length})


def test_environments_that_cannot_be_copied_are_refused_by_name(
    trainer_in: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def snapshot(self: Any) -> Any:
        raise ValueError("it plays on official sites")

    monkeypatch.setattr(LettersEnv, "snapshot", snapshot)
    with pytest.raises(UsageError, match=r"Letters.* cannot be copied \(it plays on official"):
        trainer_in(env={"env": [ENV_ID]}, branch_roots=2)
