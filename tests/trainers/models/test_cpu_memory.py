from __future__ import annotations

import os
import platform
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.trainers.toys import make_folder, make_model, make_tokenizer
from trainers.models import loading
from trainers.models.cpu_memory import (
    HEAP,
    KERNEL_CACHES,
    bound_kernel_caches,
    give_back_memory,
)
from trainers.models.loading import load_for_playing, with_tokenizer
from trainers.options.configs import ModelArguments
from trainers.options.models import has_accelerator

TWICE = """
import torch
from trainers.models import cpu_memory
cpu_memory._MOST_KERNELS = {capacity}
cpu_memory.bound_kernel_caches()
for _ in range(2):
    for rows in range(40, 48):
        torch.nn.functional.linear(torch.ones(rows, 64).bfloat16(), torch.ones(32, 64).bfloat16())
"""

FAULTS = """
import resource
import torch
from trainers.models.cpu_memory import keep_freed_memory
keep_freed_memory()
torch.ones(20_000_000)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    torch.ones(20_000_000)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
needs_glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*KERNEL_CACHES, *HEAP):
        monkeypatch.delenv(name, raising=False)


def test_whoever_opens_a_model_bounds_the_caches(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[str] = []
    monkeypatch.setattr(loading, "keep_freed_memory", lambda: kept.append(""))
    folder = make_folder(tmp_path_factory.mktemp("model"))
    for open_model in (
        lambda: load_for_playing(ModelArguments(model_name_or_path=folder)),
        lambda: with_tokenizer(make_model(), make_tokenizer()),
    ):
        for name in KERNEL_CACHES:
            os.environ.pop(name, None)
        open_model()
        assert {os.environ[name] for name in KERNEL_CACHES} == {"128"}
    assert len(kept) == 2 - 2 * has_accelerator()


def test_numbers_of_the_environment_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KERNEL_CACHES[0], "7")
    bound_kernel_caches()
    assert [os.environ[name] for name in KERNEL_CACHES] == ["7", "128"]


def page_faults(**environment: str) -> int:
    """Return the page faults of ten arrays of 80 MB, each freed before the next is made."""
    done = subprocess.run(
        [sys.executable, "-c", FAULTS],
        env={**os.environ, **environment}, capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return int(done.stdout)


@needs_glibc
def test_memory_that_was_freed_is_used_again_unless_the_environment_sets_the_heap() -> None:
    pages = 80e6 / os.sysconf("SC_PAGE_SIZE")
    assert page_faults() < 2 * pages
    assert page_faults(MALLOC_TRIM_THRESHOLD_="131072") > 9 * pages


def memory_in_use() -> int:
    """Return the process's resident bytes."""
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@needs_glibc
def test_memory_that_is_free_is_given_back() -> None:
    draw = random.Random(0)
    kept = []
    for _ in range(40):  # what is kept lies between what is freed
        freed = [torch.ones(draw.randrange(1_000, 2_000_000)) for _ in range(20)]
        kept.append(torch.ones(20_000))
        del freed
    before = memory_in_use()
    give_back_memory()
    assert before - memory_in_use() > 20e6


def kernels_made(capacity: int) -> int:
    """Return how many kernels are compiled for eight shapes that are multiplied twice each."""
    done = subprocess.run(
        [sys.executable, "-c", TWICE.format(capacity=capacity)],
        env={**os.environ, "ONEDNN_VERBOSE": "profile_create", "OMP_NUM_THREADS": "1"},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    return done.stdout.count("create:cache_miss")


@pytest.mark.full
@pytest.mark.skipif(
    not torch.backends.mkldnn.is_available() or not torch.ops.mkldnn._is_mkldnn_bf16_supported(),
    reason="oneDNN multiplies no bfloat16 on this processor",
)
def test_as_few_kernels_are_kept_as_is_said() -> None:
    # Where two are kept, the second round compiles all eight again; kernels that all shapes share,
    # which some processors have, count in both.
    assert kernels_made(2) >= kernels_made(64) + 8
