from __future__ import annotations

from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModel

from tests.trainers.toys import make_folder, make_model
from trainers.models.critic import HEAD_FILE, Critic, clipped_value_loss, get_backbone

IDS = torch.arange(12).reshape(2, 6)


def values(critic: Critic, width: int = 3) -> torch.Tensor:
    hidden = get_backbone(critic.model)(input_ids=IDS).last_hidden_state
    return critic(hidden, width)


def with_head(critic: Critic, seed: int = 0) -> Critic:
    """Give a fresh critic a head that tells states apart."""
    torch.manual_seed(seed)
    torch.nn.init.normal_(critic.head.weight)
    return critic


def test_a_fresh_critic_says_0() -> None:
    assert not values(Critic.copied_from(make_model())).any()


def test_a_tokens_value_is_that_of_the_state_before_it() -> None:
    """Changing a token changes the values after it, not its own."""
    critic = with_head(Critic.copied_from(make_model()))
    before = values(critic)
    changed = IDS.clone()
    changed[:, 4] = 200  # the second of the three completion tokens
    hidden = get_backbone(critic.model)(input_ids=changed).last_hidden_state
    after = critic(hidden, 3)
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.isclose(before[:, 2], after[:, 2]).any()


def test_a_copy_shares_no_parameter_with_the_policy_and_has_no_output_layer() -> None:
    policy = make_model()
    critic = Critic.copied_from(policy)
    assert not {id(p) for p in policy.parameters()} & {id(p) for p in critic.parameters()}
    size = sum(p.numel() for p in policy.model.parameters())
    assert sum(p.numel() for p in critic.parameters()) == size + 32 + 1
    assert torch.equal(
        get_backbone(critic.model)(input_ids=IDS).last_hidden_state,
        policy.model(input_ids=IDS).last_hidden_state,
    )


def test_the_copy_of_a_policy_with_an_adapter_trains_an_adapter_of_its_own() -> None:
    policy = get_peft_model(make_model(), LoraConfig(r=2, target_modules=["q_proj"]))
    critic = Critic.copied_from(policy)
    trained = set(critic.trained_tensors())
    assert {name.rpartition(".lora_")[0] for name in trained if "lora_" in name}
    assert {name for name in trained if "lora_" not in name} == {"head.weight", "head.bias"}


def test_a_critic_without_a_backbone_is_its_head() -> None:
    critic = Critic.beside(make_model())
    assert set(critic.trained_tensors()) == {"head.weight", "head.bias"}
    assert critic(torch.zeros(2, 5, 32, dtype=torch.bfloat16), 4).dtype == torch.float32


@pytest.mark.parametrize("adapter", [False, True])
def test_a_saved_critic_is_an_ordinary_folder_and_comes_back(adapter: bool, tmp_path: Path) -> None:
    policy = make_model()
    if adapter:
        config = LoraConfig(r=2, target_modules=["q_proj"], init_lora_weights=False)
        policy = get_peft_model(policy, config)
    critic = with_head(Critic.copied_from(policy))
    critic.save(tmp_path)
    loaded = Critic.from_pretrained(str(tmp_path), dtype=torch.float32)
    assert torch.allclose(values(loaded), values(critic), atol=1e-5)
    plain = AutoModel.from_pretrained(tmp_path)
    assert not [name for name, _ in plain.named_parameters() if "lora" in name]
    assert all(p.requires_grad for p in loaded.parameters())


def test_any_model_can_be_the_backbone_of_a_critic(tmp_path: Path) -> None:
    critic = Critic.from_pretrained(make_folder(tmp_path, seed=3), dtype=torch.float32)
    assert torch.equal(
        get_backbone(critic.model)(input_ids=IDS).last_hidden_state,
        make_model(3).model(input_ids=IDS).last_hidden_state,
    )
    assert not (tmp_path / HEAD_FILE).exists()
    assert not critic.head.weight.any()


def test_a_checkpoints_critic_comes_back_exactly(tmp_path: Path) -> None:
    critic = with_head(Critic.copied_from(make_model(1)))
    critic.save_state(tmp_path)
    other = Critic.copied_from(make_model(2))
    other.load_state(tmp_path)
    assert torch.equal(values(other), values(critic))


def test_a_checkpoint_of_another_kind_of_critic_is_refused(tmp_path: Path) -> None:
    Critic.beside(make_model()).save_state(tmp_path)
    with pytest.raises(ValueError, match="of another kind"):
        Critic.copied_from(make_model()).load_state(tmp_path)


def test_a_checkpoint_without_a_critic_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds no critic"):
        Critic.beside(make_model()).load_state(tmp_path)


# The value loss ---------------------------------------------------------------------------------


def test_the_value_loss_is_the_larger_of_the_free_and_the_clipped_error() -> None:
    """The old value is 0.5 and the target 1: free, clipped by little, away from it, masked."""
    found, clipped = clipped_value_loss(
        torch.tensor([[0.6, 0.9, 0.1, 7.0]]),
        torch.full((1, 4), 0.5),
        torch.ones(1, 4),
        torch.tensor([[1, 1, 1, 0]]),
        cliprange=0.2,
    )
    # 0.6 is within 0.2 of the old value; 0.9 counts as 0.7; 0.1 is worse by itself than as 0.3.
    assert float(found) == pytest.approx(0.4**2 + 0.3**2 + 0.9**2)
    assert float(clipped) == 1


def test_a_value_within_the_range_is_not_counted_as_clipped() -> None:
    """Old value and change rarely add up to the value, to the last bit."""
    generator = torch.Generator().manual_seed(0)
    now, old, target = torch.rand(3, 1, 1000, generator=generator)
    now, old = 0.1 * now, -0.1 * old
    _, clipped = clipped_value_loss(now, old, target, torch.ones(1, 1000), cliprange=0.2)
    assert float(clipped) == 0


def test_the_value_loss_agrees_with_a_loop_over_tokens() -> None:
    generator = torch.Generator().manual_seed(0)
    now, old, target = torch.randn(3, 5, 6, generator=generator, dtype=torch.float64)
    mask = torch.rand(5, 6, generator=generator) < 0.5
    total = 0.0
    for row, column in mask.nonzero().tolist():
        value, before, goal = (float(t[row, column]) for t in (now, old, target))
        near = min(max(value, before - 0.3), before + 0.3)
        total += max((value - goal) ** 2, (near - goal) ** 2)
    assert float(clipped_value_loss(now, old, target, mask, cliprange=0.3)[0]) == pytest.approx(
        total
    )
    free = float(((now - target)[mask] ** 2).sum())
    assert float(clipped_value_loss(now, old, target, mask, cliprange=0)[0]) == pytest.approx(free)


def test_the_value_loss_has_no_gradient_outside_the_mask_and_where_it_is_clipped() -> None:
    now = torch.tensor([[0.6, 0.9, 7.0]], requires_grad=True)
    mask = torch.tensor([[1, 1, 0]])
    loss, _ = clipped_value_loss(
        now, torch.full((1, 3), 0.5), torch.ones(1, 3), mask, cliprange=0.2
    )
    loss.backward()
    assert now.grad is not None
    assert now.grad.tolist() == [[pytest.approx(-0.8), 0.0, 0.0]]


def test_no_value_to_train_is_a_loss_of_0_with_a_gradient() -> None:
    now = torch.zeros(1, 2, requires_grad=True)
    loss, clipped = clipped_value_loss(
        now, torch.zeros(1, 2), torch.ones(1, 2), torch.zeros(1, 2), cliprange=0.2
    )
    loss.backward()
    assert float(loss.detach()) == float(clipped) == 0.0
    assert now.grad is not None
    assert not now.grad.any()
