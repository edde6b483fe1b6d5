"""Where a model computes, and in which precision, unless options say so.

torch is imported when it is asked: no parser of options does.
"""

from __future__ import annotations

from typing import Any

from trainers.options.model_names import TINY, read_config

_WIDE = 512
"""Hidden units from which on bfloat16 pays on a CPU."""


def has_accelerator() -> bool:
    """Return whether torch sees a GPU or another accelerator."""
    import torch

    return torch.accelerator.is_available()


def gains_by_bfloat16(model: str) -> bool:
    """Return whether a model is trained in bfloat16 where there is no accelerator.

    A CPU that can multiply bfloat16 does so several times as fast as float32. There a model is
    trained and sampled from in it, unless it is too narrow to gain by it, as `tiny` is.

    Args:
        model: the model's name, as given.
    """
    return not has_accelerator() and _cpu_has_bfloat16() and not _is_narrow(model)


def default_dtype(model: str) -> str:
    """Return the precision in which a model plays: bfloat16 where that is the faster one.

    Args:
        model: the model's name, as given. Without the train extra, which no model is opened
            without, it is float32.
    """
    try:
        from transformers.utils import is_torch_bf16_gpu_available
    except ImportError:
        return "float32"
    on_accelerator = is_torch_bf16_gpu_available() and not _is_narrow(model)
    return "bfloat16" if on_accelerator or gains_by_bfloat16(model) else "float32"


def _is_narrow(model: str) -> bool:
    width: int = read_config(model).get("hidden_size", _WIDE)
    return model == TINY or width < _WIDE


def _cpu_has_bfloat16() -> bool:
    import torch

    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name) for name in ("amx_bf16", "avx512_bf16", "bf16"))


def derive_device(args: Any) -> None:
    """Fill in what depends on the device: precision, checkpointing, pinned memory."""
    args.use_cpu = args.use_cpu or not has_accelerator()
    if args.bf16 is None and args.use_cpu:
        args.bf16 = False
    if args.use_cpu:
        args.dataloader_pin_memory = False
    if args.gradient_checkpointing is None:
        args.gradient_checkpointing = not args.use_cpu


def derive_precision(model: Any, args: Any) -> None:
    """Load weights that an adapter freezes in the precision that they are computed in.

    Autocast lowers a frozen weight anew in every pass, each sampled token's included.

    Args:
        model: the options of the model; its `dtype` is filled in.
        args: the training config.
    """
    if model.dtype is None:
        model.dtype = "bfloat16" if model.use_peft and args.bf16 else "float32"
