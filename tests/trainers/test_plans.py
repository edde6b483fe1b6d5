"""What a run says before its first step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from agentgym_envs import Trajectory
from tests.trainers.toys import ENV_ID, episode, make_model, make_tokenizer
from trainers import (
    AgentPPOConfig,
    AgentPPOTrainer,
    AgentSFTConfig,
    AgentSFTTrainer,
    EnvArguments,
    EvaluationArguments,
    RolloutArguments,
)
from trainers.models.loading import describe_policy, load_policy
from trainers.options.configs import ModelArguments
from trainers.plans import print_plan
from trainers.runs.folder import write_json

Printed = pytest.CaptureFixture[str]
THREADS = "1 thread" if torch.get_num_threads() == 1 else f"{torch.get_num_threads()} threads"


def test_a_run_says_policy_tasks_batch_and_steps(
    trainer_in: Callable[..., Any], capsys: Printed
) -> None:
    trainer = trainer_in(
        rollout={"horizon": "scaling:2,3@5"},
        eval_strategy="steps", eval_steps=2, max_steps=2,
    )  # fmt: skip
    trainer.train()
    said = capsys.readouterr().out
    assert said.startswith(
        f"GRPO: 2 optimizer steps, written to {trainer.args.output_dir}\n"
        f"  policy    Qwen3ForCausalLM: 24K parameters, float32 on cpu by {THREADS}\n"
        "  tasks     8 of Letters (train), 3 turns at most, horizon scaling:2,3@5\n"
        "  batch     8 episodes a step: 2 tasks x 4; learning rate 0.01 (constant)\n"
        "  measured  every 2 steps and at the end on 2 tasks of validation, 2 episodes each; "
        "--eval_on_start true before the first step too\n"
    )
    assert said.count("GRPO: ") == 2
    end, success, before = said.splitlines()[-3:]
    assert end == "GRPO: ended after step 2 with the weights of step 2"
    assert success.startswith("  measured         success ")
    assert before == "  before training  not measured; --eval_on_start true does that"


def test_a_share_of_all_steps_is_said_in_steps(
    trainer_in: Callable[..., Any], capsys: Printed
) -> None:
    trainer_in(eval_strategy="steps", eval_steps=0.6, max_steps=3).train()
    assert "  measured  every 2 steps and at the end on 2 tasks" in capsys.readouterr().out


def test_the_end_says_which_weights_are_left_and_what_success_was_before(
    trainer_in: Callable[..., Any], capsys: Printed
) -> None:
    trainer = trainer_in(
        max_steps=2, eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1,
        load_best_model_at_end=True, metric_for_best_model="eval_success", eval_on_start=True,
    )  # fmt: skip
    won = {0: False, 1: True, 2: False}
    trainer.validation.play = lambda ids, step, _share: [
        Trajectory(ENV_ID, one, status="terminated", success=won[step]) for one in ids
    ]
    trainer.train()
    said = capsys.readouterr().out
    assert "  measured  at the start, every step and at the end on 2 tasks of validation" in said
    assert said.endswith(
        "GRPO: ended after step 2 with the weights of step 1, the best by eval_success\n"
        "  measured         success 100.0% (34.2% to 100.0%), fresh episodes of these weights\n"
        "  plateau          50.0%, the mean of the last 2 evaluations (steps 1 to 2)\n"
        "  best             100.0% (34.2% to 100.0%) at step 1; the evaluation that chose these "
        "weights, a maximum over noise\n"
        "  before training  0.0% (0.0% to 65.8%)\n"
    )


def test_a_run_that_did_not_beat_its_start_says_where_to_look(
    trainer_in: Callable[..., Any], capsys: Printed
) -> None:
    trainer = trainer_in(
        max_steps=1, eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1,
        load_best_model_at_end=True, metric_for_best_model="eval_success", eval_on_start=True,
        learning_rate=0.0, env={"tasks": ["early"]},
    )  # fmt: skip
    trainer.validation.play = lambda ids, step, _share: [
        Trajectory(ENV_ID, one, status="terminated", success=step == 0) for one in ids
    ]
    trainer.train()
    said = capsys.readouterr().out
    assert "learning rate 0 (constant), so the policy does not change\n" in said
    assert "on 2 tasks of validation, of all subtasks, 2 episodes each" in said
    assert said.rstrip().endswith(
        "  advice           no evaluation was better than the start; `agentgym headroom` looks for "
        "the reason"
    )


def test_a_run_that_measures_nothing_ends_with_the_command_that_does(
    trainer_in: Callable[..., Any], capsys: Printed
) -> None:
    trainer = trainer_in(max_steps=1)
    # what an earlier quickstart measured in the same folder
    summary = {"success_before": 0, "success_after": 1, "global_step": 1, "env_id": ENV_ID}
    summary |= {"ci95_before": [0, 1], "ci95_after": [0, 1]}
    write_json(Path(trainer.args.output_dir) / "summary.json", summary)
    trainer.train()
    assert capsys.readouterr().out.endswith(
        "GRPO: ended after step 1 with the weights of step 1\n"
        f"  measured  not yet: agentgym eval --env NAME --model {trainer.args.output_dir}\n"
    )


def test_a_run_that_goes_on_says_from_where(
    trainer_in: Callable[..., Any], capsys: Printed
) -> None:
    options = {"save_strategy": "steps", "save_steps": 1}
    trainer_in(max_steps=1, **options).train()
    capsys.readouterr()
    trainer_in(max_steps=3, **options).train(resume_from_checkpoint=True)
    assert "GRPO: optimizer steps 2 to 3" in capsys.readouterr().out
    trainer_in(max_steps=3, **options).train(resume_from_checkpoint=True)
    assert "GRPO: all 3 optimizer steps are taken, " in capsys.readouterr().out


def test_a_batch_that_serves_several_steps_is_told_as_such(tmp_path: Path, capsys: Printed) -> None:
    trainer = AgentPPOTrainer(
        make_model(),
        EnvArguments(env=[ENV_ID], action_format="plain", max_turns=1),
        args=AgentPPOConfig(
            str(tmp_path), max_steps=1, per_device_train_batch_size=2, report_to="none",
            gradient_accumulation_steps=2, eval_strategy="no", disable_tqdm=True,
        ),
        processing_class=make_tokenizer(),
    )  # fmt: skip
    trainer.train()
    said = capsys.readouterr().out
    assert said.startswith("PPO: 1 optimizer step")
    rates = "learning rate 1e-06, the critic's 1e-05 (constant)"
    assert f"  batch   4 episodes every 2 steps: 4 tasks x 1; {rates}\n" in said
    assert said.count("measured") == 1, "at the end, since nothing is measured"


def test_imitation_says_how_many_episodes_it_learns_from(tmp_path: Path, capsys: Printed) -> None:
    args = AgentSFTConfig(
        str(tmp_path), max_steps=1, per_device_train_batch_size=2, report_to="none",
        gradient_accumulation_steps=2, disable_tqdm=True,
    )  # fmt: skip
    trainer = AgentSFTTrainer(
        make_model(), [episode(1.0)] * 5, args=args, processing_class=make_tokenizer()
    )
    trainer.train()
    said = capsys.readouterr().out
    assert said.startswith(f"SFT: 1 optimizer step, written to {tmp_path}\n")
    rate = "learning rate 2e-05 (linear)"
    assert f"  batch   4 a step, of 5 episodes of Letters, 0.8 times each; {rate}\n" in said


def test_imitation_of_windows_says_how_many_there_are_and_how_often_each_is_seen(
    tmp_path: Path, capsys: Printed
) -> None:
    one_turn = episode(1.0, traces=[])
    trainer = AgentSFTTrainer(
        make_model(),
        [replace(one_turn, turns=one_turn.turns * 4)] * 2,
        args=AgentSFTConfig(
            str(tmp_path), max_steps=3, per_device_train_batch_size=4, report_to="none",
            gradient_accumulation_steps=1, save_strategy="no", disable_tqdm=True,
        ),
        processing_class=make_tokenizer(),
        rollout=RolloutArguments(keep_last_turns=1),
    )  # fmt: skip
    trainer.train()
    said = capsys.readouterr().out
    assert (
        "  batch   4 a step, of 6 sequences of 2 episodes of Letters, 2.0 times each; learning rate"
        in said
    )


def test_imitation_of_one_game_that_is_measured_in_another_names_both(
    tmp_path: Path, capsys: Printed
) -> None:
    args = AgentSFTConfig(
        str(tmp_path), max_steps=1, per_device_train_batch_size=2, report_to="none",
        save_strategy="no", load_best_model_at_end=False, disable_tqdm=True,
    )  # fmt: skip
    trainer = AgentSFTTrainer(
        make_model(), [episode(1.0)] * 2, args=args, processing_class=make_tokenizer(),
        env=EnvArguments(env=["TextCraft"], max_turns=1),
        rollout=RolloutArguments(max_tokens_per_turn=1), evaluation=EvaluationArguments(1),
    )  # fmt: skip
    trainer.train()
    trainer.save_model()
    said = capsys.readouterr().out
    assert "  batch     2 a step, of 2 episodes of Letters, 1.0 times each; learning rate" in said
    assert "at the end on 1 task of TextCraft (validation); " in said
    card = (tmp_path / "README.md").read_text()
    assert "trained by AgentSFTTrainer on Letters, with" in card
    assert "| environments | Letters |\n| measured in | TextCraft |" in card


def test_the_shipped_policy_has_its_name() -> None:
    model, _ = load_policy(ModelArguments())
    assert describe_policy(model).startswith("tiny: 1.")
    assert describe_policy(model).endswith(f"parameters, float32 on cpu by {THREADS}")
    lowered = partial(torch.autocast, "cpu", torch.bfloat16)
    assert "float32 computed in bfloat16 on cpu" in describe_policy(model, lowered)
    for parameter in list(model.parameters())[1:]:
        parameter.requires_grad_(False)
    assert "of them trained" in describe_policy(model)


def test_what_there_is_nothing_to_say_about_is_left_out(capsys: Printed) -> None:
    print_plan("GRPO", {"policy": "tiny", "measured": ""})
    assert capsys.readouterr().out == "GRPO\n  policy  tiny\n"
