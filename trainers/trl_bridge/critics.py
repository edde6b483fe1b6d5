"""A critic beside the policy in TRL's trainer: loss, optimizer, clipping and checkpoints.

`transformers.Trainer` knows one model. Whatever it does with that model's parameters alone is done
here for the critic's.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn
from transformers import TrainerCallback

from trainers.models.critic import STATE_FILE, Critic, clipped_value_loss, get_backbone
from trainers.trl_bridge.batch import SEQUENCES, padded, trim_padding
from trainers.trl_bridge.layout import Layout
from trainers.trl_bridge.passes import pass_layout, sampling_mode

logger = logging.getLogger(__name__)


class CriticMixin:
    """A mixin before `OnlineTrainer` that trains a critic in the same steps.

    A subclass calls `use_critic` when it is made, and puts into the batch, in `advantages_of`:
    `values` and `returns` (R, T) float32, `value_mask` (R, T), and `num_values`, the tokens of
    mask 1 in all processes. The loss then is the policy's plus `vf_coef` times the clipped value
    loss, averaged over those tokens.

    Attributes:
        critic: the critic.
        critic_reads_policy: it has no backbone of its own.
        critic_moves_policy: its loss also trains the policy's backbone.
    """

    critic: Critic
    critic_reads_policy: bool
    critic_moves_policy: bool

    def use_critic(self: Any, critic: Critic, *, moves_policy: bool = False) -> None:
        """Train `critic` beside the policy.

        Args:
            critic: the critic.
            moves_policy: let the value loss train the backbone that a critic without one reads.

        Raises:
            ValueError: the policy is sharded over processes.
        """
        if self.is_deepspeed_enabled or self.is_fsdp_enabled:
            raise ValueError(
                "ppo's critic cannot be sharded, so DeepSpeed and FSDP are not supported; launch "
                "with plain data parallelism (accelerate's MULTI_GPU), or train with grpo or rloo"
            )
        self.critic = critic.to(self.accelerator.device).train()
        self.critic_reads_policy = critic.model is None
        self.critic_moves_policy = moves_policy and self.critic_reads_policy
        self._value_sums = torch.zeros(3, device=self.accelerator.device)
        if critic.model is not None and self.args.gradient_checkpointing:
            get_backbone(critic.model).gradient_checkpointing_enable(
                self.args.gradient_checkpointing_kwargs
            )
        self.parts.append(_CriticState(critic, self.args))
        self.add_callback(_ClearsGradients(critic))

    # Values -----------------------------------------------------------------------------------

    def predict_values(self: Any, batch: dict[str, Any]) -> torch.Tensor:
        """Return (R, T) float32 values of the states before each token, without gradient."""
        lengths = batch["prompt_mask"].sum(dim=1) + batch["completion_mask"].sum(dim=1)
        values = torch.zeros(batch["completion_ids"].shape, device=lengths.device)
        # Rows of like length come together, so that little is padding.
        order = torch.argsort(lengths, descending=True, stable=True)
        for chunk in order.split(self.args.per_device_train_batch_size):
            rows = trim_padding({key: batch[key][chunk] for key in SEQUENCES})
            width = rows["completion_ids"].size(1)
            values[chunk, :width] = self._known_values(rows)
        return values

    def values_after(self: Any, sequences: list[list[int]]) -> torch.Tensor:
        """Return (N,) float32 values of the states at the ends of id sequences."""
        device = self.accelerator.device
        values = torch.zeros(len(sequences), device=device)
        size = self.args.per_device_train_batch_size
        for start in range(0, len(sequences), size):
            chunk = [torch.tensor(ids, device=device) for ids in sequences[start : start + size]]
            ids, mask = padded(chunk, "left")
            # The state before the token that would come next: one more column, which is not read.
            rows = {
                "prompt_ids": ids,
                "prompt_mask": mask,
                "completion_ids": ids[:, -1:],
                "completion_mask": mask[:, -1:],
            }
            values[start : start + size] = self._known_values(rows)[:, 0]
        return values

    def _backbone(self: Any) -> Any:
        if self.critic_reads_policy:
            return get_backbone(self.accelerator.unwrap_model(self.model))
        return get_backbone(self.critic.model)

    def _hidden(self: Any, rows: dict[str, Any]) -> torch.Tensor:
        ids = torch.cat([rows["prompt_ids"], rows["completion_ids"]], dim=1)
        layout = Layout.from_mask(_mask(rows))
        with self.accelerator.autocast():
            output = self._backbone()(input_ids=layout.pack(ids), use_cache=False)
        return layout.unpack(output.last_hidden_state, ids.size(1))

    def _hidden_without_gradient(self: Any, rows: dict[str, Any]) -> torch.Tensor:
        with sampling_mode(self.model if self.critic_reads_policy else self.critic):
            hidden: torch.Tensor = self._hidden(rows)
        return hidden

    @torch.no_grad()
    def _known_values(self: Any, rows: dict[str, Any]) -> Any:
        return self.critic(self._hidden_without_gradient(rows), rows["completion_ids"].size(1))

    # The loss ---------------------------------------------------------------------------------

    def loss_of_pass(self: Any, model: Any, inputs: dict[str, Any]) -> torch.Tensor:
        """Return the sum of the policy's loss and the critic's, a scalar."""
        if self.state.global_step < self.args.critic_warmup_steps:
            moves_policy, hidden_states, policy_loss = False, [], 0.0
        else:
            moves_policy = self.critic_moves_policy
            with _last_hidden(self._backbone(), watch=self.critic_reads_policy) as hidden_states:
                policy_loss = super().loss_of_pass(model, inputs)  # type: ignore[misc]
            ids = torch.cat([inputs["prompt_ids"], inputs["completion_ids"]], dim=1)
            columns = inputs["completion_ids"].size(1)
            layout = pass_layout(model, ids, _mask(inputs), columns, aux_loss=self.aux_loss_enabled)
            hidden_states = [layout.unpack(one, ids.size(1)) for one in hidden_states]
        if moves_policy or not self.critic_reads_policy:
            hidden = hidden_states[0] if hidden_states else self._hidden(inputs)
        else:
            hidden = (
                hidden_states[0].detach()
                if hidden_states
                else self._hidden_without_gradient(inputs)
            )
        return policy_loss + self.args.vf_coef * self._value_loss(inputs, hidden)

    def _value_loss(self: Any, inputs: dict[str, Any], hidden: torch.Tensor) -> torch.Tensor:
        values = self.critic(hidden, inputs["completion_ids"].size(1))
        total, clipped = clipped_value_loss(
            values,
            inputs["values"],
            inputs["returns"],
            inputs["value_mask"],
            cliprange=self.args.cliprange_value,
        )
        count = inputs["value_mask"].sum()
        self._value_sums += torch.stack([total.detach(), clipped, count])
        # As TRL's "dapo": the tokens of the batch, for one optimizer step of one process.
        per_step = inputs["num_values"].clamp(min=1) / self.accelerator.num_processes
        per_step = per_step * self.current_gradient_accumulation_steps
        return total / (per_step / self.args.steps_per_generation)

    def training_step(self: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute a micro-batch's gradient. A step's last one averages the critic's and logs it."""
        loss = super().training_step(*args, **kwargs)  # type: ignore[misc]
        if self.accelerator.sync_gradients:
            self._reduce_critic()
        return loss

    def _reduce_critic(self: Any) -> None:
        if self.accelerator.num_processes > 1:
            for parameter in self._critic_parameters():
                if parameter.grad is not None:
                    parameter.grad = self.accelerator.reduce(parameter.grad, reduction="mean")
        total, clipped, count = self.accelerator.reduce(self._value_sums, reduction="sum").tolist()
        self._value_sums.zero_()
        self.log_critic(value_loss=total / max(count, 1), clip_ratio=clipped / max(count, 1))

    def log_critic(self: Any, **values: float) -> None:
        """Log numbers under `critic/`, averaged until TRL's next log entry."""
        for name, value in values.items():
            self.logged[f"critic/{name}"].append(value)

    # The optimizer ----------------------------------------------------------------------------

    def _critic_parameters(self) -> list[nn.Parameter]:
        return [p for p in self.critic.parameters() if p.requires_grad]

    def create_optimizer(self: Any, model: Any = None) -> Any:
        """Add the critic's parameters, with a learning rate of their own, to the optimizer."""
        optimizer = super().create_optimizer(model)  # type: ignore[misc]
        known = {id(p) for group in optimizer.param_groups for p in group["params"]}
        named = {n: p for n, p in self.critic.named_parameters() if p.requires_grad}
        if known & {id(p) for p in named.values()}:
            return optimizer
        decaying = set(self.get_decay_parameter_names(self.critic))
        for decays in (True, False):
            group = [p for name, p in named.items() if (name in decaying) == decays]
            if group:
                optimizer.add_param_group(
                    {
                        "params": group,
                        "lr": self.args.critic_learning_rate,
                        "weight_decay": self.args.weight_decay if decays else 0.0,
                    }
                )
        return optimizer

    def _clip_grad_norm(self: Any, model: Any) -> Any:
        norm = super()._clip_grad_norm(model)  # type: ignore[misc]
        # By itself, so that the size of the critic's gradient has no say in the policy's step.
        critic = nn.utils.clip_grad_norm_(self._critic_parameters(), self.args.max_grad_norm)
        self.log_critic(grad_norm=float(critic))
        return norm

    # Checkpoints ------------------------------------------------------------------------------

    def load_best(self: Any, folder: Path) -> None:
        """Load the critic, too."""
        super().load_best(folder)  # type: ignore[misc]
        if (folder / STATE_FILE).is_file():
            self.critic.load_state(folder)
        else:
            logger.warning("%s holds no critic; the last step's is kept", folder)


def _mask(rows: dict[str, Any]) -> torch.Tensor:
    return torch.cat([rows["prompt_mask"], rows["completion_mask"]], dim=1)


class _CriticState:
    """The critic's part of a checkpoint."""

    def __init__(self, critic: Critic, args: Any) -> None:
        self._critic, self._args = critic, args

    def save(self, folder: Path) -> None:
        if self._args.should_save:
            self._critic.save_state(folder)

    def load(self, folder: Path | None) -> None:
        if folder is not None:
            self._critic.load_state(folder)


class _ClearsGradients(TrainerCallback):  # type: ignore[misc]
    """Clears the critic's gradients after each step. The trainer clears its model's only."""

    def __init__(self, critic: Critic) -> None:
        self._critic = critic

    def on_optimizer_step(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        self._critic.zero_grad()


@contextmanager
def _last_hidden(backbone: Any, *, watch: bool) -> Iterator[list[torch.Tensor]]:
    """Collect the last hidden states of each pass through a backbone, if `watch`."""
    hidden_states: list[torch.Tensor] = []
    if not watch:
        yield hidden_states
        return
    handle = backbone.register_forward_hook(
        lambda _module, _inputs, output: hidden_states.append(output.last_hidden_state)
    )
    try:
        yield hidden_states
    finally:
        handle.remove()
