"""What several tests share: a small complete game, one that breaks on demand, and a folder.

Both games are real environments; they need no simulator and start at once.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentgym_envs import EnvFailure, ExpertMove, ListedTasks, Outcome, TaskSpec, TextEnv
from agentgym_envs.actions import ACTION_FORMATS, ActionVerb
from agentgym_envs.registration.registry import register_env, registered_ids

COUNTING_ID = "tests/Counting-v0"
FRAGILE_ID = "tests/Fragile-v0"

GOLDEN = Path(os.environ.get("AGENTGYM_GOLDEN", Path(__file__).parents[2] / "shared" / "golden"))
"""Recordings of the original environments; tests against them are skipped where it is missing."""


NEEDS = {
    "agentgym/SciWorld-v0": "scienceworld",
    "agentgym/SearchQA-v0": "bm25s",
    "agentgym/WebArena-v0": "starlette",
    "agentgym/MiniWoB-v0": "miniwob",
    "agentgym/WebShop-v0": "rapidfuzz",
}
IN_CHROMIUM = ("agentgym/MiniWoB-v0",)


EMBEDDED = [
    f"agentgym/{name}-v0"
    for name in (
        *("ALFWorld", "BabyAI", "Maze", "SearchQA", "SQL", "TextCraft", "WebArena", "WebShop"),
        "Wordle",
    )
]
"""The environments that play in this process, without Java and without Chromium."""


FORMATS_AND_COMPATS = [
    *((action_format, None) for action_format in ACTION_FORMATS),
    *((action_format, "agentgym") for action_format in ("plain", "react")),
]
"""`action_format` and `compat` as they go together."""


def unless_missing(env_id: str) -> Any:
    """Skip an environment whose extra is not installed, as in `make test-partner NAME=envs`."""
    import pytest  # Here, since the workers of a vector environment import this module too.

    package = NEEDS.get(env_id)
    missing = package is not None and find_spec(package) is None
    marks = [pytest.mark.skipif(missing, reason=f"needs {package}")]
    if env_id in IN_CHROMIUM:
        marks.append(pytest.mark.browser)
    return pytest.param(env_id, marks=marks)


class CountingEnv(TextEnv):
    """Reach a number by adding 1 to 9 and by doubling; overshooting loses.

    Task n asks for the number n + 1.
    """

    instructions = "A counter stands at 0. Bring it to the goal; beyond the goal you have lost."
    verbs = (
        ActionVerb("add", "add {amount}", "Add 1 to 9 to the counter.", integers=("amount",)),
        ActionVerb("double", "double", "Double the counter."),
        ActionVerb("say", "say {words}", "Say something; it changes nothing."),
    )
    default_max_turns = 12
    source = "counting/1"

    def __init__(self, **kwargs: Any) -> None:
        table: dict[str, dict[str, Sequence[int]]] = {
            "train": {"small": range(10), "large": range(10, 40)},
            "validation": {"large": range(40, 50)},
            "test": {"small": range(50, 53), "large": range(53, 60)},
        }
        super().__init__(ListedTasks("counting", table), **kwargs)

    def begin(self, task: TaskSpec) -> str:
        self.target = task.number + 1
        self.counter = 0
        self.goal = f"bring the counter to {self.target}"
        return f"Goal: {self.goal}. The counter is 0."

    def apply(self, action: str) -> Outcome:
        if action == "double":
            self.counter *= 2
        elif action.startswith("add ") and action[4:] in set("123456789"):
            self.counter += int(action[4:])
        elif not action.startswith("say "):
            return Outcome(f"No such action: {action!r:.40}", info=self._progress(is_valid=False))
        success = self.counter == self.target
        return Outcome(
            f"The counter is {self.counter}.",
            reward=float(success),
            terminated=self.counter >= self.target,
            info=self._progress(success=success),
        )

    def expert_moves(self) -> Iterator[ExpertMove]:
        while self.counter < self.target:
            missing = self.target - self.counter
            if self.counter > 9 and missing >= self.counter:
                yield ExpertMove("double", f"{missing} are missing")
            else:
                yield ExpertMove(f"add {min(9, missing)}", f"{missing} are missing")

    def available_actions(self) -> list[str]:
        return [*(f"add {amount}" for amount in range(1, 10)), "double"]

    def _progress(self, *, success: bool = False, is_valid: bool = True) -> dict[str, Any]:
        score = self.counter / self.target if self.counter <= self.target else 0.0
        return {"success": success, "score": score, "is_valid_action": is_valid}


class FragileEnv(CountingEnv):
    """`CountingEnv` whose machinery breaks when told to: `say break`, `hang`, `die` or `bug`."""

    closed = 0

    def apply(self, action: str) -> Outcome:
        if action == "say break":
            raise EnvFailure("the simulator broke")
        if action == "say hang":
            time.sleep(60)
        if action.startswith("say nap "):
            time.sleep(float(action.removeprefix("say nap ")))
        if action == "say die":
            os._exit(7)
        if action == "say bug":
            raise KeyError("a bug")
        return super().apply(action)

    def pid(self) -> int:
        return os.getpid()

    def loaded_modules(self, *names: str) -> list[str]:
        import sys

        return [name for name in names if name in sys.modules]

    def close(self) -> None:
        type(self).closed += 1


def register_helpers() -> None:
    """Register both games, once; called by the tests that want them, not by import."""
    if COUNTING_ID not in registered_ids():
        register_env(COUNTING_ID, CountingEnv)
        register_env(FRAGILE_ID, FragileEnv)


def accepted(env: TextEnv, action: str) -> str:
    """Take a valid action that earns and ends nothing, and return the observation."""
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert info["is_valid_action"], observation
    return observation


def refused(env: TextEnv, action: str) -> str:
    """Take an invalid action, which earns and ends nothing, and return the observation."""
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert not info["is_valid_action"]
    return observation
