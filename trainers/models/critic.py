"""The critic: a value head on a backbone of its own, or on the policy's.

The value of a token is read off the hidden state *before* it, as its log-probability is: it is the
value of the state in which the policy sampled it.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import AutoModel

from trainers.models.dropout import disable_dropout
from trainers.models.loading import resolve_model

HEAD_FILE = "value_head.safetensors"
STATE_FILE = "critic.safetensors"


class Critic(nn.Module):
    """A value head, float32 and 0 at first, with or without a backbone of its own.

    Args:
        hidden_size: width of the hidden states.
        model: the critic's own model, whose backbone is used; None reads the policy's.
    """

    def __init__(self, hidden_size: int, model: Any = None) -> None:
        super().__init__()
        self.model = model
        self.head = nn.Linear(hidden_size, 1)
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    @classmethod
    def beside(cls, policy: Any) -> Critic:
        """Return a critic that reads the policy's own hidden states."""
        return cls(_hidden_size(policy))

    @classmethod
    def copied_from(cls, policy: Any) -> Critic:
        """Return a critic whose backbone is a copy of the policy's, adapters included.

        With a LoRA adapter, the copy's adapter is trained and its base stays as it is.
        """
        # The output layer can be as large as some backbones, and a critic has no use for it.
        output = policy.get_output_embeddings()
        without_output = {} if output is None else {id(output): nn.Identity()}
        return cls(_hidden_size(policy), copy.deepcopy(policy, without_output))

    @classmethod
    def from_pretrained(cls, name: str, *, dtype: torch.dtype) -> Critic:
        """Load a backbone, and its value head if the folder has one (as `save` leaves it)."""
        folder = resolve_model(name)
        model = AutoModel.from_pretrained(folder, dtype=dtype)
        disable_dropout(model)
        critic = cls(_hidden_size(model), model)
        if (Path(folder) / HEAD_FILE).is_file():
            critic.head.load_state_dict(load_file(Path(folder) / HEAD_FILE))
        return critic

    def forward(self, hidden: torch.Tensor, width: int) -> torch.Tensor:
        """Return the (B, T) float32 values of the states before the last T = `width` tokens.

        `hidden` is (B, P + T, H), of whole sequences.
        """
        states = hidden[:, -width - 1 : -1].to(self.head.weight)
        return self.head(states).squeeze(-1)

    def trained_tensors(self) -> dict[str, torch.Tensor]:
        """Return the trainable parameters by name, of any shape (...), for checkpoints."""
        return {n: p.detach().contiguous() for n, p in self.named_parameters() if p.requires_grad}

    def save_state(self, folder: str | Path) -> None:
        """Write the trainable parameters into a checkpoint's folder."""
        save_file(self.trained_tensors(), Path(folder) / STATE_FILE)

    def load_state(self, folder: str | Path) -> None:
        """Load the parameters that `save_state` wrote, or raise `ValueError` if they do not fit."""
        path = Path(folder) / STATE_FILE
        if not path.is_file():
            raise ValueError(
                f"the checkpoint {str(folder)!r} holds no critic ({STATE_FILE} is missing); resume "
                "from one that was saved by ppo, or start over without `resume`"
            )
        saved, mine = load_file(path), dict(self.named_parameters())
        expected = set(self.trained_tensors())
        if set(saved) != expected or any(saved[n].shape != mine[n].shape for n in expected):
            raise ValueError(
                f"the critic in {str(folder)!r} is of another kind than this run's; resume with "
                "the `critic`, `critic_model` and adapter options that the run began with"
            )
        with torch.no_grad():
            for name, tensor in saved.items():
                mine[name].copy_(tensor)

    def save(self, folder: str | Path) -> None:
        """Save the head, and the backbone if it is the critic's own, for `from_pretrained`.

        A LoRA adapter is merged into the backbone that is saved, unless that is quantized.
        """
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        if self.model is not None:
            model = self.model
            if hasattr(model, "merge_and_unload") and not getattr(model, "is_quantized", False):
                model = copy.deepcopy(model).merge_and_unload()
            is_adapter = hasattr(model, "merge_and_unload")
            (model if is_adapter else get_backbone(model)).save_pretrained(folder)
        save_file(
            {name: tensor.contiguous() for name, tensor in self.head.state_dict().items()},
            folder / HEAD_FILE,
        )


def get_backbone(model: Any) -> Any:
    """Return the module that computes a model's last hidden states, under any adapter."""
    if hasattr(model, "get_base_model"):
        model = model.get_base_model()
    return model.base_model


def clipped_value_loss(
    values: torch.Tensor,
    old_values: torch.Tensor,
    returns: torch.Tensor,
    mask: torch.Tensor,
    *,
    cliprange: float,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return max((V - R)^2, (clip(V, V_old - c, V_old + c) - R)^2), summed over tokens.

    The value clipping of PPO's first implementation (arXiv 2005.12729, section 3), with c =
    `cliprange`; 0 does not clip.

    Args:
        values: (B, T), with gradient.
        old_values: (B, T), at the time of sampling.
        returns: (B, T), the targets.
        mask: (B, T), 1 on tokens whose value is trained.
        cliprange: c.

    Returns:
        (loss, clipped): the sum, and the number of tokens whose loss is the clipped one.
    """
    mask = mask.bool()
    values, old_values, returns = values[mask], old_values[mask], returns[mask]
    loss = (values - returns) ** 2
    if cliprange == 0:
        return loss.sum(), torch.zeros((), device=loss.device)
    change = values - old_values
    clipped = (old_values + change.clamp(-cliprange, cliprange) - returns) ** 2
    # Within the range the two losses differ by rounding.
    is_clipped = (change.abs() > cliprange) & (clipped > loss)
    return torch.max(loss, clipped).sum(), is_clipped.sum()


def _hidden_size(model: Any) -> int:
    return int(model.config.get_text_config().hidden_size)
