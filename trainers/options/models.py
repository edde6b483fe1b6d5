"""Names of models, a model's precision, its chat template, and the options of both.

torch is imported on demand: no parser of options does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from trainers.options.values import option, read_object

TINY = "tiny"
"""The policy of a million parameters that is shipped."""
SMOLLM2 = "smollm2"
"""SmolLM2-135M-Instruct, which is fetched when it is first named."""
SMOLLM2_TEXTCRAFT = "smollm2-textcraft"
"""`smollm2` with a shipped adapter, trained on some of TextCraft's expert episodes."""
MODEL_NAMES = (TINY, SMOLLM2, SMOLLM2_TEXTCRAFT)
START = "start"
"""The folder in a run's with the model that an adapter is trained on, where it was merged."""
BASE = "base"
"""The folder in an adapter's with its base, where resets have changed that."""

_SAME_SIZE = {"HuggingFaceTB/SmolLM2-135M-Instruct": SMOLLM2, SMOLLM2_TEXTCRAFT: SMOLLM2}
_SIZES = {(128, 4, 1465): TINY, (576, 30, 49152): SMOLLM2}
"""Width, layers and vocabulary, which training leaves as they are."""


def own_name(model: str) -> str:
    """Return the name of ours whose defaults a name or folder has, or its own name."""
    sizes = ("hidden_size", "num_hidden_layers", "vocab_size")
    config = read_config(model)
    return _SIZES.get(tuple(config.get(size, 0) for size in sizes), _SAME_SIZE.get(model, model))


def read_config(model: str) -> dict[str, Any]:
    """Return a model folder's `config.json`, or an empty dict."""
    base = adapter_base(model)
    file = Path(model if base is None else base) / "config.json"
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def adapter_base(model: str) -> str | None:
    """Return the base model of a folder with an adapter alone, or None."""
    file = Path(model) / "adapter_config.json"
    if not file.is_file() or file.with_name("config.json").is_file():
        return None
    if (file.with_name(BASE) / "config.json").is_file():
        return str(file.with_name(BASE))
    base = str(json.loads(file.read_text("utf-8"))["base_model_name_or_path"])
    if Path(base).name != START:
        return base
    # The run's folder may have been moved, and another run may have taken its place.
    own = (folder / START for folder in file.resolve().parents)
    return next((str(start) for start in own if start.is_dir()), base)


_WIDE = 512
"""Hidden units from which on bfloat16 pays on a CPU."""


def has_accelerator() -> bool:
    """Return whether torch sees a GPU or another accelerator."""
    import torch

    return torch.accelerator.is_available()


def gains_by_bfloat16(model: str) -> bool:
    """Return whether a model is trained in bfloat16 without an accelerator.

    A CPU that can multiply bfloat16 does so several times as fast as float32. A model is then
    trained and sampled from in it, unless it is too narrow to gain by it, as `tiny` is.
    """
    return not has_accelerator() and _cpu_has_bfloat16() and not _is_narrow(model)


def default_dtype(model: str) -> str:
    """Return the precision in which a model plays: bfloat16 if that is faster, or float32.

    Without the train extra, which models need, it is float32.
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
    """Set the options that depend on the device: precision, checkpointing, pinned memory."""
    args.use_cpu = args.use_cpu or not has_accelerator()
    if args.bf16 is None and args.use_cpu:
        args.bf16 = False
    if args.use_cpu:
        args.dataloader_pin_memory = False
    if args.gradient_checkpointing is None:
        args.gradient_checkpointing = not args.use_cpu


def derive_precision(model: Any, args: Any) -> None:
    """Load weights that an adapter freezes in the precision of their passes.

    Autocast lowers a frozen weight in every pass, also for each sampled token. Those that resets
    merge adapters into stay in float32, which holds small changes. The `dtype` of `model` is set,
    by the training config.
    """
    if model.dtype is None:
        is_frozen = model.use_peft and not getattr(args, "reset_adapter_every", 0)
        model.dtype = "bfloat16" if is_frozen and args.bf16 else "float32"


@dataclass
class TemplateArguments:
    """A model's chat template, by default its own."""

    common_options: ClassVar[tuple[str, ...]] = ()

    chat_template: str | None = option(None, "Jinja file of a chat template; default: the model's.")
    chat_template_kwargs: dict[str, Any] | str | None = option(
        None, "Variables of the template, as JSON: '{\"enable_thinking\": false}'."
    )

    def check_template(self) -> None:
        """Read the variables, or raise `ValueError` without a JSON object or a file."""
        if self.chat_template is not None and not Path(self.chat_template).is_file():
            raise ValueError(f"chat_template: there is no file {self.chat_template}")
        kwargs = self.chat_template_kwargs
        if isinstance(kwargs, str):
            self.chat_template_kwargs = read_object("chat_template_kwargs", kwargs)
        elif kwargs is not None and not isinstance(kwargs, dict):
            raise ValueError(f"chat_template_kwargs must be a JSON object, got {kwargs!r}")

    @property
    def has_template(self) -> bool:
        """A template beside the model's own is set, or a variable of it."""
        return bool(self.chat_template or self.chat_template_kwargs)
