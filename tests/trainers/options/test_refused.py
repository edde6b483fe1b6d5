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
from trainers.options.configs import AgentGRPOConfig, AgentSFTConfig, ModelArguments
from trainers.options.errors import UsageError
from trainers.options.refused import COMMAND_LINE, MODEL, Refusals, refuse_ignored
from trainers.ppo import AgentPPOConfig
from trainers.reinforce_pp import AgentReinforcePPConfig
from trainers.rloo import AgentRLOOConfig, AgentRLOOTrainer
from trainers.sft import AgentSFTTrainer

# By `transformers.Trainer` and a run's records, on every path.
TRANSFORMERS = """
    per_device_train_batch_size gradient_accumulation_steps num_train_epochs max_steps
    learning_rate lr_scheduler_type optim optim_args
    optim_target_modules weight_decay adam_beta1 adam_beta2 adam_epsilon max_grad_norm
    bf16 fp16 tf32 gradient_checkpointing gradient_checkpointing_kwargs use_cache
    torch_compile torch_compile_backend torch_compile_mode use_liger_kernel
    neftune_noise_alpha torch_empty_cache_steps
    logging_strategy logging_steps logging_first_step logging_nan_inf_filter log_on_each_node
    log_level log_level_replica disable_tqdm report_to run_name project trackio_space_id
    trackio_bucket_id trackio_static_space_id skip_memory_metrics debug
    eval_strategy eval_steps eval_delay eval_on_start
    save_strategy save_steps save_total_limit save_only_model save_on_each_node
    enable_jit_checkpoint load_best_model_at_end metric_for_best_model greater_is_better
    ignore_data_skip restore_callback_states_from_checkpoint
    push_to_hub hub_model_id hub_token hub_private_repo hub_always_push hub_revision
    seed full_determinism use_cpu accelerator_config parallelism_config
    dataloader_drop_last dataloader_num_workers dataloader_pin_memory
    dataloader_persistent_workers dataloader_prefetch_factor
    dataloader_multiprocessing_context dataloader_in_order
    ddp_find_unused_parameters ddp_bucket_cap_mb ddp_broadcast_buffers ddp_static_graph
    ddp_backend ddp_timeout fsdp fsdp_config deepspeed output_dir log_weight_changes
"""

# Where the learning rate falls by default; of a constant one it would be refused.
SCHEDULE = "lr_scheduler_kwargs warmup_steps"

ONLINE = {
    "transformers": f"{TRANSFORMERS} remove_unused_columns",
    "trl": """
        model_init_kwargs trust_remote_code router_aux_loss_coef disable_dropout
        cast_lm_head_to_fp32 shuffle_dataset generation_batch_size steps_per_generation
        num_generations beta num_iterations epsilon epsilon_high delta importance_sampling_level
        loss_type off_policy_mask_threshold reward_weights sync_ref_model top_entropy_quantile
        entropy_coef use_adaptive_entropy use_bias_correction_kl log_completions
        vllm_importance_sampling_correction
    """,
    "ours": "temperature top_k top_p min_p invalid_action_penalty "
    "task_sampling observation_loss_weight chat_template "
    "chat_template_kwargs max_staleness carry_over",
}
GROUP_RELATIVE = {"trl": "scale_rewards multi_objective_aggregation"}
SFT = {
    "transformers": f"""
        {TRANSFORMERS} {SCHEDULE} remove_unused_columns train_sampling_strategy
        label_smoothing_factor average_tokens_across_devices auto_find_batch_size
        include_num_input_tokens_seen
    """,
    "trl": """
        router_aux_loss_coef dataset_num_proc max_length shuffle_dataset packing padding_free
        pad_to_multiple_of loss_type activation_offloading
    """,
    "ours": "chat_template chat_template_kwargs",
}
DPO = {
    "transformers": f"""
        {TRANSFORMERS} {SCHEDULE} auto_find_batch_size include_num_input_tokens_seen
    """,
    "trl": """
        router_aux_loss_coef disable_dropout pad_to_multiple_of precompute_ref_log_probs
        precompute_ref_batch_size loss_type loss_weights ld_alpha f_divergence_type
        beta use_weighting activation_offloading sync_ref_model
    """,
    "ours": "max_length chat_template chat_template_kwargs",
}
PPO = """
    critic critic_model critic_learning_rate critic_warmup_steps vf_coef cliprange_value gae_level
    gamma lam critic_lam whiten_advantages kl_in_reward bootstrap_truncated
"""
POLICY = {
    "ours": "model_name_or_path model_revision dtype attn_implementation",
    "trl": "use_peft load_in_8bit load_in_4bit",
}

HONOURED: dict[type, tuple[dict[str, str], ...]] = {
    AgentGRPOConfig: (
        ONLINE,
        GROUP_RELATIVE,
        {"ours": "turn_credit kept_variance branch_roots dynamic_sampling"},
    ),
    AgentRLOOConfig: (ONLINE,),
    AgentReinforcePPConfig: (ONLINE, {"ours": "baseline"}),
    AgentPPOConfig: (ONLINE, {"ours": PPO}),
    AgentSFTConfig: (SFT,),
    AgentEvolConfig: (SFT,),
    AgentDPOConfig: (DPO,),
    ModelArguments: (POLICY,),
}
"""Per config: who honours which field."""


def refusals_of(kind: type) -> Refusals:
    refused: Refusals = MODEL if kind is ModelArguments else kind.refused  # type: ignore[attr-defined]
    return refused


@pytest.mark.parametrize("kind", HONOURED)
def test_every_field_is_honoured_or_refused(kind: type) -> None:
    """A field that an upgrade of TRL brings is in neither list."""
    honoured = [name for by in HONOURED[kind] for names in by.values() for name in names.split()]
    assert len(honoured) == len(set(honoured))
    fields = {field.name for field in dataclasses.fields(kind) if field.init}
    assert fields - set(honoured) - set(refusals_of(kind)) == set(), "decide who honours these"
    # Refused beside another value than the default's.
    sometimes = {name for name, refusal in refusals_of(kind).items() if refusal.unless(kind())}
    assert set(honoured) & set(refusals_of(kind)) <= sometimes
    assert set(honoured) | set(refusals_of(kind)) == fields, "the config has no such fields"


@pytest.mark.parametrize("kind", HONOURED)
def test_defaults_pass_before_and_after_they_are_derived(kind: type) -> None:
    refuse_ignored(kind(), refusals_of(kind))


@pytest.mark.parametrize("kind", HONOURED)
def test_a_refused_option_is_named_with_its_value_and_the_remedy(kind: type) -> None:
    fields = {field.name: field for field in dataclasses.fields(kind)}
    for name, refusal in refusals_of(kind).items():
        args = kind()
        default = fields[name].default
        other: Any = not default if isinstance(default, bool) else "other"
        if refusal.unless(args) and name not in ("hub_strategy", "do_eval"):
            continue
        setattr(args, name, "end" if name == "hub_strategy" else other)
        if name == "do_eval":
            args.eval_strategy = "no"
        if name.startswith("vllm_importance_sampling_"):
            args.vllm_importance_sampling_correction = False
        with pytest.raises(ValueError, match="would be ignored here") as error:
            refuse_ignored(args, refusals_of(kind))
        assert str(error.value).startswith(f"{name}={getattr(args, name)!r} ")
        assert refusal.remedy in str(error.value)


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        (AgentGRPOConfig, {"max_completion_length": 64, "loss_type": "dr_grpo"}),
        (AgentGRPOConfig, {"num_generations_eval": 1}),
        (AgentGRPOConfig, {"sapo_temperature_pos": 2.0, "loss_type": "sapo"}),
        (AgentGRPOConfig, {"hub_strategy": "checkpoint"}),
        (AgentGRPOConfig, {"warmup_steps": 9, "lr_scheduler_type": "constant_with_warmup"}),
        (
            AgentGRPOConfig,
            {"lr_scheduler_kwargs": {"power": 2.0}, "lr_scheduler_type": "polynomial"},
        ),
        (AgentGRPOConfig, {"loss_type": "cispo", "epsilon_high": 5.0}),
        (AgentGRPOConfig, {"loss_type": "cispo", "epsilon": 5.0}),
        (AgentDPOConfig, {"loss_type": ["sigmoid", "robust"], "label_smoothing": 0.1}),
        (AgentDPOConfig, {"loss_type": ["sft", "sigmoid"], "beta": 0.5}),
        (AgentPPOConfig, {"vllm_importance_sampling_mode": "turn_mask"}),
        (AgentRLOOConfig, {"vllm_importance_sampling_clip_max": 1e9}),
        (AgentSFTConfig, {"packing": True, "packing_strategy": "wrapped", "max_length": 64}),
        (ModelArguments, {"use_peft": True, "lora_r": 4}),
        (ModelArguments, {"load_in_4bit": True, "bnb_4bit_quant_type": "fp4"}),
    ],
)
def test_an_option_is_taken_where_it_has_its_effect(kind: type, options: dict[str, Any]) -> None:
    args = kind(**options)
    assert {name: getattr(args, name) for name in options} == options


@pytest.mark.parametrize(
    ("kind", "options", "refused"),
    [
        (AgentGRPOConfig, {"warmup_steps": 9}, "warmup_steps"),
        (
            AgentGRPOConfig,
            {"lr_scheduler_kwargs": {"a": 1}, "lr_scheduler_type": "constant_with_warmup"},
            "lr_scheduler_kwargs",
        ),
        (AgentGRPOConfig, {"loss_type": "sapo", "epsilon": 0.1}, "epsilon"),
        (AgentGRPOConfig, {"loss_type": "vespo", "epsilon_high": 0.1}, "epsilon_high"),
        (AgentGRPOConfig, {"loss_type": "cispo", "epsilon": 0.1, "epsilon_high": 5.0}, "epsilon"),
        (AgentGRPOConfig, {"loss_type": "cispo", "delta": 2.0}, "delta"),
        (
            AgentGRPOConfig,
            {"loss_type": "vespo", "importance_sampling_level": "sequence"},
            "importance_sampling_level",
        ),
        (
            AgentGRPOConfig,
            {"shuffle_dataset": False, "task_sampling": "learnable"},
            "shuffle_dataset",
        ),
        (AgentSFTConfig, {"truncation_mode": "keep_end"}, "truncation_mode"),
        (
            AgentSFTConfig,
            {"loss_type": "dft", "label_smoothing_factor": 0.1},
            "label_smoothing_factor",
        ),
        (AgentDPOConfig, {"label_smoothing": 0.3}, "label_smoothing"),
        (AgentDPOConfig, {"discopop_tau": 5.0}, "discopop_tau"),
        (AgentDPOConfig, {"loss_type": ["sft"], "beta": 5.0}, "beta"),
        (
            AgentDPOConfig,
            {"precompute_ref_log_probs": False, "precompute_ref_batch_size": 1},
            "precompute_ref_batch_size",
        ),
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
        (
            [
                "--vllm_importance_sampling_correction",
                "no",
                "--vllm_importance_sampling_mode=turn_mask",
            ],
            "mode='turn_mask' would be ignored here; .* --vllm_importance_sampling_correction True",
        ),
        (["--vllm_importance_sampling_cap", "2"], "--vllm_importance_sampling_clip_max"),
        (["--lora_r", "4"], "lora_r=4 .*--use_peft True"),
    ],
)
def test_the_command_line_refuses_before_anything_is_loaded(
    option: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        grpo.main(["--env", "TextCraft", "--model", "none/such", *option])
    assert re.search(message, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("main", "option", "message"),
    [
        (sft.main, ["--horizon", "fixed:3"], "horizon='fixed:3' .*--max_turns"),
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


@pytest.mark.parametrize("name", COMMAND_LINE)
def test_the_command_line_refuses_what_only_trainers_hand_on(name: str) -> None:
    value = {"model_init_kwargs": '{"dtype": "auto"}', "trust_remote_code": "true"}[name]
    with pytest.raises(ValueError, match=f"{name}=.* use --dtype"):
        grpo.main(["--env", "TextCraft", "--model", "none/such", f"--{name}", value])


def test_a_revision_is_of_a_hub(tmp_path: Path) -> None:
    for name in ("tiny", str(tmp_path)):
        with pytest.raises(ValueError, match="model_revision=v2 is of a hub, got the model"):
            ModelArguments(model_name_or_path=name, model_revision="v2")
    assert ModelArguments(model_name_or_path="some/model", model_revision="v2").use_peft is False


def test_a_remedy_names_the_dataclass_that_has_its_options_in_python() -> None:
    with pytest.raises(UsageError, match=r"vllm_server \(in Python: RolloutArguments\(backend="):
        AgentGRPOConfig(use_vllm=True)
    played = r"EnvArguments\(num_envs=...\), EvaluationArguments\(num_eval_tasks=..., eval_samples="
    with pytest.raises(UsageError, match=played):
        AgentSFTConfig(per_device_eval_batch_size=3)
    with pytest.raises(UsageError, match=r"use --top_k|--top_p or --min_p$"):
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
    preference = DPOConfig(str(tmp_path), padding_free=True, **shared)
    with pytest.raises(ValueError, match="padding_free=True would be ignored"):
        AgentDPOTrainer(make_model(), [], args=preference, processing_class=make_tokenizer())


# Honoured, though a reader might doubt it: the run is another one than with the default -------


def weights_after(trainer: Any) -> torch.Tensor:
    trainer.train()
    return torch.cat([p.detach().double().flatten() for p in trainer.model.parameters()])


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
