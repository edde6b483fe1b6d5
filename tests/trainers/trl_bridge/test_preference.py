from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from peft import LoraConfig
from torch.nn.functional import logsigmoid
from trl import DPOConfig, DPOTrainer

from tests.trainers.toys import make_model, make_tokenizer
from trainers.trl_bridge import MaskedPreferenceCollator, PreferenceTrainer

PAD = 257
Row = dict[str, list[int]]


def row(chosen: Sequence[int], rejected: Sequence[int], *, prompt: int = 3, seed: int = 0) -> Row:
    """Random ids; the arguments are the action masks behind the prompt."""
    generator = torch.Generator().manual_seed(seed)

    def ids(mask: Sequence[int]) -> list[int]:
        return torch.randint(0, 256, (prompt + len(mask),), generator=generator).tolist()

    return {
        "chosen_ids": ids(chosen),
        "chosen_mask": [0] * prompt + list(chosen),
        "rejected_ids": ids(rejected),
        "rejected_mask": [0] * prompt + list(rejected),
    }


# The first run of ones is left out of the second row: a shared turn.
ROWS = [
    row([1, 1, 0, 0, 1], [1, 0, 1], seed=1),
    row([0, 0, 0, 1, 1, 0], [0, 0, 0, 1], seed=2),
]


@pytest.fixture
def preferring(tmp_path: Path) -> Callable[..., PreferenceTrainer]:
    def make(rows: Sequence[Row] = ROWS, model: Any = None, **options: Any) -> PreferenceTrainer:
        given = {
            name: options.pop(name) for name in ("ref_model", "peft_config") if name in options
        }
        defaults: dict[str, Any] = {
            "output_dir": str(tmp_path),
            "use_cpu": True,
            "bf16": False,
            "gradient_checkpointing": False,
            "report_to": "none",
            "save_strategy": "no",
            "logging_steps": 1,
            "max_steps": 3,
            "learning_rate": 1e-2,
            "lr_scheduler_type": "constant",
            "per_device_train_batch_size": len(rows),
            "disable_tqdm": True,
            "dataloader_pin_memory": False,
        }
        return PreferenceTrainer(
            make_model() if model is None else model,
            rows,
            args=DPOConfig(**{**defaults, **options}),
            processing_class=make_tokenizer(),
            **given,
        )

    return make


def batch_of(trainer: PreferenceTrainer) -> dict[str, torch.Tensor]:
    return trainer.data_collator([trainer.train_dataset[n] for n in range(len(ROWS))])


def losses(trainer: PreferenceTrainer) -> list[float]:
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def test_a_batch_holds_the_chosen_ones_first_and_their_own_masks() -> None:
    batch = MaskedPreferenceCollator(pad_token_id=PAD)(ROWS)
    assert batch["input_ids"].shape == (4, 9)
    assert batch["input_ids"][0].tolist() == [*ROWS[0]["chosen_ids"], PAD]
    assert batch["input_ids"][3].tolist() == [*ROWS[1]["rejected_ids"], PAD, PAD]
    assert batch["attention_mask"].sum(dim=1).tolist() == [8, 9, 6, 7]
    assert batch["completion_mask"].tolist() == [
        [0, 0, 0, 1, 1, 0, 0, 1, 0],
        [0, 0, 0, 0, 0, 0, 1, 1, 0],
        [0, 0, 0, 1, 0, 1, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 0, 0],
    ]


def test_no_gradient_comes_from_context_and_environment_tokens(
    preferring: Callable[..., PreferenceTrainer],
) -> None:
    """The hidden states that predict given tokens get a gradient of exactly zero."""
    trainer = preferring(max_steps=1, ref_model=make_model(seed=1))
    seen: list[torch.Tensor] = []

    def watch(_module: Any, _inputs: Any, output: Any) -> None:
        hidden = output.last_hidden_state
        if hidden.requires_grad:
            hidden.register_hook(lambda grad: seen.append(grad.clone()))

    trainer.model.model.register_forward_hook(watch)
    batch = batch_of(trainer)
    trainer.compute_loss(trainer.model, batch).backward()
    norms = seen[0].norm(dim=-1)  # (2B, T)
    predicts = torch.nn.functional.pad(batch["completion_mask"], (0, 1))[:, 1:].bool()
    assert (norms[~predicts] == 0).all()
    assert (norms[predicts] > 0).all()


def reference_loss(loss_type: str, beta: float) -> float:
    """DPO (arXiv 2305.18290, eq. 7) or IPO (arXiv 2310.12036, eq. 17) per token, in float64."""
    policy, reference = (make_model(seed).double() for seed in (0, 1))

    def ratio(ids: list[int], mask: list[int]) -> torch.Tensor:
        inputs, picks = torch.tensor([ids]), [t for t in range(1, len(ids)) if mask[t]]
        logps = [m(inputs).logits[0].log_softmax(-1) for m in (policy, reference)]
        ratios = [logps[0][t - 1, ids[t]] - logps[1][t - 1, ids[t]] for t in picks]
        return sum(ratios) / (len(picks) if loss_type == "ipo" else 1)  # type: ignore[return-value]

    total = torch.zeros((), dtype=torch.float64)
    for one in ROWS:
        gap = ratio(one["chosen_ids"], one["chosen_mask"])
        gap = gap - ratio(one["rejected_ids"], one["rejected_mask"])
        loss = (gap - 1 / (2 * beta)) ** 2 if loss_type == "ipo" else -logsigmoid(beta * gap)
        total += loss / len(ROWS)
    return total.item()


@pytest.mark.parametrize("precompute", [True, False])
@pytest.mark.parametrize("loss_type", ["sigmoid", "ipo"])
def test_the_loss_is_the_papers(
    loss_type: str, precompute: bool, preferring: Callable[..., PreferenceTrainer]
) -> None:
    trainer = preferring(
        loss_type=loss_type,
        beta=0.3,
        precompute_ref_log_probs=precompute,
        ref_model=make_model(seed=1),
    )
    with torch.no_grad():
        loss = trainer.compute_loss(trainer.model, batch_of(trainer)).item()
    assert loss == pytest.approx(reference_loss(loss_type, 0.3), rel=1e-5)


LOSS_TYPES = (
    "sigmoid hinge ipo exo_pair nca_pair robust bco_pair sppo_hard aot aot_unpaired apo_zero "
    "apo_down discopop sft sigmoid_norm"
).split()


@pytest.mark.parametrize("loss_type", LOSS_TYPES)
def test_every_loss_of_trl_learns_from_masked_rows(
    loss_type: str, preferring: Callable[..., PreferenceTrainer]
) -> None:
    trainer = preferring(
        loss_type=loss_type,
        label_smoothing=0.1 if loss_type in ("exo_pair", "robust") else 0.0,
        ref_model=make_model(seed=1),
    )
    loss = trainer.compute_loss(trainer.model, batch_of(trainer))
    loss.backward()
    norm = torch.stack([p.grad.norm() for p in trainer.model.parameters()]).norm()
    assert torch.isfinite(loss)
    assert 0 < norm < float("inf")


def test_the_reference_is_the_model_as_given_whatever_its_name(
    preferring: Callable[..., PreferenceTrainer],
) -> None:
    """The two ways to ask it agree, and the first loss is that of no preference, ln 2."""
    found = []
    for precompute in (True, False):
        model = make_model(seed=5)
        model.config._name_or_path = "nowhere/to-be-found"
        found.append(losses(preferring(model=model, precompute_ref_log_probs=precompute)))
    assert found[0][0] == pytest.approx(0.6931472)
    assert found[0] == pytest.approx(found[1], rel=1e-5)
    assert found[0][-1] < found[0][0]


def test_the_copy_stays_while_the_policy_learns(
    preferring: Callable[..., PreferenceTrainer],
) -> None:
    trainer = preferring(precompute_ref_log_probs=False)
    losses(trainer)
    pairs = zip(trainer.ref_model.parameters(), make_model().parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    pairs = zip(trainer.model.parameters(), make_model().parameters(), strict=True)
    assert not all(torch.equal(one, other) for one, other in pairs)


@pytest.mark.parametrize("precompute", [True, False])
def test_an_adapters_reference_is_its_base(
    precompute: bool, preferring: Callable[..., PreferenceTrainer]
) -> None:
    trainer = preferring(
        precompute_ref_log_probs=precompute,
        peft_config=LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "v_proj"]),
    )
    assert trainer.ref_model is None
    base = {n: p.clone() for n, p in trainer.model.named_parameters() if "lora_" not in n}
    found = losses(trainer)
    assert found[0] == pytest.approx(0.6931472)
    assert found[-1] < found[0]
    after = dict(trainer.model.named_parameters())
    assert all(torch.equal(value, after[name]) for name, value in base.items())


# TRL's hooks ------------------------------------------------------------------------------------


def test_trl_itself_does_not_take_rows_of_ids(tmp_path: Path) -> None:
    args = DPOConfig(
        str(tmp_path), use_cpu=True, bf16=False, gradient_checkpointing=False, report_to="none"
    )
    with pytest.raises(KeyError):
        DPOTrainer(
            make_model(),
            args=args,
            train_dataset=Dataset.from_list(ROWS),
            processing_class=make_tokenizer(),
        )


def test_trl_still_asks_the_hooks_that_we_override(
    preferring: Callable[..., PreferenceTrainer], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    prepare, collate = PreferenceTrainer._prepare_dataset, MaskedPreferenceCollator.torch_call

    def prepares(self: Any, *args: Any) -> Any:
        asked.append("_prepare_dataset")
        return prepare(self, *args)

    def collates(self: Any, examples: Any) -> Any:
        asked.append("torch_call")
        return collate(self, examples)

    monkeypatch.setattr(PreferenceTrainer, "_prepare_dataset", prepares)
    monkeypatch.setattr(MaskedPreferenceCollator, "torch_call", collates)
    preferring(max_steps=1).train()
    assert asked == ["_prepare_dataset", "torch_call"]
    assert callable(DPOTrainer._prepare_dataset)
