from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM
from trl import DPOConfig

from agentgym_envs import Trajectory, read_jsonl, write_jsonl
from agentgym_envs.core.tasks import scenario_name
from tests.trainers.toys import ENV_ID, make_folder, make_model, make_tokenizer
from trainers.command import train_and_save
from trainers.credit.pairs import Pair, preference_pairs
from trainers.dpo import AgentDPOConfig, AgentDPOTrainer, PairArguments, main, sampled_pairs
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.configs import ModelArguments
from trainers.options.errors import UsageError
from trainers.policies.scripted import play
from trainers.rollout.environments import Environments
from trainers.runs.folder import holding, write_json


@pytest.fixture
def letters() -> Environments:
    return Environments(EnvArguments(env=[ENV_ID], action_format="plain"), episodes=4)


@pytest.fixture
def episodes(letters: Environments) -> list[Trajectory]:
    """The expert's episodes, and those of a policy that always says what is never right."""
    ids = letters.task_ids("train")
    return [
        *play(letters.vectors, ids, "expert"),
        *play(letters.vectors, ids, lambda _observations: "yes"),
    ]


@pytest.fixture
def trainer_on(tmp_path: Path, episodes: list[Trajectory]) -> Callable[..., AgentDPOTrainer]:
    """Return a function that makes a small trainer on the toy game's pairs."""

    def make(folder: str = "run", **options: Any) -> AgentDPOTrainer:
        env = options.pop("env", None)
        defaults: dict[str, Any] = {
            "per_device_train_batch_size": 2,
            "gradient_accumulation_steps": 1,
            "learning_rate": 1e-2,
            "max_steps": 3,
            "logging_steps": 1,
            "disable_tqdm": True,
            "eval_strategy": "no",
            "save_strategy": "no",
            "lr_scheduler_type": "constant",
        }
        return AgentDPOTrainer(
            make_model(),
            preference_pairs(episodes),
            env=env,
            args=AgentDPOConfig(output_dir=str(tmp_path / folder), **{**defaults, **options}),
            rollout=RolloutArguments(max_tokens_per_turn=4),
            processing_class=make_tokenizer(),
        )

    return make


MOVING_REFERENCE = {
    "precompute_ref_log_probs": False,
    "sync_ref_model": True,
    "ref_model_sync_steps": 2,
}


def test_success_is_preferred_on_every_task(episodes: list[Trajectory]) -> None:
    pairs = preference_pairs(episodes)
    assert len(pairs) == 8
    assert all(pair.chosen.policy == "expert" and not pair.rejected.success for pair in pairs)


def test_training_widens_the_margin_and_evaluations_play(
    trainer_on: Callable[..., AgentDPOTrainer], letters: Environments
) -> None:
    trainer = trainer_on(max_steps=8, env=letters, eval_strategy="steps", eval_steps=8)
    trainer.train()
    margins = [e["rewards/margins"] for e in trainer.state.log_history if "rewards/margins" in e]
    assert margins[0] == 0.0
    assert margins[-1] > 0.5
    measured = [e for e in trainer.state.log_history if "eval_success" in e]
    assert len(measured) == 1
    written = Path(trainer.args.output_dir) / "trajectories/eval_000008.jsonl"
    assert {t.split for t in read_jsonl(written)} == {"validation"}


@pytest.mark.parametrize("moving", [{}, MOVING_REFERENCE], ids=["fixed", "moving"])
def test_a_resumed_run_has_the_losses_of_the_uninterrupted_one(
    trainer_on: Callable[..., AgentDPOTrainer], moving: dict[str, Any]
) -> None:
    """Eight pairs at two a step: the run is cut in the middle of its second epoch."""
    options = {"save_strategy": "steps", "save_steps": 6, **moving}
    whole = trainer_on("whole", max_steps=9, **options)
    whole.train()
    trainer_on("parts", max_steps=6, **options).train()
    resumed = trainer_on("parts", max_steps=9, **options)
    resumed.train(resume_from_checkpoint=True)

    def losses(trainer: AgentDPOTrainer) -> list[tuple[float, float]]:
        return [(e["loss"], e["grad_norm"]) for e in trainer.state.log_history if "loss" in e]

    assert losses(resumed) == losses(whole)
    assert len(losses(whole)) == 9


@pytest.mark.parametrize("order", ["random", "sequential"])
def test_pairs_of_several_environments_come_in_turns_and_in_their_order_where_it_is_asked(
    order: str, tmp_path: Path, episodes: list[Trajectory]
) -> None:
    others = [replace(e, task_id=e.task_id.replace("letters", "other")) for e in episodes]
    pairs = preference_pairs([*episodes, *others])
    trainer = AgentDPOTrainer(
        make_model(),
        pairs,
        args=AgentDPOConfig(str(tmp_path), train_sampling_strategy=order, report_to="none"),
        processing_class=make_tokenizer(),
    )
    rows = list(trainer._get_train_sampler())
    names = [scenario_name(pairs[row].chosen.task_id) for row in rows]
    assert all({*names[at : at + 2]} == {"letters", "other"} for at in range(0, len(rows), 2))
    for name in ("letters", "other"):
        own = [row for row, of in zip(rows, names, strict=True) if of == name]
        assert (own == sorted(own)) is (order == "sequential")


def test_trls_own_config_will_do_and_long_pairs_are_left_out(
    tmp_path: Path, episodes: list[Trajectory]
) -> None:
    pairs = preference_pairs(episodes)
    args = DPOConfig(str(tmp_path), use_cpu=True, bf16=False, report_to="none", max_length=1024)
    tokenizer = make_tokenizer()
    trainer = AgentDPOTrainer(make_model(), pairs, args=args, processing_class=tokenizer)
    assert len(trainer.train_dataset) == len(pairs)
    args.max_length = 20
    with pytest.raises(ValueError, match="8 found, 8 with too many tokens"):
        AgentDPOTrainer(make_model(), pairs, args=args, processing_class=tokenizer)


def test_without_files_the_expert_is_preferred_to_the_policys_own_failures(
    tmp_path: Path, letters: Environments
) -> None:
    def pairs(resume: bool = False) -> list[Pair]:
        return sampled_pairs(
            letters,
            ModelArguments(model_name_or_path=str(tmp_path / "model")),
            args=AgentDPOConfig(output_dir=str(tmp_path / "out")),
            rollout=RolloutArguments(max_tokens_per_turn=4),
            pairing=PairArguments(num_samples=2, num_tasks=4),
            resume=resume,
        )

    make_folder(tmp_path / "model")
    found = pairs()
    assert found
    assert all(pair.chosen.policy == "expert" for pair in found)
    assert all(not p.rejected.success and p.rejected.policy == "sampled" for p in found)
    kept = tmp_path / "out" / "pairs" / "sampled.jsonl"
    sampled = list(read_jsonl(kept))
    assert len(sampled) == 8
    assert len({t.task_id for t in sampled}) == 4
    write_jsonl(kept, sampled[:1])
    assert len(pairs(resume=True)) == sum(not t.success for t in sampled[:1])
    assert pairs() == found


def test_pairs_of_an_earlier_run_are_set_aside_and_a_folder_in_use_is_refused(
    tmp_path: Path, letters: Environments, episodes: list[Trajectory]
) -> None:
    out, kept = tmp_path / "out", Path("pairs") / "sampled.jsonl"

    def play() -> None:
        sampled_pairs(
            letters,
            make_folder(tmp_path / "model"),
            args=AgentDPOConfig(output_dir=str(out)),
            rollout=RolloutArguments(max_tokens_per_turn=4),
            pairing=PairArguments(num_tasks=4),
        )

    write_jsonl(out / kept, episodes[:1])
    write_json(out / "run.json", {"command": "train dpo"})
    with holding(out, "train dpo"), pytest.raises(UsageError, match="is held by `agentgym train"):
        play()
    assert list(read_jsonl(out / kept)) == episodes[:1]
    play()
    assert list(read_jsonl(out / "previous-1" / kept)) == episodes[:1]
    assert len(list(read_jsonl(out / kept))) == 16


def test_a_run_that_is_resumed_before_its_first_checkpoint_keeps_its_pairs(
    tmp_path: Path,
    trainer_on: Callable[..., AgentDPOTrainer],
    episodes: list[Trajectory],
) -> None:
    kept = tmp_path / "run" / "pairs" / "sampled.jsonl"
    write_jsonl(kept, episodes[:1])
    write_json(tmp_path / "run" / "run.json", {"command": "train dpo"})
    train_and_save(trainer_on(max_steps=1), resume=True, command="train dpo")
    assert list(read_jsonl(kept)) == episodes[:1]


def test_tasks_that_give_no_pair_are_told_with_what_was_solved(
    tmp_path: Path, episodes: list[Trajectory], letters: Environments
) -> None:
    expert = [episode for episode in episodes if episode.success]
    for name in ("expert", "sampled"):  # as an interrupted run kept them
        write_jsonl(tmp_path / "pairs" / f"{name}.jsonl", expert)
    with pytest.raises(UsageError, match="no pair came of 8 tasks: the expert solved 8 of them, "):
        sampled_pairs(
            letters,
            "unused",
            args=AgentDPOConfig(output_dir=str(tmp_path)),
            resume=True,
        )


def test_the_command_plays_for_its_pairs(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = (
        f"--env {ENV_ID} --model {make_folder(tmp_path / 'model')} --output_dir {out} "
        "--max-steps 2 --learning-rate 1e-2 --max_tokens_per_turn 4 --eval-steps 2 --disable-tqdm "
        "--num-samples 1 --action_format plain"
    ).split()
    assert main(options) == 0
    trained = AutoModelForCausalLM.from_pretrained(out)
    pairs = zip(trained.parameters(), make_model().parameters(), strict=True)
    assert not all(torch.equal(one, other) for one, other in pairs)
    run = json.loads((out / "run.json").read_text())
    assert run["command"] == "train dpo"
    assert run["PairArguments"]["num_samples"] == 1


def test_the_command_reads_episodes_and_trains_an_adapter(
    tmp_path: Path, episodes: list[Trajectory]
) -> None:
    write_jsonl(tmp_path / "expert.jsonl", episodes[:8])
    write_jsonl(tmp_path / "others.jsonl", episodes[8:])
    out = tmp_path / "out"
    options = (
        f"--data {tmp_path / 'expert.jsonl'} --data {tmp_path / 'others.jsonl'} --loss-type ipo "
        f"--model {make_folder(tmp_path / 'model')} --output-dir {out} --max-steps 1 --use-peft "
        "--lora_target_modules q_proj --disable-tqdm"
    ).split()
    assert main(options) == 0
    assert (out / "model.safetensors").is_file()
    assert (out / "adapter" / "adapter_model.safetensors").is_file()


def test_episodes_of_another_environment_than_is_named_are_refused(
    tmp_path: Path, episodes: list[Trajectory]
) -> None:
    write_jsonl(tmp_path / "episodes.jsonl", episodes)
    words = ["--data", str(tmp_path / "episodes.jsonl"), "--env", "BabyAI", "--model", "nowhere"]
    with pytest.raises(UsageError, match="holds episodes of letters, and `env` is BabyAI; pass"):
        main(words)


def test_without_data_or_an_environment_the_remedy_is_named() -> None:
    with pytest.raises(ValueError, match="--data FILE"):
        main(["--model", "nowhere"])


@pytest.mark.parametrize(("name", "value"), [("num_tasks", -1), ("num_samples", 0)])
def test_senseless_counts_are_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be >= .*, got {value}"):
        PairArguments(**{name: value})
