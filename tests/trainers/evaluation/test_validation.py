"""Which tasks evaluations during training play."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import read_jsonl
from tests.trainers.toys import ENV_ID, episode, make_model, make_tokenizer
from trainers.credit.pairs import Pair
from trainers.dpo import AgentDPOConfig, AgentDPOTrainer
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.configs import AgentSFTConfig
from trainers.rollout.environments import Environments
from trainers.sft import AgentSFTTrainer
from trainers.trl_bridge import task_dataset

CHOSEN = task_dataset(["letters_3", "letters_5", "letters_1"])


def evaluated(trainer: Any) -> list[str]:
    path = Path(trainer.args.output_dir) / "trajectories/eval_000000.jsonl"
    return [trajectory.task_id for trajectory in read_jsonl(path)]


@pytest.mark.parametrize("eval_strategy", ["steps", "no"])
def test_online_evaluations_play_the_prompts_of_a_given_dataset(
    eval_strategy: str, trainer_in: Callable[..., AgentGRPOTrainer]
) -> None:
    trainer = trainer_in(trainer={"eval_dataset": CHOSEN}, eval_strategy=eval_strategy)
    assert "eval_success" in trainer.evaluate()
    assert evaluated(trainer) == [name for name in CHOSEN["prompt"] for _ in range(2)]


def test_evaluate_plays_the_split_where_training_evaluates_never(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(eval_strategy="no")
    assert "eval_success" in trainer.evaluate()
    assert evaluated(trainer) == ["letters_8", "letters_8", "letters_9", "letters_9"]


def test_a_dataset_given_to_evaluate_takes_the_place_of_the_validation_tasks(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(eval_strategy="steps")
    trainer.evaluate(task_dataset(["letters_7"]))
    assert evaluated(trainer) == ["letters_7"] * 2


def imitating(tmp_path: Path, **options: Any) -> AgentSFTTrainer:
    args = AgentSFTConfig(str(tmp_path), report_to="none", save_strategy="no")
    return AgentSFTTrainer(
        make_model(), [episode(1.0)], args=args, rollout=RolloutArguments(max_tokens_per_turn=4),
        eval_dataset=CHOSEN, processing_class=make_tokenizer(), **options,
    )  # fmt: skip


def preferring(tmp_path: Path, **options: Any) -> AgentDPOTrainer:
    args = AgentDPOConfig(str(tmp_path), report_to="none", save_strategy="no")
    better, worse = episode(1.0), episode(0.0)
    worse.turns[0].completion = "b"
    return AgentDPOTrainer(
        make_model(), [Pair(better, worse, 0)], args=args, eval_dataset=CHOSEN,
        rollout=RolloutArguments(max_tokens_per_turn=4), processing_class=make_tokenizer(),
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("make", [imitating, preferring])
def test_trainers_on_saved_episodes_play_the_prompts_of_a_given_dataset(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    environments = Environments(EnvArguments(env=[ENV_ID], action_format="plain"))
    trainer = make(tmp_path, env=environments)
    trainer.evaluate()
    assert evaluated(trainer) == CHOSEN["prompt"]


@pytest.mark.parametrize("make", [imitating, preferring])
def test_an_environments_name_is_enough(
    make: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = make(tmp_path, env=EnvArguments(env=[ENV_ID], action_format="plain"))
    assert trainer.task_environments.env_ids == (ENV_ID,)
    trainer.evaluate()
    assert evaluated(trainer) == CHOSEN["prompt"]
    trainer.task_environments.close()


def test_evaluate_without_an_environment_names_the_remedy(tmp_path: Path) -> None:
    args = AgentSFTConfig(str(tmp_path), report_to="none", save_strategy="no")
    trainer = AgentSFTTrainer(
        make_model(), [episode(1.0)], args=args, processing_class=make_tokenizer()
    )
    with pytest.raises(ValueError, match="make the AgentSFTTrainer with env="):
        trainer.evaluate()


@pytest.mark.parametrize("make", [imitating, preferring])
def test_tasks_without_an_environment_are_refused(make: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no environment; pass env as well"):
        make(tmp_path)


@pytest.mark.parametrize("given", [{"easy": CHOSEN}, [{"text": "letters_0"}], []])
def test_a_dataset_without_prompts_is_refused_with_the_remedy(
    given: Any, trainer_in: Callable[..., AgentGRPOTrainer]
) -> None:
    with pytest.raises(ValueError, match="make it by trainers.task_dataset"):
        trainer_in(eval_strategy="steps", trainer={"eval_dataset": given})
