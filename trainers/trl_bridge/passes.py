"""Passes through the model: of a bounded number of tokens each, without needless ones.

A micro-batch of episodes in several token windows has more rows than `per_device_train_batch_size`.
It is split into passes that hold no more tokens, padding included, than so many of its longest rows
would; the gradients of the passes add up to the micro-batch's.

A pass on a CPU keeps its memory small, forward and backward:
- TRL 1.16 computes log-probabilities in tiles of 4,096 tokens by 32,768 words, right for a GPU. On
  a CPU it makes several float32 copies of a tile, 537 MB each, and scores every token, prompts and
  observations included. Here tiles fit a CPU's caches, and hold scored tokens alone.
- A pass keeps about 100 bytes for each token, layer and hidden unit. Where that comes to more than
  `LARGEST_ACTIVATIONS`, each layer's are computed again in the backward pass (gradient
  checkpointing), which takes about a third longer.
- Rows differ in length, so what one pass frees seldom fits the next. `give_back_memory` returns it
  after every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from accelerate.utils import DistributedType
from transformers import TrainerCallback
from trl.kernels import chunked_logprob
from trl.trainer import utils

from trainers.models.cpu_memory import give_back_memory
from trainers.models.loading import computed_in
from trainers.models.masks import attention_masks, other_kinds
from trainers.trl_bridge.batch import IGNORED, has_signal, is_mean_over_rows, trim_padding
from trainers.trl_bridge.layout import Layout

TOKENS = 128
"""Rows of a tile. With 32,768 words it has 17 MB in float32."""
LARGEST_ACTIVATIONS = 2e9
"""Bytes of a pass beyond which they are not kept."""
_BYTES = 100
"""Kept for each token, layer and hidden unit, as measured with an adapter under bfloat16."""
Logprobs = tuple[torch.Tensor, torch.Tensor | None, torch.Tensor | None]


def split_into_passes(
    batch: dict[str, Any], max_rows: int, loss_type: str, accelerator: Any
) -> list[dict[str, Any]]:
    """Split a micro-batch into parts whose losses add up to its own.

    The longest rows come first, the ones to skip last.

    Args:
        batch: the micro-batch.
        max_rows: a part holds at most the tokens of so many of the longest rows, with padding.
        loss_type: TRL's name of the loss.
        accelerator: joins the processes, whose micro-batches have as many rows each.
    """
    lengths = batch["prompt_mask"].sum(dim=1) + batch["completion_mask"].sum(dim=1)
    order = torch.argsort(lengths * has_signal(batch), descending=True, stable=True)
    lengths = lengths[order]
    if accelerator.num_processes > 1:  # TRL gathers numbers of rows, as many from each process
        lengths = accelerator.gather(lengths[None]).amax(dim=0)
    parts = order.split(pass_sizes(lengths.tolist(), max_rows))
    return [_part_of(batch, rows.tolist(), loss_type) for rows in parts]


def pass_sizes(lengths: Sequence[int], max_rows: int) -> list[int]:
    """Return the rows per pass, whose tokens are at most those of `max_rows` longest ones."""
    max_tokens = max_rows * max(lengths)
    sizes: list[int] = []
    longest = 0
    for length in lengths:
        longest = max(longest, length)
        if not sizes or longest * (sizes[-1] + 1) > max_tokens:
            sizes.append(0)
            longest = length
        sizes[-1] += 1
    return sizes


def _part_of(batch: dict[str, Any], rows: list[int], loss_type: str) -> dict[str, Any]:
    part = {
        key: value[rows] if isinstance(value, torch.Tensor) and value.ndim else value
        for key, value in batch.items()
    }
    if is_mean_over_rows(loss_type):
        share = len(rows) / len(batch["prompt_ids"])
        part["advantages"] = part["advantages"] * share
        part["row_weights"] = part["row_weights"] * share
    return trim_padding(part)


def add_gradient(
    compute_loss: Callable[[], torch.Tensor], model: Any, accelerator: Any
) -> torch.Tensor:
    """Add the gradient of a pass before a micro-batch's last, and return its scalar loss."""
    ends_step = accelerator.sync_gradients
    accelerator.sync_gradients = False  # else TRL's control of the entropy would take a step too
    try:
        with accelerator.no_sync(model):
            loss = compute_loss()
            if accelerator.distributed_type == DistributedType.DEEPSPEED:
                # As in `Trainer.training_step`, but for the step that DeepSpeed would take.
                engine = accelerator.deepspeed_engine_wrapped
                engine.backward(loss, sync_gradients=False, scale_wrt_gas=False)
            else:
                accelerator.backward(loss)
    finally:
        accelerator.sync_gradients = ends_step
    return loss.detach()


def compact_logprobs(
    compute: Callable[..., Logprobs],
    model: Any,
    input_ids: torch.Tensor,
    attention_mask: torch.Tensor,
    logits_to_keep: int,
    batch_size: int | None = None,
    compute_aux_loss: bool = False,
    scored: torch.Tensor | None = None,
    **kwargs: Any,
) -> Logprobs:
    """Compute log-probabilities with little padding, and prompts that rows share but once.

    Args:
        compute: TRL's `_get_per_token_logps_and_entropies`, whose other arguments these are.
        model: the model.
        input_ids: (B, L).
        attention_mask: (B, L).
        logits_to_keep: C, the last columns.
        batch_size: rows at once; None takes all.
        compute_aux_loss: of a mixture of experts.
        scored: (B, C), 0 on tokens of no interest, which the head then leaves out; None takes all.
        **kwargs: further ones of TRL's.

    Returns:
        (B, C) log-probabilities, (B, C) entropies with `compute_entropy`, and the aux loss with
        `compute_aux_loss`. The first two are 0 on tokens that are not scored.
    """
    order = torch.arange(len(input_ids), device=input_ids.device)
    if batch_size is not None and batch_size < len(order):
        # Rows of like length come together, so that little is padding.
        order = torch.argsort(attention_mask.sum(dim=1), descending=True, stable=True)
    logps, entropies, aux_losses = [], [], []
    for chunk in order.split(batch_size or len(order)):
        ids, mask = input_ids[chunk], attention_mask[chunk]
        layout = pass_layout(model, ids, mask, logits_to_keep, aux_loss=compute_aux_loss)
        packed = layout.pack(ids)
        # An aux loss counts tokens by the mask; attention needs none.
        logp, entropy, aux_loss = compute(
            _Pass(model, layout, None if scored is None else scored[chunk]),
            packed,
            layout.pack(mask) if compute_aux_loss else torch.ones_like(packed),
            layout.num_kept(logits_to_keep),
            compute_aux_loss=compute_aux_loss,
            **kwargs,
        )
        logps.append(layout.unpack(logp, logits_to_keep))
        if entropy is not None:
            entropies.append(layout.unpack(entropy, logits_to_keep))
        if aux_loss is not None:
            aux_losses.append(aux_loss)
    back = torch.argsort(order)
    return (
        torch.cat(logps)[back],
        torch.cat(entropies)[back] if entropies else None,
        torch.stack(aux_losses).mean() if aux_losses else None,
    )


def pass_layout(
    model: Any,
    ids: torch.Tensor,
    mask: torch.Tensor,
    num_completion_columns: int,
    *,
    aux_loss: bool,
) -> Layout:
    """Return the layout of (B, L) rows in a pass through a model. It depends on the rows alone.

    The last columns are completions. With `aux_loss` the pass has a loss of its own that counts
    each row's tokens.
    """
    config = getattr(model, "module", model).config.get_text_config(decoder=True)
    if aux_loss or other_kinds(config) or config._attn_implementation not in ("sdpa", "eager"):
        return Layout.from_mask(mask)
    return Layout.sharing(ids, mask, ids.size(1) - num_completion_columns, config.hidden_size)


class _Pass:
    """A model under a layout that computes log-probabilities of scored tokens only."""

    def __init__(self, model: Any, layout: Layout, scored: torch.Tensor | None) -> None:
        self._model, self._layout = model, layout
        is_scored = torch.ones_like(layout.mask)
        if scored is not None:
            is_scored[:, : -scored.size(1)] = 0
            is_scored[:, -scored.size(1) :] = scored
        self._is_skipped = layout.pack(is_scored * layout.mask) == 0

    def __call__(self, *, labels: torch.Tensor, **inputs: Any) -> Any:
        distances = self._layout.distances()
        if distances is not None:
            model = getattr(self._model, "module", self._model)
            inputs["position_ids"] = self._layout.positions
            inputs["attention_mask"] = attention_masks(
                model.config.get_text_config(decoder=True), distances, computed_in(model, None)
            )
        return self._model(**inputs, labels=labels.masked_fill(self._is_skipped, IGNORED))


@contextmanager
def sampling_mode(model: Any) -> Iterator[None]:
    """Put a model into evaluation mode without gradients, and back."""
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        model.train(was_training)


def save_memory_on_cpu(trainer: Any) -> None:
    """Let a trainer on a CPU give memory back, and keep no activations of large passes."""
    if trainer.accelerator.device.type != "cpu":
        return
    trainer.add_callback(_GiveBackCallback())
    if not trainer.args.gradient_checkpointing:
        checkpoint_large_passes(trainer.accelerator.unwrap_model(trainer.model))


class _GiveBackCallback(TrainerCallback):
    """Gives free memory back to the system around the optimizer's step."""

    def on_pre_optimizer_step(self, *_args: Any, **_kwargs: Any) -> None:
        give_back_memory()

    def on_step_end(self, *_args: Any, **_kwargs: Any) -> None:
        give_back_memory()


@contextmanager
def small_tiles(device: torch.device) -> Iterator[None]:
    """Let TRL's head compute in small tiles, over scored tokens alone, where it is on a CPU."""
    if device.type != "cpu":
        yield
        return
    tokens, only_scored = chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton
    chunked_logprob.TOKEN_CHUNK_SIZE = TOKENS
    utils._use_triton = lambda _device: True  # `utils` reads it for scored tokens only
    try:
        yield
    finally:
        chunked_logprob.TOKEN_CHUNK_SIZE, utils._use_triton = tokens, only_scored


def checkpoint_large_passes(model: Any) -> None:
    """Let a model keep the activations of small passes alone, from now on.

    A model that cannot be checkpointed is left as it is.
    """
    base = model.get_base_model() if hasattr(model, "get_base_model") else model
    if not getattr(base, "supports_gradient_checkpointing", False):
        return
    base.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    layers = [module for module in base.modules() if hasattr(module, "gradient_checkpointing")]
    config = base.config.get_text_config(decoder=True)
    per_token = _BYTES * config.num_hidden_layers * config.hidden_size

    def choose(_module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        ids = kwargs.get("input_ids", args[0] if args else None)
        is_large = ids is not None and ids.numel() * per_token > LARGEST_ACTIVATIONS
        for layer in layers:
            layer.gradient_checkpointing = is_large

    base.base_model.register_forward_pre_hook(choose, with_kwargs=True)
