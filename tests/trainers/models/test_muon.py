"""Muon for hidden matrices, against a reference of its papers in float64, and against AdamW."""

from __future__ import annotations

import copy
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import nn

from tests.trainers.toys import make_model
from trainers import AgentGRPOConfig
from trainers.models.muon import MuonWithAdamW, muon_for

ARGS = SimpleNamespace(
    learning_rate=0.01, weight_decay=0.0, adam_beta1=0.9, adam_beta2=0.999, adam_epsilon=1e-8
)


def optimizer_of(model: nn.Module, **changes: Any) -> MuonWithAdamW:
    decaying = [name for name, one in model.named_parameters() if one.ndim == 2]
    return muon_for(model, SimpleNamespace(**{**vars(ARGS), **changes}), decaying=decaying)


def hidden(model: nn.Module) -> set[str]:
    """Return the names of the parameters that Muon updates."""
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    groups = optimizer_of(model).param_groups
    return {names[id(p)] for group in groups if group["is_hidden"] for p in group["params"]}


def orthogonal(matrix: torch.Tensor) -> torch.Tensor:
    """Return five iterations of Jordan's quintic on a matrix of Frobenius norm 1, in float64."""
    x = matrix / matrix.norm()
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x - 4.7750 * gram @ x + 2.0315 * gram @ gram @ x
    return x


def with_gradients(model: nn.Module, seed: int) -> nn.Module:
    torch.manual_seed(seed)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.grad = torch.randn_like(parameter)
    return model


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_three_steps_are_the_papers(decay: float) -> None:
    model = make_model()
    optimizer = optimizer_of(model, weight_decay=decay)
    weight = model.model.layers[0].mlp.down_proj.weight
    assert weight.shape[0] < weight.shape[1]
    expected, momentum = weight.detach().double(), 0.0
    for step in range(3):
        gradient = with_gradients(model, step) and weight.grad.double()
        momentum = 0.95 * momentum + 0.05 * gradient
        nesterov = 0.95 * momentum + 0.05 * gradient
        update = 0.2 * max(weight.shape) ** 0.5 * orthogonal(nesterov)  # arXiv 2502.16982, eq. 4
        assert float(update.square().mean().sqrt()) == pytest.approx(0.2, rel=0.2)
        before = expected
        expected = before * (1 - 0.01 * decay) - 0.01 * update
        optimizer.step()
        moved, wanted = weight.detach().double() - before, expected - before
        assert float((moved - wanted).norm() / wanted.norm()) < 0.02  # torch iterates in bfloat16
        expected = weight.detach().double()


def test_all_other_parameters_are_adamws() -> None:
    model, same = make_model(), make_model()
    optimizer = optimizer_of(model)
    adamw = torch.optim.AdamW(same.parameters(), lr=0.01, weight_decay=0.0)
    for step in range(3):
        for one, its in ((model, optimizer), (same, adamw)):
            with_gradients(one, step)
            its.step()
    matrices = hidden(model)
    for (name, one), other in zip(model.named_parameters(), same.parameters(), strict=True):
        assert torch.equal(one, other) == (name not in matrices), name
    assert {"model.embed_tokens.weight", "model.norm.weight"} & matrices == set()


def test_hidden_matrices_are_those_between_embedding_and_head() -> None:
    model = make_model()
    names = hidden(model)
    assert {name.rpartition("layers.0.")[2] for name in names if "layers.0." in name} == {
        *(f"self_attn.{part}_proj.weight" for part in "qkvo"),
        *(f"mlp.{part}_proj.weight" for part in ("gate", "up", "down")),
    }
    assert all(".layers." in name for name in names)


@pytest.mark.filterwarnings("ignore:Model has `tie_word_embeddings=True`")
def test_an_adapters_factors_are_hidden_but_for_those_of_embedding_and_head() -> None:
    targets = ["q_proj", "embed_tokens", "lm_head"]
    model = get_peft_model(make_model(), LoraConfig(r=2, target_modules=targets))
    names = hidden(model)
    trained = {name for name, one in model.named_parameters() if one.requires_grad}
    assert names == {name for name in trained if "q_proj" in name}
    assert names and names != trained


def test_a_loaded_state_goes_on_to_the_bit() -> None:
    whole = make_model()
    optimizer = optimizer_of(whole)
    for step in range(2):
        with_gradients(whole, step)
        optimizer.step()
    resumed = copy.deepcopy(whole)
    again = optimizer_of(resumed)
    again.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    for one, its in ((whole, optimizer), (resumed, again)):
        with_gradients(one, 2)
        its.step()
    pairs = zip(whole.parameters(), resumed.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)


def test_a_state_of_adamw_is_refused() -> None:
    model = make_model()
    groups = [{"params": list(model.parameters())}, {"params": []}]
    with pytest.raises(ValueError, match="another optimizer's than Muon's"):
        optimizer_of(model).load_state_dict(torch.optim.AdamW(groups).state_dict())


def test_a_batch_without_a_gradient_moves_no_matrix() -> None:
    model = make_model()
    optimizer = optimizer_of(model)
    with_gradients(model, 0)
    optimizer.step()
    before = {name: one.detach().clone() for name, one in model.named_parameters()}
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()
    moved = {name for name, one in model.named_parameters() if not torch.equal(before[name], one)}
    assert not moved & hidden(model)


def test_a_schedules_rate_is_that_of_both() -> None:
    model = make_model()
    optimizer = optimizer_of(model)
    before = [one.detach().clone() for one in model.parameters()]
    for group in optimizer.param_groups:
        group["lr"] = 0.0
    with_gradients(model, 0)
    optimizer.step()
    assert all(map(torch.equal, before, model.parameters()))


def test_options_that_muon_would_ignore_are_refused() -> None:
    with pytest.raises(ValueError, match="optim_args=momentum=0.9 would be ignored with optim=muo"):
        AgentGRPOConfig(optim="muon", optim_args="momentum=0.9")


def test_the_config_keeps_the_name() -> None:
    assert AgentGRPOConfig(optim="muon").to_dict()["optim"] == "muon"
    assert AgentGRPOConfig().optim == "adamw_torch_fused"
    with pytest.raises(ValueError, match="there is no optimizer 'muom'; did you mean muon?"):
        AgentGRPOConfig(optim="muom")
