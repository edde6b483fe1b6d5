"""`kl_clip`: TRL's loss to the bit below the bound, no gradient beyond, in loss and in reward."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from trl import GRPOTrainer

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory
from tests.trainers.ppo_toys import played
from tests.trainers.toys import (
    ENV_ID,
    FAILED,
    Given,
    episode,
    gradient,
    make_folder,
    make_model,
    make_tokenizer,
    trace,
)
from trainers.grpo import AgentGRPOTrainer
from trainers.online import OnlineTrainer
from trainers.options.arguments import EnvArguments
from trainers.options.configs import LOSSES
from trainers.ppo import AgentPPOTrainer
from trainers.reinforce_pp import AgentReinforcePPTrainer
from trainers.rloo import AgentRLOOTrainer
from trainers.trl_bridge.loss import clip_kl

Far = dict[tuple[int, int], float]
"""By row and column: what is added to the reference's log-probability of a token."""


def trainer_of(
    kind: type[OnlineTrainer],
    given: Sequence[Trajectory],
    tmp_path: Path,
    *,
    far: Far | None = None,
    **options: Any,
) -> Any:
    """Return a trainer on given episodes, whose reference is another random model."""

    class Watched(kind):  # type: ignore[valid-type, misc]
        def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
            self.batch = super()._generate_and_score_completions(inputs)
            for place, shift in (far or {}).items():
                self.batch["ref_per_token_logps"][place] += shift
            return self.batch

        def compute_loss(self, model: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            self.inputs = inputs
            return super().compute_loss(model, inputs, *args, **kwargs)

    defaults: dict[str, Any] = {
        "output_dir": str(tmp_path / "run"),
        "beta": 0.5,
        "num_generations": len(given),
        "num_iterations": 1,
        "per_device_train_batch_size": len(given),
        "gradient_accumulation_steps": 1,
        "max_steps": 1,
        "learning_rate": 1e-2,
        "use_bias_correction_kl": False,
        "vllm_importance_sampling_correction": False,  # the given log-probabilities are made up
        "eval_strategy": "no",
        "save_strategy": "no",
        "disable_tqdm": True,
        "report_to": "none",
    }
    trainer = Watched(
        make_folder(tmp_path / "model"),
        EnvArguments(env=[ENV_ID], action_format="plain"),
        args=kind.config(**{**defaults, **options}),
        processing_class=make_tokenizer(),
    )
    trainer.player.rollout = Given(given)
    trainer.ref_model.load_state_dict(make_model(1).state_dict())
    return trainer


def first_entry(trainer: Any) -> dict[str, Any]:
    entry: dict[str, Any] = next(e for e in trainer.state.log_history if "kl" in e)
    return entry


# The estimate -----------------------------------------------------------------------------------


def test_the_estimate_and_its_gradient_are_k3s_below_the_bound_and_constant_beyond() -> None:
    """K3 = e^x - x - 1, x the reference's log-probability less the policy's: Schulman (2020)."""
    log_ratios = [-20.0, -11.1, -10.9, -1.0, 0.0, 1e-3, 2.6, 2.62, 15.0]
    policy = torch.zeros(1, len(log_ratios), dtype=torch.float64, requires_grad=True)
    x = torch.tensor([log_ratios], dtype=torch.float64) - policy
    clipped, metrics = clip_kl(x.exp() - x - 1, 10.0)
    clipped.sum().backward()  # type: ignore[no-untyped-call]
    k3 = [math.exp(x) - x - 1 for x in log_ratios]
    assert [value > 10 for value in k3] == [True, True] + [False] * 5 + [True, True]
    assert clipped[0].tolist() == pytest.approx([min(value, 10.0) for value in k3], abs=1e-12)
    slopes = [
        0.0 if value > 10 else 1 - math.exp(x) for x, value in zip(log_ratios, k3, strict=True)
    ]
    assert policy.grad is not None
    assert policy.grad[0].tolist() == pytest.approx(slopes, abs=1e-12)
    assert metrics["kl"].tolist() == clipped.tolist()
    assert metrics["kl_clip_ratio"][0].tolist() == [float(value > 10) for value in k3]


# The loss ---------------------------------------------------------------------------------------

EQUALS = [
    played([0.0, reward], [1, 1, 0, 1, 1], seed=10 * n) for n, reward in enumerate((1.0, 0.0, 0.25))
]
"""Episodes of one row each, so that rows weigh what TRL's do."""
KINDS: list[tuple[type[OnlineTrainer], dict[str, Any]]] = [
    *((AgentGRPOTrainer, {"loss_type": name}) for name in LOSSES),
    (AgentGRPOTrainer, {"use_bias_correction_kl": True}),
    (AgentGRPOTrainer, {"importance_sampling_level": "sequence", "loss_type": "luspo"}),
    (AgentRLOOTrainer, {}),
    (AgentReinforcePPTrainer, {"baseline": "group"}),
    (AgentPPOTrainer, {"num_generations": 1}),
]


@pytest.mark.parametrize(
    ("kind", "options"), KINDS, ids=[f"{kind.__name__}-{options}" for kind, options in KINDS]
)
def test_below_the_bound_loss_and_gradient_are_trls_to_the_bit(
    kind: type[OnlineTrainer], options: dict[str, Any], tmp_path: Path
) -> None:
    trainer = trainer_of(kind, EQUALS, tmp_path, **options)
    trainer.train()
    parameters = [p for p in trainer.model.parameters() if p.requires_grad]
    results = []
    for compute in (trainer.policy_loss, lambda *of: GRPOTrainer._compute_loss(trainer, *of)):
        loss = compute(trainer.model, dict(trainer.inputs))
        results.append(
            (loss, torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters)]))
        )
    (loss, ours), (trls, theirs) = results
    assert torch.equal(loss, trls)
    assert torch.equal(ours, theirs)
    trainer.beta = 0.0
    without = trainer.policy_loss(trainer.model, dict(trainer.inputs))
    assert not torch.equal(loss, without)
    entry = first_entry(trainer)
    assert 0.0 < entry["kl"] < 10.0
    assert entry["kl_clip_ratio"] == 0.0


def by_hand(policy: Any, given: Sequence[Trajectory], *, bound: float) -> list[torch.Tensor]:
    """Return (T,) of each episode, float64: the clipped k3 of its sampled tokens."""
    reference: Any = make_model(1).double()

    def logprobs(model: Any, one: TokenTrace) -> torch.Tensor:
        ids = torch.tensor([one.ids])
        every = model(input_ids=ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])
        return every[len(one.prompt_ids) - 1 :, 0][torch.tensor(one.action_mask).bool()]

    estimates = []
    for trajectory in given:
        x = torch.cat(
            [logprobs(reference, one).detach() - logprobs(policy, one) for one in trajectory.traces]
        )
        k3 = x.exp() - x - 1
        estimates.append(torch.where(k3 > bound, bound, k3))
    return estimates


@pytest.mark.parametrize("accumulation", [1, 4])
def test_tokens_are_clipped_before_rows_are_weighed(accumulation: int, tmp_path: Path) -> None:
    """Over windows, a failure's filler, gradient accumulation and passes of a bounded size."""
    masks = [[1, 1, 0, 0, 1, 0, 1, 1, 1], [1], [1, 0, 1, 1, 0, 1]]
    windows = [trace(2 + n, mask, seed=50 + n) for n, mask in enumerate(masks)]
    rows = [windows, [trace(4, [1, 1, 1, 1, 0, 1], seed=1)], [trace(3, [1, 0, 1, 0, 1], seed=2)]]
    given = [*(episode(1.0, traces=traces) for traces in rows), FAILED]
    trainer = trainer_of(
        AgentGRPOTrainer, given, tmp_path, kl_clip=0.02,
        per_device_train_batch_size=4 // accumulation, gradient_accumulation_steps=accumulation,
    )  # fmt: skip
    policy: Any = make_model().double()
    estimates = by_hand(policy, given[:3], bound=0.02)
    # The rewards are equal, so the KL is all of the loss.
    (0.5 * torch.stack([one.mean() for one in estimates]).mean()).backward()  # type: ignore[no-untyped-call]
    slopes = {name: p.grad for name, p in policy.named_parameters()}
    names = {p: name for name, p in trainer.model.named_parameters()}
    moved = [p for group in trainer.create_optimizer().param_groups for p in group["params"]]
    expected = torch.cat([slopes[names[p]].flatten() for p in moved])
    result = gradient(trainer)
    assert torch.allclose(result.double(), expected, atol=1e-7)
    assert expected.abs().max() > 1e-4
    tokens = torch.cat(estimates).detach()
    entry = first_entry(trainer)
    assert entry["kl"] == pytest.approx(tokens.mean().item(), rel=1e-4)
    share = (tokens == 0.02).double().mean().item()
    assert entry["kl_clip_ratio"] == pytest.approx(share)
    assert 0.1 < share < 0.9


@pytest.mark.parametrize("corrects", [False, pytest.param(True, marks=pytest.mark.full)])
def test_one_token_far_from_the_reference_no_longer_makes_the_step(
    corrects: bool, tmp_path: Path
) -> None:
    """TRL's correction keeps it out of the gradient, not out of the loss and `kl`."""
    given = [played([n % 2], [1] * 8, seed=10 * n) for n in range(16)]
    far = {(3, 2): 15.0}
    gradients, entries = {}, {}
    for name, shifts, bound in (("near", {}, 0.0), ("free", far, 0.0), ("clipped", far, 10.0)):
        trainer = trainer_of(
            AgentGRPOTrainer, given, tmp_path, far=shifts, kl_clip=bound, beta=0.001,
            use_bias_correction_kl=corrects,
            per_device_train_batch_size=4, gradient_accumulation_steps=4,
        )  # fmt: skip
        gradients[name], entries[name] = gradient(trainer), first_entry(trainer)
    norm = {name: one.norm().item() for name, one in gradients.items()}
    cosine = {
        name: torch.cosine_similarity(one, gradients["near"], dim=0).item()
        for name, one in gradients.items()
    }
    assert norm["near"] == pytest.approx(0.842, abs=2e-3)
    assert norm["clipped"] == pytest.approx(norm["near"], abs=1e-3)
    assert norm["free"] == pytest.approx(norm["near"] if corrects else 240, rel=0.01)
    assert cosine["clipped"] > 0.99999
    assert cosine["free"] == pytest.approx(1.0 if corrects else 0.11, abs=0.01)
    assert entries["near"]["kl"] == pytest.approx(0.015, abs=1e-3)
    assert entries["free"]["kl"] == pytest.approx(24494, rel=0.01)
    assert entries["free"]["loss"] == pytest.approx(24.494, rel=0.01)
    # One of 128 tokens.
    assert entries["clipped"]["kl"] == pytest.approx(entries["near"]["kl"] + 10 / 128, abs=1e-3)
    assert entries["clipped"]["kl_clip_ratio"] == 1 / 128
    assert entries["clipped"]["loss"] < 1e-3


@pytest.mark.parametrize("corrects", [False, True])
def test_a_ratio_that_no_float_holds_has_no_gradient_either(corrects: bool, tmp_path: Path) -> None:
    """The gradient of what is clipped is 0 times that of the exponential, which must be finite."""
    results = [
        gradient(
            trainer_of(AgentGRPOTrainer, EQUALS, tmp_path, far=far, use_bias_correction_kl=corrects)
        )
        for far in ({(0, 1): 15.0}, {(0, 1): 100.0})
    ]
    assert results[0].abs().max() > 1e-3
    assert torch.equal(*results)


# The reward -------------------------------------------------------------------------------------


def given_to_reward() -> list[Trajectory]:
    """Episodes whose log-probabilities are 4.5, -19.5 and 0.5 nats or so from the reference's."""
    given = [played([1.0], [1, 1, 1]), played([0.0], [1, 1, 1], seed=5)]
    for one in given:
        one.traces[0].logprobs = [-1.0, -25.0, -5.0]
    return given


def clipped_by_hand(trainer: Any) -> torch.Tensor:
    """Return (R, T), k1 within 3 nats, and check what is logged of it."""
    k1 = torch.tensor([-1.0, -25.0, -5.0]) - trainer.batch["ref_per_token_logps"]
    assert [(k1 > 3).sum().item(), (k1 < -3).sum().item()] == [2, 2]
    clipped: torch.Tensor = torch.where(k1 > 3, 3.0, torch.where(k1 < -3, -3.0, k1))
    entry = first_entry(trainer)
    assert entry["kl"] == pytest.approx(clipped.mean().item(), rel=1e-4)
    assert entry["kl_clip_ratio"] == pytest.approx(4 / 6)
    return clipped


def test_ppo_clips_the_kl_in_its_reward(tmp_path: Path) -> None:
    trainer = trainer_of(
        AgentPPOTrainer, given_to_reward(), tmp_path, kl_clip=3.0, kl_in_reward=True,
        num_generations=1, lam=0.0, whiten_advantages=False,
    )  # fmt: skip
    trainer.train()
    expected = torch.tensor([[0, 0, 1.0], [0, 0, 0]]) - 0.5 * clipped_by_hand(trainer)
    assert torch.allclose(trainer.batch["advantages"], expected, atol=1e-6)


def test_reinforce_pp_clips_the_kl_in_its_reward(tmp_path: Path) -> None:
    trainer = trainer_of(AgentReinforcePPTrainer, given_to_reward(), tmp_path, kl_clip=3.0)
    trainer.train()
    to_go = clipped_by_hand(trainer).flip(1).cumsum(1).flip(1)
    values = torch.tensor([1.0, 0.0])[:, None] - 0.5 * to_go
    white = (values - values.mean()) / (values.std() + 1e-6)
    assert torch.allclose(trainer.batch["advantages"], white, atol=1e-4)
