"""Opens the backend that a policy samples with, by the options that name it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from transformers import AutoConfig

from trainers.backends.hf import HFBackend
from trainers.models.loading import computed_in, context_length
from trainers.options.arguments import BackendArguments
from trainers.tokens.generation import Backend


def load_backend(
    args: BackendArguments,
    *,
    model: Any = None,
    source: str = "",
    dtype: str = "auto",
    max_length: int | None = None,
    autocast: Callable[[], AbstractContextManager[None]] | None = None,
) -> Backend:
    """Open a backend that samples from a loaded model and follows its training, or from files.

    Args:
        args: which backend.
        model: the policy; None where the backend holds the model itself, which `"hf"` cannot.
        source: a Hugging Face id or a folder, where there is no `model`; a server has its own.
        dtype: the precision of what is loaded from `source`.
        max_length: tokens of a sequence, at most; the model's context applies too.
        autocast: what the trainer of `model` computes under; turns are sampled in its precision,
            but by a server, which has its own.

    Raises:
        ValueError: the backend's arguments are wrong, or it needs a loaded model.
    """
    if model is not None:
        max_length = context_length(model.config, max_length)
    options = args.backend_options
    if args.backend == "vllm_server":
        from trainers.backends.vllm_server import VLLMServerBackend
        from trainers.backends.vllm_servers import VLLMServersBackend

        options |= {"model": model, "max_length": max_length}
        urls = args.server_url or []
        if len(urls) > 1:
            return VLLMServersBackend(urls, **options)
        return VLLMServerBackend(urls[0], **options)
    if args.backend == "vllm":
        from trainers.backends.vllm import VLLMBackend  # heavy, and seldom installed

        if model is not None:
            dtype = str(computed_in(model, autocast)).removeprefix("torch.")
            return VLLMBackend.of_model(model, max_length=max_length, **{"dtype": dtype, **options})
        max_length = context_length(AutoConfig.from_pretrained(source), max_length)
        return VLLMBackend(source, **{"dtype": dtype, "max_length": max_length, **options})
    if model is None:
        raise ValueError(f"backend {args.backend!r} samples from a loaded model only")
    return HFBackend(model, max_length=max_length, autocast=autocast)
