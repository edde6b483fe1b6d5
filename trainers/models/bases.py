"""Bases of LoRA adapters that lie nowhere else: merged at a training's start, or at a reset.

A reset is that of ReLoRA (arXiv 2307.05695, algorithm 1): an adapter is merged into its base and
begins anew, with its part of the optimizer's state. Deviations:
1. All of that state is dropped. ReLoRA prunes 99% of it.
2. The learning rate's schedule goes on. ReLoRA's begins at 0 again. Adapter and optimizer are then
   as at the start of the run, where a constant rate is not warmed up either.
"""

from __future__ import annotations

import logging
import re
import shutil
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel, PeftType
from peft.tuners.lora.layer import LoraLayer
from peft.tuners.tuners_utils import BaseTunerLayer
from peft.utils.other import AuxiliaryTrainingWrapper
from transformers import AutoModelForCausalLM, TrainerCallback

from agentgym_envs.content.files import atomic_folder
from trainers.options.errors import UsageError
from trainers.options.models import BASE

logger = logging.getLogger(__name__)

_WRAPPED = re.compile(r"\.(base_layer|original_module)(?=\.)")
"""A layer within peft's, once for each of its adapted parameters."""


# A base that an adapter was merged into before training ------------------------------------------


def keep_merged_start(
    model: Any, tokenizer: Any, folder: Path, *, is_resumed: bool, write: bool
) -> None:
    """Save the merged model that an adapter is trained on, which lies nowhere else.

    The adapter names the saved folder as its base: on the base of the merged one it would be
    another policy. An earlier run's folder is replaced. A resumed run loads it, whatever became of
    the first adapter's folder. Only the process with `write` saves.
    """
    if not isinstance(model, PeftModel) or not getattr(model.get_base_model(), "is_merged", False):
        return
    _name_base(model, folder)
    if is_resumed and folder.is_dir():
        _load_weights(model, folder)
    elif write:
        _save_weights(model, tokenizer, folder)


# A base that resets change -----------------------------------------------------------------------


def is_saved_beside(model: Any) -> bool:
    """Return whether the base of a model's adapter is saved with it, since resets change it."""
    return isinstance(model, PeftModel) and hasattr(model.get_base_model(), "is_saved_beside")


def save_base(model: Any, tokenizer: Any, folder: Path, *, write: bool) -> None:
    """Save a base that `is_saved_beside` its adapter, which then names it.

    Only the process with `write` saves.
    """
    if is_saved_beside(model):
        _name_base(model, folder / BASE)
        if write:
            _save_weights(model, tokenizer, folder / BASE)


def load_base(model: Any, folder: Path) -> None:
    """Load the base in an adapter's folder, if there is one.

    Raises:
        UsageError: there is none, and resets have changed the model's.
    """
    if not isinstance(model, PeftModel):
        return
    if (folder / BASE).is_dir():
        _load_weights(model, folder / BASE)
        model.get_base_model().is_saved_beside = True
    elif is_saved_beside(model):
        raise UsageError(
            f"{folder} was saved without `reset_adapter_every`, so it holds no base for its "
            "adapter; resume without the option, or name the folder as the model of a new run"
        )


def check_resets(trainer: Any) -> None:
    """Check that a trainer's adapter can be merged into its base, which is then saved with it.

    Raises:
        UsageError: there is no LoRA adapter, the base is quantized or split over processes, or the
            adapter has parts that cannot be merged.
    """
    model = trainer.accelerator.unwrap_model(trainer.model)
    obstacle = _obstacle(model, is_split=trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled)
    if obstacle is not None:
        every = trainer.args.reset_adapter_every
        merging = f"reset_adapter_every={every} merges a LoRA adapter into its base"
        raise UsageError(f"{merging}, {obstacle}")
    base = model.get_base_model()
    if base.dtype != torch.float32:
        logger.warning(
            "--reset_adapter_every merges adapters into weights in %s, which lose their smallest "
            "changes at every reset; --dtype float32 keeps them",
            str(base.dtype).removeprefix("torch."),
        )
    base.is_saved_beside = True


def _obstacle(model: Any, *, is_split: bool) -> str | None:
    """Return in words, with the remedy, why an adapter cannot be merged, or None if it can."""
    if not isinstance(model, PeftModel) or any(
        config.peft_type != PeftType.LORA for config in model.peft_config.values()
    ):
        return (
            "and none is trained here; train one (`ModelArguments.use_peft`, or "
            "peft_config=LoraConfig(...) in Python), or leave `reset_adapter_every` out"
        )
    if getattr(model.get_base_model(), "is_quantized", False):
        return (
            "which loses precision where that is quantized; leave out "
            "`ModelArguments.load_in_4bit` and `ModelArguments.load_in_8bit`, or "
            "`reset_adapter_every`"
        )
    if is_split:
        return (
            "which FSDP and DeepSpeed have split over processes; launch with plain data "
            "parallelism (accelerate's MULTI_GPU), or leave `reset_adapter_every` out"
        )
    if not _is_plain(model):
        return (
            "which is not possible for a tied head or embedding, nor for modules that are trained "
            "whole, nor exactly for DoRA; leave lm_head and embed_tokens out of "
            "`ModelArguments.lora_target_modules`, and leave out "
            "`ModelArguments.lora_modules_to_save` and `ModelArguments.use_dora`"
        )
    return None


def _is_plain(model: PeftModel) -> bool:
    """Return whether every part of an adapter is a sum with a weight that no other layer has."""
    base = model.get_base_model()
    ends = (base.get_input_embeddings(), base.get_output_embeddings())
    is_tied = base.config.get_text_config(decoder=True).tie_word_embeddings
    if is_tied and any(isinstance(end, BaseTunerLayer) for end in ends):
        return False
    return not any(
        isinstance(module, AuxiliaryTrainingWrapper) or getattr(module, "lora_variant", None)
        for module in model.modules()
    )


class AdapterResets(TrainerCallback):  # type: ignore[misc]
    """Merges the adapter and begins a new one every `reset_adapter_every` optimizer steps.

    The optimizer forgets the adapter's parameters, and those alone: a critic's are kept.
    """

    def on_step_end(
        self,
        args: Any,
        state: Any,
        control: Any,
        *,
        model: Any = None,
        optimizer: Any = None,
        **_kwargs: Any,
    ) -> None:
        """Reset after a step, before it is logged, evaluated and saved."""
        if state.global_step % args.reset_adapter_every:
            return
        reset_adapter(model, seed=args.seed + state.global_step)
        for parameter in model.parameters():
            if parameter.requires_grad:
                optimizer.state.pop(parameter, None)


@torch.no_grad()
def reset_adapter(model: PeftModel, *, seed: int) -> None:
    """Merge a model's active LoRA adapter into its base, and initialize all of its adapters.

    The model's function is the same but for rounding. The parameters are initialized in place, as
    peft does by default, with random numbers of their own: the same in every process, and after a
    resume.
    """
    model.merge_adapter()
    kind = model.device.type
    count = 0 if kind == "cpu" else torch.accelerator.device_count()
    with torch.random.fork_rng(range(count), device_type=kind):
        torch.manual_seed(seed)
        for layer in model.modules():
            if isinstance(layer, LoraLayer):
                layer.merged_adapters.clear()  # peft would take them out of the base again
                for name in model.peft_config:
                    layer.reset_lora_parameters(name, True)


# Both --------------------------------------------------------------------------------------------


def _name_base(model: PeftModel, folder: Path) -> None:
    for config in model.peft_config.values():
        config.base_model_name_or_path = str(folder.resolve())


def _save_weights(model: PeftModel, tokenizer: Any, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with atomic_folder(folder) as draft:
        model.get_base_model().save_pretrained(draft, state_dict=_without_adapter(model))
        tokenizer.save_pretrained(draft)


def _load_weights(model: PeftModel, folder: Path) -> None:
    dtype = model.get_base_model().dtype
    saved = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype).state_dict()
    for name, weight in _without_adapter(model).items():
        weight.copy_(saved[name])


def _without_adapter(model: PeftModel) -> dict[str, torch.Tensor]:
    """Return the weights of a model under an adapter, by their own names."""
    own, prefix = {}, model.base_model.prefix
    for name, weight in model.get_base_model().state_dict().items():
        if prefix not in name and ".modules_to_save." not in name:
            own[_WRAPPED.sub("", name)] = weight
    return own
