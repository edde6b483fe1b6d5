"""Episodes of several token windows: what rewards read, how large a pass is, how the KL weighs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas
import pytest
import torch

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory
from tests.trainers.ppo_toys import maker, played, with_head
from tests.trainers.toys import FAILED, episode, gradient, make_folder, make_model, trace
from tests.trainers.trl_bridge.scripted import Scripted
from trainers.trl_bridge import passes

PER_DEVICE = 2


def windows(num: int, reward: float, seed: int) -> Trajectory:
    """An episode of so many windows of different lengths."""
    traces = [trace(2 + n % 5, [1, 0, 1, 1][: 1 + n % 4], seed=seed + n) for n in range(num)]
    return episode(reward, traces=traces)


GIVEN = [windows(20, 1.0, 100), windows(3, 0.0, 200), windows(1, 0.5, 300), windows(6, 0.0, 400)]


def with_other_reference(trainer: Scripted) -> Scripted:
    if trainer.ref_model is not None:
        trainer.ref_model.load_state_dict(make_model(1).state_dict())
    return trainer


def test_reward_functions_and_the_table_of_completions_have_one_per_episode(
    scripted: Callable[..., Scripted], tmp_path: Path
) -> None:
    asked: list[tuple[list[str], list[list[int]]]] = []

    def brevity(completions: Any, completion_ids: Any, **_: Any) -> list[float]:
        asked.append((completions, completion_ids))
        return [-float(len(ids)) for ids in completion_ids]

    trainer = scripted(GIVEN, reward_funcs=brevity, log_completions=True)
    trainer.train()
    ids = [[i for one in t.traces for i in one.completion_ids] for t in GIVEN]
    texts = trainer.processing_class.batch_decode(ids, skip_special_tokens=True)
    assert asked == [(texts, ids)]
    table = pandas.read_parquet(tmp_path / "completions/completions_00001.parquet")
    assert [list(one) for one in table["completion"]] == [t.messages() for t in GIVEN]
    assert table["brevity"].tolist() == [-float(len(one)) for one in ids]


@pytest.mark.parametrize(
    "options",
    [
        {"loss_type": "grpo"},
        {"loss_type": "grpo", "beta": 0.5},
        {"loss_type": "dapo", "beta": 0.5},
        {"loss_type": "dr_grpo", "beta": 0.5},
        {"loss_type": "cispo"},
        {"loss_type": "luspo", "importance_sampling_level": "sequence"},
    ],
    ids=str,
)
def test_passes_are_bounded_in_tokens_and_change_no_gradient(
    options: dict[str, Any],
    scripted: Callable[..., Scripted],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    options = {
        **options,
        "per_device_train_batch_size": PER_DEVICE,
        "gradient_accumulation_steps": 2,
        "model": make_folder(tmp_path / "model"),
    }
    trainer = with_other_reference(scripted(GIVEN, **options))
    sizes: list[int] = []
    trainer.model.register_forward_pre_hook(
        lambda module, _args, kwargs: (
            sizes.append(kwargs["input_ids"].numel()) if module.training else None
        ),
        with_kwargs=True,
    )
    split = gradient(trainer)
    longest = max(len(one) for t in GIVEN for one in t.traces)
    assert max(sizes) <= PER_DEVICE * longest
    assert split.abs().max() > 1e-4
    unsplit = with_other_reference(scripted(GIVEN, **options))
    monkeypatch.setattr("trainers.online.split_into_passes", lambda batch, *_: [batch])
    assert torch.allclose(split, gradient(unsplit), atol=1e-6)
    entries = [trainer.state.log_history[0]["loss"], unsplit.state.log_history[0]["loss"]]
    assert entries[0] == pytest.approx(entries[1], abs=1e-5)


def test_a_step_of_several_passes_is_one_step_of_the_control_of_the_entropy(
    scripted: Callable[..., Scripted],
) -> None:
    trainer = scripted(
        GIVEN, per_device_train_batch_size=PER_DEVICE, gradient_accumulation_steps=2, max_steps=2,
        use_adaptive_entropy=True, entropy_coef=0.1, entropy_target=100.0, entropy_coef_delta=0.01,
    )  # fmt: skip
    trainer.train()
    logged = [e["entropy_coef"] for e in trainer.state.log_history if "entropy_coef" in e]
    assert logged == pytest.approx([0.11, 0.12])


@pytest.mark.parametrize("critic", ["own", "shared", "head"])
def test_passes_change_no_gradient_of_a_critic(
    critic: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = [
        played([0.0] * 6 + [1.0], *[[1, 1, 0][: 1 + n % 3] for n in range(7)]),
        played([0.5, 0.0], [1, 0, 1, 1], seed=20),
    ]
    options = {"given": given, "critic": critic, "num_iterations": 1, "loss_type": "grpo"}
    split = gradient(with_head(maker(tmp_path)(**options)))
    monkeypatch.setattr("trainers.online.split_into_passes", lambda batch, *_: [batch])
    unsplit = gradient(with_head(maker(tmp_path)(**options)))
    assert split.abs().max() > 1e-4
    assert torch.allclose(split, unsplit, atol=1e-6)


def test_passes_have_as_many_rows_as_those_of_the_other_processes() -> None:
    """TRL gathers numbers of rows in each pass, which ends a run where they are not as many."""

    class Two:
        num_processes = 2

        def gather(self, lengths: torch.Tensor) -> torch.Tensor:
            return torch.cat([lengths, torch.tensor([[4, 4, 3, 3, 1]])])

    lengths = torch.tensor([4, 2, 2, 2, 1])
    mask = (torch.arange(4) < lengths[:, None]).long()
    batch = {
        "prompt_ids": mask[:, :0],
        "prompt_mask": mask[:, :0],
        "completion_ids": torch.arange(5)[:, None] * mask,
        "completion_mask": mask,
        "advantages": torch.tensor([[1.0], [1.0], [1.0], [0.0], [1.0]]),
    }
    parts = passes.split_into_passes(batch, 2, "dapo", Two())
    assert [part["completion_ids"][:, 0].tolist() for part in parts] == [[0, 1], [2, 4], [3]]
    assert passes.pass_sizes([4, 2, 2, 1, 2], 2) == [2, 3]


def loss_by_hand(
    model: Any,
    reference: Any,
    given: Sequence[Trajectory],
    advantages: Sequence[float],
    beta: float,
) -> torch.Tensor:
    """The mean over episodes of the mean over tokens of -A * ratio + beta * k3."""

    def logprobs(of: Any, one: TokenTrace) -> torch.Tensor:
        ids = torch.tensor([one.ids])
        every = of(input_ids=ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
        return every[len(one.prompt_ids) - 1 :][torch.tensor(one.action_mask).bool()]

    losses = []
    for trajectory, advantage in zip(given, advantages, strict=True):
        policy = torch.cat([logprobs(model, one) for one in trajectory.traces])
        with torch.no_grad():
            other = torch.cat([logprobs(reference, one) for one in trajectory.traces])
        kl = (other - policy).exp() - (other - policy) - 1
        losses.append((-advantage * (policy - policy.detach()).exp() + beta * kl).mean())
    return torch.stack(losses).mean()


def test_the_kl_is_averaged_over_episodes_whatever_their_windows_fillers_and_failures(
    scripted: Callable[..., Scripted], tmp_path: Path
) -> None:
    given = [*GIVEN[:3], FAILED]
    trainer = with_other_reference(
        scripted(
            given,
            model=make_folder(tmp_path / "model"),
            beta=0.5,
            use_bias_correction_kl=False,
            scale_rewards="none",
            per_device_train_batch_size=1,
            gradient_accumulation_steps=4,
        )
    )
    optimizer = trainer.create_optimizer()
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    loss = loss_by_hand(trainer.model, trainer.ref_model, given[:3], [0.5, -0.5, 0.0], 0.5)
    expected = torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters)])
    result = gradient(trainer)
    assert torch.allclose(result, expected, atol=1e-5)
    assert expected.abs().max() > 1e-2
