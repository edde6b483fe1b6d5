from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from trl import GRPOConfig, GRPOTrainer
from trl.trainer import grpo_trainer

from agentgym_envs.trajectories.trajectory import Trajectory
from tests.trainers.toys import (
    FAILED,
    episode,
    gradient,
    make_model,
    make_tokenizer,
    row_advantages,
    trace,
)
from tests.trainers.trl_bridge.scripted import Scripted
from trainers.credit.rewards import agent_reward
from trainers.trl_bridge import (
    labelled_dataset,
    make_rollout_func,
    make_rows,
    task_dataset,
)
from trainers.trl_bridge.loss import PolicyLoss

PAD = 257


# Rows -------------------------------------------------------------------------------------------


def test_a_row_is_the_trace_as_it_was_recorded() -> None:
    one = trace(3, [1, 1, 0, 1])
    rows = make_rows([episode(traces=[one])], filler_id=PAD)
    assert rows.columns == {
        "prompt_ids": [one.prompt_ids],
        "completion_ids": [one.completion_ids],
        "logprobs": [one.logprobs],
        "env_mask": [[1, 1, 0, 1]],
    }
    assert rows.episode_of_row == [0]


def test_failed_and_empty_episodes_become_fillers_without_a_sampled_token() -> None:
    empty = episode(traces=[trace(3, [])], status="truncated")
    rows = make_rows([FAILED, empty, episode()], filler_id=PAD)
    assert rows.columns["env_mask"] == [[0], [0], [1, 1, 0, 0, 1]]
    assert rows.columns["completion_ids"][:2] == [[PAD], [PAD]]
    assert rows.episode_of_row == [0, 1, 2]


def test_tokens_of_a_failed_episode_are_dropped() -> None:
    broken = dataclasses.replace(episode(), status="failed")
    assert make_rows([broken], filler_id=PAD).columns["env_mask"] == [[0]]


def test_windows_become_rows_of_the_same_episode_and_fillers_complete_the_count() -> None:
    windows = episode(traces=[trace(2, [1]), trace(4, [0, 1]), trace(4, [0, 0])])
    rows = make_rows([windows, episode()], filler_id=PAD, multiple_of=4)
    assert rows.episode_of_row == [0, 0, 1, -1]
    assert rows.columns["env_mask"][-1] == [0]


def test_masked_truncated_episodes_lose_their_tokens_but_keep_their_row() -> None:
    rows = make_rows([episode(status="truncated"), episode()], filler_id=PAD, mask_truncated=True)
    assert rows.columns["env_mask"] == [[0], [1, 1, 0, 0, 1]]


def test_labels_are_the_policys_own_tokens() -> None:
    dataset = labelled_dataset([{"input_ids": [5, 6, 7, 8], "action_mask": [0, 1, 0, 1]}])
    assert dataset[0] == {"input_ids": [5, 6, 7, 8], "labels": [-100, 6, -100, 8]}


# TRL's hooks ------------------------------------------------------------------------------------


def test_task_ids_reach_the_rollout_as_they_are_and_repeated(
    scripted: Callable[..., Scripted],
) -> None:
    trainer = scripted([episode(1.0), episode(0.0)])
    trainer.train()
    assert trainer.asked == [["letters_0", "letters_0"]]


def test_advantages_are_sequence_level_and_normalized_in_the_group(
    scripted: Callable[..., Scripted],
) -> None:
    trainer = scripted([episode(1.0), episode(0.0)])
    trainer.train()
    expected = 0.5 / (0.5**0.5 + 1e-4)
    assert row_advantages(trainer.batches[0]).tolist() == pytest.approx([expected, -expected])


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
@pytest.mark.parametrize("aggregation", ["sum_then_normalize", "normalize_then_sum"])
def test_group_advantages_are_trls(
    scale: str, aggregation: str, scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    trls: list[torch.Tensor] = []
    score = GRPOTrainer._generate_and_score_completions

    def watch(trainer: GRPOTrainer, inputs: Any) -> Any:
        batch = score(trainer, inputs)
        trls.append(batch["advantages"])
        return batch

    def other(episode_return: list[float], **_: Any) -> list[float]:
        return [0.3 * place for place in range(len(episode_return))]

    monkeypatch.setattr(GRPOTrainer, "_generate_and_score_completions", watch)
    trainer = scripted(
        [episode(0.1 * n) for n in (3, 1, 4, 1, 5)] + [FAILED, episode(9.2), episode(6.5)],
        num_generations=4,
        scale_rewards=scale,
        multi_objective_aggregation=aggregation,
        reward_funcs=[agent_reward, other],
        reward_weights=[1.0, 0.5],
    )
    trainer.train()
    assert torch.allclose(row_advantages(trainer.batches[0]) * 7 / 8, trls[0], atol=1e-6)
    assert trls[0].abs().max() > 0.1


def test_a_failed_episode_enters_no_baseline_and_no_loss(
    scripted: Callable[..., Scripted],
) -> None:
    played = [
        episode(1.0, traces=[trace(3, [1, 1, 0, 1], seed=1)]),
        episode(0.0, traces=[trace(4, [1, 0, 0, 1, 1], seed=2)]),
        episode(0.0, traces=[trace(2, [1, 1], seed=3)]),
    ]
    alone = scripted(played)
    expected = gradient(alone)
    with_failure = scripted([*played, FAILED])
    found = gradient(with_failure)
    advantages = row_advantages(with_failure.batches[0])
    mask = with_failure.batches[0]["tool_mask"] * with_failure.batches[0]["completion_mask"]
    assert mask[3].sum() == 0
    assert torch.allclose(advantages[:3] * 3 / 4, row_advantages(alone.batches[0]))
    assert torch.allclose(found, expected, atol=1e-6)
    assert expected.abs().max() > 1e-4


def test_no_gradient_comes_from_environment_tokens(scripted: Callable[..., Scripted]) -> None:
    """The logits at the positions that predict given tokens get a gradient of exactly zero."""
    mask = [1, 0, 0, 1, 0]
    trainer = scripted(
        [
            episode(1.0, traces=[trace(3, mask, seed=1)]),
            episode(0.0, traces=[trace(3, mask, seed=2)]),
        ]
    )
    seen: list[torch.Tensor] = []
    model = trainer.model
    handle = model.model.register_forward_hook(
        lambda _module, _inputs, output: (
            (
                output.last_hidden_state.requires_grad
                and output.last_hidden_state.register_hook(lambda grad: seen.append(grad.clone()))
            )
            and None
        )
    )
    trainer.train()
    handle.remove()
    norms = seen[0].norm(dim=-1)  # (B, P + T)
    predicts = torch.tensor([[0, 0, *mask, 0]] * 2).bool()  # position p predicts token p + 1
    assert (norms[~predicts] == 0).all()
    assert (norms[predicts] > 0).all()


def test_windows_of_an_episode_share_its_advantage_and_count_once(
    scripted: Callable[..., Scripted],
) -> None:
    windows = [trace(2, [1, 1], seed=1), trace(4, [0, 1], seed=2)]
    trainer = scripted(
        [episode(1.0, traces=windows), episode(0.0)],
        per_device_train_batch_size=1,
        gradient_accumulation_steps=2,
    )
    trainer.train()
    batch = trainer.batches[0]
    share = 0.5 / (0.5**0.5 + 1e-4)
    # Four rows with the filler, two episodes, and two thirds and one third of the tokens.
    expected = [share * 2 * 2 / 3, share * 2 / 3, -share * 2, 0.0]
    assert row_advantages(batch).tolist() == pytest.approx(expected)
    assert len(batch["prompt_ids"]) == 4


def test_each_trace_keeps_what_its_tokens_were_credited_with(
    scripted: Callable[..., Scripted],
) -> None:
    windows = [trace(2, [1, 1, 0, 1], seed=1), trace(4, [0, 1], seed=2), trace(4, [0, 0], seed=3)]
    broken = dataclasses.replace(episode(traces=[trace(3, [1, 1], seed=4)]), status="failed")
    played = [episode(1.0, traces=windows), episode(0.0), broken]
    scripted(played).train()
    high = pytest.approx(0.5 / (0.5**0.5 + 1e-4), abs=1e-5)
    low = pytest.approx(-0.5 / (0.5**0.5 + 1e-4), abs=1e-5)
    assert windows[0].advantages == [high, high, 0.0, high]
    assert windows[1].advantages == [0.0, high]
    assert windows[2].advantages == []  # it has no sampled token, and so no row
    assert played[1].trace.advantages == [low, low, 0.0, 0.0, low]
    assert played[2].trace.advantages == []


def test_episodes_are_kept_once_a_batch_with_their_advantages(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[list[Trajectory]] = []
    monkeypatch.setattr(Scripted, "keep_episodes", lambda self, played: kept.append(played))
    played = [episode(1.0), episode(0.0)]
    scripted(played, max_steps=2).train()
    assert kept == [played, played]
    assert all(len(one.trace.advantages) == 5 for one in played)


@pytest.mark.parametrize(
    "terms",
    [{}, {"entropy_coef": 0.5}, {"top_entropy_quantile": 0.4}, {"loss_type": "bnpo"}],
    ids=str,
)
def test_regrouping_micro_batches_changes_no_gradient(
    terms: dict[str, Any], scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = [
        episode(float(n % 2), traces=[trace(2 + n, [1, 0] * (1 + 3 * (n % 3)), seed=n)])
        for n in range(4)
    ]
    options = {"per_device_train_batch_size": 2, "gradient_accumulation_steps": 2, **terms}
    regrouped = gradient(scripted(played, **options))
    monkeypatch.setattr("trainers.trl_bridge.batch.regroup", lambda batches, _size: batches)
    monkeypatch.setattr("trainers.trl_bridge.batch.trim_padding", lambda batch: batch)
    plain = gradient(scripted(played, **options))
    assert torch.allclose(regrouped, plain, atol=1e-6)


def test_each_of_several_optimizer_steps_is_regrouped_by_itself(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    dealt: list[list[int]] = []
    split = grpo_trainer.split_tensor_dict

    def watch(batch: dict[str, Any], num_chunks: int) -> list[dict[str, Any]]:
        chunks: list[dict[str, Any]] = split(batch, num_chunks)
        dealt.extend(chunk["completion_mask"].sum(1).tolist() for chunk in chunks)
        return chunks

    monkeypatch.setattr(grpo_trainer, "split_tensor_dict", watch)
    trainer = scripted(
        [episode(float(n % 2), traces=[trace(2, [1] * (8 - n), seed=n)]) for n in range(8)],
        per_device_train_batch_size=2,
        gradient_accumulation_steps=2,
        steps_per_generation=4,
        max_steps=2,
    )
    trainer.train()
    batches = trainer._buffered_inputs or []
    lengths = [batch["completion_mask"].sum(1).tolist() for batch in batches]
    for first in (0, 2):
        longest_first = sorted(dealt[first] + dealt[first + 1], reverse=True)
        assert lengths[first] + lengths[first + 1] == longest_first


@pytest.mark.parametrize(("per_update", "steps"), [(3, 2), (2, 3)])
def test_rows_stay_where_they_are_where_an_optimizer_step_takes_part_of_a_batch(
    scripted: Callable[..., Scripted],
    monkeypatch: pytest.MonkeyPatch,
    per_update: int,
    steps: int,
) -> None:
    regrouped: list[int] = []
    monkeypatch.setattr(
        "trainers.trl_bridge.batch.regroup",
        lambda batches, _size: regrouped.append(1) or batches,
    )
    trainer = scripted(
        [episode(float(n % 2), traces=[trace(2, [1], seed=n)]) for n in range(2 * steps)],
        per_device_train_batch_size=2,
        gradient_accumulation_steps=per_update,
        steps_per_generation=steps,
    )
    trainer.train()
    assert trainer._buffered_inputs is not None
    assert not regrouped


def test_logprobs_are_those_of_padded_rows_and_attention_needs_no_mask(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = scripted([episode(float(n), traces=[trace(3, [1], seed=n)]) for n in range(2)])
    ids = torch.tensor([[0, 0, 5, 6, 7, 0], [1, 2, 3, 4, 0, 0], [0, 8, 9, 10, 11, 12]])
    mask = torch.tensor([[0, 0, 1, 1, 1, 0], [1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 1]])
    is_causal: list[bool] = []
    attend = torch.nn.functional.scaled_dot_product_attention

    def watch(*args: Any, **kwargs: Any) -> torch.Tensor:
        is_causal.append(kwargs.get("attn_mask") is None and kwargs["is_causal"])
        return attend(*args, **kwargs)

    def logprobs(batch_size: int | None) -> torch.Tensor:
        found: torch.Tensor = trainer._get_per_token_logps_and_entropies(
            trainer.model, ids, mask, 3, batch_size
        )[0]
        return found * mask[:, -3:]

    with torch.no_grad():
        monkeypatch.setattr("torch.nn.functional.scaled_dot_product_attention", watch)
        ours, in_parts = logprobs(None), logprobs(2)
        monkeypatch.undo()
        theirs = GRPOTrainer._get_per_token_logps_and_entropies(
            trainer, trainer.model, ids, mask, 3
        )[0]
    assert is_causal
    assert all(is_causal)
    assert torch.allclose(ours, theirs * mask[:, -3:], atol=1e-5)
    assert torch.allclose(in_parts, ours, atol=1e-5)


def test_micro_batches_without_advantages_are_passed_over_and_change_no_gradient(
    scripted: Callable[..., Scripted], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = [
        episode(reward, traces=[trace(2 + n, [1, 0] * (1 + n), seed=n)])
        for n, reward in enumerate((1.0, 1.0, 1.0, 0.0))
    ]
    options = {
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 2,
        "num_generations": 2,
    }
    trainer = scripted(played, **options)
    passes = count_training_passes(trainer)
    skipping = gradient(trainer)
    assert len(passes) == 1
    monkeypatch.setattr(PolicyLoss, "is_without_gradient", lambda self, inputs: False)
    trainer = scripted(played, **options)
    passes = count_training_passes(trainer)
    assert torch.allclose(skipping, gradient(trainer), atol=1e-6)
    assert len(passes) == 2


def test_a_step_without_any_advantage_trains_nothing_and_fails_nothing(
    scripted: Callable[..., Scripted],
) -> None:
    assert not gradient(scripted([episode(1.0), episode(1.0)])).any()


def count_training_passes(trainer: Scripted) -> list[int]:
    passes: list[int] = []
    trainer.model.register_forward_hook(
        lambda module, *_: passes.append(1) if module.training else None
    )
    return passes


def test_the_gap_between_sampled_and_trained_logprobs_is_logged(
    scripted: Callable[..., Scripted],
) -> None:
    model = make_model()
    traces = [trace(3, [1, 1, 0, 1], seed=n) for n in range(2)]
    for one in traces:
        with torch.no_grad():
            logits = model(torch.tensor([one.ids])).logits[0].log_softmax(-1)
        exact = [logits[2 + n, token].item() for n, token in enumerate(one.completion_ids)]
        one.logprobs = [value + 0.25 * m for value, m in zip(exact, one.action_mask, strict=True)]
    trainer = scripted([episode(1.0, traces=traces[:1]), episode(0.0, traces=traces[1:])])
    trainer.train()
    logged = trainer.state.log_history[0]
    assert logged["sampling/sampling_logp_difference/mean"] == pytest.approx(0.25, abs=1e-4)
    assert logged["sampling/sampling_logp_difference/max"] == pytest.approx(0.25, abs=1e-4)


@pytest.mark.parametrize(
    "hook",
    [
        "_generate",
        "_calculate_rewards",
        "_generate_and_score_completions",
        "_prepare_inputs",
        "compute_loss",
        "_get_per_token_logps_and_entropies",
        "_compute_loss",
        "_log_metric",
        "_get_train_sampler",
    ],
)
def test_trl_still_has_the_private_hook(hook: str) -> None:
    assert callable(getattr(GRPOTrainer, hook))


def test_each_epoch_has_an_order_of_its_own_that_needs_no_history(
    scripted: Callable[..., Scripted],
) -> None:
    trainer = scripted([episode(1.0), episode(0.0)])
    dataset = task_dataset([f"letters_{n}" for n in range(8)])
    first, second = (trainer._get_train_sampler(dataset) for _ in range(2))
    order = [list(first)]
    trainer.state.epoch = 1.25  # what a run that is resumed there has read
    order += [list(first), list(second)]
    trainer.state.epoch = 0.0
    order.append(list(second))
    assert order[0] != order[1]
    assert order[1] == order[2]
    assert order[0] == order[3]
    assert len(order[0]) == len(first)


def test_trl_buffers_micro_batches_where_we_regroup_them(
    scripted: Callable[..., Scripted],
) -> None:
    trainer = scripted([episode(1.0), episode(0.0)])
    assert trainer._buffered_inputs is None
    assert trainer._step == 0
    trainer.train()
    assert [type(batch) for batch in trainer._buffered_inputs] == [dict]
    assert trainer._step == 1


def test_the_batch_holds_the_keys_we_rely_on(scripted: Callable[..., Scripted]) -> None:
    trainer = scripted([episode(1.0), episode(0.0)])
    trainer.train()
    assert set(trainer.batches[0]) >= {
        "prompt_ids",
        "prompt_mask",
        "completion_ids",
        "completion_mask",
        "tool_mask",
        "advantages",
        "num_items_in_batch",
        "sampling_per_token_logps",
    }


def test_the_rollout_is_called_with_prompts_and_the_trainer() -> None:
    source = inspect.getsource(GRPOTrainer._generate)
    assert "self.rollout_func(prompts, self)" in source
    assert "return prompt_ids, completion_ids, tool_mask, completions, " in source


# A user's own script ----------------------------------------------------------------------------


class OneTurnRollout:
    """Plays without an environment: the reward is the parity of the task's call."""

    def __init__(self, trajectories: Sequence[Trajectory]) -> None:
        self.trajectories = list(trajectories)
        self.steps: list[int] = []

    def run(
        self, task_ids: Sequence[str], *, global_step: int = 0, **_options: Any
    ) -> list[Trajectory]:
        self.steps.append(global_step)
        return self.trajectories[: len(task_ids)]


def stock_trainer(player: OneTurnRollout, folder: Path) -> GRPOTrainer:
    config = GRPOConfig(
        output_dir=str(folder), use_cpu=True, bf16=False, gradient_checkpointing=False,
        num_generations=2, per_device_train_batch_size=2, max_steps=2, logging_steps=1,
        save_strategy="no", report_to="none", disable_tqdm=True, dataloader_pin_memory=False,
    )  # fmt: skip
    return GRPOTrainer(
        make_model(), reward_funcs=agent_reward, args=config,
        train_dataset=task_dataset(["letters_0", "letters_1"]),
        rollout_func=make_rollout_func(player), processing_class=make_tokenizer(),
    )  # fmt: skip


# TRL warns that `rollout_func` is experimental.
@pytest.mark.filterwarnings("ignore:You are using 'rollout_func'")
def test_a_stock_trainer_takes_our_rollout_and_reward(tmp_path: Path) -> None:
    player = OneTurnRollout([episode(1.0), episode(0.0)])
    trainer = stock_trainer(player, tmp_path)
    trainer.train()
    assert player.steps == [0, 1]
    logged = trainer.state.log_history[0]
    assert logged["reward"] == 0.5
    assert logged["episodes/success"] == 0.5
    assert json.dumps(logged)


@pytest.mark.filterwarnings("ignore:You are using 'rollout_func'")
def test_a_stock_trainer_refuses_windowed_episodes_with_the_remedy(tmp_path: Path) -> None:
    windows = episode(1.0, traces=[trace(2, [1]), trace(2, [1])])
    trainer = stock_trainer(OneTurnRollout([windows, episode(0.0)]), tmp_path)
    with pytest.raises(ValueError, match="AgentGRPOTrainer"):
        trainer.train()
