"""A LoRA adapter alone against merged weights, sent to vLLM servers and sampled with."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Qwen2Config, Qwen2ForCausalLM

from lab.throughput.measure import Row, Side, Stopwatch, compare
from lab.vllm_process import VLLMProcess
from trainers.backends.vllm_server import VLLMServerBackend
from trainers.models.loading import load_policy
from trainers.options.configs import ModelArguments
from trainers.tokens.generation import Sampling

_ROWS, _PROMPT, _SAMPLED = 8, 64, 16
_MOST_REPEATS = 5


class _Served:
    """A server that follows a policy, once it is connected.

    Args:
        base: the folder that it serves.
        policy: the model in training.
        folder: for its log and what is sent.
        adapters: it takes the adapter alone.
    """

    def __init__(self, base: Path, policy: Any, folder: Path, *, adapters: bool) -> None:
        self.policy, self.sent = policy, folder / "weights"
        self.server = VLLMProcess(
            base, folder / "log", max_length=1024, dtype="bfloat16", adapters=adapters
        )
        self.step = 0

    def connect(self) -> None:
        """Wait until the server answers."""
        self.server.wait()
        self.backend = VLLMServerBackend(
            self.server.url, model=self.policy, weights_dir=str(self.sent)
        )

    def send(self, watch: Stopwatch) -> None:
        """Send the weights of a further optimizer step, and wait until they are there."""
        self.step += 1
        with torch.no_grad():
            for name, weight in self.policy.named_parameters():
                if "lora_" in name:
                    weight.add_(1e-4 * torch.randn_like(weight))
        with watch.running():
            self.backend.sync_weights(self.step)
        watch.units += 1

    def sample(self, watch: Stopwatch) -> None:
        """Sample turns from prompts that the server has not seen."""
        draws = random.Random(self.step)
        self.step += 1
        prompts = [[draws.randrange(1000) for _ in range(_PROMPT)] for _ in range(_ROWS)]
        with watch.running():
            turns = self.backend.generate(prompts, Sampling(_SAMPLED))
        watch.units += sum(len(turn.ids) for turn in turns)

    @property
    def megabytes(self) -> float:
        """Size of the weights that are sent at a time."""
        newest = max(self.sent.rglob("*.safetensors"), key=lambda path: path.stat().st_mtime)
        return round(newest.stat().st_size / 1e6, 1)


def adapter_rows(repeats: int) -> Iterator[Row]:
    """Measure a transfer, then sampling, of a model of Qwen2.5-0.5B's shape."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        base = _base(folder / "base")
        model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16)
        policy = get_peft_model(
            model, LoraConfig(r=16, target_modules="all-linear", init_lora_weights="gaussian")
        )
        served: list[_Served] = []
        try:
            for name in ("adapter", "merged"):
                (folder / name).mkdir()
                served.append(_Served(base, policy, folder / name, adapters=name == "adapter"))
            for one in served:
                one.connect()
            alone, merged = served
            row = compare(
                "adapters",
                Side("transfer of an adapter of rank 16, 0.5B", "transfers", alone.send),
                Side("of the merged weights", "transfers", merged.send),
                repeats=min(repeats, _MOST_REPEATS),
            )
            row.notes.update(megabytes=alone.megabytes, merged_megabytes=merged.megabytes)
            yield row
            yield compare(
                "adapters",
                Side("sampling, the adapter beside the base", "tokens", alone.sample),
                Side("with merged weights", "tokens", merged.sample),
                repeats=min(repeats, _MOST_REPEATS),
                rows=_ROWS, prompt=_PROMPT, sampled=_SAMPLED,
            )  # fmt: skip
        finally:
            for one in served:
                one.server.kill()


def _base(folder: Path) -> Path:
    """Write random weights in bfloat16 of Qwen2.5-0.5B's shape, and `tiny`'s tokenizer."""
    config = Qwen2Config(
        vocab_size=151_936, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
        num_attention_heads=14, num_key_value_heads=2, tie_word_embeddings=True,
    )  # fmt: skip
    Qwen2ForCausalLM(config).bfloat16().save_pretrained(folder)
    _, tokenizer = load_policy(ModelArguments(model_name_or_path="tiny"))
    tokenizer.save_pretrained(folder)
    return folder
