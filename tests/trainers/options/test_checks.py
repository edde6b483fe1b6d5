"""Options whose values do not fit each other are refused in the words that were typed."""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from pathlib import Path
from typing import Any

import pytest
from trl.trainer import dpo_trainer, grpo_trainer

from tests.trainers.toys import ENV_ID, episode, make_folder, make_model, make_tokenizer
from trainers import (
    AgentDPOConfig,
    AgentGRPOConfig,
    AgentPPOConfig,
    AgentSFTConfig,
    AgentSFTTrainer,
    EvaluationArguments,
    PairArguments,
    RolloutArguments,
    UsageError,
    grpo,
    ppo,
)
from trainers.command import parse_training
from trainers.options.checks import OUR_CORRECTIONS
from trainers.options.offline import PREFERENCE_LOSSES, DataArguments


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (
            {"num_generations": 5},
            "a batch holds whole groups: per_device_train_batch_size=8 x "
            "gradient_accumulation_steps=8 makes 64 episodes, no multiple of num_generations=5; "
            "num_generations 2, 4, 8 or 16 would fit",
        ),
        (
            {"num_generations": 5, "steps_per_generation": 2},
            "per_device_train_batch_size=8 x steps_per_generation=2 makes 16 episodes",
        ),
        (
            {"generation_batch_size": 20, "per_device_train_batch_size": 5},
            r"generation_batch_size \(20\) must be divisible by num_generations \(8\)",
        ),
        (
            {"generation_batch_size": 20},
            r"generation_batch_size \(20\) must be divisible by the global batch size \(8\)",
        ),
        (
            {"generation_batch_size": 16, "steps_per_generation": 2},
            "'generation_batch_size' and 'steps_per_generation' can not be both configured",
        ),
        (
            {"num_generations": 1},
            "num_generations must be >= 2, .* got 1; ppo and distill compare none",
        ),
        (
            {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1},
            "makes 1 episodes, no multiple of num_generations=8; make it larger",
        ),
        ({"per_device_train_batch_size": 0}, "per_device_train_batch_size must be >= 1, got 0"),
        ({"num_iterations": 0}, "num_iterations must be >= 1, got 64, 8 and 0"),
        (
            {"steps_per_generation": 0},
            "steps_per_generation and num_iterations must be >= 1, got 0, 0",
        ),
    ],
    ids=str,
)
def test_a_batch_that_holds_no_whole_groups_is_refused(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        AgentGRPOConfig(**options)


def test_processes_count_where_there_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(
        ValueError, match="=2 x gradient_accumulation_steps=1 x 3 processes makes 6"
    ):
        AgentGRPOConfig(per_device_train_batch_size=2, gradient_accumulation_steps=1)


@pytest.mark.parametrize(
    ("kind", "name", "text", "expected"),
    [
        (AgentGRPOConfig, "learning_rate", "1e-6", "a number"),
        (AgentGRPOConfig, "num_generations", "4", "a number"),
        (AgentGRPOConfig, "bf16", "false", "True or False"),
        (AgentSFTConfig, "max_steps", "10", "a number"),
        (AgentDPOConfig, "beta", "0.1", "a number"),
        (EvaluationArguments, "num_eval_tasks", "ten", "a number"),
        (RolloutArguments, "max_trajectory_gb", "1", "a number"),
    ],
)
def test_a_number_is_no_text(kind: Any, name: str, text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be {expected}, got the text '{text}'"):
        kind(**{name: text})


@pytest.mark.parametrize("options", [{}, {"num_generations": 4}, {"num_iterations": 3}])
def test_ppo_needs_no_groups_but_two_episodes(options: dict[str, Any]) -> None:
    size = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 1}
    assert AgentPPOConfig(**size, **options).generation_batch_size == 4
    if "num_generations" not in options:
        with pytest.raises(ValueError, match="a batch must hold 2 episodes at least, got 1"):
            AgentPPOConfig(**{**size, "per_device_train_batch_size": 1}, **options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"save_steps": 30, "eval_steps": 20}, "saving steps to be a round multiple"),
        ({"save_strategy": "epoch"}, "requires the save and eval strategy to match"),
    ],
)
@pytest.mark.parametrize("config", [AgentGRPOConfig, AgentSFTConfig])
def test_checkpoints_that_nothing_measures_are_refused(
    config: Any, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        config(**options)
    assert config(**options, load_best_model_at_end=False)
    assert config(save_steps=40, eval_steps=20)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"max_steps": 0}, "max_steps must be >= 1, or -1 for num_train_epochs"),
        ({"num_train_epochs": 0}, "num_train_epochs must be > 0, got 0"),
        ({"learning_rate": -1.0}, "learning_rate must be >= 0, got -1.0"),
        ({"eval_steps": 0}, "eval_steps must be > 0, got 0; eval_strategy=no evaluates never"),
        (
            {"metric_for_best_model": "reward"},
            "must be one that evaluations report, success, .*'re",
        ),
        (
            {"save_strategy": "best", "eval_strategy": "no"},
            "save_strategy=best goes by evaluations",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("config", [AgentGRPOConfig, AgentSFTConfig])
def test_a_run_that_would_train_or_measure_nothing_is_refused(
    config: Any, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        config(**options)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"loss_type": "nix"}, "loss_type must be one of grpo, bnpo, .*vespo, got 'nix'"),
        (
            {"scale_rewards": "True"},
            "scale_rewards must be one of group, batch, environment, mean, none, got 'True'",
        ),
        (
            {"scale_rewards": "nix"},
            "scale_rewards must be one of group, batch, environment, mean, none, got 'nix'",
        ),
        ({"importance_sampling_level": "turn"}, "must be one of token, sequence, got 'turn'"),
        ({"multi_objective_aggregation": "sum"}, "sum_then_normalize, normalize_then_sum, got"),
        (
            {"multi_objective_aggregation": "normalize_then_sum", "turn_credit": "hgpo"},
            "turn_credit=hgpo credits turns with their rewards.* leave out one of the two",
        ),
        ({"temperature": 0.0}, "temperature must be > 0, .* got 0.0; evaluations may be greedy"),
        (
            {"vllm_importance_sampling_mode": "turn"},
            "token_mask, sequence_truncate, .*turn_truncate, .*geometric_mask, got 'turn'",
        ),
        (
            {"vllm_importance_sampling_mode": "turn_mask", "loss_type": "vespo"},
            "loss_type=vespo .* must be token_truncate or token_mask, got turn_mask",
        ),
        ({"vllm_importance_sampling_clip_min": 1.5}, "clip_min must be in 0..1 .* got 1.5 and 3.0"),
        ({"vllm_importance_sampling_clip_max": 0.9}, "clip_max above 1, .* got None and 0.9"),
        ({"vllm_importance_sampling_clip_max": math.inf}, "above 1, .* got None and inf"),
        (
            {"vllm_importance_sampling_mode": "geometric_mask"},
            "clip_min=0.99. and .vllm_.*max=1.01",
        ),
        (
            {"vllm_importance_sampling_clip_max": None},
            "At least one of .* must be set when .* is a",
        ),
    ],
    ids=str,
)
def test_what_trl_finds_in_its_first_step_is_refused_before(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        AgentGRPOConfig(**options)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("loss_type", ()),
        ("importance_sampling_level", ()),
        ("multi_objective_aggregation", ()),
        ("scale_rewards", ("environment", "mean")),
        ("vllm_importance_sampling_mode", OUR_CORRECTIONS),
    ],
)
def test_every_choice_is_one_that_trl_compares_with(name: str, ours: tuple[str, ...]) -> None:
    source = inspect.getsource(grpo_trainer)
    field = next(field for field in dataclasses.fields(AgentGRPOConfig) if field.name == name)
    assert set(ours) < set(field.metadata["choices"])
    for choice in set(field.metadata["choices"]) - set(ours):
        assert f'"{choice}"' in source
        assert AgentGRPOConfig(**{name: choice})


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"loss_type": "nix"}, "loss_type must be one of sigmoid, hinge, .*, got 'nix'"),
        ({"beta": -1.0}, "beta must be >= 0, got -1.0"),
        ({"sync_ref_model": True}, "pass `precompute_ref_log_probs=false` with it"),
    ],
    ids=str,
)
def test_preference_is_checked_before_pairs_are_played(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        AgentDPOConfig(**options)


def test_trl_knows_these_preference_losses_and_no_other() -> None:
    source = inspect.getsource(dpo_trainer)
    known = re.findall(r'loss_type == "(\w+)"', source)
    assert set(known) == set(PREFERENCE_LOSSES)
    assert AgentDPOConfig(loss_type=["sigmoid", "sft"], loss_weights=[1.0, 0.5])


def test_imitation_that_would_cut_every_turn_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="max_length=2 leaves no turn of any of 1 episodes"):
        AgentSFTTrainer(
            make_model(), [episode(1.0)], processing_class=make_tokenizer(),
            args=AgentSFTConfig(str(tmp_path), max_length=2),
        )  # fmt: skip
    with pytest.warns(FutureWarning, match="keep_end"):  # TRL will drop it
        args = AgentSFTConfig(
            str(tmp_path), max_length=2, truncation_mode="keep_end", eval_strategy="no"
        )
        # The last tokens are a turn's.
        AgentSFTTrainer(make_model(), [episode(1.0)], processing_class=make_tokenizer(), args=args)
    with pytest.raises(ValueError, match="num_episodes must be >= 1, got 0"):
        DataArguments(num_episodes=0)
    with pytest.raises(ValueError, match="max_pairs_per_task must be >= 0, got -2"):
        PairArguments(max_pairs_per_task=-2)


def test_an_episode_has_room_for_more_than_a_turn() -> None:
    with pytest.raises(ValueError, match="max_tokens_per_episode=256 with max_tokens_per_turn=256"):
        RolloutArguments(max_tokens_per_episode=256)


def test_what_trl_refuses_when_a_trainer_is_made_is_a_sentence(tmp_path: Path) -> None:
    options = [
        *("--env", ENV_ID, "--action_format", "plain", "--output_dir", str(tmp_path / "run")),
        *("--model", make_folder(tmp_path / "model"), "--eval_strategy", "no"),
    ]
    for words, told in (
        (["--reward_weights", "1", "2"], "reward weights .* must match number of reward func"),
        (["--sync_ref_model"], "sync_ref_model=True.* while .beta=0.0"),
    ):
        with pytest.raises(UsageError, match=told):
            grpo.main([*options, *words])
    with pytest.raises(UsageError, match="cannot open the policy 'nix'"):
        ppo.main([*options, "--critic_model", "nix", "--gradient_accumulation_steps", "1"])
    assert not (tmp_path / "run/run.json").exists()


def test_the_command_refuses_them_as_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        parse_training(
            ["--env", ENV_ID, "--num_generations", "7"],
            algorithm="grpo", config=AgentGRPOConfig, description="",
        )  # fmt: skip
    assert stopped.value.code == 2
    assert "no multiple of num_generations=7" in capsys.readouterr().err
