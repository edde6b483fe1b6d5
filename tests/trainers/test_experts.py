"""`--expert_episodes`: whose episodes a group has, how they are weighed, what is counted."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any

import pytest
import torch

from agentgym_envs import NoExpert, Outcome, Trajectory, register_env
from agentgym_envs.trajectories.trajectory import TokenTrace
from tests.trainers.toys import (
    LARGEST_GAP,
    Given,
    LettersEnv,
    episode,
    gradient,
    make_model,
    make_tokenizer,
    trace,
)
from trainers import open_environments
from trainers.credit.advantages import expert_gains, group_advantages, leave_one_out
from trainers.credit.importance import shaped_probabilities
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import EnvArguments
from trainers.options.configs import AgentGRPOConfig, AgentPPOConfig, AgentReinforcePPConfig
from trainers.options.errors import UsageError
from trainers.rloo import AgentRLOOTrainer
from trainers.sft import expert_demonstrations, token_rows
from trainers.tokens.chat import ChatFormat

Make = Callable[..., AgentGRPOTrainer]
NAN = math.nan
RIGID_ID, LONE_ID = "toy/Rigid-v0", "toy/Lone-v0"
RIGID: dict[str, Any] = {"env": [RIGID_ID]}


class RigidEnv(LettersEnv):
    """Wins by the asked letter alone, which a random policy does not say."""

    def apply(self, action: str) -> Outcome:
        won = action == self.goal
        return Outcome("End.", float(won), terminated=True, info={"success": won})


class LoneEnv(LettersEnv):
    """Has no expert."""

    def expert_moves(self) -> Any:
        raise NoExpert("nobody knows")


register_env(RIGID_ID, RigidEnv)
register_env(LONE_ID, LoneEnv)


def experts_of(trainer: Any) -> list[Trajectory]:
    return [trainer.trajectories[place] for place in trainer.experts]


def own_of(trainer: Any) -> list[Trajectory]:
    return [one for n, one in enumerate(trainer.trajectories) if n not in trainer.experts]


# The formulas -----------------------------------------------------------------------------------


def test_the_gain_of_an_expert_is_over_the_others_mean_and_never_negative() -> None:
    rewards = torch.tensor([0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    rewards = torch.cat([rewards, torch.tensor([0.5, 1.0, 0.5, NAN, NAN, NAN, 1.0, NAN])])
    is_expert = torch.tensor([False, False, True, True]).repeat(5)
    gains = expert_gains(rewards, is_expert, 4).view(5, 4)
    expected = [[0, 0, 1, 1], [0, 0, 0.5, 0.5], [0] * 4, [0] * 4, [0] * 4]
    assert gains.tolist() == expected, "no win, half, all, worse than they, none that counts"


def test_the_shaped_ratio_is_luffys_and_finite_for_a_token_out_of_reach() -> None:
    logps = torch.tensor([0.0, math.log(0.1), -3.0, -300.0], requires_grad=True)
    p = logps.detach().double().exp()
    shaped = shaped_probabilities(logps)
    assert torch.allclose(shaped.double(), p / (p + 0.1))
    shaped.sum().backward()
    assert logps.grad is not None
    assert torch.allclose(logps.grad.double(), 0.1 * p / (p + 0.1) ** 2)


@pytest.mark.parametrize("scale", ["group", "batch", "none"])
def test_the_policys_own_advantages_are_those_of_smaller_groups(scale: str) -> None:
    """But for the order in which float32 numbers add up: a unit in the last place."""
    rewards = torch.rand(20, 8, generator=torch.Generator().manual_seed(0))
    rewards[:10] = rewards[:10].round()
    mixed = torch.cat([rewards[:, :6], torch.full((20, 2), NAN)], dim=1).flatten()
    own = rewards[:, :6].flatten()
    for mine, alone in (
        (group_advantages(mixed, 8, scale=scale), group_advantages(own, 6, scale=scale)),
        (leave_one_out(mixed, 8), leave_one_out(own, 6)),
    ):
        found = mine.view(20, 8)[:, :6].flatten()
        assert torch.allclose(found, alone, rtol=1e-6, atol=3e-7)


# The loss ---------------------------------------------------------------------------------------


def logprobs(model: Any, row: TokenTrace) -> torch.Tensor:
    """Return the log-probabilities of a trace's actions."""
    logits = model(torch.tensor([row.ids])).logits[0, len(row.prompt_ids) - 1 : -1]
    actions = torch.tensor(row.action_mask, dtype=torch.bool)
    return logits.log_softmax(-1).gather(1, torch.tensor(row.completion_ids)[:, None])[actions, 0]


def mixed_policy_loss(
    model: Any, own: Sequence[Trajectory], experts: Sequence[Trajectory], loss_type: str
) -> torch.Tensor:
    """Return the mixed-policy objective of arXiv 2504.14945 with its shaping, as a loss.

    Groups are of two own episodes, r in {0, 1}, and one expert's with r = 1. Each own token has the
    ratio pi / pi_old at pi = pi_old, each expert's f(pi / 1) without a clip. Divisors count the
    policy's own, and advantages are less the own mean over the deviation of the whole group.
    """
    terms: list[tuple[float, torch.Tensor]] = []
    for number, expert in enumerate(experts):
        mine = own[2 * number : 2 * number + 2]
        returns = torch.tensor([e.episode_return for e in mine], dtype=torch.float64)
        whole = torch.cat([returns, returns.new_ones(1)])
        for one, value in zip(mine, returns, strict=True):
            logps = logprobs(model, one.trace)
            advantage = float((value - returns.mean()) / (returns.std() + 1e-4))
            terms.append((advantage, (logps - logps.detach()).exp()))
        pi = logprobs(model, expert.trace).exp()
        terms.append((float((1 - returns.mean()) / (whole.std() + 1e-4)), pi / (pi + 0.1)))
    tokens = sum(sum(one.trace.action_mask) for one in own)
    divisor = {"grpo": len(own), "dr_grpo": len(own) * 512, "dapo": tokens}[loss_type]
    sums = [a * (ratio.mean() if loss_type == "grpo" else ratio.sum()) for a, ratio in terms]
    return -torch.stack(sums).sum() / divisor


@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "dr_grpo"])
def test_loss_and_gradient_of_a_mixed_batch_are_the_papers(
    loss_type: str, trainer_in: Make
) -> None:
    model = make_model().double()
    reference = copy.deepcopy(model)
    trainer = trainer_in(
        env=RIGID, model=model, expert_episodes=1, num_generations=3, loss_type=loss_type,
        per_device_train_batch_size=3, max_steps=1, bf16=False,
        vllm_importance_sampling_correction=False,
    )  # fmt: skip
    own = [
        episode(float(n == 1), traces=[trace(3 + n, [1, 1, 0, 1][: 2 + n], seed=n)])
        for n in range(4)
    ]
    trainer.player.rollout = Given(own)
    found = gradient(trainer)
    assert len(experts_of(trainer)) == 2
    loss = mixed_policy_loss(reference, own, experts_of(trainer), loss_type)
    loss.backward()
    gradients = dict(reference.named_parameters())
    names = {id(p): name for name, p in trainer.model.named_parameters()}
    order = [names[id(p)] for group in trainer.optimizer.param_groups for p in group["params"]]
    expected = torch.cat([gradients[name].grad.flatten() for name in order])  # type: ignore[union-attr]
    assert expected.abs().max() > 1e-4
    assert (found - expected).norm() < 1e-5 * expected.norm()  # advantages are float32
    logged = trainer.state.log_history[0]
    assert logged["loss"] == pytest.approx(loss.item(), rel=1e-4, abs=1e-6)
    # TRL's metrics and the gap are of own tokens with an advantage; they were sampled at -1 nats.
    gaps = torch.cat([logprobs(reference, one.trace) + 1 for one in own[:2]]).abs()
    assert logged[LARGEST_GAP] == pytest.approx(gaps.max().item())
    probabilities = [logprobs(reference, one.trace).exp() for one in experts_of(trainer)]
    assert logged["expert/probability"] == pytest.approx(torch.cat(probabilities).mean().item())
    assert logged["expert/share"] == pytest.approx(1 / 3)


# The episodes -----------------------------------------------------------------------------------


def test_the_policys_own_part_is_a_run_with_smaller_groups(trainer_in: Make) -> None:
    sizes = {"num_generations": 4, "per_device_train_batch_size": 4}
    mixed = trainer_in("mixed", expert_episodes=2, max_steps=1, seed=3, **sizes)
    mixed.train()
    sizes = {"num_generations": 2, "per_device_train_batch_size": 2}
    alone = trainer_in("alone", max_steps=1, seed=3, **sizes)
    alone.train()
    own = own_of(mixed)
    assert [(e.task_id, e.trace) for e in own] == [(e.task_id, e.trace) for e in alone.trajectories]
    assert sorted(mixed.experts) == [2, 3, 6, 7]
    assert [e.task_id for e in mixed.trajectories] == [e.task_id for e in own for _ in range(2)]
    one, other = mixed.state.log_history[0], alone.state.log_history[0]
    same = [name for name in other if name.partition("/")[0] in ("episodes", "reward", "rewards")]
    same += ["entropy", LARGEST_GAP, "frac_reward_zero_std"]
    assert other["frac_reward_zero_std"] < 1
    found, expected = ({name: entry[name] for name in same} for entry in (one, other))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("action_format", "history"), [("plain", {}), ("react", {"keep_last_turns": 1})]
)
def test_an_experts_tokens_are_those_that_sft_imitates(
    action_format: str, history: dict[str, Any], trainer_in: Make
) -> None:
    env = {**RIGID, "action_format": action_format}
    rollout = {"max_tokens_per_turn": 64, **history}
    trainer = trainer_in(env=env, rollout=rollout, expert_episodes=2, max_steps=1)
    trainer.train()
    expert = experts_of(trainer)[0]
    environments = open_environments(EnvArguments(tasks=[expert.task_id], **env))
    rows = token_rows(
        expert_demonstrations(environments),
        ChatFormat.from_tokenizer(make_tokenizer()),
        env_history=trainer.run_options[1].env_history,
    )
    traces = [(t.ids, [0] * len(t.prompt_ids) + t.action_mask) for t in expert.traces]
    assert traces == [(row["input_ids"], row["action_mask"]) for row in rows]
    assert expert.policy == "expert" and expert.success
    credited = [value for value in expert.traces[0].advantages if value]
    assert len(credited) == sum(expert.traces[0].action_mask)


def test_in_unsolved_groups_alone_the_expert_replaces_the_last(trainer_in: Make) -> None:
    trainer = trainer_in(
        env=RIGID, expert_episodes=2, expert_episodes_when="unsolved", max_steps=1,
        scale_rewards="none",
    )  # fmt: skip
    own = [episode(float(n == 3), traces=[trace(3, [1, 1], seed=n)]) for n in range(8)]
    trainer.player.rollout = Given(own)
    trainer.train()
    assert trainer.trajectories[:6] == own[:6]
    assert list(trainer.experts.items()) == [(6, own[6]), (7, own[7])]
    credited = [max(e.trace.advantages) for e in trainer.trajectories]
    assert credited == [-0.25, -0.25, -0.25, 0.75, 0.0, 0.0, 1.0, 1.0]
    logged = trainer.state.log_history[0]
    assert logged["episodes/success"] == logged["reward"] == 1 / 8, "of all that the policy played"
    assert logged["frac_reward_zero_std"] == 1 / 2
    assert logged["expert/share"] == 1 / 4
    assert logged["episodes/without_reward"] == 0


def test_an_expert_beyond_the_budgets_leaves_its_place_to_the_policy(
    trainer_in: Make, caplog: pytest.LogCaptureFixture
) -> None:
    trainer = trainer_in(rollout={"max_tokens_per_turn": 1}, expert_episodes=2, max_steps=1)
    trainer.train()
    assert not trainer.experts and len(trainer.trajectories) == 8
    assert trainer.state.log_history[0]["expert/share"] == 0.0
    assert "is beyond the policy's token budgets" in caplog.text


def test_an_expert_has_all_turns_whatever_the_horizon(trainer_in: Make) -> None:
    env = {"env": ["toy/Easy-v0"]}
    trainer = trainer_in(env=env, rollout={"horizon": "1"}, expert_episodes=2, max_steps=1)
    trainer.train()
    assert {len(e.turns) for e in own_of(trainer)} == {1}
    assert {len(e.turns) for e in experts_of(trainer)} == {2}


def test_turn_credit_is_of_the_policys_own_turns(trainer_in: Make) -> None:
    trainer = trainer_in(expert_episodes=2, turn_credit="gigpo", max_steps=1)
    own = [episode(float(n % 2), traces=[trace(3, [1, 1], seed=n)]) for n in range(4)]
    trainer.player.rollout = Given(own)
    trainer.train()
    group = trainer.trajectories[:4]
    deviation = 0.5**0.5  # of two, in the episode's part and in the turns' part
    expected = [-1 / deviation, 1 / deviation]
    assert [e.trace.advantages[0] for e in group[:2]] == pytest.approx(expected, rel=1e-3)
    assert group[2].trace.advantages[0] == pytest.approx(0.5 / 0.5, rel=1e-3)


# Runs -------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_policy_that_never_wins_learns_by_the_expert_alone(trainer_in: Make) -> None:
    def successes(**options: Any) -> list[float]:
        env = {**RIGID, "tasks": ["letters_0"]}
        sizes = {"per_device_train_batch_size": 8, "gradient_accumulation_steps": 1}
        sizes |= {"num_generations": 8, "max_steps": 12}
        trainer = trainer_in(env=env, learning_rate=2e-2, **sizes, **options)
        trainer.train()
        logged = [entry for entry in trainer.state.log_history if "loss" in entry]
        return [entry["episodes/success"] for entry in logged]

    assert max(successes()) == 0.0
    learnt = successes(expert_episodes=2)
    assert learnt[0] == 0.0 < max(learnt)


@pytest.mark.full
@pytest.mark.parametrize("when", ["always", "unsolved"])
def test_a_resumed_run_is_the_uninterrupted_one(when: str, trainer_in: Make) -> None:
    def trained(folder: str, steps: int, *, resume: bool = False) -> AgentGRPOTrainer:
        trainer = trainer_in(
            folder, env=RIGID, max_steps=steps, seed=2, save_strategy="steps", save_steps=2,
            expert_episodes=2, expert_episodes_when=when, lr_scheduler_type="constant",
        )  # fmt: skip
        trainer.train(resume_from_checkpoint=resume)
        return trainer

    whole = trained("whole", 4)
    trained("parts", 2)
    resumed = trained("parts", 4, resume=True)
    one, other = (
        [{k: v for k, v in entry.items() if "time" not in k} for entry in logged if "loss" in entry]
        for logged in (whole.state.log_history, resumed.state.log_history)
    )
    assert one == other and len(one) == 4
    assert any(entry["expert/share"] for entry in one[2:])
    weights = zip(whole.model.parameters(), resumed.model.parameters(), strict=True)
    assert all(torch.equal(*pair) for pair in weights)


def test_rloo_credits_an_expert_over_the_mean(trainer_in: Make, tmp_path: Any) -> None:
    from trainers.options.arguments import RolloutArguments
    from trainers.options.configs import AgentRLOOConfig

    trainer = AgentRLOOTrainer(
        make_model(),
        EnvArguments(env=[RIGID_ID], action_format="plain"),
        args=AgentRLOOConfig(
            str(tmp_path / "rloo"), num_generations=4, per_device_train_batch_size=4,
            gradient_accumulation_steps=1, max_steps=1, expert_episodes=1, disable_tqdm=True,
            eval_strategy="no", save_strategy="no",
        ),
        rollout=RolloutArguments(max_tokens_per_turn=4),
        processing_class=make_tokenizer(),
    )  # fmt: skip
    own = [episode(float(n == 0), traces=[trace(3, [1, 1], seed=n)]) for n in range(3)]
    trainer.player.rollout = Given(own)
    trainer.train()
    credited = [e.trace.advantages[0] for e in trainer.trajectories]
    assert credited == pytest.approx([1.0, -0.5, -0.5, 2 / 3])


# Refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"expert_episodes": 3}, "expert_episodes must be at most num_generations - 2 = 2, got 3"),
        ({"expert_episodes": -1}, "expert_episodes must be >= 0"),
        ({"expert_episodes": 1, "branch_roots": 2}, "both take the last places of a group"),
        ({"expert_episodes": 1, "dynamic_sampling": 2.0}, "dynamic_sampling would replace"),
        ({"expert_episodes": 1, "max_staleness": 1}, "played with their batch, not ahead"),
        (
            {"expert_episodes": 1, "multi_objective_aggregation": "normalize_then_sum"},
            "credited with the sum of the reward functions",
        ),
        ({"expert_episodes_when": "never"}, "expert_episodes_when must be one of"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AgentGRPOConfig(num_generations=4, per_device_train_batch_size=4, **options)


@pytest.mark.parametrize("config", [AgentPPOConfig, AgentReinforcePPConfig])
def test_algorithms_without_a_group_mean_take_no_experts(config: Any) -> None:
    with pytest.raises(UsageError, match="whitens over tokens in its place; train with grpo or"):
        config(expert_episodes=1)


def test_an_environment_without_an_expert_is_refused_by_name(trainer_in: Make) -> None:
    with pytest.raises(UsageError, match=r"Lone.*: nobody knows\); train on another environment"):
        trainer_in(env={"env": [LONE_ID]}, expert_episodes=1)
    with pytest.raises(UsageError, match=r"nobody knows\); train on .*Easy.* alone"):
        trainer_in(env={"env": [LONE_ID, "toy/Easy-v0"]}, expert_episodes=1)
