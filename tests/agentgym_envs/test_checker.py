from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentgym_envs import (
    ConformanceError,
    ExpertMove,
    Outcome,
    TaskSpec,
    TextEnv,
    check_text_env,
)
from tests.helpers import COUNTING_ID, CountingEnv, register_helpers

register_helpers()


def test_a_sound_env_passes_by_id_by_short_name_and_by_class() -> None:
    check_text_env(COUNTING_ID)
    check_text_env("counting", num_tasks=1)
    check_text_env(CountingEnv)
    check_text_env(lambda **kwargs: CountingEnv(**kwargs), tasks=["small", "large"])


class Overlapping(CountingEnv):
    def task_ids(self, split: str | None = None) -> list[str]:
        return super().task_ids("train")


class Forgetful(CountingEnv):
    def _info(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        info = super()._info(*args, **kwargs)
        del info["goal"]
        return info


class Binary(CountingEnv):
    def apply(self, action: str) -> Outcome:
        return super().apply(action)._replace(info={"picture": b"png"})


class Boasting(CountingEnv):
    def _progress(self, **kwargs: Any) -> dict[str, Any]:
        return {**super()._progress(**kwargs), "score": 7.0}


class Generous(CountingEnv):
    def reject(self, *args: Any) -> Outcome:
        return super().reject(*args)._replace(reward=0.5)


class Lenient(CountingEnv):
    def reject(self, *args: Any) -> Outcome:
        return Outcome("fine")


class Raising(CountingEnv):
    def apply(self, action: str) -> Outcome:
        if not action:
            raise RuntimeError("no action")
        return super().apply(action)


class Random(CountingEnv):
    def apply(self, action: str) -> Outcome:
        outcome = super().apply(action)
        return outcome._replace(observation=f"{outcome.observation} {self.np_random.random()}")


class Seeded(CountingEnv):
    def begin(self, task: TaskSpec) -> str:
        return super().begin(task) + str(self.np_random.random())


class Endless(CountingEnv):
    def step(self, action: str) -> Any:
        self._over = False
        return super().step(action)


class Unlimited(CountingEnv):
    def step(self, action: str) -> Any:
        self.max_turns = 10**6
        return super().step(action)


class Unsolved(CountingEnv):
    def expert_moves(self) -> Iterator[ExpertMove]:
        for _ in range(3):
            yield ExpertMove("add 1")


class Silent(CountingEnv):
    system_prompt = "Play."  # type: ignore[assignment]


class Swallowing(CountingEnv):
    def __init__(self, **kwargs: Any) -> None:
        kwargs.pop("no_such_keyword", None)
        super().__init__(**kwargs)


class Unsplit(CountingEnv):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.tasks_of.splits = ("train", "test")


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        (Overlapping, "splits must not overlap"),
        (Unsplit, "there must be the splits"),
        (Forgetful, "info must hold the keys"),
        (Binary, "info must be JSON values"),
        (Boasting, r"score must be in 0\.\.1"),
        (Generous, "must earn reward 0"),
        (Lenient, "is_valid_action is False"),
        (Random, "the same way twice|check_env must pass"),
        (Seeded, "must not depend on seed"),
        (Endless, "must raise ResetNeeded"),
        (Unlimited, "must truncate after two turns"),
        (Unsolved, "the expert must solve counting_"),
        (Silent, "system_prompt must be a str that holds the rules"),
        (Swallowing, "an unknown keyword argument must raise TypeError"),
        (object, "must derive from TextEnv"),
    ],
)
def test_each_breach_is_found_and_told(broken: Any, told: str) -> None:
    with pytest.raises(ConformanceError, match=told):
        check_text_env(broken)


def test_an_exception_of_the_env_itself_is_not_hidden() -> None:
    with pytest.raises(RuntimeError, match="no action"):
        check_text_env(Raising)


def test_an_expert_that_fails_may_be_let_pass() -> None:
    check_text_env(Unsolved, expert_solves=False)


def test_an_env_without_an_expert_passes() -> None:
    class Unaided(CountingEnv):
        expert_moves = TextEnv.expert_moves

    check_text_env(Unaided)


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="num_tasks must be >= 1, got 0"):
        check_text_env(CountingEnv, num_tasks=0)
    with pytest.raises(ValueError, match="unknown environment 'chess'"):
        check_text_env("chess")
