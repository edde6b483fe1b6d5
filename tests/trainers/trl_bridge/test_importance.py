"""The loss corrected for what has sampled the tokens: in every mode, against TRL and by hand."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from trl import GRPOConfig, GRPOTrainer

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory
from tests.trainers.importance_by_hand import MODES, TRLS, weights_by_hand
from tests.trainers.ppo_toys import maker, played, with_head
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
from tests.trainers.trl_bridge.scripted import Scripted
from trainers.credit.rewards import agent_reward
from trainers.grpo import AgentGRPOTrainer
from trainers.online import OnlineTrainer
from trainers.options.arguments import EnvArguments
from trainers.reinforce_pp import AgentReinforcePPTrainer
from trainers.rloo import AgentRLOOTrainer
from trainers.trl_bridge import make_rollout_func, task_dataset
from trainers.trl_bridge.loss import PolicyLoss

Maker = Callable[..., Scripted]

RATIO = "sampling/importance_sampling_ratio"
BOUNDS = {"vllm_importance_sampling_clip_min": 0.5, "vllm_importance_sampling_clip_max": 2.0}


def correcting(mode: str, **bounds: float | None) -> dict[str, Any]:
    """Return the options of a correction, by default with bounds that some ratios are out of."""
    return {
        "vllm_importance_sampling_correction": True,
        "vllm_importance_sampling_mode": mode,
        **(bounds or BOUNDS),
    }


def logprobs_of(model: Any, one: TokenTrace) -> torch.Tensor:
    """Return (T,) of a trace's completion."""
    ids = torch.tensor([one.ids])
    every = model(input_ids=ids).logits[0, :-1].log_softmax(-1).gather(1, ids[0, 1:, None])[:, 0]
    return every[len(one.prompt_ids) - 1 :]


untrained = functools.cache(make_model)


def sampled_off(one: TokenTrace, *, shift: float = 0.0, spread: float = 0.0) -> TokenTrace:
    """Record log-probabilities that are not the model's: a shift, and noise on each token."""
    generator = torch.Generator().manual_seed(len(one.ids))
    with torch.no_grad():
        exact = logprobs_of(untrained(), one)
    off = exact + shift + spread * torch.randn(exact.shape, generator=generator)
    one.logprobs = (off * torch.tensor(one.action_mask)).tolist()
    return one


def given(**off: float) -> list[Trajectory]:
    """Episodes of one row and of several, of one turn and of many, and a failed one."""
    masks = [[1, 1, 0, 0, 1, 0, 1, 1, 1], [1], [1, 0, 1, 1, 0, 1]]
    windows = [trace(2 + n, mask, seed=50 + n) for n, mask in enumerate(masks)]
    rows = [windows, [trace(4, [1, 1, 1, 1, 0, 1], seed=1)], [trace(3, [1, 0, 1, 0, 1], seed=2)]]
    return [
        *(
            episode(reward, traces=[sampled_off(one, **off) for one in traces])
            for reward, traces in zip((1.0, 0.0, 0.25), rows, strict=True)
        ),
        FAILED,
    ]


def advantages_by_hand(of: Sequence[Trajectory]) -> list[float]:
    """Return returns less their mean, as under `scale_rewards="none"`."""
    returns = [one.episode_return for one in of]
    return [value - math.fsum(returns) / len(returns) for value in returns]


def expected_gradient(trainer: Scripted, of: Sequence[Trajectory], mode: str) -> torch.Tensor:
    """The gradient of the mean over episodes of the mean over tokens of -A * w * pi / pi_old."""
    losses = []
    for one, advantage in zip(of, advantages_by_hand(of), strict=True):
        terms = []
        for row in one.traces:
            policy, mask = logprobs_of(trainer.model, row), torch.tensor(row.action_mask).bool()
            delta = (policy.detach() - torch.tensor(row.logprobs)).tolist()
            weights = weights_by_hand(delta, row.action_mask, mode=mode, low=0.5, high=2.0)
            terms.append((torch.tensor(weights) * (policy - policy.detach()).exp())[mask])
        losses.append(-advantage * torch.cat(terms).mean())
    parameters = [p for group in trainer.create_optimizer().param_groups for p in group["params"]]
    gradients = torch.autograd.grad(torch.stack(losses).mean(), parameters)
    return torch.cat([one.flatten() for one in gradients])


# Weights ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("micro_batches", [1, 2])
@pytest.mark.parametrize("mode", MODES)
def test_the_gradient_is_that_of_the_formula(
    mode: str, micro_batches: int, scripted: Maker
) -> None:
    """Over windows, a failure's filler, gradient accumulation and passes of a bounded size."""
    # So that some ratios are out of bounds, and not all.
    of = given(shift=-0.1, spread=0.3 if mode.startswith("sequence") else 0.8)
    trainer = scripted(
        of,
        **correcting(mode),
        scale_rewards="none",
        per_device_train_batch_size=len(of) // micro_batches,
        gradient_accumulation_steps=micro_batches,
    )
    expected = expected_gradient(trainer, of[:3], mode)
    plain = expected_gradient(trainer, given()[:3], mode)
    result = gradient(trainer)
    assert torch.allclose(result, expected, atol=1e-6)
    assert expected.abs().max() > 1e-3
    assert (expected - plain).abs().max() > 1e-3
    assert 0 < trainer.state.log_history[0][f"{RATIO}/out_of_bounds"] < 1


@pytest.mark.parametrize("mode", MODES)
def test_equal_probabilities_leave_the_loss_as_it_is_to_the_bit(
    mode: str, scripted: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    weigh = PolicyLoss._weigh_tokens

    def equal(loss: PolicyLoss, inputs: dict[str, Any], current: torch.Tensor) -> None:
        inputs["sampling_per_token_logps"] = current  # to the last bit
        weigh(loss, inputs, current)

    monkeypatch.setattr(PolicyLoss, "_weigh_tokens", equal)
    runs = []
    for options in ({}, correcting(mode)):
        trainer = scripted(given(), **options)
        result = gradient(trainer)
        runs.append((result, trainer.state.log_history[0]))
    (plain, before), (corrected, after) = runs
    assert torch.equal(plain, corrected)
    assert plain.abs().max() > 1e-3
    assert (before["loss"], before["grad_norm"]) == (after["loss"], after["grad_norm"])
    names = ("min", "mean", "max", "raw_min", "raw_max", "out_of_bounds")
    assert [after[f"{RATIO}/{name}"] for name in names] == [1.0] * 5 + [0.0]
    assert not [name for name in before if name.startswith(RATIO)]


def test_a_shift_of_three_nats_is_seen_by_trls_defaults(scripted: Maker) -> None:
    """`sequence_mask` with 3 above, none below."""
    defaults = correcting("sequence_mask", vllm_importance_sampling_clip_max=3.0)
    trainer = scripted(given(shift=-3.0), **defaults)  # less probable when sampled: ratio e^3
    assert not gradient(trainer).any()
    logged = trainer.state.log_history[0]
    assert logged[f"{RATIO}/out_of_bounds"] == 1.0
    assert logged[f"{RATIO}/max"] == 0.0
    assert logged[f"{RATIO}/raw_min"] == pytest.approx(math.exp(3), rel=1e-3)  # a row of one token
    assert logged[f"{RATIO}/raw_max"] == pytest.approx(math.exp(18), rel=1e-3)  # one of six


def test_metrics_are_over_the_sampled_tokens_of_all_passes(scripted: Maker) -> None:
    of = given(shift=0.1, spread=0.3)
    trainer = scripted(
        of,
        **correcting("turn_truncate"),
        per_device_train_batch_size=1,
        gradient_accumulation_steps=4,
        entropy_coef=1e-6,  # so that the loss of every row is computed
    )
    trainer.train()
    kept, free, differences = [], [], []
    for row in [row for one in of for row in one.traces]:
        exact = logprobs_of(make_model(), row).tolist()
        delta = [a - b for a, b in zip(exact, row.logprobs, strict=True)]
        for bounds, values in (({"low": 0.5, "high": 2.0}, kept), ({}, free)):
            weights = weights_by_hand(delta, row.action_mask, mode="turn_truncate", **bounds)
            values += [w for w, m in zip(weights, row.action_mask, strict=True) if m]
        differences += [abs(d) for d, m in zip(delta, row.action_mask, strict=True) if m]
    expected = {
        f"{RATIO}/mean": math.fsum(kept) / len(kept),
        f"{RATIO}/min": min(kept),
        f"{RATIO}/max": max(kept),
        f"{RATIO}/raw_min": min(free),
        f"{RATIO}/raw_max": max(free),
        f"{RATIO}/out_of_bounds": sum(not 0.5 <= one <= 2 for one in free) / len(free),
        "sampling/sampling_logp_difference/mean": math.fsum(differences) / len(differences),
        "sampling/sampling_logp_difference/max": max(differences),
    }
    logged = trainer.state.log_history[0]
    assert {name: logged[name] for name in expected} == pytest.approx(expected, rel=1e-4)
    assert 0 < expected[f"{RATIO}/out_of_bounds"] < 1


def test_the_ratio_is_that_of_when_the_batch_was_played(
    scripted: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch that serves several steps keeps its ratio while the policy moves."""
    of = given(shift=0.1, spread=0.3)[1:3]  # a row each, so that the buffered batch is one pass
    ratios: list[torch.Tensor] = []
    current: list[torch.Tensor] = []

    weigh = PolicyLoss._weigh_tokens

    def watch(loss: PolicyLoss, inputs: dict[str, Any], now: torch.Tensor) -> None:
        weigh(loss, inputs, now)
        ratios.append(inputs["importance_sampling_ratio"])
        current.append(now)

    monkeypatch.setattr(PolicyLoss, "_weigh_tokens", watch)
    trainer = scripted(of, **correcting("token_truncate"), num_iterations=2, max_steps=2)
    trainer.train()
    assert len(trainer.asked) == 1
    of_step = len(ratios) // 2
    for first, second in zip(ratios[:of_step], ratios[of_step:], strict=True):
        assert torch.equal(first, second)
        assert (first - 1).abs().max() > 1e-2
    assert (current[0] - current[of_step]).abs().max() > 1e-2
    assert trainer._buffered_inputs is not None
    assert "importance_sampling_ratio" not in trainer._buffered_inputs[0]


def test_truncated_episodes_that_are_left_out_have_no_say_in_the_metrics(
    scripted: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Scripted, "mask_truncated", True)
    far = sampled_off(trace(3, [1, 1, 0, 1], seed=9), shift=-5.0)
    cut = episode(1.0, traces=[far], status="truncated")
    trainer = scripted([*given()[:3], cut], **correcting("turn_mask"), entropy_coef=1e-6)
    trainer.train()
    logged = trainer.state.log_history[0]
    assert logged[f"{RATIO}/out_of_bounds"] == 0.0
    assert logged[f"{RATIO}/raw_max"] == pytest.approx(1.0, abs=1e-4)


# Against TRL ------------------------------------------------------------------------------------


class TRLWithVLLM(GRPOTrainer):  # type: ignore[misc]
    """TRL's own trainer, which is told that its engine has sampled."""

    def __init__(self, of: Sequence[Trajectory], **kwargs: Any) -> None:
        super().__init__(rollout_func=make_rollout_func(Given(of)), **kwargs)
        self.use_vllm = True
        self._last_loaded_step = 0  # so that no weights are sent


LOSSES: list[dict[str, Any]] = [
    *({"loss_type": name} for name in ("grpo", "bnpo", "dr_grpo", "dapo", "cispo", "sapo")),
    {"loss_type": "luspo", "importance_sampling_level": "sequence"},
    {"loss_type": "grpo", "importance_sampling_level": "sequence"},
    {"loss_type": "vespo"},
    {"loss_type": "grpo", "beta": 0.5, "entropy_coef": 0.1, "off_policy_mask_threshold": 0.05},
]


# TRL warns that `rollout_func` is experimental.
@pytest.mark.filterwarnings("ignore:You are using 'rollout_func'")
@pytest.mark.parametrize(
    ("mode", "options"),
    [
        # The first loss in every mode, and every loss in one; the rest is slow.
        pytest.param(
            mode, options, id=f"{mode}-{options}",
            marks=() if number == 0 or number % len(TRLS) == place else pytest.mark.slow,
        )
        for place, mode in enumerate(TRLS)
        for number, options in enumerate(LOSSES)
    ],
)  # fmt: skip
def test_trls_modes_have_trls_gradient_with_every_loss(
    mode: str, options: dict[str, Any], scripted: Maker, tmp_path: Path
) -> None:
    if options["loss_type"] == "vespo" and mode.startswith("sequence"):
        pytest.skip("refused by both")
    of = [one for one in given(shift=0.05, spread=0.2)[1:3] for _ in range(2)]
    options = {**options, **correcting(mode), "model": make_folder(tmp_path / "model")}
    ours = scripted(of, **options)
    args = GRPOConfig(**{name: getattr(ours.args, name) for name in CARRIED})
    for name, value in options.items():
        if name != "model":
            setattr(args, name, value)
    theirs = TRLWithVLLM(
        of,
        model=options["model"],
        reward_funcs=agent_reward,
        args=args,
        train_dataset=task_dataset(["letters_0"]),
        processing_class=make_tokenizer(),
    )
    for trainer in (ours, theirs):
        if trainer.ref_model is not None:
            trainer.ref_model.load_state_dict(make_model(1).state_dict())
    result, expected = gradient(ours), gradient(theirs)
    assert expected.abs().max() > 1e-5
    assert torch.allclose(result, expected, atol=1e-6)
    entries = [one.state.log_history[0] for one in (ours, theirs)]
    for name in ("loss", f"{RATIO}/min", f"{RATIO}/max"):
        assert entries[0][name] == pytest.approx(entries[1][name], abs=1e-5)
    if mode.startswith("token"):  # TRL's mean of the others is over rows
        assert entries[0][f"{RATIO}/mean"] == pytest.approx(entries[1][f"{RATIO}/mean"], abs=1e-5)


CARRIED = (
    *("output_dir", "use_cpu", "bf16", "gradient_checkpointing", "report_to", "save_strategy"),
    *("logging_steps", "max_steps", "learning_rate", "lr_scheduler_type", "num_generations"),
    *("per_device_train_batch_size", "loss_type", "disable_tqdm", "dataloader_pin_memory", "beta"),
    *("entropy_coef", "importance_sampling_level", "off_policy_mask_threshold"),
)


# Every algorithm --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", [AgentGRPOTrainer, AgentRLOOTrainer, AgentReinforcePPTrainer], ids=lambda k: k.__name__
)
def test_every_algorithm_weighs_its_loss(kind: type[OnlineTrainer], tmp_path: Path) -> None:
    """A ratio of e in every token, cut at 2, doubles the gradient; e^-1 is above no bound."""
    results = []
    for shift in (0.0, -1.0, 1.0):
        of = given(shift=shift)
        trainer = kind(
            make_model(),
            EnvArguments(env=[ENV_ID], action_format="plain"),
            args=kind.config(
                output_dir=str(tmp_path / f"run{shift}"),
                per_device_train_batch_size=4,
                gradient_accumulation_steps=1,
                num_generations=4,
                max_steps=1,
                eval_strategy="no",
                save_strategy="no",
                disable_tqdm=True,
                report_to="none",
                vllm_importance_sampling_clip_max=2.0,
            ),
            processing_class=make_tokenizer(),
        )
        trainer.player.rollout = Given(of)  # type: ignore[assignment]
        results.append(gradient(trainer))
    plain, doubled, lessened = results
    assert plain.abs().max() > 1e-3
    assert torch.allclose(doubled, 2 * plain, atol=1e-5)
    assert torch.allclose(lessened, plain / math.e, atol=1e-5)


def flat(module: torch.nn.Module) -> torch.Tensor:
    return torch.cat([p.detach().clone().flatten() for p in module.parameters()])


def test_ppo_weighs_the_policys_loss_and_not_the_critics(tmp_path: Path) -> None:
    """With every token masked the critic alone learns, as it does without a correction."""
    of = [played([0.0, 1.0], [1, 1, 0, 1]), played([0.5, 0.0], [1, 0, 1, 1], seed=20)]
    for one in of:
        for row in one.traces:
            sampled_off(row, shift=-3.0)
    changes = []
    for options in ({"vllm_importance_sampling_correction": False}, correcting("token_mask")):
        trainer = with_head(maker(tmp_path)(given=of, num_iterations=1, **options))
        before = [
            [p.detach().clone() for p in module.parameters()]
            for module in (trainer.model, trainer.critic)
        ]
        trainer.train()
        changes.append(
            [
                torch.cat(
                    [(p - q).flatten() for p, q in zip(module.parameters(), old, strict=True)]
                )
                for module, old in zip((trainer.model, trainer.critic), before, strict=True)
            ]
        )
    (policy, critic), (masked_policy, same_critic) = changes
    assert policy.any()
    assert not masked_policy.any()
    assert critic.any()
    assert torch.equal(critic, same_critic)


# Refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (correcting("turn"), "vllm_importance_sampling_mode must be one of token_truncate"),
        (
            correcting("turn_mask", vllm_importance_sampling_clip_max=0.5),
            "above 1, .* got None and 0.5",
        ),
        (correcting("geometric_mask", vllm_importance_sampling_clip_max=1.01), "needs both bounds"),
        ({**correcting("sequence_mask"), "loss_type": "vespo"}, "vespo multiplies the ratios"),
    ],
)
def test_a_correction_that_cannot_be_made_is_refused_in_trls_own_config_too(
    options: dict[str, Any], told: str, scripted: Maker
) -> None:
    with pytest.raises(ValueError, match=told):
        scripted(given(), **options)
