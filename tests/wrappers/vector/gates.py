"""Environments that take as long as a test wants: until a gate is opened, or a file is there.

Imported by worker processes, so it imports little.
"""

from __future__ import annotations

import random
import threading
import time
from collections import defaultdict
from pathlib import Path

from agentgym_envs import Outcome, TaskSpec
from tests.helpers import FragileEnv

PATIENCE = 30.0
"""Seconds after which a gate that nobody opens is an error, so that no test hangs."""

GATES: defaultdict[str, threading.Event] = defaultdict(threading.Event)
"""The gates of this process, by name."""


def pass_gate(name: str) -> None:
    """Wait until a gate is open."""
    if not GATES[name].wait(PATIENCE):
        raise RuntimeError(f"nobody opened gate {name!r}")


def open_all() -> None:
    """Let every thread go, and close the gates for the next test."""
    for gate in GATES.values():
        gate.set()
    GATES.clear()


class GatedEnv(FragileEnv):
    """`say wait x` answers once something has said `say open x`; task 39 begins after `begin`."""

    def begin(self, task: TaskSpec) -> str:
        if task.number == 39:
            pass_gate("begin")
        return super().begin(task)

    def apply(self, action: str) -> Outcome:
        if action.startswith("say wait "):
            pass_gate(action.removeprefix("say wait "))
        if action.startswith("say open "):
            GATES[action.removeprefix("say open ")].set()
        return super().apply(action)


class GatedTasks(FragileEnv):
    """Tasks from 30 on answer no action before the gate of their number is open."""

    def apply(self, action: str) -> Outcome:
        if self.task.number >= 30:
            pass_gate(str(self.task.number))
        return super().apply(action)


class FileGatedEnv(FragileEnv):
    """`say wait PATH` answers once there is such a file; for worker processes."""

    def apply(self, action: str) -> Outcome:
        if action.startswith("say wait "):
            until = time.monotonic() + PATIENCE
            while not Path(action.removeprefix("say wait ")).exists():
                if time.monotonic() > until:
                    raise RuntimeError("nobody made the file")
                time.sleep(0.01)
        return super().apply(action)


class NappingEnv(FragileEnv):
    """Takes its time, differently at every turn."""

    def apply(self, action: str) -> Outcome:
        time.sleep(random.Random(f"{self.task.number} {self.counter}").uniform(0, 0.01))
        return super().apply(action)


class HangsOrDies(NappingEnv):
    """Task 30 hangs, and task 31 ends its process."""

    def apply(self, action: str) -> Outcome:
        ends = {30: "say hang", 31: "say die"}
        return super().apply(ends.get(self.task.number, action))
