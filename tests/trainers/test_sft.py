from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM

from agentgym_envs import Trajectory, read_jsonl, write_jsonl
from tests.trainers.toys import ENV_ID, make_folder, make_model, make_tokenizer, model_rollout
from trainers.collect import expert_episodes
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.errors import UsageError
from trainers.options.offline import AgentSFTConfig
from trainers.rollout.environments import Environments
from trainers.sft import AgentSFTTrainer, main, token_rows
from trainers.tokens.chat import ChatFormat

CHAT = ChatFormat.from_tokenizer(make_tokenizer())


@pytest.fixture
def letters() -> Environments:
    return Environments(EnvArguments(env=[ENV_ID], action_format="plain"), episodes=4)


@pytest.fixture
def experts(letters: Environments) -> list[Trajectory]:
    return expert_episodes(letters, letters.task_ids("train"))


@pytest.fixture
def trainer_on(tmp_path: Path, experts: list[Trajectory]) -> Callable[..., AgentSFTTrainer]:
    """Return a function that makes a small trainer on the toy game's expert."""

    def make(folder: str = "run", **options: Any) -> AgentSFTTrainer:
        given = {name: options.pop(name) for name in ("env", "peft_config") if name in options}
        defaults: dict[str, Any] = {
            "per_device_train_batch_size": 4,
            "learning_rate": 1e-2,
            "max_steps": 2,
            "logging_steps": 1,
            "disable_tqdm": True,
            "eval_strategy": "no",
            "save_strategy": "no",
            "lr_scheduler_type": "constant",
        }
        return AgentSFTTrainer(
            make_model(),
            experts,
            args=AgentSFTConfig(output_dir=str(tmp_path / folder), **{**defaults, **options}),
            processing_class=make_tokenizer(),
            **given,
        )

    return make


def test_only_the_experts_turns_and_their_stop_ids_are_labels(experts: list[Trajectory]) -> None:
    row = token_rows(experts[:1], CHAT)[0]
    sampled = [i for i, m in zip(row["input_ids"], row["action_mask"], strict=True) if m]
    assert make_tokenizer().decode(sampled) == experts[0].turns[0].completion + "<|im_end|>"


def test_recorded_tokens_are_taken_as_they_were_sampled(letters: Environments) -> None:
    played = model_rollout(letters).run(letters.task_ids("train"))
    rows = token_rows(played, CHAT, unsuccessful=True)
    for row, trajectory in zip(rows, played, strict=True):
        assert row["input_ids"] == trajectory.trace.ids
        prompt = [0] * len(trajectory.trace.prompt_ids)
        assert row["action_mask"] == prompt + trajectory.trace.action_mask


def test_tokens_of_another_tokenizer_are_encoded_anew(experts: list[Trajectory]) -> None:
    plain = token_rows(experts[:1], CHAT)
    experts[0].traces = CHAT.encode_trajectory(experts[0])
    experts[0].traces[0].prompt_ids = [1, 2, 3]
    assert token_rows(experts[:1], CHAT) == plain


def test_unsuccessful_failed_and_long_episodes_are_left_out(experts: list[Trajectory]) -> None:
    experts[0].success = False
    experts[1].status = "failed"
    assert len(token_rows(experts, CHAT)) == len(experts) - 2
    assert len(token_rows(experts, CHAT, unsuccessful=True)) == len(experts) - 1
    with pytest.raises(ValueError, match="longer than 5 tokens"):
        token_rows(experts, CHAT, max_tokens=5)


def test_no_gradient_comes_from_tokens_that_are_not_labels(
    trainer_on: Callable[..., AgentSFTTrainer], experts: list[Trajectory]
) -> None:
    trainer = trainer_on(per_device_train_batch_size=1, max_steps=1)
    seen: list[tuple[torch.Tensor, torch.Tensor]] = []

    def watch(_module: Any, inputs: Any, kwargs: Any, output: Any) -> None:
        hidden = output.last_hidden_state
        if hidden.requires_grad:
            hidden.register_hook(lambda grad: seen.append((kwargs["input_ids"], grad.clone())))

    trainer.model.model.register_forward_hook(watch, with_kwargs=True)
    trainer.train()
    ids, grad = seen[0]
    rows = {tuple(row["input_ids"]): row["action_mask"] for row in token_rows(experts, CHAT)}
    mask = torch.tensor(rows[tuple(ids[0].tolist())][1:] + [0]).bool()
    norms = grad[0].norm(dim=-1)
    assert (norms[~mask] == 0).all()
    assert (norms[mask] > 0).all()


def test_imitation_lowers_the_loss_and_raises_validation_success(
    trainer_on: Callable[..., AgentSFTTrainer], letters: Environments
) -> None:
    trainer = trainer_on(
        max_steps=16, env=letters, eval_strategy="steps", eval_steps=16, save_strategy="no"
    )
    trainer.train()
    logged = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    assert logged[-1] < logged[0] / 2
    measured = [e["eval_success"] for e in trainer.state.log_history if "eval_success" in e]
    assert len(measured) == 1
    written = Path(trainer.args.output_dir) / "trajectories/eval_000016.jsonl"
    assert {t.split for t in read_jsonl(written)} == {"validation"}


@pytest.mark.parametrize(
    "order", ["random", pytest.param("group_by_length", marks=pytest.mark.slow)]
)
def test_a_resumed_run_has_the_losses_of_the_uninterrupted_one(
    order: str, trainer_on: Callable[..., AgentSFTTrainer], experts: list[Trajectory]
) -> None:
    """Eight episodes at two a step: the run is cut in the middle of its second epoch."""
    for index, trajectory in enumerate(experts):
        trajectory.turns[0].completion += "!" * (5 * index % 7)
    options = {
        "save_strategy": "steps",
        "save_steps": 6,
        "per_device_train_batch_size": 2,
        "train_sampling_strategy": order,
    }
    whole = trainer_on("whole", max_steps=9, **options)
    whole.train()
    trainer_on("parts", max_steps=6, **options).train()
    resumed = trainer_on("parts", max_steps=9, **options)
    resumed.train(resume_from_checkpoint=True)

    def losses(trainer: AgentSFTTrainer) -> list[tuple[float, float]]:
        return [(e["loss"], e["grad_norm"]) for e in trainer.state.log_history if "loss" in e]

    assert losses(resumed) == losses(whole)
    assert len(losses(whole)) == 9


@pytest.mark.parametrize("allowed", [6, 7, {ENV_ID: 6, "default": 9}, {ENV_ID: 7, "default": 2}])
def test_turns_that_would_be_cut_in_play_are_told(
    allowed: Any, experts: list[Trajectory], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    experts[0].turns[0].completion = "abcdef"  # and a stop id: seven tokens
    AgentSFTTrainer(
        make_model(),
        [replace(episode, traces=[]) for episode in experts],
        args=AgentSFTConfig(str(tmp_path), report_to="none"),
        rollout=RolloutArguments(max_tokens_per_turn=allowed),
        processing_class=make_tokenizer(),
    )
    told = [record.getMessage() for record in caplog.records if "cut in play" in record.message]
    if allowed in (7, {ENV_ID: 7, "default": 2}):
        assert not told
    else:
        (message,) = told
        assert message.startswith(f"1 of {len(experts)} episodes of {ENV_ID} have a turn longer")
        assert "--max_tokens_per_turn 6, up to 7 tokens" in message


def test_a_lora_adapter_trains_and_leaves_the_base_alone(
    trainer_on: Callable[..., AgentSFTTrainer],
) -> None:
    adapter = LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "v_proj"])
    trainer = trainer_on(peft_config=adapter)
    before = {name: value.clone() for name, value in trainer.model.named_parameters()}
    trainer.train()
    after = trainer.model.named_parameters()
    changed = {name for name, value in after if not torch.equal(before[name], value)}
    assert changed
    assert all("lora_" in name for name in changed)


def test_the_command_imitates_the_expert_without_data(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = (
        f"--env {ENV_ID} --model {make_folder(tmp_path / 'model')} --output_dir {out} "
        "--max-steps 2 --learning-rate 1e-2 --max_tokens_per_turn 4 --eval-steps 2 --disable-tqdm"
    ).split()
    assert main(options) == 0
    trained = AutoModelForCausalLM.from_pretrained(out)
    pairs = zip(trained.parameters(), make_model().parameters(), strict=True)
    assert not all(torch.equal(one, other) for one, other in pairs)
    assert json.loads((out / "run.json").read_text())["command"] == "train sft"


def test_the_command_reads_episodes_and_needs_no_environment(
    tmp_path: Path, experts: list[Trajectory]
) -> None:
    write_jsonl(tmp_path / "episodes.jsonl", experts)
    out = tmp_path / "out"
    options = (
        f"--data {tmp_path / 'episodes.jsonl'} --model {make_folder(tmp_path / 'model')} "
        f"--output-dir {out} --max-steps 1 --use-peft --lora_target_modules q_proj --disable-tqdm"
    ).split()
    assert main(options) == 0
    assert (out / "model.safetensors").is_file()


def test_a_model_that_is_not_there_is_told(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    with pytest.raises(UsageError, match=f"there is no folder {nowhere}"):
        main(f"--env {ENV_ID} --model {nowhere} --output_dir {tmp_path / 'run'}".split())


def test_episodes_of_another_environment_than_is_named_are_refused(
    tmp_path: Path, experts: list[Trajectory]
) -> None:
    write_jsonl(tmp_path / "episodes.jsonl", experts)
    words = ["--data", str(tmp_path / "episodes.jsonl"), "--env", "BabyAI", "--model", "nowhere"]
    with pytest.raises(UsageError, match="holds episodes of letters, and `env` is BabyAI; pass"):
        main(words)


def test_conversations_are_trained_on_beside_any_environment_and_the_card_names_them(
    tmp_path: Path,
) -> None:
    row = {"prompt": "a b", "completion": "c"}
    (tmp_path / "rows.jsonl").write_text(f"{json.dumps(row)}\n" * 2)
    out = tmp_path / "out"
    words = (
        f"--data {tmp_path / 'rows.jsonl'} --model {make_folder(tmp_path / 'model')} --env BabyAI "
        f"--output_dir {out} --max_steps 1 --eval_strategy no --disable_tqdm"
    ).split()
    assert main(words) == 0
    card = (out / "README.md").read_text()
    assert "trained by SFT on conversations, with" in card
    assert "| environments | conversations |\n| measured in | BabyAI |" in card


def test_an_environment_that_is_not_here_is_no_remedy(tmp_path: Path) -> None:
    row = {"prompt": "a b", "completion": "c", "id": "os_3"}
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    words = ["--data", str(tmp_path / "rows.jsonl"), "--env", "BabyAI", "--model", "nowhere"]
    with pytest.raises(UsageError, match="episodes of os, and `env` is BabyAI; leave `env` out"):
        main(words)


def test_a_file_without_episodes_is_named_as_empty(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("")
    words = f"--data {tmp_path / 'rows.jsonl'} --model {make_folder(tmp_path / 'model')}".split()
    with pytest.raises(UsageError, match="there are no episodes to train on"):
        main([*words, "--output_dir", str(tmp_path / "out")])


def test_without_data_or_an_environment_the_remedy_is_named() -> None:
    with pytest.raises(ValueError, match="--data FILE"):
        main(["--model", "nowhere"])
