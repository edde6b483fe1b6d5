"""Sessions of one environment each, counted, timed and always closed."""

from __future__ import annotations

import asyncio
import logging
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

import gymnasium as gym
from gymnasium.error import ResetNeeded

from agentgym_envs.errors import EnvCodeError, EnvFailure, described
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.limits import CLOSE_SECONDS, Limits
from wrappers.serving.metrics import Metrics
from wrappers.serving.worker import Worker
from wrappers.vector.host import EnvHost

Result = TypeVar("Result")
Turn = tuple[str, float, bool, bool, dict[str, Any]]

REFUSALS = (ResetNeeded, ValueError, TypeError)
"""Errors of an environment that are the caller's mistake. All others are its own failures."""

_log = logging.getLogger(__name__)


class AtCapacity(RuntimeError):
    """All `active` sessions of the server are taken."""

    def __init__(self, active: int) -> None:
        self.active = active
        super().__init__(
            f"all {active} sessions are taken; close one, or start the server with a larger "
            "--max_sessions"
        )


class Session:
    """One environment of a client, with one call at a time.

    Attributes:
        id: a secret name.
        info: of the last turn; None before the first reset.
        episode_id: the client's name for the episode.
        turns: steps of the episode.
        patience: seconds without a request after which it is closed.
        ended: done once the session is closed, with the reason.
    """

    def __init__(self, environment: ServedEnvironment, limits: Limits, metrics: Metrics) -> None:
        self.id = secrets.token_urlsafe(16)
        self.environment = environment
        self.info: dict[str, Any] | None = None
        self.episode_id: str | None = None
        self.turns = self.steps = self.episodes = self.failures = 0
        self.is_over = False
        self.patience = limits.idle_timeout
        self.opened = self.last_used = time.monotonic()
        self.ended: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._limits = limits
        self._metrics = metrics
        self._lock = asyncio.Lock()
        self._worker = self._new_worker()
        self._closing: asyncio.Future[None] | None = None

    @property
    def is_busy(self) -> bool:
        """A call is under way."""
        return self._lock.locked()

    def touch(self) -> None:
        """Note that a request names the session."""
        self.last_used = time.monotonic()

    async def start(self) -> None:
        """Make the environment."""
        await self.ask(lambda env: None)

    async def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode, in a fresh environment where the last one broke."""
        async with self._lock:
            if self._worker.is_broken:
                await self._replace()
            observation, info = await self._call(lambda host: host.reset(seed, options))
        self.info, self.turns, self.is_over = info, 0, False
        self.episodes += 1
        return observation, info

    async def step(self, action: str) -> Turn:
        """Play one turn, or raise as the environment's own `step`."""
        async with self._lock:
            if self._worker.is_broken:
                raise EnvFailure("the environment broke in this episode; reset begins another one")
            turn = await self._call(lambda host: host.step(action))
        self.info, self.is_over = turn[4], turn[2] or turn[3]
        self.turns += 1
        self.steps += 1
        self._metrics.count_step(self.environment.name)
        return turn

    async def ask(self, question: Callable[[gym.Env[Any, Any]], Result]) -> Result:
        """Ask the environment something, in its thread."""
        async with self._lock:
            return await self._call(lambda host: question(host.env))

    async def close(self, reason: str) -> None:
        """Close the environment and log the end, once."""
        if self._closing is None:
            self.ended.set_result(reason)
            self._closing = asyncio.ensure_future(self._close(reason))
        await asyncio.shield(self._closing)

    async def _close(self, reason: str) -> None:
        await self._worker.close()
        _log.info(
            "session of %s ended: %s; %d episodes, %d steps, %d failures, %.1f s",
            *(self.environment.name, reason, self.episodes, self.steps, self.failures),
            time.monotonic() - self.opened,
        )

    async def _call(self, work: Callable[[EnvHost], Result]) -> Result:
        if self.ended.done():
            raise EnvFailure(f"the session is closed: {self.ended.result()}")
        try:
            return await self._worker.call(work)
        except REFUSALS:
            raise
        except Exception as error:
            self._worker.is_broken = True
            self.failures += 1
            self._metrics.count_failure(self.environment.name)
            is_error = isinstance(error, EnvCodeError) or not isinstance(error, EnvFailure)
            name, trace = self.environment.name, error if is_error else None
            _log.warning("a failure of %s: %s", name, error, exc_info=trace)
            raise
        finally:
            self.touch()

    async def _replace(self) -> None:
        broken, self._worker = self._worker, self._new_worker()
        await broken.close()

    def _new_worker(self) -> Worker:
        return Worker(self.environment.make, timeout=self._limits.step_timeout)


class Sessions:
    """All sessions of a server."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self.limits = limits
        self.metrics = metrics
        self._sessions: dict[str, Session] = {}
        self._closings: set[asyncio.Task[None]] = set()

    def __len__(self) -> int:
        return len(self._sessions)

    async def open(self, environment: ServedEnvironment, *, is_lazy: bool = False) -> Session:
        """Make a session with a fresh environment, which is made at the first call where `is_lazy`.

        Raises:
            AtCapacity: there is no room for another one.
            Exception: what the environment raised when it was made.
        """
        if len(self._sessions) >= self.limits.max_sessions:
            self.metrics.count_refusal()
            raise AtCapacity(len(self._sessions))
        session = Session(environment, self.limits, self.metrics)
        self._sessions[session.id] = session
        self.metrics.count_opening(environment.name)
        self.metrics.set_active(len(self._sessions))
        try:
            if not is_lazy:
                await session.start()
        except BaseException:
            await self.close(session, "it could not be made")
            raise
        return session

    def get(self, session_id: str) -> Session | None:
        """Return the open session that a request names."""
        session = self._sessions.get(session_id)
        if session is None or session.ended.done():
            return None
        session.touch()
        return session

    async def close(self, session: Session, reason: str) -> None:
        """Close a session, which counts as open until its environment has closed."""
        try:
            await session.close(reason)
        finally:
            self._sessions.pop(session.id, None)
            self.metrics.set_active(len(self._sessions))

    async def close_all(self, reason: str) -> None:
        """Close all sessions at once, and wait for them for a while."""
        closings = [self.close(session, reason) for session in list(self._sessions.values())]
        with suppress(TimeoutError):
            closed = asyncio.gather(*closings, return_exceptions=True)
            await asyncio.wait_for(closed, CLOSE_SECONDS)

    async def reap(self) -> None:
        """Close idle sessions for ever, without waiting for one that does not close."""
        while True:
            await asyncio.sleep(min(self.limits.idle_timeout / 4, 15.0))
            moment = time.monotonic()
            expired = [
                session
                for session in self._sessions.values()
                if not (session.is_busy or session.ended.done())
                and session.last_used + session.patience < moment
            ]
            for session in expired:
                reason = f"idle for {session.patience:g} s"
                closing = asyncio.create_task(self.close(session, reason))
                self._closings.add(closing)
                closing.add_done_callback(self._note_closing)

    def _note_closing(self, closing: asyncio.Task[None]) -> None:
        self._closings.discard(closing)
        if not closing.cancelled() and (error := closing.exception()) is not None:
            _log.error("closing an idle session: %s", described(error))
