"""Calls an environment under test, and turns its errors into `ConformanceError`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, TypeVar

import gymnasium as gym

from agentgym_envs.core import ExpertMove, TextEnv
from agentgym_envs.errors import EnvFailure, NoExpert, described

Answer = TypeVar("Answer")
MakeEnv = Callable[..., gym.Env[str, str]]


MANY_TURNS = 1000
"""A turn limit that no check reaches."""

_RAISED = (
    "mend what raises there; an action that cannot be played is no exception, but "
    "Outcome.invalid(text)"
)
_NOTHING = object()

Transcript = list[tuple[str, Any]]
"""`("", (observation, info))`, then each action with its five-tuple."""


class ConformanceError(AssertionError):
    """An environment breaks the contract.

    The message gives the contract and the actual value.

    Args:
        message: the contract and the actual value.
        reason: what several messages with one cause share; None takes the message.
        remedy: what to do, empty where the message says it; None leaves it to the check.
    """

    def __init__(
        self, message: str, *, reason: str | None = None, remedy: str | None = None
    ) -> None:
        super().__init__(message)
        self.reason = message if reason is None else reason
        self.remedy = remedy


class Step(NamedTuple):
    """The result of `step`."""

    observation: str
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any]

    def __repr__(self) -> str:  # what is checked comes first, for messages are cut off
        flags = ("success", "score", "is_valid_action", "truncated_by", "turn")
        told = ", ".join(f"{key}={self.info[key]!r}" for key in flags if key in self.info)
        return (
            f"Step(terminated={self.terminated!r}, truncated={self.truncated!r}, "
            f"reward={self.reward!r}, info({told}), observation={self.observation!r:.200})"
        )


class Probe:
    """One environment under test.

    Args:
        make: makes it.
        **kwargs: keyword arguments for it.

    Attributes:
        env: the environment itself, without wrappers.
        has_expert: the expert has not said that there is none.

    Raises:
        ConformanceError: it cannot be made, or is no `TextEnv`.
    """

    def __init__(self, make: MakeEnv, **kwargs: Any) -> None:
        everything = {**getattr(make, "keywords", {}), **kwargs}
        arguments = ", ".join(f"{name}={value!r:.60}" for name, value in everything.items())
        call = f"making the environment with ({arguments})" if everything else "making it"
        with expect_no_error(call, "must work"):
            env = make(**kwargs)
        is_text_env = isinstance(env, gym.Env) and isinstance(env.unwrapped, TextEnv)
        require(is_text_env, "the environment must derive from TextEnv", env)
        self.env: TextEnv = env.unwrapped  # type: ignore[assignment]
        self.has_expert = True

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
            answer = self.env.step(action)
        contract = "step must return observation, reward, terminated, truncated and info"
        require(isinstance(answer, tuple) and len(answer) == 5, contract, answer)
        return Step(*answer)

    def expert(self) -> Iterator[str]:
        """Yield the expert's actions, or nothing where the environment has no expert."""
        return self._taken(self.env.expert, "expert()")

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the expert's moves, or nothing where the environment has no expert."""
        for move in self._taken(self.env.expert_moves, "expert()"):
            require(
                isinstance(move, ExpertMove),
                "expert() must give actions, or raise NoExpert; expert_moves must yield ExpertMove",
                move,
            )
            yield move

    def _taken(self, expert: Callable[[], Iterator[Answer]], call: str) -> Iterator[Answer]:
        with expect_no_error(call, "must give actions, or raise NoExpert"):
            try:
                answers = expert()
            except NoExpert:
                self.has_expert = False
                return
        while True:
            with expect_no_error(call, "must give actions, or raise NoExpert"):
                try:
                    answer = next(answers, None)
                except NoExpert:
                    self.has_expert = False
                    return
            if answer is None:
                return
            yield answer

    def close(self) -> None:
        """Close the environment."""
        with expect_no_error("close()", "must work"):
            self.env.close()


@contextmanager
def expect_no_error(call: str, contract: str) -> Iterator[None]:
    """Turn errors that the environment raises within into a `ConformanceError`.

    A failure of its machinery says nothing about the contract and stays an `EnvFailure`.

    Args:
        call: what is asked of the environment.
        contract: what it must do then.
    """
    try:
        yield
    except (EnvFailure, ConformanceError):
        raise
    except (Exception, SystemExit) as error:  # a game that calls sys.exit() must not end the checks
        told = described(error)
        notes = "; ".join(getattr(error, "__notes__", ()))
        raise ConformanceError(
            f"{call} {contract}; it raised {told}{notes and f' ({notes})'}",
            reason=told,
            remedy=_RAISED,
        ) from error


def difference(one: Any, other: Any) -> str:
    """Say where two answers of `reset` or `step` differ first, with both values."""
    names = ("observation", "info") if len(one) == 2 else Step._fields
    for name, here, there in zip(names, one, other, strict=True):
        if here == there:
            continue
        if name == "info":
            key = next(key for key in {**here, **there} if here.get(key) != there.get(key))
            return f"info[{key!r}] was {here.get(key)!r:.200}, then {there.get(key)!r:.200}"
        if name == "observation" and isinstance(there, str):
            length = min(len(here), len(there))
            place = next((i for i in range(length) if here[i] != there[i]), length)
            start = max(0, place - 40)
            here, there = here[start : place + 80], there[start : place + 80]
        return f"the {name} was {here!r}, then {there!r}"
    return "they are equal"


def require(
    condition: bool, contract: str, actual: Any = _NOTHING, *, remedy: str | None = None
) -> None:
    """Raise ConformanceError, with these arguments, unless the condition holds."""
    if not condition:
        found = "" if actual is _NOTHING else f"; found: {actual!r:.500}"
        raise ConformanceError(contract + found, reason=contract, remedy=remedy)


def require_equal(contract: str, before: Any, after: Any) -> None:
    """Raise ConformanceError unless two answers of `reset` or `step` are equal."""
    if before != after:
        raise ConformanceError(f"{contract}; {difference(before, after)}")


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
    except (Exception, SystemExit) as error:
        raise ConformanceError(f"{contract}; it raised {described(error)}") from error
    else:
        raise ConformanceError(f"{contract}; it raised nothing")
