"""What one worker of a sweep learns of a server's rate limit holds for all of them."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sweep.players import over_processes
from benchmarks.sweep.runner import play_missing
from benchmarks.sweep.store import SweepFolder
from tests.benchmarks.sweep.samples import cell
from tests.serving import Failure, serving
from tests.trainers.policies.chat_server import message

RETRY_AFTER = 2.0
GRACE = 0.8
"""Seconds in which the answer 429 reaches its worker, and the others what it says."""


class LimitedServer:
    """Answers two workers; the 9th request and the 25th meet a limit."""

    def __init__(self) -> None:
        self.asked_at: list[float] = []
        self.limited_at: list[float] = []
        self._lock = threading.Lock()
        self._both_ask = threading.Barrier(2)

    def __call__(self, body: dict[str, Any]) -> dict[str, Any] | Failure:
        with self._lock:
            self.asked_at.append(time.monotonic())
            number = len(self.asked_at)
        if number in (8, 9, 24, 25):
            # Both workers have a request under way, so the one that is answered would ask again.
            self._both_ask.wait(timeout=60)
        if number in (9, 25):
            self.limited_at.append(time.monotonic())
            return Failure(429, headers={"retry-after": f"{RETRY_AFTER:g}"})
        return message("inventory")


@pytest.mark.full
def test_no_worker_asks_while_another_one_was_told_to_wait(tmp_path: Path) -> None:
    server_side = LimitedServer()
    with serving({"/v1/chat/completions": server_side}) as server:
        settings = (("action_format", "react"), ("api_model", "m"), ("max_requests", 2))
        asked = cell(policy=f"{server.url}/v1", settings=settings, samples=4)
        folder = SweepFolder(tmp_path)
        folder.claim([asked])
        outcome = play_missing(folder, [asked], over_processes(2, 1))
        assert server.most_at_once == 2
    assert (outcome.num_played, outcome.failed) == (16, 0)
    assert len(server_side.limited_at) == 2
    for limited_at in server_side.limited_at:
        early = [
            asked_at - limited_at
            for asked_at in server_side.asked_at
            if limited_at + GRACE < asked_at < limited_at + RETRY_AFTER
        ]
        assert early == []
