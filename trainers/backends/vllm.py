"""Samples turns with a vLLM engine in this process.

vLLM keeps the keys and values of what it has seen (prefix caching), so the rows' names are not
needed and a turn costs its new tokens.
"""

from __future__ import annotations

import copy
import logging
import math
import os
import random
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch

from agentgym_envs.errors import needs_extra

# Its own level is INFO, some hundred lines at every start.
os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
with needs_extra("vllm", "the vLLM backend (without a GPU see docs/reference/backends.md)"):
    from vllm import LLM, SamplingParams
    from vllm.config.lora import MaxLoRARanks
    from vllm.exceptions import VLLMValidationError
    from vllm.lora.request import LoRARequest
    from vllm.platforms import current_platform

from trainers.backends.weights import named_weights, servable_base, weights_version
from trainers.tokens.generation import Generated, Sampling
from trainers.tokens.seeds import TurnSeeds

logger = logging.getLogger(__name__)

_EXTENSION = "trainers.backends.vllm_worker.PolicyWorker"
_CPU_BLOCK = 32
"""Tokens of a cached block. vLLM's 128 on a CPU would share nothing between short turns."""

_CPU_CACHE_BYTES = 2**30


class VLLMBackend:
    """`Backend` on vLLM, on CUDA or with vLLM's CPU build.

    Logprobs are those of the distribution that is sampled from (vLLM's `processed_logprobs`):
    after temperature, min-p, top-k and top-p. Every turn has a seed of its own, so samples depend
    on nothing else in the batch, rounding apart.

    Args:
        source: a Hugging Face id or folder; the weights come from there.
        dtype: the engine's precision.
        max_length: tokens of a sequence, at most; None takes the model's context.
        **engine: further arguments of `vllm.LLM`.
    """

    def __init__(
        self, source: str, *, dtype: str = "auto", max_length: int | None = None, **engine: Any
    ) -> None:
        self.model: Any = None
        self._adapters: tempfile.TemporaryDirectory[str] | None = None  # where one goes alone
        self._request: LoRARequest | None = None  # of the present adapter
        self._loaded_version: tuple[int, int] | None = None
        self._seeds = TurnSeeds()
        # Weights are handed over by reference, so the engine must run in this process.
        os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
        defaults: dict[str, Any] = {
            "dtype": dtype,
            "max_model_len": max_length,
            "enable_prefix_caching": True,
        }
        if current_platform.is_cpu():
            defaults["block_size"] = _CPU_BLOCK
            defaults["kv_cache_memory_bytes"] = _CPU_CACHE_BYTES
            defaults["enforce_eager"] = True  # compiling takes minutes there
            # It ends where a prompt that is sampled by a seed is read in parts (vLLM 0.31).
            defaults["enable_chunked_prefill"] = False
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            # One engine per training process, on that process's device.
            defaults["distributed_executor_backend"] = "external_launcher"
        with _preserve_global_generators():
            self.engine = LLM(
                model=source,
                **{**defaults, **engine},
                skip_tokenizer_init=True,
                generation_config="vllm",
                logprobs_mode="processed_logprobs",
                worker_extension_cls=_EXTENSION,
            )
        self.max_length: int | None = self.engine.model_config.max_model_len

    @classmethod
    def from_model(cls, model: Any, *, max_length: int | None = None, **engine: Any) -> VLLMBackend:
        """Open an engine that follows a model in training, in its precision.

        By default it takes 0.3 of the device's memory. `engine` holds arguments of `vllm.LLM`. With
        `enable_lora` among them it reads the base from its files and follows the adapter alone,
        unless an engine would compute that otherwise: it is then merged, with a warning.
        """
        base = model.get_base_model() if hasattr(model, "get_base_model") else model
        defaults: dict[str, Any] = {"dtype": str(base.dtype).removeprefix("torch.")}
        if not current_platform.is_cpu():
            defaults["gpu_memory_utilization"] = 0.3
        if engine.get("enable_lora"):
            source = servable_base(model)
            if source is not None:
                config = model.peft_config[model.active_adapters[0]]
                defaults |= {"max_lora_rank": _engine_rank(config.r), "max_loras": 1}
                defaults["revision"] = getattr(base.config, "_commit_hash", None)
                backend = cls(source, max_length=max_length, **{**defaults, **engine})
                backend._adapters = tempfile.TemporaryDirectory()
                backend.model = model
                return backend
            logger.warning(
                "the engine gets merged weights: `enable_lora` needs one plain LoRA adapter on the "
                "weights of a folder or hub id"
            )
            engine = {name: value for name, value in engine.items() if "lora" not in name}
        config = copy.deepcopy(base.config)
        config.architectures = config.architectures or [type(base).__name__]
        with tempfile.TemporaryDirectory() as folder:
            # The weights are the trained model's: its files, if it has any, may be older.
            config.save_pretrained(folder)
            backend = cls(
                folder,
                max_length=max_length,
                **{**defaults, **engine, "load_format": "dummy"},
            )
        backend.model = model
        return backend

    def generate(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        keys: Sequence[int] | None = None,
        budgets: Sequence[int] | None = None,
    ) -> list[Generated]:
        """Continue each prompt, as in `Backend.generate`.

        Raises:
            ValueError: vLLM refuses a prompt beyond `max_length`, or a temperature above 2.
            FloatingPointError: the model's logits are not finite.
        """
        limits = [sampling.max_new_tokens] * len(prompts) if budgets is None else budgets
        seeds = self._seeds.next(range(len(prompts)) if keys is None else keys)
        try:
            params = [
                SamplingParams(
                    max_tokens=min(limit, sampling.max_new_tokens),
                    **sampling.vllm_options,
                    seed=seed,
                    stop_token_ids=list(sampling.stop_ids),
                    ignore_eos=True,
                    logprobs=0,
                    detokenize=False,
                )
                for limit, seed in zip(limits, seeds, strict=True)
            ]
            outputs = self.engine.generate(
                [{"prompt_token_ids": prompt} for prompt in prompts],
                params,
                use_tqdm=False,
                lora_request=self._request,
            )
        except VLLMValidationError as error:
            raise ValueError(str(error)) from error
        return [_turn(output.outputs[0], sampling) for output in outputs]

    def finish(self, keys: Sequence[int]) -> None:
        """Forget the rows' names. vLLM itself frees the least recently used blocks."""
        self._seeds.forget(keys)

    def reseed(self, seed: int) -> None:
        """Restart the random numbers."""
        self._seeds = TurnSeeds(seed)

    def sync_weights(self, global_step: int) -> None:
        """Load the trained model's weights, if they have changed since the last time.

        Raises:
            RuntimeError: vLLM did not drop the keys and values of the old weights.
        """
        if self.model is None:
            return
        version = (global_step, weights_version(self.model))
        if version == self._loaded_version:
            return
        if self._adapters is not None:
            self._take_adapter(Path(self._adapters.name))
        else:
            self._take_weights()
        self._loaded_version = version

    def _take_weights(self) -> None:
        with torch.no_grad():
            self.engine.collective_rpc("load_policy_weights", args=(named_weights(self.model),))
        if not self.engine.reset_prefix_cache():
            raise RuntimeError(
                "vLLM did not drop the keys and values of the old weights: it is still sampling"
            )

    def _take_adapter(self, folder: Path) -> None:
        """Add the adapter by a new name, to which nothing in the prefix cache belongs.

        The engine has room for one, so it drops the old one.
        """
        old, number = self._request, 1
        if old is not None:
            shutil.rmtree(old.lora_path)
            number = old.lora_int_id + 1
        saved = folder / f"adapter-{number}"
        self.model.save_pretrained(saved, save_embedding_layers=False)
        self._request = LoRARequest(saved.name, number, str(saved))

    def close(self) -> None:
        """Free the engine's memory."""
        self.engine.llm_engine.engine_core.shutdown()
        if self._adapters is not None:
            self._adapters.cleanup()


def _engine_rank(rank: int) -> int:
    """Return the smallest of vLLM's ranks that an adapter fits in."""
    sizes = get_args(MaxLoRARanks)
    return next((size for size in sizes if size >= rank), sizes[-1])


def _turn(output: Any, sampling: Sampling) -> Generated:
    ids = list(output.token_ids)
    logprobs = [step[id_].logprob for step, id_ in zip(output.logprobs, ids, strict=True)]
    if not all(map(math.isfinite, logprobs)):
        raise FloatingPointError(
            "vLLM's logits are not finite; the weights have diverged or overflow its precision: "
            "lower the learning rate, or take another dtype for the engine"
        )
    return Generated(ids, logprobs, bool(ids) and ids[-1] in sampling.stop_ids)


@contextmanager
def _preserve_global_generators() -> Iterator[None]:
    """Restore the global random numbers, which vLLM seeds when it starts."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])
