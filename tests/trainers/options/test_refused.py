"""No option is accepted and ignored: each field of each config is honoured, or refused."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from trl import DPOConfig, GRPOConfig, SFTConfig

from tests.trainers.toys import ENV_ID, make_model, make_tokenizer
from trainers import agentevol, dpo, grpo, ppo, sft
from trainers.agentevol import AgentEvolConfig
from trainers.dpo import AgentDPOConfig, AgentDPOTrainer
from trainers.grpo import AgentGRPOTrainer
from trainers.options.checks import has_effect, ignored_options, refuse_ignored, refused_remedy
from trainers.options.configs import AgentDistillConfig, AgentGRPOConfig, ModelArguments
from trainers.options.errors import UsageError
from trainers.options.offline import AgentSFTConfig
from trainers.ppo import AgentPPOConfig
from trainers.reinforce_pp import AgentReinforcePPConfig
from trainers.rloo import AgentRLOOConfig, AgentRLOOTrainer
from trainers.sft import AgentSFTTrainer

CONFIGS: tuple[type, ...] = (
    AgentGRPOConfig,
    AgentRLOOConfig,
    AgentReinforcePPConfig,
    AgentPPOConfig,
    AgentDistillConfig,
    AgentSFTConfig,
    AgentEvolConfig,
    AgentDPOConfig,
    ModelArguments,
)


def tables_of(kind: Any) -> tuple[str, ...]:
    return ("model",) if kind is ModelArguments else kind.refused


@pytest.mark.parametrize("kind", CONFIGS)
def test_every_refused_option_is_a_field(kind: type) -> None:
    assert set(ignored_options(tables_of(kind))) <= {
        field.name for field in dataclasses.fields(kind)
    }


@pytest.mark.parametrize("kind", CONFIGS)
def test_defaults_pass_before_and_after_they_are_derived(kind: type) -> None:
    refuse_ignored(kind(), tables_of(kind))


@pytest.mark.parametrize("kind", CONFIGS)
def test_a_refused_option_is_named_with_its_value_and_the_remedy(kind: type) -> None:
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name, row in ignored_options(tables_of(kind)).items():
        args = kind()
        default = fields[name].default
        other: Any = not default if isinstance(default, bool) else "other"
        if has_effect(args, row) and name not in ("hub_strategy", "do_eval"):
            continue
        setattr(args, name, "end" if name == "hub_strategy" else other)
        if name == "do_eval":
            args.eval_strategy = "no"
        with pytest.raises(ValueError, match="would be ignored here") as error:
            refuse_ignored(args, tables_of(kind))
        assert str(error.value).startswith(f"{name}={getattr(args, name)!r} ")
        assert refused_remedy(row) in str(error.value)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (AgentGRPOConfig, {"max_completion_length": 64, "loss_type": "dr_grpo"}),
        (AgentGRPOConfig, {"num_generations_eval": 1}),
        (AgentGRPOConfig, {"hub_strategy": "checkpoint"}),
        (AgentGRPOConfig, {"warmup_steps": 9, "lr_scheduler_type": "constant_with_warmup"}),
        (AgentGRPOConfig, {"turn_credit": "gigpo", "turn_discount": 0.5}),
        (AgentDPOConfig, {"train_sampling_strategy": "sequential"}),
        (AgentPPOConfig, {"vllm_importance_sampling_mode": "turn_mask"}),
        (AgentPPOConfig, {"beta": 0.1, "kl_clip": 0.0}),
        (AgentRLOOConfig, {"vllm_importance_sampling_clip_max": 1e9}),
        (ModelArguments, {"use_peft": True, "lora_r": 4}),
    ],
)
def test_an_option_is_taken_where_it_has_its_effect(kind: type, options: dict[str, Any]) -> None:
    args = kind(**options)
    assert {name: getattr(args, name) for name in options} == options


@pytest.mark.parametrize(
    ("kind", "options", "refused"),
    [
        (AgentGRPOConfig, {"warmup_steps": 9}, "warmup_steps"),
        (AgentGRPOConfig, {"turn_credit": "gigpo", "turn_lam": 0.5}, "turn_lam"),
        (AgentReinforcePPConfig, {"kl_clip": 5.0}, "kl_clip"),
        (
            AgentGRPOConfig,
            {"shuffle_dataset": False, "task_sampling": "learnable"},
            "shuffle_dataset",
        ),
        (AgentSFTConfig, {"truncation_mode": "keep_end"}, "truncation_mode"),
        (
            AgentDPOConfig,
            {"train_sampling_strategy": "group_by_length"},
            "train_sampling_strategy",
        ),
    ],
)
def test_an_option_is_refused_beside_one_under_which_it_does_nothing(
    kind: type, options: dict[str, Any], refused: str
) -> None:
    with pytest.raises(UsageError, match=f"^{refused}=.*would be ignored here; "):
        kind(**options)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        (["--repetition_penalty", "1.2"], "repetition_penalty=1.2 would be ignored .*--top_p"),
        (["--generation_kwargs", '{"no": 1}'], "generation_kwargs=.* --max_tokens_per_turn"),
        (["--vllm_mode", "server"], "vllm_mode='server' .*--backend vllm"),
        (["--max_completion_length", "9"], "max_completion_length=9 .*--max_tokens_per_turn"),
        (["--mask_truncated_completions"], "--mask_truncated_episodes"),
        (["--vllm_importance_sampling_cap", "2"], "--vllm_importance_sampling_clip_max"),
        (["--lora_r", "4"], "lora_r=4 .*--use_peft$"),
    ],
)
def test_the_command_line_refuses_before_anything_is_loaded(
    option: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        grpo.main(["--env", "TextCraft", "--model", "none/such", *option])
    assert re.search(message, capsys.readouterr().err, re.M)


@pytest.mark.parametrize(
    ("main", "option", "message"),
    [
        (sft.main, ["--horizon", "fixed:3"], "horizon='fixed:3' .*EnvArguments.max_turns"),
        (dpo.main, ["--mask_truncated_episodes"], "mask_truncated_episodes=True .* grpo, rloo"),
        (agentevol.main, ["--save_trajectories_every", "2"], "save_trajectories_every=2 .* grpo"),
        (sft.main, ["--data", "no.jsonl", "--num_episodes", "2"], "num_episodes=2 .*leave out"),
        (dpo.main, ["--data", "no.jsonl", "--num_samples", "2"], "num_samples=2 .*leave out"),
        (ppo.main, ["--kl_in_reward"], "kl_in_reward .* beta=0; pass --beta"),
    ],
)
def test_our_own_options_are_refused_where_they_do_nothing(
    main: Callable[[list[str]], int],
    option: list[str],
    message: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises((SystemExit, UsageError)) as error:
        main(["--env", "TextCraft", "--model", "none/such", *option])
    assert re.search(message, f"{error.value} {capsys.readouterr().err}")


@pytest.mark.parametrize("name", ignored_options(["loading"]))
def test_the_command_line_refuses_what_only_trainers_hand_on(name: str) -> None:
    value = {"model_init_kwargs": '{"dtype": "auto"}', "trust_remote_code": "true"}[name]
    with pytest.raises(ValueError, match=f"{name}=.* use `ModelArguments.dtype`"):
        grpo.main(["--env", "TextCraft", "--model", "none/such", f"--{name}", value])


def test_a_revision_is_of_a_hub(tmp_path: Path) -> None:
    for name in ("tiny", str(tmp_path)):
        with pytest.raises(ValueError, match="model_revision=v2 is of a hub, got the model"):
            ModelArguments(model_name_or_path=name, model_revision="v2")
    assert ModelArguments(model_name_or_path="some/model", model_revision="v2").use_peft is False


def test_a_remedy_names_the_dataclass_that_has_its_options_in_python() -> None:
    with pytest.raises(UsageError, match="use `RolloutArguments.backend=vllm` or vllm_server"):
        AgentGRPOConfig(use_vllm=True)
    with pytest.raises(UsageError, match="with `top_k`, `top_p` or `min_p`$"):
        AgentGRPOConfig(repetition_penalty=1.2)


@pytest.mark.parametrize(
    ("trainer", "told"),
    [
        (AgentGRPOTrainer, 'AgentGRPOTrainer needs an environment .*env="TextCraft"'),
        (AgentRLOOTrainer, 'AgentRLOOTrainer needs an environment .*env="TextCraft"'),
        (AgentSFTTrainer, "needs the episodes to imitate, .*trainers.expert_demonstrations"),
        (AgentDPOTrainer, "needs pairs, .*trainers.preference_pairs"),
    ],
)
def test_a_trainer_that_is_given_a_model_alone_says_what_it_needs(trainer: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        trainer("tiny")


def test_trainers_refuse_in_trls_own_configs_too(tmp_path: Path) -> None:
    """TRL's configs check nothing of this themselves."""
    shared: dict[str, Any] = {"use_cpu": True, "bf16": False, "report_to": "none"}
    online = GRPOConfig(str(tmp_path), top_k=3, repetition_penalty=1.2, **shared)
    with pytest.raises(ValueError, match=r"repetition_penalty=1\.2 would be ignored"):
        AgentGRPOTrainer(make_model(), ENV_ID, args=online, processing_class=make_tokenizer())
    scaled = GRPOConfig(str(tmp_path), scale_rewards="batch", **shared)
    with pytest.raises(ValueError, match="scale_rewards='batch' would be ignored"):
        AgentRLOOTrainer(make_model(), ENV_ID, args=scaled, processing_class=make_tokenizer())
    imitation = SFTConfig(str(tmp_path), completion_only_loss=True, **shared)
    with pytest.raises(ValueError, match="completion_only_loss=True would be ignored"):
        AgentSFTTrainer(make_model(), [], args=imitation, processing_class=make_tokenizer())
    preference = DPOConfig(str(tmp_path), train_sampling_strategy="group_by_length", **shared)
    with pytest.raises(ValueError, match="train_sampling_strategy='group_by_length' would be"):
        AgentDPOTrainer(make_model(), [], args=preference, processing_class=make_tokenizer())


# Honoured, though a reader might doubt it: the run is another one than with the default -------


def weights_after(trainer: Any) -> torch.Tensor:
    trainer.train()
    return torch.cat([p.detach().double().flatten() for p in trainer.model.parameters()])


@pytest.mark.full
@pytest.mark.parametrize(
    ("options", "common"),
    [
        ({"cast_lm_head_to_fp32": True}, {"bf16": True}),
        ({"shuffle_dataset": False}, {}),
        ({"off_policy_mask_threshold": -10.0}, {}),
        ({"top_entropy_quantile": 0.2}, {}),
        ({"max_completion_length": 8}, {"loss_type": "dr_grpo", "optim": "sgd"}),
        ({"reward_weights": [3.0]}, {"scale_rewards": "none", "optim": "sgd"}),
        ({"neftune_noise_alpha": 5.0}, {}),
        ({"vllm_importance_sampling_correction": False}, {"top_k": 20, "optim": "sgd", "seed": 1}),
    ],
)
def test_an_option_of_trls_changes_the_run(
    options: dict[str, Any],
    common: dict[str, Any],
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    runs = [weights_after(trainer_in(**common, **more, max_steps=1)) for more in ({}, options)]
    assert not torch.equal(*runs)
