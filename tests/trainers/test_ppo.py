"""What PPO credits tokens with, and its losses; whole runs are in `test_ppo_runs`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from agentgym_envs.trajectories.trajectory import read_jsonl
from tests.trainers.ppo_toys import Maker, Scripted, logged, maker, played, with_head
from tests.trainers.toys import FAILED, make_folder, make_tokenizer
from trainers.credit.gae import SampledTokenIndex
from trainers.models.critic import Critic, get_backbone
from trainers.tokens.chat import ChatFormat


@pytest.fixture
def trainer_in(tmp_path: Path) -> Maker:
    return maker(tmp_path)


# What tokens are credited with ------------------------------------------------------------------


def test_turns_are_paid_on_their_last_token_and_an_episodes_sum_is_its_return(
    trainer_in: Maker,
) -> None:
    """With gamma and lambda 1 and a critic that says 0, the advantage is all that is to come."""
    given = [
        played([0.25, 0.5], [1, 1, 0, 1, 0]),
        played([0.0, -0.5, 1.0], [1, 0, 1], [1, 1], seed=5),
        FAILED,
    ]
    # By this divisor alone rows have no weights, which multiply their advantages.
    trainer = trainer_in(given=given, whiten_advantages=False, loss_type="dapo")
    trainer.train()
    advantages = trainer.batch["advantages"].tolist()
    assert advantages == [
        [0.75, 0.75, 0, 0.5, 0],
        [0.5, 0, 0.5, 0, 0],
        [1.0, 1.0, 0, 0, 0],
        [0, 0, 0, 0, 0],
    ]
    assert trainer.batch["returns"].tolist() == advantages
    firsts = [advantages[0][0], advantages[1][0]]
    assert firsts == [t.episode_return for t in given[:2]]


def policy_and_critic_steps(trainer: Any) -> tuple[float, float]:
    """Return how far the policy and the critic are moved by their training."""
    modules = (trainer.model, trainer.critic)
    before = [[p.detach().clone() for p in module.parameters()] for module in modules]
    trainer.train()
    moved = [
        max((p - q).abs().max().item() for p, q in zip(module.parameters(), old, strict=True))
        for module, old in zip(modules, before, strict=True)
    ]
    return moved[0], moved[1]


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    [
        *({}, {"lam": 0.9}, {"gae_level": "turn"}, {"scale_rewards": "environment"}),
        {"bootstrap_truncated": True},
        {"kl_in_reward": True, "beta": 0.1},
    ],
    ids=str,
)
def test_the_critics_errors_are_no_step_where_all_episodes_were_paid_alike(
    options: dict[str, Any], trainer_in: Maker, tmp_path: Path
) -> None:
    """Whitened, values of a thousandth have a gradient as large as any."""
    given = [
        played([0.25, 0.5], [1, 1, 0, 1, 0], status="truncated"),
        played([0.5, 0.0, 0.25], [1, 0, 1], [1, 1], seed=5),
        FAILED,
    ]
    model = make_folder(tmp_path / "model") if "beta" in options else None
    trainer = with_head(trainer_in(given=given, model=model, **options))
    policy, critic = policy_and_critic_steps(trainer)
    assert policy == 0.0
    assert critic > 0.0
    assert logged(trainer, "frac_batch_zero_std") == [1.0]


def test_a_discount_tells_episodes_of_different_lengths_apart(trainer_in: Maker) -> None:
    given = [played([1.0], [1, 1]), played([1.0], [1, 1, 1, 1], seed=5)]
    trainer = trainer_in(given=given, gamma=0.9)
    trainer.train()
    values = torch.tensor([0.9, 1.0, 0.729, 0.81, 0.9, 1.0])
    whitened = (values - values.mean()) / values.std()
    got = trainer.batch["advantages"][trainer.batch["completion_mask"].bool()]
    assert got.tolist() == pytest.approx(whitened.tolist(), abs=1e-4)
    assert logged(trainer, "frac_batch_zero_std") == [0.0]


def test_the_steps_file_says_what_each_token_was_credited_with(trainer_in: Maker) -> None:
    given = [played([0.0, -0.5, 1.0], [1, 0, 1], [1, 1], seed=5), played([0.25], [1, 1, 0])]
    trainer = trainer_in(given=given, whiten_advantages=False)
    trainer.train()
    path = Path(trainer.args.output_dir) / "trajectories/train_000001.jsonl"
    written = [[trace.advantages for trace in t.traces] for t in read_jsonl(path)]
    assert written == [[[0.5, 0, 0.5], [1.0, 1.0]], [[0.25, 0.25, 0]]]


def test_a_users_reward_comes_at_the_end(trainer_in: Maker) -> None:
    def bonus(episode_return: list[float], **_: Any) -> list[float | None]:
        return [3.0 + paid for paid in episode_return]

    given = [played([0.25, 0.5], [1, 0, 1, 0]), played([0.0], [1, 1], seed=5)]
    trainer = trainer_in(
        given=given, whiten_advantages=False, gamma=0.5, trainer={"reward_funcs": bonus}
    )
    trainer.train()
    assert trainer.batch["returns"].tolist() == [[1.875, 0, 3.75, 0], [1.5, 3.0, 0, 0]]


def test_an_invalid_action_costs_its_turn(trainer_in: Maker) -> None:
    given = [played([0.0, 1.0], [1, 0, 1]), played([0.0], [1], seed=5)]
    given[0].turns[0].is_valid_action = False
    trainer = trainer_in(given=given, whiten_advantages=False, invalid_action_penalty=0.25, lam=0.0)
    trainer.train()
    assert trainer.batch["advantages"][0].tolist() == [-0.25, 0, 1.0]
    assert logged(trainer, "reward") == [pytest.approx(0.375)]


def test_the_kl_to_the_reference_is_taken_from_the_reward_token_by_token(
    tmp_path: Path, trainer_in: Maker
) -> None:
    given = [played([1.0], [1, 1, 0]), played([0.0], [1, 1, 1], seed=5)]
    trainer = trainer_in(
        given=given, model=make_folder(tmp_path / "model"), beta=0.5, kl_in_reward=True,
        lam=0.0, whiten_advantages=False, num_iterations=1,
    )  # fmt: skip
    trainer.train()
    batch = trainer.batch
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    # The given episodes say that they were sampled with log-probability -1 throughout.
    kl = (-1.0 - batch["ref_per_token_logps"]) * mask
    expected = torch.tensor([[0, 1.0, 0], [0, 0, 0]]) - 0.5 * kl
    assert torch.allclose(batch["advantages"], expected, atol=1e-6)
    assert float(kl.abs().min(dim=1).values.max()) > 1.0
    assert logged(trainer, "kl") == [pytest.approx(float(kl.sum() / 5), rel=1e-5)]


def test_advantages_are_white_over_the_batchs_sampled_tokens(trainer_in: Maker) -> None:
    trainer = trainer_in(given=[played([1.0], [1, 1, 0, 0]), played([0.0], [1, 1, 1, 0], seed=5)])
    trainer.train()
    mask = trainer.batch["tool_mask"] * trainer.batch["completion_mask"] == 1
    advantages = trainer.batch["advantages"]
    assert float(advantages[mask].mean()) == pytest.approx(0.0, abs=1e-6)
    assert float(advantages[mask].std()) == pytest.approx(1.0, abs=1e-4)
    assert not advantages[~mask].any()


def test_values_are_the_critics_in_whatever_batches_they_are_computed(trainer_in: Maker) -> None:
    given = [played([1.0], [1] * n, seed=n) for n in (5, 1, 3, 2)]
    trainer = with_head(
        trainer_in(given=given, per_device_train_batch_size=1, gradient_accumulation_steps=4)
    )
    trainer.args.max_steps = 1
    critic = Critic.copied_from(trainer.model)
    critic.load_state_dict(trainer.critic.state_dict())
    trainer.train()
    for row, trajectory in enumerate(given):
        ids = trajectory.traces[0].ids
        hidden = get_backbone(critic.model)(input_ids=torch.tensor([ids])).last_hidden_state
        expected = critic(hidden, len(ids) - 3)[0]
        assert torch.allclose(trainer.batch["values"][row, : len(ids) - 3], expected, atol=1e-5)


def test_a_truncated_episode_ends_with_value_0_unless_its_last_state_is_asked_for(
    trainer_in: Maker,
) -> None:
    left = played([0.0], [1, 1], status="truncated")
    chat = ChatFormat.from_tokenizer(make_tokenizer())
    left.traces[0].prompt_ids = chat.prompt_ids(left.system_prompt, "look")
    full = played([0.0], [1, 1], seed=3, status="truncated")
    full.truncated_by = "token_budget"
    given = [left, full, played([0.0], [1, 1], seed=5)]
    options = {"given": given, "whiten_advantages": False, "lam": 0.0}
    plain = with_head(trainer_in(**options))
    plain.train()
    trainer = with_head(trainer_in(**options, bootstrap_truncated=True))
    ids = left.traces[0].ids + trainer.chat.observation_ids("No.", closed=False)
    hidden = get_backbone(trainer.critic.model)(input_ids=torch.tensor([ids])).last_hidden_state
    expected = float(trainer.critic.head(hidden[0, -1]).detach())
    trainer.train()
    change = trainer.batch["advantages"] - plain.batch["advantages"]
    assert abs(expected) > 1e-3
    assert change[0].tolist() == pytest.approx([0.0, expected], abs=1e-6)
    assert not change[1:].any()


def test_turn_level_credit_has_one_trained_value_per_turn(trainer_in: Maker) -> None:
    given = [played([0.0, 1.0], [1, 1, 0, 1, 1]), played([0.5], [1, 1, 1], seed=5)]
    trainer = with_head(trainer_in(given=given, gae_level="turn", whiten_advantages=False))
    trainer.train()
    batch = trainer.batch
    assert batch["value_mask"].int().tolist() == [[1, 0, 0, 1, 0], [1, 0, 0, 0, 0]]
    first, second = (1 - batch["values"][0, column].item() for column in (0, 3))
    expected = [first, first, 0, second, second]
    assert batch["advantages"][0].tolist() == pytest.approx(expected, abs=1e-6)
    assert int(batch["num_values"]) == 3


def test_windowed_histories_train_over_the_episodes_whole_time(trainer_in: Maker) -> None:
    trainer = trainer_in(rollout={"keep_last_turns": 1}, max_steps=1, whiten_advantages=False)
    trainer.train()
    rows = torch.tensor(trainer.rows.episode_of_row)
    assert len(rows) > len(trainer.trajectories)
    mask = trainer.batch["tool_mask"] * trainer.batch["completion_mask"]
    axis = SampledTokenIndex.from_mask(mask, rows, len(trainer.trajectories))
    returns = axis.gather(trainer.batch["returns"])
    # A critic that says 0, no discount and one reward at the end: each token's return is it.
    expected = torch.tensor([t.episode_return for t in trainer.trajectories])[:, None] * axis.valid
    assert torch.allclose(returns, expected)


# Losses -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["own", "shared"])
def test_no_gradient_of_policy_or_value_loss_comes_from_environment_tokens(
    kind: str, trainer_in: Maker
) -> None:
    """The states that predict given tokens get a gradient of exactly zero."""
    mask = [1, 0, 0, 1, 0]
    given = [played([0.0, 1.0], mask), played([0.0, 0.0], mask, seed=5)]
    trainer = with_head(trainer_in(given=given, critic=kind, num_iterations=1))
    seen: dict[str, list[torch.Tensor]] = {"policy": [], "critic": []}

    def watch(module: Any, name: str) -> None:
        def keep(_module: Any, _inputs: Any, output: Any) -> None:
            states = output.last_hidden_state
            if states.requires_grad:
                states.register_hook(lambda grad: seen[name].append(grad.clone()))

        module.register_forward_hook(keep)

    watch(trainer.model.model, "policy")
    if kind == "own":
        watch(get_backbone(trainer.critic.model), "critic")
    trainer.train()
    predicts = torch.tensor([[0, 0, *mask, 0]] * 2).bool()  # position p predicts token p + 1
    for name in ("policy", "critic")[: 1 + (kind == "own")]:
        assert len(seen[name]) == 1
        norms = seen[name][0].norm(dim=-1)
        assert (norms[~predicts] == 0).all()
        assert (norms[predicts] > 0).all()


def test_the_value_loss_is_a_mean_over_the_batchs_values_whatever_the_micro_batches(
    trainer_in: Maker,
) -> None:
    given = [played([1.0], [1] * n, seed=n) for n in (6, 1, 3, 2)]
    options = {"given": given, "num_iterations": 1, "max_grad_norm": 1e9}
    whole = trainer_in("whole", **options)
    parts = trainer_in(
        "parts", **options, per_device_train_batch_size=1, gradient_accumulation_steps=4
    )
    for trainer in (whole, parts):
        with_head(trainer).train()
    assert logged(parts, "critic/value_loss") == pytest.approx(logged(whole, "critic/value_loss"))
    assert logged(parts, "critic/grad_norm") == pytest.approx(
        logged(whole, "critic/grad_norm"), rel=1e-4
    )
    batch = whole.batch
    chosen = batch["value_mask"].bool()
    error = (batch["values"] - batch["returns"])[chosen] ** 2
    assert logged(whole, "critic/value_loss") == [pytest.approx(float(error.mean()), rel=1e-4)]


def test_the_critics_gradient_is_clipped_by_itself(trainer_in: Maker) -> None:
    given = [played([1.0], [1, 1, 1]), played([0.0], [1, 1], seed=5)]
    norms: list[tuple[float, float]] = []

    class Watching(Scripted):
        def _clip_grad_norm(self, model: Any) -> Any:
            def norm(parameters: Any) -> float:
                grads = [p.grad.norm() for p in parameters if p.grad is not None]
                return float(torch.stack(grads).norm())

            super()._clip_grad_norm(model)
            norms.append((norm(model.parameters()), norm(self.critic.parameters())))
            return norms[-1][0]

    trainer = with_head(trainer_in(given=given, max_grad_norm=0.01))
    trainer.__class__ = Watching
    trainer.train()
    assert norms == [(pytest.approx(0.01, rel=1e-3), pytest.approx(0.01, rel=1e-3))]
    assert logged(trainer, "critic/grad_norm")[0] > 0.1


def test_gradients_do_not_pile_up_from_step_to_step(trainer_in: Maker) -> None:
    trainer = trainer_in(max_steps=2)
    trainer.train()
    assert all(p.grad is None for p in trainer.critic.parameters())
