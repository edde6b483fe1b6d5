"""`agentgym train grpo` with each way of crediting turns: what given episodes are credited with."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from agentgym_envs.trajectories.trajectory import Trajectory
from tests.trainers.test_algorithms import played
from tests.trainers.toys import ENV_ID, FAILED, Given, make_folder, make_tokenizer
from trainers import grpo
from trainers.grpo import AgentGRPOConfig, AgentGRPOTrainer
from trainers.options.arguments import EnvArguments

Credited = Callable[..., tuple[dict[str, Any], AgentGRPOTrainer]]

WON = played(["start", "middle"], [0.0, 1.0])
LOST = played(["start", "elsewhere"], [0.0, 0.0])
DISCOUNT = {"turn_discount": 0.5, "scale_rewards": "none"}


@pytest.fixture
def credited(tmp_path: Path) -> Credited:
    """Return a function that trains a step on given episodes, a group: TRL's batch, the trainer."""

    def run(
        given: list[Trajectory], env: str = ENV_ID, **options: Any
    ) -> tuple[dict[str, Any], AgentGRPOTrainer]:
        reward_funcs = options.pop("reward_funcs", None)
        defaults: dict[str, Any] = {
            "output_dir": str(tmp_path / "run"), "num_generations": len(given),
            "per_device_train_batch_size": len(given), "gradient_accumulation_steps": 1,
            "max_steps": 1, "eval_strategy": "no", "save_strategy": "no", "disable_tqdm": True,
            "report_to": "none", "vllm_importance_sampling_correction": False,
        }  # fmt: skip
        batches: list[dict[str, Any]] = []

        class Recording(AgentGRPOTrainer):
            def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
                batches.append(super()._generate_and_score_completions(inputs))
                return batches[-1]

        trainer = Recording(
            make_folder(tmp_path / "model"),
            EnvArguments(env=[env], action_format="plain"),
            args=AgentGRPOConfig(**{**defaults, **options}),
            reward_funcs=reward_funcs,
            processing_class=make_tokenizer(),
        )
        trainer.player.rollout = Given(given)
        trainer.train()
        return batches[0], trainer

    return run


def test_hgpo_takes_the_place_of_the_episodes_advantage(credited: Credited) -> None:
    batch, _ = credited([WON, LOST], turn_credit="hgpo", **DISCOUNT)
    # First turns: returns 0.5 and 0 in one state and one history, at every length. Second: alone.
    expected = [[0.25, 0, 0, 0], [-0.25, 0, 0, 0]]
    assert torch.allclose(batch["advantages"], torch.tensor(expected))


def test_the_share_of_turns_whose_state_is_met_again_is_logged(credited: Credited) -> None:
    _, trainer = credited([WON, LOST], turn_credit="hgpo", **DISCOUNT)
    entry = next(e for e in trainer.state.log_history if "frac_turns_compared" in e)
    assert entry["frac_turns_compared"] == 0.5, "both first turns, and no second one"
    _, trainer = credited([WON, LOST, WON], turn_credit="gigpo", **DISCOUNT)
    entry = next(e for e in trainer.state.log_history if "frac_turns_compared" in e)
    assert entry["frac_turns_compared"] == pytest.approx(5 / 6)


def test_gagpo_falls_back_to_the_episode_where_a_state_is_met_once(credited: Credited) -> None:
    batch, _ = credited([WON, LOST], turn_credit="gagpo", turn_lam=0.0, **DISCOUNT)
    # V(start) = 0.25, V(middle) = 1, V(elsewhere) = 0, so delta = 0.25, 0, -0.25, 0.
    expected = [[0.25, 0, 0.5, 0.5], [-0.25, 0, -0.5, -0.5]]
    assert torch.allclose(batch["advantages"], torch.tensor(expected))


def test_turn_returns_compare_turns_of_one_number(credited: Credited) -> None:
    batch, _ = credited([WON, LOST], turn_credit="returns", **DISCOUNT)
    expected = [[0.25, 0, 0.5, 0.5], [-0.25, 0, -0.5, -0.5]]
    assert torch.allclose(batch["advantages"], torch.tensor(expected))


def test_similar_observations_are_compared_by_gigpo(credited: Credited) -> None:
    given = [played(["page 1 of news"], [1.0]), played(["page 2 of news"], [0.0])]
    options = {"turn_credit": "gigpo", "turn_anchor": "similar", "scale_rewards": "none"}
    apart, _ = credited(given, **options)
    assert apart["advantages"].flatten().tolist() == [0.5, -0.5]
    together, _ = credited(given, **options, turn_similarity=0.7)
    assert together["advantages"].flatten().tolist() == [1.0, -1.0]


def test_empg_weighs_by_the_entropies_of_the_policy_that_is_trained(credited: Credited) -> None:
    batch, trainer = credited([WON, LOST], turn_credit="empg", scale_rewards="none", max_steps=1)
    trainer.model.load_state_dict(_fresh(trainer))
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    with torch.no_grad():
        logits = trainer.model(ids).logits[:, 2:-1]
    log_p = logits.log_softmax(-1)
    entropy = -(log_p.exp() * log_p).sum(-1)  # (2, 4)
    h = torch.stack([entropy[:, 0], entropy[:, 2:].mean(1)], dim=1)
    sure = (-(h - h.min()) / (h.max() - h.min())).exp()
    value = torch.tensor([[0.5], [-0.5]]) * sure / sure.mean()
    value[:, 0] += 0.05 * sure[:, 1]
    value -= value.mean()
    expected = torch.stack([value[:, 0], value[:, 1], value[:, 1]], dim=1)
    assert torch.allclose(batch["advantages"][:, [0, 2, 3]], expected, atol=1e-5)


def _fresh(trainer: AgentGRPOTrainer) -> dict[str, torch.Tensor]:
    from transformers import AutoModelForCausalLM

    name = trainer.model.config._name_or_path
    return AutoModelForCausalLM.from_pretrained(name).state_dict()


def test_a_reward_function_pays_the_last_turn(credited: Credited) -> None:
    """What the environment paid is then no part of a turn's return."""

    def opposite(episode_return: list[float], **_: Any) -> list[float]:
        return [1.0 - paid for paid in episode_return]

    batch, _ = credited([WON, LOST], turn_credit="returns", reward_funcs=opposite, **DISCOUNT)
    expected = [[-0.25, 0, -0.5, -0.5], [0.25, 0, 0.5, 0.5]]
    assert torch.allclose(batch["advantages"], torch.tensor(expected))


def test_maxrl_divides_by_the_groups_mean(credited: Credited) -> None:
    given = [played(["start"], [paid]) for paid in (1.0, 0.0, 0.0, 0.0)]
    batch, _ = credited(given, scale_rewards="mean")
    assert batch["advantages"].flatten().tolist() == pytest.approx([3.0, -1.0, -1.0, -1.0])


def test_the_filter_takes_groups_of_little_variance_out_and_counts_the_rest(
    credited: Credited,
) -> None:
    given = [played(["start"], [paid]) for paid in (1.0, 0.0, 0.6, 0.5)]
    batch, trainer = credited(given, num_generations=2, kept_variance=0.9, scale_rewards="none")
    assert batch["advantages"].flatten().tolist() == [0.5, -0.5, 0.0, 0.0]
    entry = next(e for e in trainer.state.log_history if "frac_groups_kept" in e)
    assert entry["frac_groups_kept"] == 0.5
    assert entry["episodes/success"] == 0.75, "of all that were played"


def test_sparse_rewards_are_said_once_where_turn_returns_are_asked_for(
    credited: Credited, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        credited([WON, LOST], turn_credit="returns", max_steps=2)
    assert caplog.text.count("use --turn_credit gigpo or gagpo") == 1


def test_an_environment_without_answers_is_refused_for_information_gain(
    credited: Credited,
) -> None:
    with pytest.raises(ValueError, match=r"as SearchQA does, got Letters; use `turn_credit=gagpo`"):
        credited([WON, LOST], turn_credit="information_gain")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"turn_credit": "best"}, r"turn_credit must be one of .* hgpo, .*, got 'best'"),
        ({"turn_anchor": "none", "turn_credit": "gigpo"}, "turn_anchor must be one of"),
        ({"turn_credit": "hgpo", "scale_rewards": "mean"}, "is of whole episodes"),
        ({"scale_rewards": "mean", "invalid_action_penalty": 0.1}, "penalties alone where"),
        ({"turn_credit": "hgpo", "turn_advantage_weight": 2.0}, "only with `turn_credit=gigpo`"),
        ({"turn_lam": 0.5}, "only with `turn_credit=gagpo`"),
        ({"turn_context": 1, "turn_credit": "gigpo"}, "only with `turn_credit=hgpo`"),
        ({"turn_similarity": 0.5, "turn_credit": "gigpo"}, "only with `turn_anchor=similar`"),
        ({"kept_variance": 1.5}, "kept_variance"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AgentGRPOConfig("runs/none", report_to="none", **options)


def test_the_observation_loss_is_the_mean_surprise_at_what_the_environment_said(
    credited: Credited,
) -> None:
    """Two micro-batches, and a failed episode, whose tokens count nowhere."""
    given = [WON, LOST, played(["start", "a", "b"], [0.0, 0.0, 1.0]), FAILED]
    batch, trainer = credited(
        given, observation_loss_weight=0.25, per_device_train_batch_size=2,
        gradient_accumulation_steps=2, learning_rate=0.0,
    )  # fmt: skip
    weights = batch["observation_weights"]
    given_tokens = batch["completion_mask"] * (1 - batch["tool_mask"])
    given_tokens[3] = 0
    # A mean over micro-batches of sums over tokens is to be a mean over all tokens.
    assert torch.allclose(weights, given_tokens * 0.25 * 2 / given_tokens.sum())
    ids = torch.cat([batch["prompt_ids"], batch["completion_ids"]], dim=1)
    mask = torch.cat([batch["prompt_mask"], batch["completion_mask"]], dim=1)
    with torch.no_grad():
        logits = trainer.model(ids, attention_mask=mask).logits[
            :, -batch["completion_ids"].size(1) - 1 : -1
        ]
    surprise = -logits.log_softmax(-1).gather(2, batch["completion_ids"][..., None])[..., 0]
    entry = next(e for e in trainer.state.log_history if "observation_loss" in e)
    expected = (surprise * given_tokens).sum() / given_tokens.sum()
    assert entry["observation_loss"] == pytest.approx(float(expected), rel=1e-4)


@pytest.mark.full
def test_information_gain_trains_on_questions(tmp_path: Path) -> None:
    status = grpo.main(
        [
            *("--env", "SearchQA", "--model", "tiny", "--turn_credit", "information_gain"),
            *("--output_dir", str(tmp_path / "run"), "--max_steps", "1", "--num_generations", "2"),
            *("--per_device_train_batch_size", "4", "--gradient_accumulation_steps", "1"),
            *("--max_tokens_per_turn", "24", "--max_turns", "3", "--eval_strategy", "no"),
            *("--report_to", "none"),
        ]
    )
    assert status == 0
    lines = (tmp_path / "run/trajectories/train_000001.jsonl").read_text().splitlines()
    advantages = [
        value
        for line in lines
        for trace in json.loads(line)["traces"]
        for value in trace["advantages"]
    ]
    assert any(advantages), "no answer was right, and turns differ all the same"
