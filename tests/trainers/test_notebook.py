"""What somebody who knows TRL gives a trainer at first: taken as meant, or refused in words."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from transformers import Qwen3Model
from trl import GRPOConfig

from tests.trainers.toys import ENV_ID, episode, make_folder, make_model, make_tokenizer
from trainers import (
    AgentDPOConfig,
    AgentDPOTrainer,
    AgentGRPOTrainer,
    AgentSFTConfig,
    AgentSFTTrainer,
    EnvArguments,
    EvaluationArguments,
    RolloutArguments,
    open_environments,
    task_dataset,
)
from trainers.models.loading import with_tokenizer
from trainers.options.errors import UsageError
from trainers.policies.model import ModelPolicy


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_folder(tmp_path_factory.mktemp("model"))


@pytest.fixture
def grpo(model: str, tmp_path: Path) -> Callable[..., AgentGRPOTrainer]:
    def make(**given: Any) -> AgentGRPOTrainer:
        args = GRPOConfig(
            str(tmp_path / "run"), max_steps=1, num_generations=4, per_device_train_batch_size=4,
            use_cpu=True, bf16=False, report_to="none", save_strategy="no", disable_tqdm=True,
        )  # fmt: skip
        plain = EnvArguments(env=[ENV_ID], action_format="plain")
        rollout = RolloutArguments(max_tokens_per_turn=4)
        defaults: dict[str, Any] = {"model": model, "env": plain, "args": args, "rollout": rollout}
        return AgentGRPOTrainer(**{**defaults, **given})

    return make


def test_trls_own_habits_train_evaluate_and_save(
    grpo: Callable[..., AgentGRPOTrainer], tmp_path: Path
) -> None:
    trainer = grpo(
        train_dataset=task_dataset([f"letters_{number}" for number in range(4)]),
        evaluation=EvaluationArguments(num_eval_tasks=1),
    )
    assert trainer.train().global_step == 1
    assert "eval_success" in trainer.evaluate()
    assert "eval_success" in trainer.evaluate(task_dataset(["letters_3"]))
    trainer.save_model(str(tmp_path / "saved"))
    loaded, tokenizer = with_tokenizer(str(tmp_path / "saved"))
    assert tokenizer.chat_template == make_tokenizer().chat_template
    again, own = with_tokenizer(loaded)
    assert again is loaded and own.get_vocab() == tokenizer.get_vocab()


@pytest.mark.parametrize(
    ("given", "error", "told"),
    [
        ({"model": "tniy"}, UsageError, "cannot open the policy 'tniy'; did you mean tiny"),
        ({"env": "Leters"}, UsageError, "unknown environment 'Leters'"),
        ({"env": None}, TypeError, 'GRPOTrainer needs an environment .*; name it, such as env="T'),
        ({"env": gym}, TypeError, 'env must be trainers.EnvArguments, .*; name it, such as env="T'),
        ({"args": AgentSFTConfig()}, TypeError, "args must be trl.GRPOConfig, .*AgentGRPOConfig"),
        ({"rollout": {"horizon": "fixed:2"}}, TypeError, "make a trainers.RolloutArguments"),
        ({"evaluation": 40}, TypeError, "make a trainers.EvaluationArguments"),
        (
            {"train_dataset": [{"prompt": [{"role": "user", "content": "Solve it"}]}] * 4},
            ValueError,
            "the prompts of train_dataset must be task ids of letters, got .*'user'",
        ),
        (
            {"train_dataset": task_dataset(["Solve it"] * 4)},
            ValueError,
            "task ids of letters, got 'Solve it'; make it by trainers.task_dataset",
        ),
        ({"train_dataset": [{"text": "a"}]}, ValueError, "train_dataset must be one dataset of"),
        (
            {"model": None},
            TypeError,
            "model must be tiny, smollm2, smollm2-textcraft, a folder, a GGUF file or .*, got None",
        ),
        ({"model": Qwen3Model(make_model().config)}, TypeError, "a Qwen3Model writes no text"),
        ({"reward_funcs": []}, ValueError, "reward_funcs is empty; leave it out"),
        ({"max_turns": 3}, TypeError, r"option of EnvArguments: env=EnvArguments\(max_turns="),
        ({"horizon": 3}, TypeError, r"rollout=RolloutArguments\(horizon="),
        ({"num_eval_tasks": 3}, TypeError, r"evaluation=EvaluationArguments\(num_eval_tasks="),
        ({"max_steps": 3}, TypeError, r"args=GRPOConfig\(max_steps="),
        ({"peft_confg": None}, TypeError, "no peft_confg; did you mean peft_config"),
        ({"qqqq": None}, TypeError, "no qqqq; trl.GRPOTrainer has none either"),
        ({"rollout_func": print}, TypeError, "takes no rollout_func: it plays env itself"),
    ],
    ids=str,
)
def test_what_does_not_fit_is_refused_with_the_remedy(
    given: dict[str, Any], error: type[Exception], told: str, grpo: Callable[..., Any]
) -> None:
    with pytest.raises(error, match=told):
        grpo(**given)


def test_values_are_taken_as_python_has_them() -> None:
    args = EnvArguments(env="TextCraft", tasks=[1], env_kwargs={"compat": None})  # type: ignore[arg-type]
    assert args.env == ["agentgym/TextCraft-v0"]
    assert args.extra_kwargs == {"compat": None}
    environments = open_environments(args)
    shallow = environments.task_ids("train", tasks=args.tasks)
    assert shallow == environments.task_ids("train", tasks=[1]) != environments.task_ids("train")
    assert open_environments(environments) is environments
    assert open_environments(["TextCraft"]).env_ids == environments.env_ids


def test_one_reward_model_may_be_named(grpo: Callable[..., AgentGRPOTrainer]) -> None:
    with pytest.raises(OSError, match="org/reward-model|huggingface.co"):
        grpo(reward_funcs="org/reward-model")


def test_imitation_takes_episodes_and_preference_takes_pairs(tmp_path: Path) -> None:
    given: dict[str, Any] = {"processing_class": make_tokenizer()}
    with pytest.raises(TypeError, match="learns from the trajectories that are its second"):
        AgentSFTTrainer(make_model(), [], args=AgentSFTConfig("run"), train_dataset=[], **given)
    with pytest.raises(TypeError, match="learns from the pairs that are its second argument"):
        AgentDPOTrainer(make_model(), [], args=AgentDPOConfig("run"), train_dataset=[], **given)
    with pytest.raises(
        TypeError,
        match="model must be tiny, smollm2, smollm2-textcraft, a folder, .*, got None",
    ):
        AgentSFTTrainer(None, [], args=AgentSFTConfig("run"), **given)
    with pytest.raises(TypeError, match="must be agentgym_envs.Trajectory, .*read_jsonl"):
        AgentSFTTrainer(make_model(), [{"messages": []}], args=AgentSFTConfig("run"), **given)  # type: ignore[list-item]
    with pytest.raises(TypeError, match="must be trainers.Pair, .*trainers.preference_pairs"):
        AgentDPOTrainer(make_model(), [episode()], args=AgentDPOConfig("run"), **given)  # type: ignore[list-item]
    with pytest.raises(UsageError, match="names no tokenizer; pass processing_class="):
        AgentSFTTrainer(make_model(), [episode(1.0)], args=AgentSFTConfig("run"))


def test_a_trainer_plays_with_the_model_it_is_given(grpo: Callable[..., AgentGRPOTrainer]) -> None:
    trainer = grpo(model=make_model(), processing_class=make_tokenizer())
    policy = trainer.rollout.policy
    assert isinstance(policy, ModelPolicy) and policy.name == trainer.args.output_dir
