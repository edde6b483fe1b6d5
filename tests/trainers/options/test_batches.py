"""Options whose values do not fit each other are refused in the words that were typed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.trainers.toys import ENV_ID
from trainers import AgentGRPOConfig, AgentPPOConfig, AgentSFTConfig
from trainers.command import parse_training


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
            "generation_batch_size makes 20 episodes, no multiple of num_generations=8; "
            "num_generations 2, 4, 5 or 10 would fit",
        ),
        (
            {"generation_batch_size": 20},
            "generation_batch_size=20 must be a multiple of per_device_train_batch_size=8; "
            "16 or 24 would do",
        ),
        (
            {"generation_batch_size": 16, "steps_per_generation": 2},
            "generation_batch_size=16 and steps_per_generation=2 name the same batch",
        ),
        ({"num_generations": 1}, "num_generations must be >= 2, .* got 1; ppo compares none"),
        (
            {"per_device_train_batch_size": 1, "gradient_accumulation_steps": 1},
            "makes 1 episodes, no multiple of num_generations=8; make it larger",
        ),
        ({"per_device_train_batch_size": 0}, "per_device_train_batch_size must be >= 1, got 0"),
    ],
    ids=str,
)
def test_a_batch_that_holds_no_whole_groups_names_what_was_typed(
    options: dict[str, Any], told: str
) -> None:
    with pytest.raises(ValueError, match=told):
        AgentGRPOConfig(**options)


def test_processes_count_where_there_are_several(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "3")
    with pytest.raises(
        ValueError, match="=2 x 3 processes x gradient_accumulation_steps=1 makes 6"
    ):
        AgentGRPOConfig(per_device_train_batch_size=2, gradient_accumulation_steps=1)


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
        ({"save_steps": 30, "eval_steps": 20}, "got save_steps=30, no multiple of eval_steps=20"),
        ({"save_strategy": "epoch"}, "got save_strategy=epoch with eval_strategy=steps"),
    ],
)
@pytest.mark.parametrize("config", [AgentGRPOConfig, AgentSFTConfig])
def test_checkpoints_that_nothing_measures_are_refused_with_the_remedy(
    config: Any, options: dict[str, Any], told: str
) -> None:
    with pytest.raises(
        ValueError, match=f"{told}; make them fit, or pass --load_best_model_at_end"
    ):
        config(**options)
    assert config(**options, load_best_model_at_end=False)
    assert config(save_steps=40, eval_steps=20)


def test_the_command_refuses_them_as_a_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        parse_training(
            ["--env", ENV_ID, "--num_generations", "7"],
            algorithm="grpo", config=AgentGRPOConfig, description="",
        )  # fmt: skip
    assert stopped.value.code == 2
    assert "no multiple of num_generations=7" in capsys.readouterr().err
