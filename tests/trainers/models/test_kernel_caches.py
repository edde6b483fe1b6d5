from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from tests.trainers.toys import make_folder, make_model, make_tokenizer
from trainers.models.loading import (
    KERNEL_CACHES,
    bound_kernel_caches,
    load_for_playing,
    with_tokenizer,
)
from trainers.options.configs import ModelArguments

TWICE = """
import torch
from trainers.models import loading
loading._MOST_KERNELS = {capacity}
loading.bound_kernel_caches()
for _ in range(2):
    for rows in range(40, 48):
        torch.nn.functional.linear(torch.ones(rows, 64).bfloat16(), torch.ones(32, 64).bfloat16())
"""


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in KERNEL_CACHES:
        monkeypatch.delenv(name, raising=False)


def test_whoever_opens_a_model_bounds_the_caches(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = make_folder(tmp_path_factory.mktemp("model"))
    for open_model in (
        lambda: load_for_playing(ModelArguments(model_name_or_path=folder)),
        lambda: with_tokenizer(make_model(), make_tokenizer()),
    ):
        for name in KERNEL_CACHES:
            os.environ.pop(name, None)
        open_model()
        assert {os.environ[name] for name in KERNEL_CACHES} == {"128"}


def test_numbers_of_the_environment_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KERNEL_CACHES[0], "7")
    bound_kernel_caches()
    assert [os.environ[name] for name in KERNEL_CACHES] == ["7", "128"]


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
