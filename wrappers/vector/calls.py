"""Calls of several slots, answered all together or one by one; marks slots that broke.

`wrappers.vector.env` decides what is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gymnasium.error import AlreadyPendingCallError, ResetNeeded

from agentgym_envs.errors import EnvFailure
from wrappers.vector.arguments import Answer, check_length
from wrappers.vector.slots import Slot, deadline_after, seconds_left, wait_for_any

_CLOSE_SECONDS = 5.0

Begin = Callable[[], None]
"""Hands a call to its slot."""


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
    """The calls on their way to several slots.

    Args:
        slots: who is called.

    Attributes:
        episodes: each slot's last answer.
    """

    def __init__(self, slots: Iterable[Slot]) -> None:
        self.slots = list(slots)
        self.episodes = [SlotEpisode() for _ in self.slots]
        self._pending: dict[int, list[Begin]] = {}  # slot -> the calls that follow the answer
        self._results: dict[int, Answer] = {}

    def gather(self, begins: Mapping[int, Begin], *, record: bool = False) -> dict[int, Any]:
        """Make calls in several slots at once and wait for all answers.

        Args:
            begins: by slot.
            record: the calls are of `reset` or `step`; what the slots answer is what `episodes`
                holds from then on. A slot that raises is left as it was.

        Returns:
            The answers by slot, without those of slots that broke.

        Raises:
            Exception: what an environment raised, once every slot has answered.
        """
        answers: dict[int, Any] = {}
        errors: list[Exception] = []
        waiting = list(begins)
        try:
            for begin in begins.values():
                begin()
            while waiting:
                try:
                    answer = self.slots[waiting[0]].receive()
                    answers[waiting[0]] = self._record(waiting[0], answer) if record else answer
                except EnvFailure as failure:
                    self._fail(waiting[0], str(failure))
                except Exception as error:  # raised below, once every slot has answered
                    errors.append(error)
                waiting.pop(0)
        finally:
            # Only an interrupt leaves some: their answers would be taken for the next call's.
            for index in waiting:
                self._fail(index, "interrupted before it had answered")
        if errors:
            raise errors[0]
        return answers

    # One by one -------------------------------------------------------------------------------

    def begin(self, index: int, *begins: Begin) -> None:
        """Begin a call; further ones follow, each once the one before has been answered."""
        begins[0]()
        self._pending[index] = list(begins[1:])

    def repeat(self, index: int) -> None:
        """Have a slot's answer be its last one."""
        self._results[index] = self._last_result(index, 0.0)

    def unanswered(self) -> list[Slot]:
        """List the slots that have not answered."""
        return [self.slots[index] for index in self._pending]

    def poll(self, timeout: float | None) -> dict[int, Answer]:
        """Return the answers that have come; wait up to `timeout` seconds for the first."""
        deadline = deadline_after(timeout)
        self._receive_ready()
        while self._pending and not self._results and seconds_left(deadline) != 0.0:
            wait_for_any(self.unanswered(), seconds_left(deadline))
            self._receive_ready()
        results, self._results = self._results, {}
        return results

    def settle(self) -> None:
        """Wait for every slot; `poll` gives the answers later."""
        self._receive_ready()
        while self._pending:
            wait_for_any(self.unanswered(), None)
            self._receive_ready()

    def cancel(self) -> None:
        """Give up what has not been answered, and forget what has."""
        for index in list(self._pending):
            self._fail(index, "given up before it had answered")
        self._pending.clear()
        self._results.clear()

    def check_settled(self, indices: Iterable[int], method: str) -> None:
        """Raise AlreadyPendingCallError if one of the slots is in the middle of a call."""
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
        """Ask every environment to close, give them some seconds together, then end what is left.

        Slots in the middle of a call are not waited for.

        Raises:
            Exception: what an environment raised on closing, once every slot is closed.
        """
        self.cancel()
        running = [index for index, slot in enumerate(self.slots) if slot.running]
        errors: list[Exception] = []
        for index in running:
            self.slots[index].send("close", timeout=_CLOSE_SECONDS)
        for index in running:
            try:
                self.slots[index].receive()
            except EnvFailure:
                pass  # it is gone already, which is what we want
            except Exception as error:  # raised below, once every slot is closed
                errors.append(error)
            finally:
                self.slots[index].discard()
        if errors:
            raise errors[0]

    def _receive_ready(self) -> None:
        errors: list[Exception] = []
        for index in [i for i in self._pending if self.slots[i].answered()]:
            try:
                answer = self.slots[index].receive()
            except EnvFailure as failure:
                del self._pending[index]
                self._fail(index, str(failure))
                self.repeat(index)
            except Exception as error:  # raised below, once every slot has answered
                del self._pending[index]
                errors.append(error)
            else:
                following = self._pending.pop(index)
                if following:
                    self.begin(index, *following)
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

    def _fail(self, index: int, message: str) -> None:
        self.slots[index].discard()
        self.episodes[index] = SlotEpisode(info={"failure": message}, failed=True)
