"""The Ray actor of `wrappers.vector.ray_slot`: several environments, each in a thread."""

from __future__ import annotations

import asyncio
import pickle
from contextlib import suppress
from functools import partial
from typing import Any

from wrappers.vector.slots import ThreadSlot, seconds_left
from wrappers.vector.worker import answered, failed


class EnvActor:
    """Environments of one process, by a number that is given out once.

    They keep their deadlines here: a hung environment is given up, as threads are, and its
    neighbours play on. Answers are messages as `wrappers.vector.worker` writes them.
    """

    def __init__(self) -> None:
        self._slots: dict[int, ThreadSlot] = {}

    async def start(self, number: int, env_fn: bytes, timeout: float | None) -> bytes:
        """Make an environment, by a cloudpickled function."""
        slot = self._slots[number] = ThreadSlot(partial(_made, env_fn))
        slot.start(timeout)
        return await _answer(slot, "start", ())

    async def call(
        self, number: int, method: str, args: tuple[Any, ...], timeout: float | None
    ) -> bytes:
        """Call a method of an environment's `EnvHost`."""
        slot = self._slots[number]
        slot.send(method, *args, timeout=timeout)
        return await _answer(slot, method, args)

    async def discard(self, number: int) -> None:
        """Have an environment closed, as soon as it answers."""
        if number in self._slots:
            self._slots.pop(number).discard()


class _LoopWakeup:
    """Sets an event of the running loop from another thread."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self._loop = asyncio.get_running_loop()

    def wake(self) -> None:
        self._loop.call_soon_threadsafe(self.event.set)


async def _answer(slot: ThreadSlot, method: str, args: tuple[Any, ...]) -> bytes:
    wakeup = _LoopWakeup()
    slot.watch(wakeup)
    if not slot.answered():
        with suppress(TimeoutError):  # `receive` finds that out, too, and says so
            await asyncio.wait_for(wakeup.event.wait(), seconds_left(slot.deadline))
    slot.watch(None)
    try:
        value = slot.receive()
    except Exception as error:  # raised again by the caller's slot
        return failed(error)
    return answered(value, method, args)


def _made(env_fn: bytes) -> Any:
    return pickle.loads(env_fn)()
