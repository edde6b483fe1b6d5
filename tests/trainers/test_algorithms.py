"""What GiGPO, RLOO and both kinds of REINFORCE++ credit the tokens of given episodes with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoModelForCausalLM

from agentgym_envs.trajectories.trajectory import Trajectory, Turn, read_jsonl
from tests.trainers.toys import (
    ENV_ID,
    FAILED,
    Given,
    episode,
    make_folder,
    make_tokenizer,
    row_advantages,
    trace,
)
from trainers import grpo, reinforce_pp, rloo
from trainers.command import use_revision_for_reference
from trainers.online import OnlineTrainer
from trainers.options.arguments import EnvArguments
from trainers.options.backends import BACKENDS
from trainers.options.checks import refuse_split_weights

MASK = [1, 1, 0, 0, 1]


def played(observations: Sequence[str], rewards: Sequence[float], **changes: Any) -> Trajectory:
    """An episode whose turn n has one sampled token more than turn n - 1."""
    mask: list[int] = []
    for number in range(len(rewards)):
        mask += [0] * (number > 0) + [1] * (number + 1)
    made = episode(sum(rewards), traces=[trace(3, mask, seed=len(rewards))], **changes)
    made.turns = [
        Turn(observation, "act", reward, reward >= 0, 0.0)
        for observation, reward in zip(observations, rewards, strict=True)
    ]
    return made


@pytest.fixture
def credited(tmp_path: Path) -> Callable[..., tuple[dict[str, Any], OnlineTrainer]]:
    """Return a function that trains one step on given episodes: TRL's batch and the trainer."""

    def run(
        kind: type[OnlineTrainer], given: Sequence[Trajectory], **options: Any
    ) -> tuple[dict[str, Any], OnlineTrainer]:
        batches: list[dict[str, Any]] = []

        class Recording(kind):  # type: ignore[valid-type, misc]
            def _generate_and_score_completions(self, inputs: Any) -> dict[str, Any]:
                batches.append(super()._generate_and_score_completions(inputs))
                return batches[-1]

        defaults: dict[str, Any] = {
            "output_dir": str(tmp_path / "run"),
            "num_generations": len(given),
            "per_device_train_batch_size": len(given),
            "gradient_accumulation_steps": 1,
            "max_steps": 1,
            "learning_rate": 1e-2,
            "eval_strategy": "no",
            "save_strategy": "no",
            "disable_tqdm": True,
            "report_to": "none",
        }
        trainer = Recording(
            make_folder(tmp_path / "model"),
            EnvArguments(env=[ENV_ID], action_format="plain"),
            args=kind.config(**{**defaults, **options}),
            processing_class=make_tokenizer(),
        )
        trainer.player.rollout = Given(given)
        trainer.train()
        return batches[0], trainer

    return run


def test_rloo_compares_with_the_others_of_the_group(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    given = [episode(1.0), episode(0.0), episode(0.0), FAILED]
    batch, _ = credited(rloo.AgentRLOOTrainer, given)
    # Four rows for three episodes: the mean over rows becomes one over episodes.
    expected = torch.tensor([1.0, -0.5, -0.5, 0.0]) * 4 / 3
    assert torch.allclose(row_advantages(batch), expected)


def test_plain_reinforce_pp_whitens_returns_over_all_sampled_tokens(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    given = [episode(1.0), episode(0.0, traces=[trace(3, [1, 0, 1, 1, 1], seed=2)]), FAILED]
    batch, _ = credited(reinforce_pp.AgentReinforcePPTrainer, given)
    values = torch.tensor([1.0] * 3 + [0.0] * 4)
    white = (values - values.mean()) / (values.std() + 1e-6)
    won, lost = float(white[0]) * 1.5, float(white[-1]) * 1.5
    expected = torch.tensor([[won, won, 0, 0, won], [lost, 0, lost, lost, lost], [0.0] * 5])
    assert torch.allclose(batch["advantages"], expected, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [{}, {"beta": 0.5}, {"baseline": "group"}, {"scale_rewards": "environment", "beta": 0.5}],
    ids=str,
)
def test_reinforce_pp_makes_no_step_of_rewards_that_are_alike(
    options: dict[str, Any], credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]]
) -> None:
    """What KL there is, of rounding in the first step, would be whitened to a whole step."""
    given = [episode(0.7), episode(0.7, traces=[trace(3, [1, 0, 1, 1, 1], seed=2)]), FAILED]
    batch, trainer = credited(reinforce_pp.AgentReinforcePPTrainer, given, **options)
    assert not batch["advantages"].any()
    assert trainer.state.log_history[0]["frac_batch_zero_std"] == 1.0


def test_reinforce_pp_with_baseline_whitens_returns_less_the_groups_mean(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    given = [episode(1.0), episode(0.0), episode(1.0), episode(1.0)]
    batch, trainer = credited(
        reinforce_pp.AgentReinforcePPTrainer, given, baseline="group", num_generations=2
    )
    assert not trainer.kl_in_reward
    values = torch.tensor([0.5] * 3 + [-0.5] * 3 + [0.0] * 6)
    scale = 1 / (float(values.std()) + 1e-6)
    rows = torch.tensor([0.5, -0.5, 0.0, 0.0])[:, None] * torch.tensor(MASK) * scale
    assert torch.allclose(batch["advantages"], rows, atol=1e-5)


def test_the_kl_is_in_plain_reinforce_pps_reward_and_in_no_loss(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    given = [episode(1.0), episode(0.0)]
    batch, trainer = credited(reinforce_pp.AgentReinforcePPTrainer, given, beta=0.5)
    mask = torch.tensor(MASK)
    kl = (batch["sampling_per_token_logps"] - batch["ref_per_token_logps"]) * mask
    to_go = kl.flip(1).cumsum(1).flip(1)
    values = (torch.tensor([1.0, 0.0])[:, None] - 0.5 * to_go)[:, mask.bool()]
    white = (values - values.mean()) / (values.std() + 1e-6)
    assert torch.allclose(batch["advantages"][:, mask.bool()], white, atol=1e-4)
    entry = next(e for e in trainer.state.log_history if "kl" in e)
    assert entry["kl"] == pytest.approx(float(kl.sum() / (2 * mask.sum())), rel=1e-4)


def test_what_is_logged_of_completions_is_the_algorithms_own_advantage(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    given = [episode(1.0), episode(0.0), episode(0.0), FAILED]
    _, trainer = credited(rloo.AgentRLOOTrainer, given)
    assert list(trainer._logs["advantages"]) == pytest.approx([1.0, -0.5, -0.5, 0.0])
    _, trainer = credited(reinforce_pp.AgentReinforcePPTrainer, given)
    first, *others, failed = trainer._logs["advantages"]
    assert failed == 0 and first > 0 > others[0] == pytest.approx(others[1])


def test_the_kl_is_the_policys_where_tokens_were_left_out(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    """The policy is the reference still, whatever the probabilities that were sampled with."""
    given = [episode(1.0), episode(0.0)]
    _, trainer = credited(reinforce_pp.AgentReinforcePPTrainer, given, beta=0.5, top_p=0.9)
    entry = next(e for e in trainer.state.log_history if "kl" in e)
    assert entry["kl"] == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    "kind", [rloo.AgentRLOOTrainer, reinforce_pp.AgentReinforcePPTrainer, grpo.AgentGRPOTrainer]
)
def test_the_steps_file_says_what_each_token_was_credited_with(
    kind: type[OnlineTrainer],
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    """Under `dapo` the weights of rows are 1, so the loss has the same numbers."""
    given = [episode(1.0), episode(0.0, traces=[trace(3, [1, 0, 1], seed=2)]), FAILED]
    batch, trainer = credited(kind, given, loss_type="dapo")
    path = Path(trainer.args.output_dir) / "trajectories/train_000001.jsonl"
    written = [t.traces[0].advantages for t in read_jsonl(path) if t.traces]
    used = batch["advantages"] if batch["advantages"].ndim > 1 else batch["advantages"][:, None]
    expected = used * batch["tool_mask"] * batch["completion_mask"]
    assert written[0] == pytest.approx(expected[0].tolist(), rel=1e-5)
    assert written[1] == pytest.approx(expected[1, :3].tolist(), rel=1e-5)
    assert any(written[1])


def test_gigpo_adds_what_each_turn_did_in_its_state(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    given = [
        played(["start", "middle"], [0.0, 1.0]),
        played(["start", "elsewhere"], [0.0, 0.0]),
    ]
    batch, _ = credited(
        grpo.AgentGRPOTrainer,
        given,
        turn_advantage_weight=2.0,
        turn_discount=0.5,
        scale_rewards="none",
    )
    # Episodes: +-0.5. First turns: 0.5 and 0, both in "start": +-0.25. Second ones: alone.
    won, lost = [1.0, 0.0, 0.5, 0.5], [-1.0, 0.0, -0.5, -0.5]
    assert torch.allclose(batch["advantages"], torch.tensor([won, lost]))


def test_gigpos_states_are_told_apart_by_all_that_was_read_where_that_is_asked(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    given = [
        played(["start", "left", "door"], [0.0, 0.0, 1.0]),
        played(["start", "right", "door"], [0.0, 0.0, 0.0]),
    ]
    options = {"turn_advantage_weight": 1.0, "turn_discount": 1.0, "scale_rewards": "none"}
    by_text, _ = credited(grpo.AgentGRPOTrainer, given, **options)
    by_history, _ = credited(grpo.AgentGRPOTrainer, given, **options, turn_anchor="history")
    assert by_text["advantages"][0].tolist() == [1.0, 0.0, 0.5, 0.5, 0.0, 1.0, 1.0, 1.0]
    assert by_history["advantages"][0].tolist() == [1.0, 0.0, 0.5, 0.5, 0.0, 0.5, 0.5, 0.5]


def test_an_invalid_action_costs_its_turn_and_its_episode(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    invalid = played(["start"], [0.0])
    invalid.turns[0].is_valid_action = False
    given = [played(["start"], [0.0]), invalid]
    batch, trainer = credited(
        grpo.AgentGRPOTrainer,
        given,
        turn_advantage_weight=1.0,
        invalid_action_penalty=0.1,
        scale_rewards="none",
    )
    assert torch.allclose(batch["advantages"], torch.tensor([[0.1], [-0.1]]))
    entry = next(e for e in trainer.state.log_history if "reward" in e)
    assert entry["reward"] == pytest.approx(-0.05)


@pytest.mark.parametrize(("scale", "ratio"), [(None, 0.04), ("group", 1.0)])
def test_a_small_penalty_stays_small_where_no_episode_of_a_group_succeeds(
    scale: str | None,
    ratio: float,
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    """The first group differs by success, the second one by a penalty of 0.04."""
    invalid = played(["start"], [0.0])
    invalid.turns[0].is_valid_action = False
    given = [*(played(["start"], [paid]) for paid in (1.0, 0.0, 0.0)), invalid]
    options = {"num_generations": 2, "invalid_action_penalty": 0.04, "scale_rewards": scale}
    batch, _ = credited(grpo.AgentGRPOTrainer, given, **options)
    won, lost, valid, penalized = row_advantages(batch).tolist()
    assert (won, valid) == (-lost, -penalized)
    assert valid / won == pytest.approx(ratio, rel=0.01)


def test_rewards_that_are_scaled_apart_keep_the_groups_deviation() -> None:
    apart = {"multi_objective_aggregation": "normalize_then_sum", "invalid_action_penalty": 0.1}
    assert grpo.AgentGRPOConfig(**apart).scale_rewards == "group"
    assert grpo.AgentGRPOConfig(invalid_action_penalty=0.1).scale_rewards == "environment"


def test_a_failed_episode_is_in_no_state_of_gigpo(
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
) -> None:
    given = [
        played(["start"], [1.0]),
        played(["start"], [0.0]),
        played(["start"], [0.0], status="failed"),
    ]
    batch, _ = credited(
        grpo.AgentGRPOTrainer, given, turn_advantage_weight=1.0, scale_rewards="none"
    )
    expected = torch.tensor([[1.0], [-1.0], [0.0]]) * 1.5
    assert torch.allclose(batch["advantages"], expected)


@pytest.mark.parametrize(
    ("name", "main", "options"),
    [
        ("rloo", rloo.main, []),
        ("rloo", rloo.main, ["--task_sampling", "learnable"]),
        ("reinforce_pp", reinforce_pp.main, []),
        ("reinforce_pp", reinforce_pp.main, ["--baseline", "group"]),
        ("grpo", grpo.main, ["--turn_advantage_weight", "1", "--invalid-action-penalty", "0.1"]),
    ],
)
def test_the_command_trains_and_leaves_a_policy(
    name: str, main: Callable[[list[str]], int], options: list[str], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    status = main(
        [
            *("--env", ENV_ID, "--model", make_folder(tmp_path / "model")),
            *("--output_dir", str(folder), "--max_steps", "2", "--num_generations", "2"),
            *("--per_device_train_batch_size", "4", "--gradient_accumulation_steps", "1"),
            *("--max_tokens_per_turn", "4", "--eval_strategy", "no", "--report_to", "none"),
            *options,
        ]
    )
    assert status == 0
    assert (folder / "model.safetensors").exists()
    assert f'"train {name}"' in (folder / "run.json").read_text()


def test_an_unknown_baseline_names_those_that_are_allowed() -> None:
    with pytest.raises(ValueError, match=r"baseline must be one of none, group, got 'critic'"):
        reinforce_pp.AgentReinforcePPConfig(baseline="critic")


@pytest.mark.parametrize("kind", [grpo.AgentGRPOTrainer, rloo.AgentRLOOTrainer])
def test_too_few_tasks_for_a_batch_are_refused_with_the_remedy(
    kind: type[OnlineTrainer], tmp_path: Path
) -> None:
    """TRL would train no step and save the model as if it had."""
    options = {"per_device_train_batch_size": 4, "gradient_accumulation_steps": 1}
    args = kind.config(str(tmp_path), num_generations=2, report_to="none", **options)
    few = EnvArguments(env=[ENV_ID], tasks=["0"])
    with pytest.raises(ValueError, match=r"needs 2 tasks, got 1; .* choose more tasks"):
        kind(make_folder(tmp_path / "model"), few, args=args)


def test_the_reference_is_of_the_policys_revision() -> None:
    args = grpo.AgentGRPOConfig("runs/none", beta=0.1, model_init_kwargs={"dtype": "float32"})
    use_revision_for_reference(args, None)
    use_revision_for_reference(args, "main")  # the default, of which TRL would warn in every run
    assert args.model_init_kwargs == {"dtype": "float32"}
    use_revision_for_reference(args, "step-200")
    assert args.model_init_kwargs == {"dtype": "float32", "revision": "step-200"}


def test_split_weights_are_refused_with_a_backend_that_plays_on_them() -> None:
    hf = BACKENDS["hf"]
    refuse_split_weights(BACKENDS["vllm"], is_split=True)
    refuse_split_weights(hf, is_split=False)
    with pytest.raises(ValueError, match="backend=vllm` under FSDP2"):
        refuse_split_weights(hf, is_split=True)


@pytest.mark.parametrize(
    "kind",
    [grpo.AgentGRPOTrainer, rloo.AgentRLOOTrainer, reinforce_pp.AgentReinforcePPTrainer],
)
def test_episodes_that_were_paid_alike_move_no_weight(
    kind: type[OnlineTrainer],
    credited: Callable[..., tuple[dict[str, Any], OnlineTrainer]],
    tmp_path: Path,
) -> None:
    before = AutoModelForCausalLM.from_pretrained(make_folder(tmp_path / "before"))
    _, trainer = credited(kind, [episode(0.7)] * 8)
    for name, parameter in trainer.model.named_parameters():
        assert torch.equal(parameter, before.get_parameter(name)), name
