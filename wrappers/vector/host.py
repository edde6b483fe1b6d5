"""`EnvHost`, which makes a slot's environment and calls it, and the in-process slot.

The same host serves in this thread, in another thread and in a worker process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import gymnasium as gym
from gymnasium.error import ResetNeeded

from agentgym_envs.errors import EnvCodeError, EnvFailure, described
from wrappers.starts import PREFIX, START, ExpertStarts

RESUME = "resume"
"""The reset option that restores a state: the actions that lead to it, and its observation."""

EnvFn = Callable[[], gym.Env[Any, Any]]

_REFUSALS = (ValueError, TypeError, ImportError, gym.error.Error)
"""The errors of `reset` that are the caller's: wrong arguments and missing packages."""

_log = logging.getLogger(__name__)


class EnvHost:
    """One environment with its expert's iterator.

    Args:
        env_fn: makes the environment.
        lets_interrupts_pass: a `KeyboardInterrupt` is the user's, as in the main thread; elsewhere
            it is a failure of the environment.
    """

    def __init__(self, env_fn: EnvFn, *, lets_interrupts_pass: bool = False) -> None:
        self._passing = (Exception, KeyboardInterrupt) if lets_interrupts_pass else (Exception,)
        with self._exits_as_failures():
            self.env = env_fn()
        self._moves: Iterator[str] | None = None
        self._starts = ExpertStarts()
        self._closed = False

    def reset(self, seed: int | None, options: dict[str, Any] | None) -> tuple[str, dict[str, Any]]:
        """Start an episode, by the options `START` and `RESUME` from a later state."""
        self._moves = None
        resume = start = None
        if options is not None:
            options = dict(options)
            resume, start = options.pop(RESUME, None), options.pop(START, None)
        with self._exits_as_failures(), _errors_as_failures(*_REFUSALS):
            if start is None:
                observation, info = self.env.reset(seed=seed, options=options)
            else:
                observation, info = self._starts.reset(self.env, start, seed=seed, options=options)
        if resume is None:
            return observation, info
        prefix = {PREFIX: info[PREFIX]} if PREFIX in info else {}
        observation, info = self._resume(*resume)
        return observation, {**info, **prefix}

    def _resume(self, actions: Sequence[str], expected: str) -> tuple[str, dict[str, Any]]:
        """Play the policy's turns again, as `TextEnv.restore` does, but through the wrappers."""
        observation, ended = "", False
        info: dict[str, Any] = {}
        for action in actions:
            if not ended:
                observation, _, terminated, truncated, info = self.step(action)
                ended = terminated or truncated
        if ended or observation != expected:
            raise EnvFailure(
                f"the same episode played again came to {observation!r:.200}, not to "
                f"{expected!r:.200}; branching needs an environment that always answers the same "
                "actions in the same way"
            )
        return observation, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn.

        Raises:
            ResetNeeded: the episode is over or has not begun.
            EnvFailure: the machinery broke, or the environment raised anything else.
        """
        with self._exits_as_failures(), _errors_as_failures(ResetNeeded):
            observation, reward, terminated, truncated, info = self.env.step(action)
            return observation, float(reward), terminated, truncated, info

    def get(self, name: str) -> Any:
        """Read an attribute of the outermost wrapper that has it, else of the environment."""
        with self._exits_as_failures():
            return self.env.get_wrapper_attr(name)

    def call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a method of the outermost wrapper that has it, else of the environment."""
        with self._exits_as_failures():
            return self.get(name)(*args, **kwargs)

    def expert_action(self, baseline: str | None, kwargs: Mapping[str, Any]) -> str | None:
        """Return the next action of the baseline or the expert, None at the end.

        One iterator serves the episode, so each action must be played before the next is asked for,
        and all are asked for with the same arguments.
        """
        if self._moves is None:
            name, args = ("expert", ()) if baseline is None else ("baseline", (baseline,))
            self._moves = self.call(name, args, dict(kwargs))
        with self._exits_as_failures():
            return next(self._moves, None)

    def close(self) -> None:
        """Close the environment, once."""
        if not self._closed:
            self._closed = True
            with self._exits_as_failures():
                self.env.close()

    @contextmanager
    def _exits_as_failures(self) -> Iterator[None]:
        """Raise `SystemExit`, `asyncio.CancelledError` and their like as `EnvFailure`.

        They would end the slot's thread or worker, or the caller's program.
        """
        try:
            yield
        except self._passing:
            raise
        except BaseException as error:
            raise EnvFailure(f"the environment raised {error!r:.200}") from error


@contextmanager
def _errors_as_failures(*mistakes: type[Exception]) -> Iterator[None]:
    """Raise an environment's exceptions as `EnvCodeError`, but for failures and `mistakes`.

    An error in its code fails the episode that meets it, and neither the others nor the run.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, (EnvFailure, *mistakes)):
            raise
        raise EnvCodeError(f"the environment raised {described(error)}") from error


class InProcessSlot:
    """Runs its environment in the caller's thread, during `receive`, without timeouts."""

    def __init__(self, env_fn: EnvFn) -> None:
        self._env_fn = env_fn
        self._host: EnvHost | None = None
        self._pending: tuple[str, tuple[Any, ...]] | None = None

    @property
    def running(self) -> bool:
        """There is an environment."""
        return self._host is not None

    @property
    def deadline(self) -> float | None:
        """Never: a call in the caller's own thread cannot be given up."""
        return None

    def answered(self) -> bool:
        """Always true, since calls run in `receive`."""
        return True

    def watch(self, wakeup: Any) -> None:
        """Do nothing, since calls run in `receive`."""
        return None

    def start(self, timeout: float | None) -> None:
        """Have the next `receive` make the environment."""
        self.discard()
        self._pending = None

    def send(self, method: str, *args: Any, timeout: float | None) -> None:
        """Have the next `receive` make this call."""
        self._pending = (method, args)

    def receive(self) -> Any:
        """Make the call."""
        if self._host is None:
            self._host = EnvHost(self._env_fn, lets_interrupts_pass=True)
            return None
        assert self._pending is not None
        method, args = self._pending
        return getattr(self._host, method)(*args)

    def discard(self) -> None:
        """Close the environment."""
        host, self._host = self._host, None
        if host is not None:
            try:
                host.close()
            except EnvFailure as failure:
                _log.warning("closing a broken environment: %s", failure)
