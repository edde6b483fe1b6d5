"""Loads a policy and saves it as an ordinary Hugging Face folder."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel
from peft.helpers import disable_input_dtype_casting
from peft.tuners.tuners_utils import BaseTunerLayer
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedConfig, PreTrainedModel
from trl import get_peft_config, get_quantization_config

from agentgym_envs.core.text import counted
from agentgym_envs.errors import pip_install
from trainers.models.bases import is_saved_beside
from trainers.models.cpu_memory import bound_kernel_caches, keep_freed_memory
from trainers.models.fetched import (
    convert_gguf,
    fetch_smollm2,
    make_smollm2_textcraft,
    smollm2_folder,
    smollm2_textcraft_folder,
    tiny_folder,
)
from trainers.options.configs import ModelArguments
from trainers.options.errors import UsageError, explain_load_errors, explain_refusals
from trainers.options.models import (
    MODEL_NAMES,
    SMOLLM2,
    SMOLLM2_TEXTCRAFT,
    TINY,
    TemplateArguments,
    adapter_base,
    has_accelerator,
)
from trainers.runs.folder import explain_missing_model
from trainers.tokens.chat import ChatFormat, require_template
from trainers.tokens.template_settings import with_settings

_NAMED = {
    TINY: tiny_folder,
    SMOLLM2: lambda: str(fetch_smollm2()),
    SMOLLM2_TEXTCRAFT: lambda: str(make_smollm2_textcraft()),
}
"""Functions that return the folder of a named model."""
_ALLOWED = f"{', '.join(MODEL_NAMES)}, a folder, a GGUF file or a Hugging Face id"


def resolve_model(name: str | None) -> str:
    """Return the name or folder that Hugging Face loads, converted or fetched if need be.

    Raises `UsageError` if there is no name, no model in a run's folder, or no way to fetch it.
    """
    if not name:
        raise UsageError(f"no model is named; pass `model` with {_ALLOWED}")
    if name in _NAMED:
        return _NAMED[name]()
    if name.endswith(".gguf"):
        return str(convert_gguf(name))
    elsewhere = explain_missing_model(name)
    if elsewhere is not None:
        raise UsageError(elsewhere)
    return name


def load_policy(args: ModelArguments, template: TemplateArguments | None = None) -> tuple[Any, Any]:
    """Return the model and its tokenizer, with a padding token and the chat template.

    A folder with an adapter alone gives its base with the adapter merged into it. Raises
    `UsageError` if there is no such model, it has no such template, or its base is quantized.
    """
    name = resolve_model(args.model_name_or_path)
    with _explain(name):
        tokenizer = _load_own_tokenizer(name, args, template)
        return _load_trainable(name, args, template), tokenizer


def _load_trainable(name: str, args: ModelArguments, template: Any = None) -> Any:
    """Load a model that is trained, without its tokenizer, as `load_policy` does."""
    base = adapter_base(name)
    if base is None:
        return _load_model(name, args, template)
    if args.load_in_4bit or args.load_in_8bit:
        raise UsageError(
            f"{name} holds an adapter alone, which cannot be merged into a quantized base to be "
            "trained further; leave load_in_4bit and load_in_8bit out"
        )
    model = _load_model(base, args, template)
    merged = PeftModel.from_pretrained(model, name).merge_and_unload()
    merged.is_merged = True
    return merged.requires_grad_(True)  # peft had frozen the base


def check_named(name: str) -> None:
    """Load a model's tokenizer, the smallest part, or raise `UsageError`."""
    with _explain(name):
        AutoTokenizer.from_pretrained(name)


def check_loaded(model: Any) -> None:
    """Raise `TypeError` unless an object is a model that generates text."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model must be {_ALLOWED}, or a loaded model, got {model!r:.60}")
    if isinstance(model, PreTrainedModel) and not model.can_generate():
        kind = type(model).__name__
        raise TypeError(f"a {kind} writes no text; load it by AutoModelForCausalLM")


def checked_model(model: Any) -> Any:
    """Return a model, loaded or by its name or folder, that TRL can take.

    TRL would load the folder of an adapter alone with the adapter beside the weights. Raises as
    `check_loaded` and `check_named`.
    """
    if not isinstance(model, str):
        check_loaded(model)
        return model
    model = resolve_model(model)
    if adapter_base(model) is None:
        check_named(model)
        return model
    with _explain(model):
        return _load_trainable(model, ModelArguments())


def _explain(name: str) -> AbstractContextManager[None]:
    return explain_load_errors(name, names=MODEL_NAMES, otherwise=_ALLOWED)


def load_for_playing(
    args: ModelArguments, template: TemplateArguments | None = None
) -> tuple[Any, Any]:
    """Load a policy that only plays: on the accelerator if there is one, in evaluation mode.

    `template` may be a training config, whose `use_cpu` forbids the accelerator.
    """
    name = resolve_model(args.model_name_or_path)
    tokenizer = _load_own_tokenizer(name, args, template)
    model = _load_model(name, args, template)
    quantized = args.load_in_4bit or args.load_in_8bit
    if has_accelerator() and not quantized and not getattr(template, "use_cpu", False):
        model = model.to(torch.accelerator.current_accelerator())
    return model.eval(), tokenizer


def with_tokenizer(model: Any, tokenizer: Any = None, args: Any = None) -> tuple[Any, Any]:
    """Return a model and its tokenizer, loading those that are not there yet.

    `model` is loaded, or a name or folder. `args` is the training config with the chat template of
    `use_template`. Raises `UsageError` if there is no such model or template, or the loaded model
    names no tokenizer.
    """
    if isinstance(model, str):
        if tokenizer is None:
            return load_policy(ModelArguments(model_name_or_path=model), args)
        name = resolve_model(model)
        with _explain(name):
            model = _load_trainable(name, ModelArguments(), args)
    check_loaded(model)
    _set_up_memory(args)
    if tokenizer is None:
        name = getattr(model.config, "_name_or_path", "")
        if not name:
            raise UsageError(
                "the model was made here and names no tokenizer; pass processing_class="
            )
        tokenizer = load_tokenizer(name)
    use_template(tokenizer, args)
    return model, tokenizer


def load_tokenizer(
    name: str, template: TemplateArguments | None = None, *, revision: str | None = None
) -> Any:
    """Load a model's tokenizer, with a padding token and its chat template.

    A folder with an adapter and no tokenizer has its base's. Raises `UsageError` as `use_template`.
    """
    base = adapter_base(name)
    if base is not None and not (Path(name) / "tokenizer_config.json").is_file():
        name = base
    tokenizer = AutoTokenizer.from_pretrained(name, revision=revision)
    if tokenizer.pad_token is None:
        tokenizer.pad_token = tokenizer.eos_token
    if template is not None:
        use_template(tokenizer, template)
    return tokenizer


def use_template(tokenizer: Any, args: Any) -> None:
    """Set a tokenizer's chat template, and its variables, from options that name them.

    Both are part of the tokenizer that is saved. `args` is `TemplateArguments`, or TRL's config,
    which may have `chat_template_kwargs`. Raises `UsageError` for no template, or an unread
    variable.
    """
    file = getattr(args, "chat_template", None)
    kwargs = getattr(args, "chat_template_kwargs", None)
    try:
        if file is not None:
            tokenizer.chat_template = Path(file).read_text(encoding="utf-8-sig")
        if file is not None or kwargs:
            tokenizer.chat_template = with_settings(require_template(tokenizer), kwargs or {})
            ChatFormat.from_tokenizer(tokenizer)
    except (OSError, ValueError) as error:
        raise UsageError(f"`chat_template={file}`: {error}" if file else str(error)) from error


def _load_own_tokenizer(name: str, args: ModelArguments, template: Any) -> Any:
    """Load the tokenizer of a model that can converse, or raise `UsageError`."""
    tokenizer = load_tokenizer(name, template, revision=args.model_revision)
    try:
        ChatFormat.from_tokenizer(tokenizer)
    except ValueError as error:
        raise UsageError(f"the model {name!r} cannot be played with: {error}") from error
    return tokenizer


def _load_model(name: str, args: ModelArguments, template: Any) -> Any:
    for option in ("load_in_4bit", "load_in_8bit"):
        if getattr(args, option) and importlib.util.find_spec("bitsandbytes") is None:
            raise UsageError(f"{option} needs bitsandbytes: {pip_install('bitsandbytes')}")
    kwargs: dict[str, Any] = {"revision": args.model_revision, "dtype": args.dtype or "float32"}
    if args.attn_implementation is not None:
        kwargs["attn_implementation"] = args.attn_implementation
    quantization = get_quantization_config(args)
    if quantization is not None:
        kwargs["quantization_config"] = quantization
    _set_up_memory(template)
    base = adapter_base(name)
    try:
        with explain_refusals(ImportError):
            model = AutoModelForCausalLM.from_pretrained(name if base is None else base, **kwargs)
            if base is not None:  # by itself transformers takes the path that the adapter names
                model.load_adapter(name)
            return model
    except SafetensorError as error:
        raise UsageError(
            f"the weights in {name} are damaged ({error}); remove the folder and make it again"
        ) from error


def _set_up_memory(args: Any) -> None:
    """Set the process's memory up for a model on a CPU, before its first product."""
    bound_kernel_caches()
    if not has_accelerator() or getattr(args, "use_cpu", False):
        keep_freed_memory()


def adapter_config(args: ModelArguments) -> Any:
    """Return peft's LoRA config, or None without `--use_peft`."""
    with explain_refusals():
        return get_peft_config(args)


def inputs_left_to_autocast(model: Any, lowered: bool) -> AbstractContextManager[None]:
    """Let a LoRA adapter take its inputs as they come, if passes are computed under autocast.

    peft raises each input to the float32 of the adapter's weights, which autocast undoes at once.
    The numbers are the same without, and the copies are a fifth of a decoding step.
    """
    return disable_input_dtype_casting(model, lowered)


def computed_in(
    model: Any, autocast: Callable[[], AbstractContextManager[None]] | None
) -> torch.dtype:
    """Return the precision of a model's passes under a trainer's autocast."""
    with autocast() if autocast is not None else nullcontext():
        kind = model.device.type
        lowered = torch.is_autocast_enabled(kind)
        dtype: torch.dtype = torch.get_autocast_dtype(kind) if lowered else model.dtype
    return dtype


def describe_policy(
    model: Any, autocast: Callable[[], AbstractContextManager[None]] | None = None
) -> str:
    """Return in words a loaded model's name, size and precision, and where it computes."""
    name = str(getattr(model.config, "_name_or_path", ""))
    folders = {
        tiny_folder(): TINY,
        str(smollm2_folder()): SMOLLM2,
        str(smollm2_textcraft_folder()): SMOLLM2_TEXTCRAFT,
    }
    name = folders.get(name, name) or type(model).__name__
    parameters = list(model.parameters())
    count = sum(parameter.numel() for parameter in parameters)
    trained = sum(parameter.numel() for parameter in parameters if parameter.requires_grad)
    size = f"{_rounded(count)} parameters"
    if 0 < trained < count:
        size += f", {_rounded(trained)} of them trained"
    own, used = (
        str(dtype).removeprefix("torch.") for dtype in (model.dtype, computed_in(model, autocast))
    )
    precision = own if own == used else f"{own} computed in {used}"
    place = str(model.device)
    if place == "cpu":
        place += f" by {counted(torch.get_num_threads(), 'thread')}"
    return f"{name}: {size}, {precision} on {place}"


def _rounded(count: int) -> str:
    """Return a count in two digits, such as 1.1M or 3.1B."""
    digits = f"{count:.1e}"
    for unit, name in ((1e9, "B"), (1e6, "M"), (1e3, "K")):
        if float(digits) >= unit:
            return f"{float(digits) / unit:g}{name}"
    return str(count)


def context_length(config: PreTrainedConfig, limit: int | None) -> int | None:
    """Return the tokens an episode may have: `limit` or the model's context, the smaller one.

    The context of a model with longrope positions (arXiv 2402.13753) is the one it was first
    trained on: one longer row changes the positions, and so the probabilities, of its whole batch.
    """
    config = config.get_text_config(decoder=True)
    rope = getattr(config, "rope_parameters", None) or {}
    by_layer = [rope] if "rope_type" in rope else rope.values()  # or a dict per kind of layer
    known = [limit, getattr(config, "max_position_embeddings", None)]
    known += [
        parameters["original_max_position_embeddings"]
        for parameters in by_layer
        if parameters["rope_type"] == "longrope"
    ]
    return min((length for length in known if length is not None), default=None)


def save_policy(model: Any, tokenizer: Any, folder: str | Path) -> None:
    """Save a model and its tokenizer as an ordinary Hugging Face folder.

    A LoRA adapter is merged into its base, and lies unmerged in `adapter/` beside it, unless resets
    have left in it the last steps alone. On a quantized base, which cannot be merged without loss,
    only the adapter is saved.
    """
    folder = Path(folder)
    if hasattr(model, "merge_and_unload"):
        if getattr(model, "is_quantized", False):
            model.save_pretrained(folder)
            tokenizer.save_pretrained(folder)
            return
        if not is_saved_beside(model):
            model.save_pretrained(folder / "adapter")
        _untie_adapted(model.get_base_model())
        model = model.merge_and_unload()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _untie_adapted(model: Any) -> None:
    """Untie head and embedding before an adapter is merged into one of them.

    Merged into the shared weight, it would change the other as well.
    """
    embedding, head = model.get_input_embeddings(), model.get_output_embeddings()
    is_adapted = any(isinstance(layer, BaseTunerLayer) for layer in (embedding, head))
    if is_adapted and model.config.tie_word_embeddings:
        layer = head.get_base_layer() if isinstance(head, BaseTunerLayer) else head
        layer.weight = torch.nn.Parameter(layer.weight.detach().clone(), requires_grad=False)
        model.config.tie_word_embeddings = False
