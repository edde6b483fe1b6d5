"""Calls of several slots, answered all together or one by one.

`wrappers.vector.env` decides what is called.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gymnasium.error import AlreadyPendingCallError, ResetNeeded

from agentgym_envs.core.text import truncate
from agentgym_envs.errors import EnvCodeError, EnvFailure
from wrappers.vector.arguments import Answer, check_length
from wrappers.vector.slots import Slot, WorkerDied, deadline_after, seconds_left, wait_for_any

RESTARTS = 3
"""Repetitions of a call whose worker died, before its slot counts as failed."""

_CLOSE_SECONDS = 5.0
_MAX_TRACEBACK = 10_000

Begin = Callable[[], None]
"""Hands a call to its slot."""


@dataclass(frozen=True)
class Call:
    """The calls of one slot, each begun once the one before has been answered.

    Attributes:
        begins: the last one's answer is the call's.
        again: begun instead where the worker dies; where it is empty, the slot fails then.
        restarts: how often.
    """

    begins: tuple[Begin, ...]
    again: tuple[Begin, ...] = ()
    restarts: int = RESTARTS

    def following(self) -> Call | None:
        """Return the calls that remain once the first has been answered."""
        return replace(self, begins=self.begins[1:]) if self.begins[1:] else None

    def restarted(self) -> Call | None:
        """Return the call that begins again where the worker died."""
        if not self.again or not self.restarts:
            return None
        return replace(self, begins=self.again, restarts=self.restarts - 1)


@dataclass
class SlotEpisode:
    """A slot's last answer."""

    observation: str = ""
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Any] = field(default_factory=dict)
    begun: bool = False
    failed: bool = False

    @property
    def is_live(self) -> bool:
        """The episode has begun and is not over."""
        return self.begun and not (self.terminated or self.truncated)


class SlotCalls:
    """The calls on their way to several slots, with each slot's last answer."""

    def __init__(self, slots: Iterable[Slot]) -> None:
        self.slots = list(slots)
        self.episodes = [SlotEpisode() for _ in self.slots]
        self._pending: dict[int, Call] = {}
        self._results: dict[int, Answer] = {}

    def gather(self, calls: Mapping[int, Call], *, record: bool = False) -> dict[int, Any]:
        """Make calls in several slots at once and wait for all answers.

        Where `record`, the calls are `reset` or `step`, and their answers become `episodes`. A slot
        that raises stays as it was.

        Returns:
            The answers by slot, without those of slots that broke.

        Raises:
            Exception: what an environment raised, once every slot has answered.
        """
        answers: dict[int, Any] = {}
        errors: list[Exception] = []
        waiting = dict(calls)
        try:
            for call in calls.values():
                call.begins[0]()
            while waiting:
                index, call = next(iter(waiting.items()))
                following = None
                try:
                    answer, following = self.slots[index].receive(), call.following()
                    if following is None:
                        answers[index] = self._record(index, answer) if record else answer
                except EnvFailure as failure:
                    following = call.restarted() if isinstance(failure, WorkerDied) else None
                    if following is None:
                        self._fail(index, **_described(failure))
                    else:
                        self.lose_episode(index, str(failure))
                except Exception as error:  # raised below, once every slot has answered
                    errors.append(error)
                if following is None:
                    del waiting[index]
                else:
                    waiting[index] = following
                    following.begins[0]()
        finally:
            # Only an interrupt leaves some: their answers would be taken for the next call's.
            for index in waiting:
                self._fail(index, failure="interrupted before it had answered")
        if errors:
            raise errors[0]
        return answers

    def lose_episode(self, index: int, message: str) -> None:
        """Have a slot's episode count as failed, if it was not over."""
        if self.episodes[index].is_live:
            self.episodes[index] = SlotEpisode(info={"failure": message}, failed=True)

    # One by one -------------------------------------------------------------------------------

    def begin(self, index: int, call: Call) -> None:
        """Begin a call."""
        call.begins[0]()
        self._pending[index] = call

    def repeat(self, index: int) -> None:
        """Have a slot's answer be its last one."""
        self._results[index] = self._last_result(index, 0.0)

    def unanswered(self) -> list[Slot]:
        """List the slots that have not answered."""
        return [self.slots[index] for index in self._pending]

    def poll(self, timeout: float | None) -> dict[int, Answer]:
        """Return the answers that have come, waiting up to `timeout` seconds for the first."""
        deadline = deadline_after(timeout)
        self._receive_ready()
        while self._pending and not self._results and seconds_left(deadline) != 0.0:
            wait_for_any(self.unanswered(), seconds_left(deadline))
            self._receive_ready()
        results, self._results = self._results, {}
        return results

    def settle(self) -> None:
        """Wait for every slot, leaving the answers to `poll`."""
        self._receive_ready()
        while self._pending:
            wait_for_any(self.unanswered(), None)
            self._receive_ready()

    def cancel(self) -> None:
        """Cancel the pending calls, and drop the answers."""
        for index in list(self._pending):
            self._fail(index, failure="cancelled before it had answered")
        self._pending.clear()
        self._results.clear()

    def check_settled(self, indices: Iterable[int], method: str) -> None:
        """Raise AlreadyPendingCallError if one of the slots has a pending call."""
        busy = [i for i in indices if i in self._pending or i in self._results]
        if busy:
            raise AlreadyPendingCallError(
                f"{method}: slots {busy} were given a call whose answer poll() has not brought yet",
                method,
            )

    def check_actions(self, actions: Sequence[str | None]) -> None:
        """Raise unless every slot that is given an action can take it."""
        check_length("actions", actions, len(self.slots))
        for index, action in enumerate(actions):
            if action is None:
                continue
            if not isinstance(action, str):
                raise TypeError(
                    f"the action of slot {index} must be a str or None, got {action!r:.80}"
                )
            episode = self.episodes[index]
            if not episode.is_live and not episode.failed:
                why = "is over" if episode.begun else "has not begun"
                raise ResetNeeded(
                    f"the episode of slot {index} {why}; give it None, or reset it with "
                    "options={'task_id': [..]}, which holds None for the slots to leave alone"
                )

    def close(self) -> None:
        """Close every environment, and discard those that do not close within some seconds.

        Slots with a pending call are not waited for. Raises an environment's error at the end.
        """
        self.cancel()
        running = [slot for slot in self.slots if slot.running]
        errors: list[Exception] = []
        for slot in running:
            slot.send("close", timeout=_CLOSE_SECONDS)
        for slot in running:
            try:
                slot.receive()
            except EnvFailure:
                pass  # it is gone already, which is what we want
            except Exception as error:  # raised below, once every slot is closed
                errors.append(error)
        for slot in self.slots:
            slot.discard()
        if errors:
            raise errors[0]

    def _receive_ready(self) -> None:
        errors: list[Exception] = []
        for index in [i for i in self._pending if self.slots[i].answered()]:
            call = self._pending[index]
            try:
                answer = self.slots[index].receive()
            except EnvFailure as failure:
                del self._pending[index]
                again = call.restarted() if isinstance(failure, WorkerDied) else None
                if again is not None:
                    self.begin(index, again)
                    continue
                self._fail(index, **_described(failure))
                self.repeat(index)
            except Exception as error:  # raised below, once every slot has answered
                del self._pending[index]
                errors.append(error)
            else:
                del self._pending[index]
                following = call.following()
                if following is not None:
                    self.begin(index, following)
                else:
                    self._results[index] = self._record(index, answer)
        if errors:
            raise errors[0]

    def _record(self, index: int, answer: Any) -> Answer:
        if len(answer) == 2:  # a reset's
            observation, info = answer
            self.episodes[index] = SlotEpisode(observation, info=info, begun=True)
            return self._last_result(index, 0.0)
        observation, reward, terminated, truncated, info = answer
        self.episodes[index] = SlotEpisode(observation, terminated, truncated, info, begun=True)
        return self._last_result(index, reward)

    def _last_result(self, index: int, reward: float) -> Answer:
        last = self.episodes[index]
        return last.observation, reward, last.terminated, last.truncated, {**last.info}

    def _fail(self, index: int, **info: str) -> None:
        self.slots[index].discard()
        self.episodes[index] = SlotEpisode(info=info, failed=True)


def _described(failure: EnvFailure) -> dict[str, str]:
    """Return the `info` of a slot that broke, with the traceback of an error of its code."""
    info = {"failure": str(failure)}
    if isinstance(failure, EnvCodeError):
        lines = traceback.format_exception(failure.__cause__ or failure)
        info["traceback"] = truncate("".join(lines), _MAX_TRACEBACK)
    return info
