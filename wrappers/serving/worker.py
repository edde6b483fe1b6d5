"""Runs one environment in a thread of its own, and answers in the event loop.

Playwright and sqlite allow one thread only, and a step that blocks must not hold up the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, TypeVar

from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.cancellation import cancel_wait
from wrappers.serving.limits import CLOSE_SECONDS
from wrappers.vector.host import EnvFn, EnvHost

Result = TypeVar("Result")
_Call = tuple[Callable[[EnvHost], Any], "asyncio.Future[Any]"]

_log = logging.getLogger(__name__)


class Worker:
    """An environment in a daemon thread, made where an event loop runs.

    A thread cannot be killed: one that hangs is abandoned, and closes its environment should it
    wake. `env_fn` makes the environment in the thread, and `timeout` bounds a call in seconds.
    """

    def __init__(self, env_fn: EnvFn, *, timeout: float) -> None:
        self._env_fn = env_fn
        self._timeout = timeout
        self._loop = asyncio.get_running_loop()
        self._calls: SimpleQueue[_Call | None] = SimpleQueue()
        self._ended = asyncio.Event()
        self._host: EnvHost | None = None
        self.is_broken = False
        self._thread = threading.Thread(target=self._serve, name="serving", daemon=True)
        self._thread.start()

    async def call(self, work: Callable[[EnvHost], Result]) -> Result:
        """Do something with the environment in its thread, which makes it at the first call.

        Raises:
            EnvFailure: there was no answer in time, and the worker is broken.
            Exception: what the environment raised.
        """
        answer: asyncio.Future[Result] = self._loop.create_future()
        self._calls.put((work, answer))
        alarm = self._loop.call_later(self._timeout, self._give_up, answer)
        try:
            return await answer
        finally:
            alarm.cancel()

    async def close(self) -> None:
        """Have the thread close its environment and end, and wait for that for a while."""
        self._calls.put(None)
        if not await self._ends_within(CLOSE_SECONDS if self.is_broken else self._timeout):
            cancel_wait(self._thread)
            if not await self._ends_within(CLOSE_SECONDS):
                _log.warning("an environment did not close; its thread is left behind")

    async def _ends_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._ended.wait(), seconds)
        return self._ended.is_set()

    def _give_up(self, answer: asyncio.Future[Any]) -> None:
        if not answer.done():
            self.is_broken = True
            cancel_wait(self._thread)
            answer.set_exception(
                EnvFailure(f"the environment gave no answer within {self._timeout:g} s")
            )

    def _serve(self) -> None:
        while (call := self._calls.get()) is not None:
            work, answer = call
            try:
                if self._host is None:
                    self._host = EnvHost(self._env_fn)
                value, error = work(self._host), None
            except Exception as raised:  # raised again by `call`
                value, error = None, raised
            self._tell(_settle, answer, value, error)
        try:
            if self._host is not None:
                self._host.close()
        except Exception as error:
            _log.warning("closing an environment: %s", error)
        self._tell(self._ended.set)

    def _tell(self, function: Callable[..., Any], *args: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the server has stopped, and with it the loop
            self._loop.call_soon_threadsafe(function, *args)


def _settle(answer: asyncio.Future[Any], value: Any, error: Exception | None) -> None:
    if answer.done():  # nobody waits for it any more
        return
    if error is None:
        answer.set_result(value)
    else:
        answer.set_exception(error)
