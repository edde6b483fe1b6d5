"""Runs of PPO: kinds of critics, resuming, several processes, the command and its options."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig
from safetensors.torch import load_file
from transformers import AutoModel, AutoModelForCausalLM, Trainer
from trl import GRPOConfig, GRPOTrainer

from tests.trainers.ppo_toys import Maker, logged, maker, moved, played, weights, with_head
from tests.trainers.toys import ENV_ID, make_folder, make_model
from tests.trainers.train_given_ppo import KINDS, NUM_STEPS
from trainers.models.critic import STATE_FILE, Critic, get_backbone
from trainers.ppo import AgentPPOConfig, AgentPPOTrainer, main
from trainers.reinforce_pp import AgentReinforcePPTrainer


@pytest.fixture
def trainer_in(tmp_path: Path) -> Maker:
    return maker(tmp_path)


@pytest.mark.parametrize("level", ["token", pytest.param("turn", marks=pytest.mark.full)])
def test_training_learns_what_is_rewarded(level: str, trainer_in: Maker) -> None:
    options = {"max_steps": 20, "learning_rate": 4e-2, "seed": 1}
    trainer = trainer_in(env={"max_turns": 1}, gae_level=level, **options)
    trainer.train()
    success = logged(trainer, "episodes/success")
    assert sum(success[-3:]) > sum(success[:3]) + 0.5


@pytest.mark.full
@pytest.mark.parametrize("kind", ["own", "head"])
def test_the_critic_learns_what_episodes_are_worth(kind: str, trainer_in: Maker) -> None:
    given = [played([float(n % 2)], [1, 1, 1], seed=n) for n in range(4)]
    trainer = trainer_in(given=given, critic=kind, max_steps=40, critic_warmup_steps=40)
    trainer.train()
    explained = logged(trainer, "critic/explained_variance")
    assert explained[0] == 0.0
    assert explained[-1] > 0.8


# Kinds of critics -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["own", "shared", "head"])
def test_policy_and_critic_both_learn(kind: str, trainer_in: Maker) -> None:
    trainer = trainer_in(critic=kind, max_steps=3)
    policy, critic = weights(trainer.model), weights(trainer.critic)
    trainer.train()
    assert moved(policy, trainer.model)
    assert moved(critic, trainer.critic)
    assert max(logged(trainer, "sampling/sampling_logp_difference/max")) < 1e-4
    for name in ("value_loss", "clip_ratio", "value_mean", "return_mean", "explained_variance"):
        assert logged(trainer, f"critic/{name}")


@pytest.mark.parametrize("kind", ["own", "shared", "head"])
def test_the_warm_up_trains_the_critic_alone(kind: str, trainer_in: Maker) -> None:
    trainer = with_head(trainer_in(critic=kind, critic_warmup_steps=2, weight_decay=0.1))
    policy, critic = weights(trainer.model), weights(trainer.critic)
    trainer.train()
    assert not moved(policy, trainer.model)
    assert moved(critic, trainer.critic)


@pytest.mark.parametrize(("kind", "moves"), [("shared", True), ("head", False)])
def test_the_value_loss_moves_the_policys_backbone_only_where_it_is_shared(
    kind: str, moves: bool, trainer_in: Maker
) -> None:
    """Turns that all were paid what the critic expected have no advantage, but a value error."""
    given = [played([0.0], [1, 1]), played([0.0], [1, 1], seed=5)]
    trainer = with_head(trainer_in(given=given, critic=kind, beta=0.0))
    policy = weights(trainer.model)
    trainer.advantages_of = no_advantage(trainer)  # type: ignore[method-assign]
    trainer.train()
    assert moved(policy, trainer.model) == moves


def no_advantage(trainer: AgentPPOTrainer) -> Callable[..., torch.Tensor]:
    advantages_of = trainer.advantages_of
    return lambda batch, episodes: torch.zeros_like(advantages_of(batch, episodes))


@pytest.mark.parametrize("kind", ["own", "head"])
def test_a_lora_policy_and_its_critic_train_and_leave_the_base_alone(
    kind: str, trainer_in: Maker, tmp_path: Path
) -> None:
    adapter = LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "v_proj"])
    trainer = trainer_in(trainer={"peft_config": adapter}, critic=kind)
    before = {n: p.detach().clone() for n, p in trainer.critic.named_parameters()}
    policy = {n: p.detach().clone() for n, p in trainer.model.named_parameters()}
    trainer.train()
    for old, module in ((before, trainer.critic), (policy, trainer.model)):
        changed = {n for n, p in module.named_parameters() if not torch.equal(old[n], p)}
        assert changed
        assert all("lora_" in name or name.startswith("head.") for name in changed)
    assert (tmp_path / "run/critic/value_head.safetensors").is_file()


def test_a_folder_can_be_the_critics_backbone(tmp_path: Path, trainer_in: Maker) -> None:
    trainer = trainer_in(critic_model=make_folder(tmp_path / "other", seed=7))
    other = make_model(7).model
    assert all(
        torch.equal(one, two)
        for one, two in zip(
            get_backbone(trainer.critic.model).parameters(), other.parameters(), strict=True
        )
    )


@pytest.mark.parametrize("optim", ["adamw_torch_fused", "muon"])
def test_the_critics_learning_rate_is_its_own(optim: str, trainer_in: Maker) -> None:
    trainer = trainer_in(
        learning_rate=1e-3, critic_learning_rate=5e-2, weight_decay=0.1, optim=optim
    )
    optimizer = trainer.create_optimizer()
    assert trainer.create_optimizer() is optimizer
    mine = {id(p) for p in trainer.critic.parameters()}
    rates = {
        (group["lr"], bool({id(p) for p in group["params"]} & mine))
        for group in optimizer.param_groups
    }
    assert rates == {(1e-3, False), (5e-2, True)}
    own = [group for group in optimizer.param_groups if {id(p) for p in group["params"]} & mine]
    assert not any(group.get("is_hidden") for group in own)
    counted = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert len(counted) == len(set(counted)) == len([*trainer.model.parameters()]) + len(mine)


# Resuming ---------------------------------------------------------------------------------------


def history(trainer: AgentPPOTrainer) -> dict[int, tuple[float, ...]]:
    names = ("loss", "grad_norm", "critic/value_loss", "critic/grad_norm", "episodes/success")
    return {
        entry["step"]: tuple(entry.get(name, -1.0) for name in names)
        for entry in trainer.state.log_history
        if "loss" in entry
    }


@pytest.mark.full
@pytest.mark.parametrize(
    ("kind", "iterations"),
    [
        ("shared", 1),
        ("own", 4),
        pytest.param("own", 1, marks=pytest.mark.slow),
        pytest.param("own", 2, marks=pytest.mark.slow),
    ],
)
def test_a_resumed_run_is_the_uninterrupted_one(
    kind: str, iterations: int, trainer_in: Maker
) -> None:
    """With four steps on each batch the run is cut amid them."""
    options: dict[str, Any] = {
        "critic": kind, "num_iterations": iterations, "max_steps": 4,
        "save_strategy": "steps", "save_steps": 2,
    }  # fmt: skip
    whole = trainer_in("whole", **options)
    whole.train()
    trainer_in("parts", **{**options, "max_steps": 2}).train()
    second = trainer_in("parts", **options)
    second.train(resume_from_checkpoint=True)
    assert history(second) == history(whole)
    assert len(history(whole)) == 4
    for one, other in ((second.model, whole.model), (second.critic, whole.critic)):
        assert not moved(weights(one), other)


def test_the_best_checkpoints_critic_is_loaded_with_its_policy(trainer_in: Maker) -> None:
    trainer = trainer_in(
        eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1, max_steps=2
    )
    trainer.train()
    best = trainer.state.best_model_checkpoint
    assert best is not None
    saved = Critic.copied_from(make_model())
    saved.load_state(best)
    assert not moved(weights(saved), trainer.critic)
    assert (Path(best) / STATE_FILE).is_file()


@pytest.mark.parametrize(
    "hook",
    [
        "_clip_grad_norm",
        "_save_optimizer_and_scheduler",
        "_load_optimizer_and_scheduler",
        "_load_best_model",
    ],
)
def test_the_trainer_still_has_the_private_hook(hook: str) -> None:
    assert callable(getattr(Trainer, hook))
    assert callable(getattr(GRPOTrainer, hook))


# Several processes ------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
# Without --cpu: with it, accelerate starts several processes by MPI only. The script's own
# `use_cpu` makes them meet over gloo.
LAUNCH = [
    *(sys.executable, "-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2"),
    *("--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"),
    *("--main_process_port", "0"),
]


def trained(folder: Path, command: list[str], per_device: int) -> Path:
    folder.mkdir()
    script = str(Path(__file__).with_name("train_given_ppo.py"))
    done = subprocess.run(
        [*command, script, str(folder), str(per_device)],
        cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.slow
def test_two_processes_train_policy_and_critic_as_one_does(tmp_path: Path) -> None:
    """Among the episodes of every step are a failed one and one of two windows."""
    folders = [
        trained(tmp_path / "one", [sys.executable], 4),
        trained(tmp_path / "two", LAUNCH, 2),
    ]
    for kind in KINDS:
        logs = [json.loads((folder / f"{kind}.json").read_text()) for folder in folders]
        assert [len(log) for log in logs] == [NUM_STEPS + 1] * 2
        for one, two in list(zip(*logs, strict=True))[:NUM_STEPS]:
            names = [n for n in one if n.startswith("critic/") or n in ("loss", "grad_norm")]
            assert {n: two[n] for n in names} == pytest.approx(
                {n: one[n] for n in names}, rel=1e-5, abs=1e-7
            )
        one, two = (load_file(folder / f"{kind}.safetensors") for folder in folders)
        assert max((one[name] - two[name]).abs().max().item() for name in one) < 1e-5


# The command ------------------------------------------------------------------------------------


def test_the_command_leaves_an_ordinary_policy_folder_and_a_critic(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = (
        f"--env {ENV_ID} --model {make_folder(tmp_path / 'model')} --output-dir {out} "
        "--max_steps 2 --per_device_train_batch_size 4 --gradient-accumulation-steps 1 "
        "--max-tokens-per-turn 4 --action-format plain --learning_rate 1e-3 --eval-steps 2 "
        "--horizon scaling:1,2@2 --keep_last_turns 1 --disable_tqdm"
    ).split()
    assert main(options) == 0
    policy = AutoModelForCausalLM.from_pretrained(out)
    difference = [
        (one - other).abs().max()
        for one, other in zip(policy.parameters(), make_model().parameters(), strict=True)
    ]
    assert max(difference) > 0
    assert not [path for path in out.glob("*critic*") if path.is_file()]
    assert AutoModel.from_pretrained(out / "critic").config.hidden_size == 32
    record = json.loads((out / "run.json").read_text())
    assert record["command"] == "train ppo"
    assert record["AgentPPOConfig"]["critic_learning_rate"] == pytest.approx(1e-2)
    assert main([*options, "--resume", "--max-steps", "3", "--critic", "own"]) == 0
    assert main([*options, "--max-steps", "1", "--critic_model", str(out / "critic")]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"critic": "none"}, r"critic must be one of own, .*, got 'none'"),
        ({"gae_level": "word"}, "gae_level must be one of"),
        ({"critic": "head", "critic_model": "tiny"}, "leave out one of the two"),
        ({"lam": 1.5}, "lam must be in 0..1, got 1.5"),
        ({"vf_coef": -1.0}, "vf_coef must be >= 0, got -1.0"),
        ({"num_generations": 3}, "no multiple of num_generations=3"),
    ],
)
def test_bad_options_are_refused_with_the_remedy(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AgentPPOConfig(**options)


def test_every_episode_of_a_batch_plays_a_task_of_its_own(trainer_in: Maker) -> None:
    trainer = trainer_in(max_steps=1)
    trainer.train()
    assert len({t.task_id for t in trainer.trajectories}) == 8


def test_too_few_tasks_for_a_batch_are_refused_with_the_remedy(trainer_in: Maker) -> None:
    with pytest.raises(ValueError, match="needs 8 tasks, got 2; raise num_generations"):
        trainer_in(env={"tasks": ["0", "1"]})


@pytest.mark.parametrize("trainer", [AgentPPOTrainer, AgentReinforcePPTrainer])
def test_another_config_is_refused(trainer: type[Any], tmp_path: Path) -> None:
    config = GRPOConfig(str(tmp_path), use_cpu=True, bf16=False)
    own = f"trainers.{trainer.config.__name__}"
    with pytest.raises(TypeError, match=f"args must be {own}, got GRPOConfig.*make a {own}"):
        trainer(make_model(), ENV_ID, args=config)
