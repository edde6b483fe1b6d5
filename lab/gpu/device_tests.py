"""Runs the tests marked `gpu`, which any device passes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from lab.gpu.parts import Reading, Setting

_ROOT = Path(__file__).parents[2]
_TESTS = "tests/trainers/test_gpu.py"


def device_tests(setting: Setting, _part: str) -> Iterator[Reading]:
    """Yield how many passed and failed.

    Raises:
        RuntimeError: some failed; the log has their tracebacks.
    """
    # Other versions may warn of what ours do not; only here that is no failure.
    options = ("-m", "gpu", "-q", "-p", "no:cacheprovider", "-W", "default")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, _TESTS],
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    print(done.stdout, flush=True)
    counts = re.findall(r"(\d+) (passed|failed|skipped|errors?)", done.stdout.splitlines()[-1])
    yield Reading(_TESTS, {kind: int(count) for count, kind in counts})
    if done.returncode:
        raise RuntimeError(f"pytest ended with status {done.returncode}")
