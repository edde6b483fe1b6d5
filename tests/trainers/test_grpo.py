from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
import torch
from peft import LoraConfig
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig

from agentgym_envs import EnvFailure, Trajectory, read_jsonl
from tests.trainers.toys import ENV_ID, LARGEST_GAP, make_folder, make_model, make_tokenizer
from trainers.grpo import AgentGRPOTrainer, main
from trainers.models.muon import use_muon
from trainers.options.arguments import RolloutArguments
from trainers.options.errors import UsageError
from trainers.runs.folder import read_metrics


def losses(trainer: AgentGRPOTrainer) -> dict[int, tuple[float, float]]:
    return {
        entry["step"]: (entry["loss"], entry["grad_norm"])
        for entry in trainer.state.log_history
        if "loss" in entry
    }


def test_training_learns_what_is_rewarded(trainer_in: Callable[..., AgentGRPOTrainer]) -> None:
    trainer = trainer_in(max_steps=15, learning_rate=3e-2, env={"max_turns": 1})
    trainer.train()
    success = [e["episodes/success"] for e in trainer.state.log_history if "loss" in e]
    assert sum(success[-3:]) > sum(success[:3]) + 0.5


def test_the_files_of_training_hold_advantages_and_those_of_evaluations_none(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(max_steps=1, eval_strategy="steps", eval_steps=1)
    trainer.train()
    folder = Path(trainer.args.output_dir) / "trajectories"
    groups: dict[str, list[float]] = {}
    for trajectory in read_jsonl(folder / "train_000001.jsonl"):
        trace = trajectory.trace
        assert len(trace.advantages) == len(trace.action_mask)
        (credited,) = {a for a, m in zip(trace.advantages, trace.action_mask, strict=True) if m}
        groups.setdefault(trajectory.task_id, []).append(credited)
    assert [sum(group) for group in groups.values()] == pytest.approx([0.0] * 2, abs=1e-4)
    evaluated = list(read_jsonl(folder / "eval_000001.jsonl"))
    assert evaluated
    assert all(not t.trace.advantages for t in evaluated)


def test_sampled_and_trained_logprobs_agree(trainer_in: Callable[..., AgentGRPOTrainer]) -> None:
    trainer = trainer_in(temperature=0.7)
    trainer.train()
    gaps = [e[LARGEST_GAP] for e in trainer.state.log_history if "loss" in e]
    assert max(gaps) < 1e-4


def test_training_and_its_evaluations_sample_from_the_cut_distribution(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    """With one token left its logprob is 0, and the gap is what the loss makes of it."""
    options = {"eval_strategy": "steps", "eval_steps": 1, "temperature": 1.3}
    # All of a group play alike, so it is for the entropy that the loss is computed.
    trainer = trainer_in(top_k=1, max_steps=1, entropy_coef=1e-6, **options)
    trainer.train()
    folder = Path(trainer.args.output_dir) / "trajectories"
    for name in ("train_000001.jsonl", "eval_000001.jsonl"):
        traces = [trajectory.trace for trajectory in read_jsonl(folder / name)]
        assert all(trace.action_mask and not any(trace.logprobs) for trace in traces)
    (entry,) = [e for e in trainer.state.log_history if "loss" in e]
    gap = "sampling/sampling_logp_difference"
    assert entry[f"{gap}/max"] >= entry[f"{gap}/mean"] > 0.1


def test_reward_functions_see_the_trajectory_and_may_be_a_judge(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    seen: list[Trajectory] = []

    def brevity(trajectories: list[Trajectory], **_columns: Any) -> list[float]:
        seen.extend(trajectories)
        return [1.0 / len(episode.turns) for episode in trajectories]

    async def judge(trajectories: list[Trajectory], **_columns: Any) -> list[float | None]:
        await asyncio.sleep(0)
        said = [episode.messages()[-1]["content"] for episode in trajectories]
        return [None if text.startswith("No") else 2.0 for text in said]

    trainer = trainer_in(max_steps=1, trainer={"reward_funcs": [brevity, judge]})
    trainer.train()
    assert len(seen) == 8 and all(not episode.success or episode.score for episode in seen)
    for episode in seen:
        assert episode.info["goal"] == episode.goal and episode.task_id.startswith("letters_")
        roles = [message["role"] for message in episode.messages()]
        assert roles == ["system", *["user", "assistant"] * len(episode.turns), "user"]
    (entry,) = [e for e in trainer.state.log_history if "loss" in e]
    mean = sum(1 / len(episode.turns) for episode in seen) / len(seen)
    assert entry["rewards/brevity/mean"] == pytest.approx(mean)
    judged = [episode for episode in seen if episode.final_observation == "Right."]
    assert (entry["rewards/judge/mean"] == 2.0) == bool(judged)
    paid = [1 / len(episode.turns) + 2.0 * (episode in judged) for episode in seen]
    assert entry["reward"] == pytest.approx(sum(paid) / len(paid))


def test_log_completions_prints_conversations_with_roles(
    trainer_in: Callable[..., AgentGRPOTrainer],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    trainer_in(max_steps=1, log_completions=True).train()
    said = capsys.readouterr().out
    table = said.partition("Step 1")[2]
    for word in ("SYSTEM", "USER", "ASSISTANT", "Say the letter.", "letters_"):
        assert word in table
    assert "im_start" not in table and "assistant\n" not in table


def test_the_horizon_follows_the_global_step(trainer_in: Callable[..., AgentGRPOTrainer]) -> None:
    trainer = trainer_in(rollout={"horizon": "scaling:1,2@1"})
    trainer.train()
    entries = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert [entry["horizon"] for entry in entries] == [1, 2]
    for step, limit in ((1, 1), (2, 2)):
        path = Path(trainer.args.output_dir) / f"trajectories/train_{step:06d}.jsonl"
        played = list(read_jsonl(path))
        assert {t.global_step for t in played} == {step}
        assert max(len(t.turns) for t in played) == limit
        assert {t.truncated_by for t in played} <= {None, "horizon"}


def test_a_steps_episodes_have_the_number_of_its_metrics(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(max_steps=3)
    trainer.train()
    logged = [entry for entry in read_metrics(trainer.args.output_dir) if "reward" in entry]
    files = sorted((Path(trainer.args.output_dir) / "trajectories").glob("train_*"))
    assert [entry["global_step"] for entry in logged] == [1, 2, 3]
    assert [path.name for path in files] == [f"train_00000{step}.jsonl" for step in (1, 2, 3)]
    for entry, path in zip(logged, files, strict=True):
        played = list(read_jsonl(path))
        assert {one.global_step for one in played} == {entry["global_step"]}
        assert fmean(one.success for one in played) == entry["episodes/success"]


@pytest.mark.parametrize("optim", ["adamw_torch_fused", "muon"])
def test_a_resumed_run_has_the_losses_of_the_uninterrupted_one(
    trainer_in: Callable[..., AgentGRPOTrainer], optim: str
) -> None:
    """Eight tasks at two a step: the run is cut in the first and in the second epoch."""
    options = {
        "max_steps": 8, "optim": optim, "eval_strategy": "steps", "eval_steps": 2,
        "save_strategy": "steps", "save_steps": 2, "load_best_model_at_end": False,
    }  # fmt: skip
    whole = trainer_in("whole", **options)
    whole.train()
    trainer_in("parts", **{**options, "max_steps": 2}).train()
    second = trainer_in("parts", **{**options, "max_steps": 6})
    second.train(resume_from_checkpoint=True)
    third = trainer_in("parts", **options)
    third.train(resume_from_checkpoint=True)
    assert losses(third) == losses(whole)
    assert len(losses(whole)) == 8
    metrics = [
        json.loads(line)["global_step"]
        for line in (Path(third.args.output_dir) / "metrics.jsonl").read_text().splitlines()
    ]
    assert metrics == sorted(metrics)
    weights = zip(whole.model.parameters(), third.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in weights)


def test_a_trainer_that_has_trained_resumes_as_a_new_one_does(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    """Its first training ends amid a batch, the checkpoint of step 2 behind one."""
    trainer = trainer_in(
        max_steps=5, num_iterations=2, gradient_accumulation_steps=1,
        save_strategy="steps", save_steps=2, save_total_limit=3,
    )  # fmt: skip
    trainer.train()
    whole, ids = losses(trainer), [one.traces[0].ids for one in trainer.trajectories]
    trainer.train(resume_from_checkpoint=f"{trainer.args.output_dir}/checkpoint-2")
    assert losses(trainer) == whole
    assert [one.traces[0].ids for one in trainer.trajectories] == ids


def test_muon_refuses_matrices_that_are_split(trainer_in: Callable[..., AgentGRPOTrainer]) -> None:
    trainer = trainer_in(optim="muon")
    assert type(trainer.create_optimizer()).__name__ == "MuonWithAdamW"
    trainer.is_fsdp_enabled = True
    with pytest.raises(UsageError, match="optim=muon needs whole matrices.*plain data parallelism"):
        use_muon(trainer)


@pytest.mark.full
def test_a_reference_that_moves_is_resumed_where_it_was(
    trainer_in: Callable[..., AgentGRPOTrainer], tmp_path: Path
) -> None:
    def make(folder: str, **further: Any) -> AgentGRPOTrainer:
        model = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
        return trainer_in(folder, model=model, **{**options, **further})

    make_folder(tmp_path / "model")
    options = {
        "max_steps": 4, "save_strategy": "steps", "save_steps": 3, "beta": 1.0,
        "sync_ref_model": True, "ref_model_sync_steps": 2,
    }  # fmt: skip
    whole = make("whole")
    whole.train()
    make("parts", max_steps=3).train()
    resumed = make("parts")
    resumed.train(resume_from_checkpoint=True)
    assert losses(resumed) == losses(whole)
    (Path(resumed.args.output_dir) / "checkpoint-3/reference.pt").unlink()
    with pytest.raises(UsageError, match="checkpoint-3 does not hold it; resume without sync_ref"):
        make("parts").train(f"{resumed.args.output_dir}/checkpoint-3")


def test_functions_that_vary_where_their_sum_does_not_are_trained_on(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    """By their weights, 3 and 1, they pay an episode 3 in all."""

    def early(trajectories: list[Trajectory], **_: Any) -> list[float]:
        return [float(place % 4 < 2) for place in range(len(trajectories))]

    def late(trajectories: list[Trajectory], **_: Any) -> list[float]:
        return [3.0 - 3.0 * paid for paid in early(trajectories)]

    for aggregation, is_trained in (("sum_then_normalize", False), ("normalize_then_sum", True)):
        trainer = trainer_in(
            multi_objective_aggregation=aggregation,
            reward_weights=[3.0, 1.0],
            max_steps=1,
            trainer={"reward_funcs": [early, late]},
        )
        trainer.train()
        assert trainer.episode_rewards.unique().tolist() == [3.0]
        assert any(trainer._logs["advantages"]) is is_trained


def test_a_step_that_is_half_taken_cannot_be_saved_and_a_short_one_ends_as_others_do(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    """Three batches an epoch, of which a step takes two: its second step takes one."""
    trainer = trainer_in(env={"tasks": ["0", "1", "2"]}, steps_per_generation=1, max_steps=4)
    run, seen = trainer.rollout.run, []

    def noted(*args: Any, **kwargs: Any) -> list[Trajectory]:
        seen.append((trainer.state.global_step, trainer.can_save))
        return run(*args, **kwargs)

    trainer.rollout.run = noted
    trainer.train()
    assert seen == [(0, True), (0, False), (1, True), (2, True), (2, False), (3, True)]


def test_failed_episodes_are_counted_and_train_nothing(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(
        env={"env_kwargs": '{"broken": [0]}', "tasks": ["0", "1"]},
        rollout={"max_failed_share": 0.9, "max_outage": "0"},
        max_steps=1,
    )
    trainer.train()
    entry = trainer.state.log_history[0]
    assert entry["episodes/failed"] == 4
    broken = [t for t in trainer.trajectories if t.task_id == "letters_0"]
    assert [t.status for t in broken] == ["failed"] * 4
    assert all("the toy broke" in str(t.error) for t in broken)


def test_training_stops_where_too_many_episodes_fail(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(
        env={"env_kwargs": '{"broken": [0, 1, 2, 3, 4, 5, 6, 7]}'}, rollout={"max_outage": "0"}
    )
    with pytest.raises(EnvFailure, match="the toy broke"):
        trainer.train()


def test_masked_truncated_episodes_are_in_no_loss(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(
        env={"max_turns": 1}, rollout={"mask_truncated_episodes": True}, max_steps=1
    )
    trainer.train()
    masks = trainer.rows.columns["env_mask"]
    for trajectory, mask in zip(trainer.trajectories, masks, strict=True):
        assert any(mask) == (trajectory.status == "terminated")


def test_windowed_histories_train(trainer_in: Callable[..., AgentGRPOTrainer]) -> None:
    trainer = trainer_in(rollout={"keep_last_turns": 1}, max_steps=1)
    trainer.train()
    assert len(trainer.rows.episode_of_row) > len(trainer.trajectories)
    logged = trainer.state.log_history[0]
    assert logged[LARGEST_GAP] < 1e-4
    assert logged["episodes/sampled_tokens"] > 0
    assert not [name for name in logged if name.startswith("completions/")], "those are of rows"


def test_the_best_checkpoint_by_validation_success_is_kept_and_loaded(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(
        max_steps=2, eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1
    )
    trainer.train()
    measured = {
        e["step"]: e["eval_success"] for e in trainer.state.log_history if "eval_success" in e
    }
    assert sorted(measured) == [1, 2]
    best = max(measured, key=lambda step: (measured[step], -step))
    assert trainer.state.best_model_checkpoint is not None
    assert trainer.state.best_model_checkpoint.endswith(f"checkpoint-{best}")
    saved = AutoModelForCausalLM.from_pretrained(trainer.state.best_model_checkpoint)
    pairs = zip(saved.parameters(), trainer.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    written = Path(trainer.args.output_dir) / "trajectories/eval_000001.jsonl"
    assert [t.split for t in read_jsonl(written)] == ["validation"] * 4


def test_evaluation_plays_without_the_horizon(trainer_in: Callable[..., AgentGRPOTrainer]) -> None:
    trainer = trainer_in(rollout={"horizon": "fixed:1"}, eval_strategy="steps")
    first = trainer.evaluate()
    again = trainer.evaluate()
    assert first["eval_turns"] > 1
    assert first["eval_success"] == again["eval_success"]


def test_a_users_own_reward_and_trls_own_config_are_taken(
    tmp_path: Path, trainer_in: Callable[..., AgentGRPOTrainer]
) -> None:
    def brevity(num_sampled: list[int], **_: Any) -> list[float | None]:
        return [-float(count) for count in num_sampled]

    config = GRPOConfig(
        str(tmp_path), use_cpu=True, bf16=False, gradient_checkpointing=False, max_steps=1,
        num_generations=2, per_device_train_batch_size=2, report_to="none", logging_steps=1,
        save_strategy="no", disable_tqdm=True, dataloader_pin_memory=False,
    )  # fmt: skip
    trainer = AgentGRPOTrainer(
        make_model(), ENV_ID, args=config, reward_funcs=brevity, processing_class=make_tokenizer(),
        rollout=RolloutArguments(max_tokens_per_turn=4),
    )  # fmt: skip
    trainer.train()
    assert trainer.state.log_history[0]["rewards/brevity/mean"] < 0


def test_a_lora_adapter_trains_and_leaves_the_base_alone(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    adapter = LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "v_proj"])
    trainer = trainer_in(trainer={"peft_config": adapter})
    before = {name: value.clone() for name, value in trainer.model.named_parameters()}
    trainer.train()
    changed = {
        n for n, value in trainer.model.named_parameters() if not torch.equal(before[n], value)
    }
    assert changed
    assert all("lora_" in name for name in changed)
    assert trainer.state.log_history[0][LARGEST_GAP] < 1e-4


@pytest.mark.parametrize("adapter", [False, True])
def test_the_command_leaves_an_ordinary_model_folder(adapter: bool, tmp_path: Path) -> None:
    model = make_folder(tmp_path / "model")
    out = tmp_path / "out"
    options = (
        f"--env {ENV_ID} --model {model} --output-dir {out} --max_steps 2 --num-generations 4 "
        "--per_device_train_batch_size 8 --gradient-accumulation-steps 1 --max-tokens-per-turn 4 "
        "--action-format plain --learning_rate 1e-3 --eval-steps 2 --horizon fixed:2 --disable_tqdm"
    ).split()
    if adapter:
        options += ["--use-peft", "--lora-r", "4", "--lora_target_modules", "q_proj"]
    assert main(options) == 0
    trained = AutoModelForCausalLM.from_pretrained(out)
    assert AutoTokenizer.from_pretrained(out).chat_template
    assert (out / "model.safetensors").is_file()
    assert (out / "adapter" / "adapter_config.json").is_file() == adapter
    difference = [
        (one - other).abs().max()
        for one, other in zip(trained.parameters(), make_model().parameters(), strict=True)
    ]
    assert max(difference) > 0
    record = json.loads((out / "run.json").read_text())
    assert record["command"] == "train grpo"
    assert record["AgentGRPOConfig"]["max_steps"] == 2
    entries = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert any("eval_success" in entry for entry in entries)
    assert main([*options, "--resume", "--max-steps", "3"]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--horizon", "soon"], "cannot read the horizon 'soon': 'soon' is no kind of schedule"),
        (["--env", "Nowhere"], "unknown environment 'Nowhere'"),
        (["--env", ENV_ID, "--num-generations", "1"], "num_generations must be >= 2"),
    ],
)
def test_bad_options_end_with_a_usage_error(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(options)
    assert message in capsys.readouterr().err


def test_the_help_shows_what_a_person_needs_and_all_of_it_on_request(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    short = capsys.readouterr().out
    with pytest.raises(SystemExit, match="0"):
        main(["--help_all"])
    everything = capsys.readouterr().out
    for option in ("--env ", "--horizon ", "--model ", "--max_steps ", "--num_generations "):
        assert f"  {option}" in short
    assert "--adam_beta1" not in short
    assert "--adam_beta1" in everything
    assert len(short.splitlines()) < 150
