"""Runs that merge their adapter and begin a new one, `--reset_adapter_every`."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import IA3Config, LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, Qwen3MoeConfig, Qwen3MoeForCausalLM

from benchmarks.cli.main import main as agentgym
from tests.trainers.command import EPISODES
from tests.trainers.ppo_toys import maker
from tests.trainers.test_start import evaluated, logits
from tests.trainers.toys import make_folder, make_model, make_tokenizer
from trainers.backends.weights import named_weights
from trainers.grpo import main as train_grpo
from trainers.models.bases import check_resets, load_base, reset_adapter, save_base
from trainers.models.loading import load_for_playing, load_policy
from trainers.options.configs import AgentGRPOConfig, ModelArguments
from trainers.options.errors import UsageError
from trainers.runs.folder import read_metrics

TrainerIn = Callable[..., Any]
LORA: dict[str, Any] = {"task_type": "CAUSAL_LM", "r": 2, "target_modules": "all-linear"}
RESETS: dict[str, Any] = {
    "reset_adapter_every": 2, "beta": 0.1, "save_strategy": "steps", "save_steps": 1,
    "save_total_limit": None, "max_steps": 5,
}  # fmt: skip


def lora(**further: Any) -> dict[str, Any]:
    return {"peft_config": LoraConfig(**{**LORA, **further})}


def adapted(**further: Any) -> Any:
    """Return a model with an adapter that changes it."""
    torch.manual_seed(1)
    model = get_peft_model(make_model(), LoraConfig(**{**LORA, **further}))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_" in name:
                weight.add_(0.2 * torch.randn_like(weight))
    return model.eval()


def tensors(model: Any) -> dict[str, torch.Tensor]:
    return {name: weight.detach().clone() for name, weight in model.state_dict().items()}


def differing(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> list[str]:
    assert one.keys() == other.keys()
    return [name for name in one if not torch.equal(one[name], other[name])]


# The reset ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [{}, {"use_rslora": True, "lora_alpha": 3}])
def test_a_reset_keeps_the_function_and_moves_the_base_to_it(kind: dict[str, Any]) -> None:
    model = adapted(**kind)
    before = logits(model)
    with model.disable_adapter():
        assert not torch.allclose(logits(model), before, atol=0.05)
    sent = {name: weight.clone() for name, weight in named_weights(model)}
    reset_adapter(model, seed=3)
    assert differing(sent, dict(named_weights(model))) == [], "an engine notices nothing"
    assert torch.allclose(logits(model), before, atol=1e-5)
    with model.disable_adapter():
        assert torch.allclose(logits(model), before, atol=1e-5)
    weights = dict(model.named_parameters())
    assert all(not weight.any() for name, weight in weights.items() if "lora_B" in name)
    assert all(weight.all() for name, weight in weights.items() if "lora_A" in name)
    reset_adapter(model, seed=4)  # of an adapter that has not been trained
    assert torch.allclose(logits(model), before, atol=1e-5)


def test_the_new_adapter_is_that_of_its_seed_and_the_generator_is_left_alone() -> None:
    made = []
    for noise in (1, 2):
        model = adapted()
        torch.manual_seed(noise)
        state = torch.get_rng_state()
        reset_adapter(model, seed=3)
        assert torch.equal(torch.get_rng_state(), state)
        made.append(tensors(model))
    assert differing(*made) == []
    reset_adapter(model, seed=4)
    assert all("lora_A" in name for name in differing(made[0], tensors(model)))


# Runs --------------------------------------------------------------------------------------------


def test_the_reference_is_the_policy_after_each_reset(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(trainer=lora(), **{**RESETS, "save_strategy": "no"})
    trainer.train()
    kls = {entry["step"]: entry["kl"] for entry in trainer.state.log_history if "kl" in entry}
    assert [step for step, kl in kls.items() if abs(kl) < 1e-7] == [1, 3, 5]


def test_the_optimizer_forgets_the_adapter_alone(tmp_path: Path) -> None:
    options = {**RESETS, "max_steps": 3, "num_iterations": 1, "critic": "own"}
    trainer = maker(tmp_path)(trainer=lora(), **options)
    trainer.train()
    critic = {id(weight) for weight in trainer.critic.parameters()}
    order = [weight for group in trainer.optimizer.param_groups for weight in group["params"]]
    own = {place for place, weight in enumerate(order) if id(weight) not in critic}
    kept = set(range(len(order))) - own
    assert own
    assert kept
    for step, states in ((1, own | kept), (2, kept), (3, own | kept)):
        path = tmp_path / f"run/checkpoint-{step}/optimizer.pt"
        assert set(torch.load(path, weights_only=True)["state"]) == states


@pytest.mark.parametrize("step", [1, pytest.param(2, marks=pytest.mark.full), 3])
def test_a_resumed_run_is_the_uninterrupted_one(step: int, trainer_in: TrainerIn) -> None:
    """It is cut before, at and after the step of the reset."""
    whole = trainer_in("whole", trainer=lora(), **RESETS)
    whole.train()
    resumed = trainer_in("resumed", trainer=lora(), **RESETS)
    resumed.train(str(Path(whole.args.output_dir) / f"checkpoint-{step}"))
    assert differing(tensors(whole.model), tensors(resumed.model)) == []
    entries = [
        [(e["step"], e["loss"], e["kl"]) for e in trainer.state.log_history if "kl" in e]
        for trainer in (whole, resumed)
    ]
    assert entries[0] == entries[1]


@pytest.mark.full
@pytest.mark.parametrize("kind", ["own", "shared"])
def test_ppo_is_resumed_across_a_reset_amid_a_batch(kind: str, tmp_path: Path) -> None:
    options = {**RESETS, "critic": kind, "num_iterations": 4}
    whole, resumed = (maker(tmp_path)(n, trainer=lora(), **options) for n in ("whole", "parts"))
    whole.train()
    resumed.train(str(tmp_path / "whole/checkpoint-1"))
    for one, other in ((whole.model, resumed.model), (whole.critic, resumed.critic)):
        assert differing(tensors(one), tensors(other)) == []


def test_the_best_checkpoint_is_loaded_with_its_base(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(
        trainer=lora(),
        **{**RESETS, "eval_strategy": "steps", "eval_steps": 1, "load_best_model_at_end": True},
    )
    evaluated(trainer, [0.5, 0.25, 0.25, 0.25, 0.25])
    trainer.train()
    best = Path(trainer.args.output_dir) / "checkpoint-1"
    assert trainer.state.best_model_checkpoint == str(best)
    first = load_file(best / "base/model.safetensors")
    last = load_file(best.with_name("checkpoint-5") / "base/model.safetensors")
    assert differing(first, last)
    loaded, _ = load_for_playing(ModelArguments(model_name_or_path=str(best)))
    assert torch.allclose(logits(trainer.model), logits(loaded), atol=1e-6)


def test_a_reference_adapter_moves_too(trainer_in: TrainerIn) -> None:
    """TRL measures the KL of a given adapter to a copy of it."""
    trainer = trainer_in(model=adapted(), **{**RESETS, "max_steps": 3})
    trainer.train()
    kls = [entry["kl"] for entry in trainer.state.log_history if "kl" in entry]
    assert [abs(kl) < 1e-7 for kl in kls] == [True, False, True]
    resumed = trainer_in("resumed", model=adapted(), **{**RESETS, "max_steps": 3})
    resumed.train(str(Path(trainer.args.output_dir) / "checkpoint-2"))
    assert differing(tensors(trainer.model), tensors(resumed.model)) == []


# Folders -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a command's run with resets at steps 2 and 4 of 5, moved since."""
    path = tmp_path_factory.mktemp("resets")
    words = [
        *("--model", make_folder(path / "model"), "--output_dir", str(path / "run"), *EPISODES),
        *("--use_peft", "--lora_r", "2", "--reset_adapter_every", "2", "--max_steps", "5"),
        *("--save_strategy", "steps", "--save_steps", "1", "--save_total_limit", "9"),
    ]
    assert train_grpo(words) == 0
    return (path / "run").rename(path / "moved")


def test_a_folder_holds_the_policy_of_its_step_wherever_it_is(run: Path) -> None:
    scores = {}
    for step in (1, 2, 3, 5):
        folder = run / f"checkpoint-{step}"
        named = ModelArguments(model_name_or_path=str(folder))
        played, merged = load_for_playing(named)[0], load_policy(named)[0]
        base = AutoModelForCausalLM.from_pretrained(folder / "base")
        by_peft = PeftModel.from_pretrained(base, folder)  # as the card says
        scores[step] = logits(played)
        for model in (merged, by_peft):
            assert torch.allclose(logits(model), scores[step], atol=1e-5)
    assert not torch.allclose(scores[2], scores[1], atol=1e-4)
    final = AutoModelForCausalLM.from_pretrained(run)
    assert torch.allclose(logits(final), scores[5], atol=1e-5)
    assert not (run / "adapter").exists()


def test_a_base_with_adapted_experts_is_saved_under_its_own_names(tmp_path: Path) -> None:
    config = Qwen3MoeConfig(
        vocab_size=64, hidden_size=16, intermediate_size=16, moe_intermediate_size=8,
        num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2, head_dim=8,
        num_experts=4, num_experts_per_tok=2,
    )  # fmt: skip
    experts = ["mlp.experts.gate_up_proj", "mlp.experts.down_proj"]  # a layer with two parameters
    further = {"r": 2, "target_modules": ["q_proj"], "target_parameters": experts}
    base = Qwen3MoeForCausalLM(config)
    own = tensors(base)
    model = get_peft_model(base, LoraConfig(**further))
    base.is_saved_beside = True
    save_base(model, make_tokenizer(), tmp_path, write=True)
    assert (
        differing(own, AutoModelForCausalLM.from_pretrained(tmp_path / "base").state_dict()) == []
    )
    other = get_peft_model(Qwen3MoeForCausalLM(config), LoraConfig(**further))
    load_base(other, tmp_path)
    assert differing(own, tensors(other.unload())) == []


def test_the_card_of_a_checkpoint_names_its_base(run: Path) -> None:
    text = (run / "checkpoint-3/README.md").read_text()
    assert 'AutoModelForCausalLM.from_pretrained("run-checkpoint-3/base")' in text
    assert 'PeftModel.from_pretrained(base, "run-checkpoint-3")' in text
    final = (run / "README.md").read_text()
    assert 'AutoModelForCausalLM.from_pretrained("run")' in final
    assert "| `reset_adapter_every` | 2 |" in final
    assert json.loads((run / "run.json").read_text())["AgentGRPOConfig"]["reset_adapter_every"] == 2


def test_a_checkpoint_is_evaluated_and_trained_further(run: Path, tmp_path: Path) -> None:
    checkpoint = str(run / "checkpoint-3")
    out = tmp_path / "eval.json"
    play = [*EPISODES[:6], "--model", checkpoint, "--num_tasks", "2", "--out", str(out)]
    assert agentgym(["eval", *play]) == 0
    assert out.is_file()
    words = [
        *("--model", checkpoint, "--output_dir", str(tmp_path / "run"), *EPISODES, "--use_peft"),
        *("--reset_adapter_every", "1", "--max_steps", "1", "--beta", "0.1"),
    ]
    assert train_grpo(words) == 0
    (kl,) = [entry["kl"] for entry in read_metrics(tmp_path / "run") if "kl" in entry]
    assert abs(kl) < 1e-6


# Refusals ----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:Model has `tie_word_embeddings=True`")
@pytest.mark.parametrize(
    ("further", "message"),
    [
        ({}, "none is trained here; train one (`ModelArguments.use_peft`"),
        (
            {"peft_config": IA3Config(task_type="CAUSAL_LM", target_modules=["q_proj"],
                                      feedforward_modules=[])},
            "none is trained here",
        ),
        (lora(use_dora=True), "`ModelArguments.use_dora`"),
        (lora(target_modules=["q_proj", "embed_tokens"]), "a tied head or embedding"),
        (lora(modules_to_save=["norm"]), "`ModelArguments.lora_modules_to_save` and"),
    ],
)  # fmt: skip
def test_what_cannot_be_merged_is_refused(
    further: dict[str, Any], message: str, trainer_in: TrainerIn
) -> None:
    with pytest.raises(UsageError) as refused:
        trainer_in(trainer=further, reset_adapter_every=2)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("of", "name", "message"),
    [("base", "is_quantized", "leave out `ModelArguments.load_in_4bit`"),
     ("trainer", "is_fsdp_enabled", "launch with plain data parallelism"),
     ("trainer", "is_deepspeed_enabled", "launch with plain data parallelism")],
)  # fmt: skip
def test_bases_that_are_quantized_or_split_are_refused(
    of: str, name: str, message: str, trainer_in: TrainerIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = trainer_in(trainer=lora(), reset_adapter_every=2)
    owner = trainer if of == "trainer" else trainer.model.get_base_model()
    monkeypatch.setattr(owner, name, True, raising=False)
    with pytest.raises(UsageError, match=message):
        check_resets(trainer)


def test_a_hub_that_would_have_the_adapter_without_its_base_is_refused() -> None:
    with pytest.raises(ValueError, match=r"changes the base.*got push_to_hub=True"):
        AgentGRPOConfig(reset_adapter_every=2, push_to_hub=True, output_dir="run")


def test_a_checkpoint_without_a_base_is_not_resumed_with_resets(trainer_in: TrainerIn) -> None:
    without = trainer_in(
        "without", trainer=lora(), **{**RESETS, "reset_adapter_every": 0, "max_steps": 1}
    )
    without.train()
    checkpoint = Path(without.args.output_dir) / "checkpoint-1"
    assert not (checkpoint / "base").exists()
    with pytest.raises(UsageError, match="was saved without `reset_adapter_every`"):
        trainer_in(trainer=lora(), **RESETS).train(str(checkpoint))


def test_a_run_that_goes_on_without_resets_still_saves_its_base(trainer_in: TrainerIn) -> None:
    first = trainer_in("first", trainer=lora(), **{**RESETS, "max_steps": 2})
    first.train()
    checkpoint = Path(first.args.output_dir) / "checkpoint-2"
    second = trainer_in(
        "second", trainer=lora(), **{**RESETS, "reset_adapter_every": 0, "max_steps": 3}
    )
    second.train(str(checkpoint))
    saved = Path(second.args.output_dir) / "checkpoint-3"
    one, other = (load_file(folder / "base/model.safetensors") for folder in (checkpoint, saved))
    assert differing(one, other) == []


def test_a_base_in_few_bits_is_warned_of(
    trainer_in: TrainerIn, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        trainer_in(model=make_model().bfloat16(), trainer=lora(), reset_adapter_every=2)
    assert "merges adapters into weights in bfloat16" in caplog.text
