"""Metrics of tokens and terms of the loss: of the whole batch, however it is split."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from math import nan
from pathlib import Path
from typing import Any

import pytest
import torch
from trl import GRPOTrainer

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory
from tests.trainers.toys import FAILED, episode, gradient, make_folder, make_model, trace
from tests.trainers.trl_bridge.scripted import Scripted
from trainers.trl_bridge.metrics import LARGEST, MEANS, ROW_METRICS, SMALLEST, TokenMetrics

Maker = Callable[..., Scripted]

SPLITS = [(8, 1), (4, 2), (1, 8)]
"""Rows of a micro-batch, and micro-batches."""
CLIPS = [f"clip_ratio/{name}" for name in ("low_mean", "high_mean", "region_mean")]


def cut(reward: float, mask: Sequence[int], seed: int) -> Trajectory:
    return episode(reward, traces=[trace(3, mask, seed=seed)], status="truncated")


def of_all_lengths() -> list[Trajectory]:
    """Two groups: of one, two were cut and one failed; in the other all were paid alike."""
    return [
        episode(1.0, traces=[trace(2, [1] * 9, seed=1), trace(3, [0, 1], seed=2)]),
        episode(0.0, traces=[trace(4, [1], seed=3)]),
        cut(0.5, [1, 1, 0, 1, 1, 1], 4),
        FAILED,
        *(episode(1.0, traces=[trace(3, [1, 0, 1][: n + 1], seed=5 + n)]) for n in range(3)),
        cut(1.0, [1, 1], 9),
    ]


def tokens(model: Any, one: TokenTrace) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the log-probabilities and entropies of a trace's sampled tokens."""
    ids = torch.tensor([one.ids])
    every = model(input_ids=ids).logits[0, :-1].log_softmax(-1)
    mask = torch.tensor([0] * (len(one.prompt_ids) - 1) + one.action_mask).bool()
    logps = every.gather(1, ids[0, 1:, None])[:, 0]
    return logps[mask], -(every.exp() * every).sum(-1)[mask]


def mean_of_tokens(of: Sequence[Trajectory], value: Callable[[TokenTrace], torch.Tensor]) -> float:
    with torch.no_grad():
        return torch.cat([value(one) for played in of for one in played.traces]).mean().item()


@pytest.fixture
def masking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Scripted, "mask_truncated", True)


def with_reference(trainer: Scripted) -> Scripted:
    if trainer.ref_model is not None:
        trainer.ref_model.load_state_dict(make_model(1).state_dict())
    return trainer


@pytest.mark.usefixtures("masking")
@pytest.mark.parametrize(("rows", "micro_batches"), SPLITS)
@pytest.mark.parametrize("loss_type", ["grpo", "dapo"])
def test_the_kl_and_the_entropy_are_means_over_the_tokens_that_are_trained(
    loss_type: str, rows: int, micro_batches: int, scripted: Maker, tmp_path: Path
) -> None:
    """Fillers, and rows that are masked throughout, stood in one column: a value per row."""
    given = of_all_lengths()
    trainer = with_reference(
        scripted(
            given,
            model=make_folder(tmp_path / "model"),
            loss_type=loss_type,
            beta=0.5,
            num_generations=4,
            per_device_train_batch_size=rows,
            gradient_accumulation_steps=micro_batches,
        )
    )
    trainer.train()
    model, reference = make_model().double(), make_model(1).double()

    def kl(one: TokenTrace) -> torch.Tensor:
        behind = tokens(reference, one)[0] - tokens(model, one)[0]
        return behind.exp() - behind - 1

    trained = [one for one in given if one.status == "terminated"]
    logged = trainer.state.log_history[0]
    entropy = mean_of_tokens(trained, lambda one: tokens(model, one)[1])
    assert logged["entropy"] == pytest.approx(entropy, rel=1e-5)
    assert logged["kl"] == pytest.approx(mean_of_tokens(trained, kl), rel=1e-4)


@pytest.mark.usefixtures("masking")
@pytest.mark.parametrize(("rows", "micro_batches"), SPLITS)
def test_rows_that_train_nothing_have_no_say_in_the_entropy(
    rows: int, micro_batches: int, scripted: Maker
) -> None:
    """Whether the pass that they are in is made for others, or not at all."""
    given = of_all_lengths()
    trainer = scripted(
        given,
        num_generations=4,
        per_device_train_batch_size=rows,
        gradient_accumulation_steps=micro_batches,
    )
    trainer.train()
    model = make_model().double()
    entropy = mean_of_tokens(given[:2], lambda one: tokens(model, one)[1])
    assert trainer.state.log_history[0]["entropy"] == pytest.approx(entropy, rel=1e-5)


@pytest.mark.full
@pytest.mark.usefixtures("masking")
@pytest.mark.parametrize("level", ["token", "sequence"])
def test_clipped_shares_are_those_of_any_split(level: str, scripted: Maker, tmp_path: Path) -> None:
    """At the second step on the batch, which the first one has moved the policy from."""
    entries = []
    for rows, micro_batches in SPLITS:
        trainer = with_reference(
            scripted(
                of_all_lengths(),
                model=make_folder(tmp_path / "model"),
                loss_type="dapo",
                importance_sampling_level=level,
                beta=0.5,
                epsilon=0.02,
                num_generations=4,
                per_device_train_batch_size=rows,
                gradient_accumulation_steps=micro_batches,
                num_iterations=2,
                max_steps=2,
                use_bias_correction_kl=True,
            )
        )
        trainer.train()
        entries.append(trainer.state.log_history[1])
    for name in (*CLIPS, "clip_ratio/low_min", "clip_ratio/high_max", "kl", "entropy"):
        assert [entry[name] for entry in entries] == pytest.approx([entries[0][name]] * 3, rel=1e-4)
    assert 0 < entries[0]["clip_ratio/region_mean"] < 1


def test_a_batch_that_trains_nothing_logs_no_metric_of_its_tokens(scripted: Maker) -> None:
    trainer = scripted([episode(1.0), episode(1.0)], logging_steps=2, max_steps=2)
    trainer.train()
    assert "entropy" not in trainer.state.log_history[0]


def test_trl_has_no_other_means_over_tokens_than_those_that_are_joined() -> None:
    source = inspect.getsource(GRPOTrainer._compute_loss)
    means = re.findall(r'\["([^"]+)"\]\.append\(global_masked_mean\(', source)
    ends = re.findall(r'\["([^"]+)"\]\.append\(nan(min|max)\(', source)
    assert {*means} == {*MEANS}
    assert {*ends} == {(SMALLEST, "min"), (LARGEST, "max")}


def test_trl_has_no_other_lengths_of_rows_than_those_that_are_replaced() -> None:
    source = inspect.getsource(GRPOTrainer._generate)
    assert {*re.findall(r'"(completions/[^"]+)"', source)} == {*ROW_METRICS}


class Alone:
    """An accelerator of one process."""

    def reduce(self, tensor: torch.Tensor, reduction: str) -> torch.Tensor:
        return tensor

    gather = staticmethod(lambda tensor: tensor)


def test_an_entry_is_over_all_its_tokens_and_the_next_begins_anew() -> None:
    metrics = TokenMetrics(Alone())
    logged: dict[str, list[float]] = {}
    for values, mask, entropy in (
        ([[1.0, 9.0]], [[1, 0]], 4.0),
        ([[2.0, 3.0]], [[1, 1]], 1.0),
        ([[7.0, 7.0]], [[0, 0]], 0.0),
    ):
        metrics.add(
            logged,
            torch.tensor(mask),
            mean={"gap": torch.tensor(values)},
            largest={"gap/max": torch.tensor(values)},
            trl_metrics={"entropy": entropy, "clip_ratio/low_min": entropy or nan},
        )
    assert logged == {
        "gap": [2.0], "gap/max": [3.0], "entropy": [2.0], "clip_ratio/low_min": [1.0],
    }  # fmt: skip
    logged.clear()
    metrics.add(logged, torch.tensor([[1]]), mean={"gap": torch.tensor([[5.0]])})
    assert logged == {"gap": [5.0]}


# Terms of the loss --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "terms",
    [
        {"loss_type": "bnpo"},
        {"loss_type": "grpo", "entropy_coef": 0.5},
        {"loss_type": "dapo", "entropy_coef": 0.5},
        {"loss_type": "dapo", "entropy_coef": 0.5, "beta": 0.5},
    ],
    ids=str,
)
def test_no_term_depends_on_how_a_batch_is_split(
    terms: dict[str, Any], scripted: Maker, tmp_path: Path
) -> None:
    results, entries = [], []
    for rows, micro_batches in SPLITS:
        trainer = with_reference(
            scripted(
                of_all_lengths(),
                model=make_folder(tmp_path / "model"),
                num_generations=4,
                per_device_train_batch_size=rows,
                gradient_accumulation_steps=micro_batches,
                **terms,
            )
        )
        results.append(gradient(trainer))
        entries.append(trainer.state.log_history[0])
    assert results[0].abs().max() > 1e-3
    for result, entry in zip(results, entries, strict=True):
        assert torch.allclose(result, results[0], atol=1e-6)
        for name in {"loss", "policy_loss"} & {*entry}:
            assert entry[name] == pytest.approx(entries[0][name], abs=1e-5)


def test_the_entropy_bonus_is_the_mean_over_the_batchs_tokens(scripted: Maker) -> None:
    """Without advantages it is the whole loss."""
    given = [episode(1.0, traces=[trace(3, [1] * n, seed=n)]) for n in (1, 2, 9, 4)]
    trainer = scripted(
        given, entropy_coef=0.5, per_device_train_batch_size=1, gradient_accumulation_steps=4
    )
    groups = trainer.create_optimizer().param_groups
    entropies = [tokens(trainer.model, one)[1] for played in given for one in played.traces]
    gradients = torch.autograd.grad(
        -0.5 * torch.cat(entropies).mean(), [p for group in groups for p in group["params"]]
    )
    expected = torch.cat([one.flatten() for one in gradients])
    assert expected.abs().max() > 1e-3
    assert torch.allclose(gradient(trainer), expected, atol=1e-6)


@pytest.mark.usefixtures("masking")
@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo", "bnpo"])
def test_masked_episodes_are_in_no_divisor(loss_type: str, scripted: Maker) -> None:
    """What is trained on has the gradient of a batch that holds nothing else."""
    alone = [
        episode(1.0, traces=[trace(2, [1, 1, 0, 1], seed=1)]),
        episode(0.0, traces=[trace(4, [1, 0, 1], seed=2)]),
    ]
    options = {"scale_rewards": "none", "loss_type": loss_type}
    expected = gradient(scripted(alone, **options))
    # Paid the mean, they move no baseline.
    masked = [cut(0.5, [1] * 20, 3), cut(0.5, [1], 4)]
    result = gradient(scripted([*alone, *masked], **options))
    assert expected.abs().max() > 1e-3
    assert torch.allclose(result, expected, atol=1e-6)
