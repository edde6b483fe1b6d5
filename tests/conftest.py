from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator

import pytest

from agentgym_envs.machinery import secrets

# Before torch is imported. Runs are equal to the bit with one thread, and more threads than free
# cores make everything many times slower.
os.environ.update(OMP_NUM_THREADS="1", OMP_WAIT_POLICY="PASSIVE")
os.environ.update(HF_HUB_OFFLINE="1", TOKENIZERS_PARALLELISM="false")
# Tests start hundreds of processes, which would compile what they import again and again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

pytest_plugins = ["pytester", "tests.quick"]

# A test plays a few turns in each Java; its optimizing compiler pays off after thousands.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")

# Where the tests are started in the background, a shell makes them ignore Ctrl-C, and the commands
# that they start inherit that; some tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collectstart() -> None:
    # Nearly all that collecting tests makes stays; walking it takes a quarter of the time.
    gc.disable()


def pytest_collection_finish() -> None:
    # Every `Trainer.train` begins with a full collection; without this each one walks all of torch.
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def _only_new_objects_are_walked() -> Iterator[None]:
    """Set aside what a module leaves in caches: millions of objects that later ones would walk."""
    yield
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_secrets(monkeypatch):
    """Start without hidden secrets: one test's password may be a word of another's messages."""
    monkeypatch.setattr(secrets, "_true", {})
    monkeypatch.setattr(secrets, "_pieces", set())
