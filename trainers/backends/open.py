"""Opens the backend that a policy samples with, by the options that name it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from transformers import AutoConfig

from trainers.backends.hf import HFBackend
from trainers.models.loading import computed_in, context_length
from trainers.options.arguments import EpisodeArguments
from trainers.options.backends import ModelSource
from trainers.tokens.generation import Backend


def load_backend(args: EpisodeArguments, source: ModelSource) -> Backend:
    """Open the backend that `args` name, on a loaded model or on the source's files.

    Raises `ValueError` if its arguments are wrong, or it needs a loaded model.
    """
    spec, options = args.backend_spec, args.backend_options
    if source.model is not None:
        length = context_length(source.model.config, source.max_length)
        source = replace(source, max_length=length)
    elif spec.samples_from_model:
        raise ValueError(f"backend {spec.name!r} samples from a loaded model only")
    if spec.takes_server_url:
        options |= {"urls": args.server_url or []}
    return spec.opener()(source, **options)


def open_hf(source: ModelSource) -> Backend:
    """Return a backend on the loaded model."""
    return HFBackend(source.model, max_length=source.max_length, autocast=source.autocast)


def open_vllm(source: ModelSource, **engine: Any) -> Backend:
    """Return a vLLM engine in this process, with further arguments of `vllm.LLM`."""
    from trainers.backends.vllm import VLLMBackend  # heavy, and seldom installed

    length = source.max_length
    if source.model is not None:
        dtype = str(computed_in(source.model, source.autocast)).removeprefix("torch.")
        return VLLMBackend.from_model(source.model, max_length=length, **{"dtype": dtype, **engine})
    length = context_length(AutoConfig.from_pretrained(source.path), length)
    return VLLMBackend(source.path, **{"dtype": source.dtype, "max_length": length, **engine})


def open_vllm_server(source: ModelSource, *, urls: Sequence[str], **client: Any) -> Backend:
    """Return the client of one vLLM server or of several.

    The servers follow the weights of `source.model`, if there is one. `client` holds further
    arguments of `VLLMServerBackend`.
    """
    from trainers.backends.vllm_server import VLLMServerBackend
    from trainers.backends.vllm_servers import VLLMServersBackend

    client |= {"model": source.model, "max_length": source.max_length}
    if len(urls) > 1:
        return VLLMServersBackend(urls, **client)
    return VLLMServerBackend(urls[0], **client)
