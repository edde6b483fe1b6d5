"""Passes of a 0.5B model on a CPU under our settings of glibc's heap, against its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import torch

from lab.throughput.measure import Row, Side, Stopwatch, compare
from trainers.models.cpu_memory import HEAP

_LENGTH = 1024
_PASSES = 2
_MOST_REPEATS = 3
# Qwen2.5-0.5B's shape, with few words.
_CHILD = f"""
import time
import torch
from transformers import Qwen2Config, Qwen2Model
from trainers.models.cpu_memory import keep_freed_memory
keep_freed_memory()
config = Qwen2Config(
    vocab_size=1000, hidden_size=896, intermediate_size=4864, num_hidden_layers=24,
    num_attention_heads=14, num_key_value_heads=2,
)
model = Qwen2Model(config).bfloat16()
ids = torch.arange({_LENGTH})[None] % 1000
for number in range({_PASSES} + 1):
    if number == 1:
        start = time.perf_counter()
    model(ids, use_cache=False).last_hidden_state.float().pow(2).mean().backward()
    model.zero_grad()
print(time.perf_counter() - start)
"""


def heap_rows(repeats: int) -> Iterator[Row]:
    """Measure passes forward and backward, each side in processes of its own."""
    yield compare(
        "heap",
        Side("passes of a 0.5B model, bfloat16", "tokens", lambda watch: _run(watch)),
        Side("glibc's default heap", "tokens", lambda watch: _run(watch, GLIBC_TUNABLES="")),
        repeats=min(repeats, _MOST_REPEATS),
        warm_up=False,
        tokens=_LENGTH,
        torch_threads=torch.get_num_threads(),
    )


def _run(watch: Stopwatch, **heap: str) -> None:
    """Run the passes in a new process: a heap's settings cannot be taken back."""
    environment = {name: value for name, value in os.environ.items() if name not in HEAP}
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        env=environment | heap, capture_output=True, text=True, check=True,
    )  # fmt: skip
    watch.seconds += float(done.stdout)
    watch.units += _LENGTH * _PASSES
