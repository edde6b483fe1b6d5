"""Muon for the hidden matrices of a model, and AdamW for its other parameters.

Muon makes a matrix's momentum orthogonal by five Newton-Schulz iterations (Jordan et al., 2024;
torch's). Its update is scaled to the root mean square that AdamW's has as a rule, 0.2 (arXiv
2502.16982, eq. 4), so that one learning rate and one weight decay serve both. A LoRA adapter's
factors are matrices like others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import torch
from torch import nn
from torch.nn.utils import get_total_norm
from torch.optim import AdamW, Muon, Optimizer

from trainers.options.checks import MUON
from trainers.options.errors import UsageError


class MuonWithAdamW(Optimizer):
    """Muon for the groups with `is_hidden`, AdamW for all others.

    Args:
        groups: of parameters, each with `params`, `weight_decay` and `is_hidden`; those with
            `is_hidden` have two dimensions. A group that is added later is AdamW's by default.
        lr: learning rate of both.
        betas: AdamW's.
        eps: AdamW's.

    Raises:
        ValueError: a group with `is_hidden` has a parameter that is no matrix.
    """

    def __init__(
        self, groups: list[dict[str, Any]], *, lr: float, betas: tuple[float, float], eps: float
    ) -> None:
        hidden = [group for group in groups if group["is_hidden"]]
        others = [group for group in groups if not group["is_hidden"]]
        self._muon = Muon(hidden or [{"params": []}], lr=lr, adjust_lr_fn="match_rms_adamw")
        self._adamw = AdamW(others or [{"params": []}], lr=lr, betas=betas, eps=eps)
        defaults = {**self._adamw.defaults, "is_hidden": False}
        super().__init__([*self._muon.param_groups, *self._adamw.param_groups], defaults)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a state of `state_dict`.

        Raises:
            ValueError: it is another optimizer's.
        """
        if not all("is_hidden" in group for group in state_dict["param_groups"]):
            raise ValueError("the saved state is another optimizer's than Muon's")
        super().load_state_dict(state_dict)

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """Update all parameters that have a gradient. `closure` is not supported, and None.

        Where the gradients of all hidden matrices are 0, as of a batch whose groups have equal
        returns, these stay: Muon would go on in the old direction with a full step.
        """
        assert closure is None
        for inner, is_hidden in ((self._muon, True), (self._adamw, False)):
            # Loading a state replaces both, and a group may have been added.
            inner.param_groups = [g for g in self.param_groups if g["is_hidden"] == is_hidden]
            inner.state = self.state
            if not is_hidden or get_total_norm(_gradients(inner)):
                inner.step()


def use_muon(trainer: Any) -> None:
    """Have a `transformers.Trainer` create Muon as its optimizer.

    Raises:
        UsageError: it splits matrices between processes.
    """
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        raise UsageError(
            f"optim={MUON} needs whole matrices, and FSDP and DeepSpeed split them between "
            "processes; launch with plain data parallelism, or leave out `optim`"
        )

    def create(model: nn.Module) -> MuonWithAdamW:
        decaying = trainer.get_decay_parameter_names(model)
        return muon_for(model, trainer.args, decaying=decaying)

    # Not a class, so transformers calls it for a function that takes the model.
    trainer.optimizer_cls_and_kwargs = (lambda: create, {})


def muon_for(model: nn.Module, args: Any, *, decaying: Collection[str]) -> MuonWithAdamW:
    """Return the optimizer of a model.

    Args:
        model: a transformers model, with an adapter or without.
        args: `transformers.TrainingArguments`.
        decaying: names of the parameters with weight decay.
    """
    outer = {id(parameter) for parameter in _outer_parameters(model)}
    groups: dict[tuple[bool, bool], dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            is_hidden = parameter.ndim == 2 and id(parameter) not in outer
            decays = name in decaying
            decay = args.weight_decay if decays else 0.0
            group: dict[str, Any] = {"params": [], "weight_decay": decay, "is_hidden": is_hidden}
            groups.setdefault((is_hidden, decays), group)["params"].append(parameter)
    return MuonWithAdamW(
        list(groups.values()),
        lr=args.learning_rate,
        betas=(args.adam_beta1, args.adam_beta2),
        eps=args.adam_epsilon,
    )


def _gradients(optimizer: Optimizer) -> list[torch.Tensor]:
    parameters = (p for group in optimizer.param_groups for p in group["params"])
    return [p.grad for p in parameters if p.grad is not None]


def _outer_parameters(model: Any) -> Iterator[nn.Parameter]:
    """Yield the parameters of the embeddings and of the output head, an adapter's included."""
    for module in model.modules():
        if isinstance(module, nn.Embedding):
            yield from module.parameters()
    for module in (model.get_input_embeddings(), model.get_output_embeddings()):
        if module is not None:
            yield from module.parameters()
