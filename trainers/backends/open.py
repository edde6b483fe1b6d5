"""Chooses the backend that a policy samples with. Knows the backends' names and arguments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from trainers.options.errors import MISSING_TRAIN_EXTRA

try:
    import torch
except ImportError as error:
    raise ImportError(MISSING_TRAIN_EXTRA) from error

from trainers.backends.hf import HFBackend
from trainers.models.loading import context_length
from trainers.options.arguments import BackendArguments
from trainers.tokens.generation import Generated, Sampling


class PolicyBackend(Protocol):
    """A `GenerationBackend` that samples from one policy, trained elsewhere or not at all."""

    max_length: int | None
    """Tokens of a sequence, at most."""

    def generate(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        keys: Sequence[int],
        budgets: Sequence[int] | None = None,
    ) -> list[Generated]:
        """Continue each prompt."""

    def finish(self, keys: Sequence[int]) -> None:
        """Forget rows."""

    def reseed(self, seed: int) -> None:
        """Start the random numbers anew."""

    def follow(self, global_step: int) -> None:
        """Sample from the trained weights as they are now, after so many optimizer steps."""


class LoadedModel(HFBackend):
    """The transformers model itself, which is always up to date.

    Args:
        model: the policy.
        max_length: tokens of a sequence, at most.
        row_streams: give each row random numbers of its own (`HFBackend.seed_rows`).
    """

    def __init__(self, model: Any, *, max_length: int | None, row_streams: bool = False) -> None:
        generator = torch.Generator(device=model.device)
        super().__init__(model, generator=generator, max_length=max_length)
        self._row_streams = row_streams

    def reseed(self, seed: int) -> None:
        """Start the random numbers anew."""
        self.generator.manual_seed(seed)
        self.seed_rows(seed if self._row_streams else None)

    def follow(self, global_step: int) -> None:
        """Do nothing: the model that samples is the one that is trained."""


def open_on_model(
    args: BackendArguments, model: Any, *, max_length: int | None, row_streams: bool = False
) -> PolicyBackend:
    """Open a backend that samples from a loaded model and follows its training.

    Args:
        args: which backend.
        model: the policy.
        max_length: tokens of a sequence, at most; the model's context applies too.
        row_streams: let a row's samples not depend on its company, up to rounding (`"hf"`).

    Raises:
        ValueError: the backend's arguments are wrong.
    """
    max_length = context_length(model, max_length)
    if args.backend == "vllm":
        from trainers.backends.vllm import VLLMBackend  # heavy, and seldom installed

        return VLLMBackend.of_model(model, max_length=max_length, **args.backend_options)
    if args.backend == "vllm_server":
        from trainers.backends.vllm_server import VLLMServerBackend

        return VLLMServerBackend(
            str(args.server_url), model=model, max_length=max_length, **args.backend_options
        )
    return LoadedModel(model, max_length=max_length, row_streams=row_streams)


def open_on_files(
    args: BackendArguments, source: str, *, dtype: str, max_length: int | None
) -> PolicyBackend:
    """Open a backend that holds the model itself; transformers does not load it.

    Args:
        args: which backend; not `"hf"`.
        source: a Hugging Face id or a folder; a server's model is its own.
        dtype: the precision, where the backend loads the model.
        max_length: tokens of a sequence, at most; the model's context applies too.

    Raises:
        ValueError: the backend's arguments are wrong, or it needs a loaded model.
    """
    if args.backend == "vllm":
        from transformers import AutoConfig

        from trainers.backends.vllm import VLLMBackend

        context = getattr(AutoConfig.from_pretrained(source), "max_position_embeddings", None)
        known = [length for length in (max_length, context) if length is not None]
        return VLLMBackend(
            source,
            **{
                "dtype": dtype,
                "max_length": min(known) if known else None,
                **args.backend_options,
            },
        )
    if args.backend == "vllm_server":
        from trainers.backends.vllm_server import VLLMServerBackend

        return VLLMServerBackend(
            str(args.server_url), max_length=max_length, **args.backend_options
        )
    raise ValueError(f"backend {args.backend!r} samples from a loaded model only")
