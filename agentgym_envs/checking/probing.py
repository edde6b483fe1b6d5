"""Calls an environment under test; whatever it raises becomes a `ConformanceError`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import gymnasium as gym

from agentgym_envs.core import ExpertMove, TextEnv
from agentgym_envs.errors import EnvFailure, NoExpert

Answer = TypeVar("Answer")
MakeEnv = Callable[..., gym.Env[str, str]]


class ConformanceError(AssertionError):
    """An environment breaks the contract; the message gives the contract and the actual value."""


class Step(NamedTuple):
    """What `step` returns."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class Probe:
    """One environment under test.

    Args:
        make: makes it.
        **kwargs: keyword arguments for it.

    Attributes:
        env: the environment itself, without wrappers.

    Raises:
        ConformanceError: it cannot be made, or is no `TextEnv`.
    """

    def __init__(self, make: MakeEnv, **kwargs: Any) -> None:
        arguments = ", ".join(f"{name}={value!r:.60}" for name, value in kwargs.items())
        with expect_no_error(f"making the environment with ({arguments})", "must work"):
            env = make(**kwargs)
        is_text_env = isinstance(env, gym.Env) and isinstance(env.unwrapped, TextEnv)
        require(is_text_env, "the environment must derive from TextEnv", env)
        self.env: TextEnv = env.unwrapped  # type: ignore[assignment]

    def reset(
        self, task_id: str | int | None = None, *, seed: int | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode of a task, or of one that is drawn."""
        options = {} if task_id is None else {"task_id": task_id}
        with expect_no_error(f"reset(options={options})", "must be answered by an observation"):
            observation, info = self.env.reset(seed=seed, options=options)
        require(isinstance(observation, str), "an observation must be a str", observation)
        return observation, info

    def step(self, action: str) -> Step:
        """Play one turn."""
        with expect_no_error(f"step({action!r:.80})", "must be answered by an observation"):
            return Step(*self.env.step(action))

    def expert(self) -> Iterator[str]:
        """Yield the expert's actions; none where the environment has no expert."""
        return self._taken(self.env.expert, "expert()")

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the expert's moves; none where the environment has no expert."""
        for move in self._taken(self.env.expert_moves, "expert_moves()"):
            require(isinstance(move, ExpertMove), "expert_moves() must yield ExpertMove", move)
            yield move

    def _taken(self, expert: Callable[[], Iterator[Answer]], call: str) -> Iterator[Answer]:
        with expect_no_error(call, "must give actions, or raise NoExpert"):
            try:
                answers = expert()
            except NoExpert:
                return
        while True:
            with expect_no_error(call, "must give actions, or raise NoExpert"):
                try:
                    answer = next(answers)
                except (NoExpert, StopIteration):
                    return
            yield answer

    def close(self) -> None:
        """Close the environment."""
        with expect_no_error("close()", "must work"):
            self.env.close()


@contextmanager
def expect_no_error(call: str, contract: str) -> Iterator[None]:
    """Turn what the environment raises within into a `ConformanceError`.

    A failure of its machinery says nothing about the contract and stays an `EnvFailure`.

    Args:
        call: what is asked of the environment.
        contract: what it must do then.
    """
    try:
        yield
    except (EnvFailure, ConformanceError):
        raise
    except Exception as error:
        raise ConformanceError(
            f"{call} {contract}; it raised {type(error).__name__}: {error!s:.500}"
        ) from error


def require(condition: bool, contract: str, actual: Any = "") -> None:
    """Raise ConformanceError unless the condition holds."""
    if not condition:
        raise ConformanceError(f"{contract}; found: {actual!r:.500}")


def raises(kind: type[Exception], mistake: str, call: Callable[[], Any]) -> None:
    """Require that a mistake of the caller raises this kind of error, with a message."""
    contract = f"{mistake} must raise {kind.__name__} with a message"
    try:
        with warnings.catch_warnings():
            # `gymnasium.make` warns of a render mode before the environment can refuse it.
            warnings.simplefilter("ignore")
            call()
    except kind as error:
        require(bool(str(error)), contract, error)
    except EnvFailure:
        raise
    except Exception as error:
        raise ConformanceError(f"{contract}; found: {error!r}") from error
    else:
        raise ConformanceError(f"{contract}; it raised nothing")
