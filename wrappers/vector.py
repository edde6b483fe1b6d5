"""TextVectorEnv: several text environments that take their turns together.

Knows episodes, slots and failures; where a slot's environment runs is `wrappers.slots`' business.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import TracebackType
from typing import Any, Literal, Self, get_args

from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from agentgym_envs.errors import EnvFailure
from wrappers.process_slot import ProcessSlot
from wrappers.slot_arguments import check_length, chosen_slots, env_fns_of, options_of, seeds_of
from wrappers.slots import EnvFn, InProcessSlot, Slot, ThreadSlot

Backend = Literal["sync", "thread", "process"]
BACKENDS: tuple[str, ...] = get_args(Backend)

START_SECONDS = 120.0
"""How long a fresh environment may take to be made, where `step_timeout` is set."""

_CLOSE_SECONDS = 5.0
_SLOTS: dict[str, type[InProcessSlot] | type[ThreadSlot] | type[ProcessSlot]] = {
    "sync": InProcessSlot,
    "thread": ThreadSlot,
    "process": ProcessSlot,
}


@dataclass
class _Episode:
    """What a slot said last."""

    observation: str = ""
    terminated: bool = False
    truncated: bool = False
    info: dict[str, Any] = field(default_factory=dict)
    begun: bool = False
    failed: bool = False


class TextVectorEnv:
    """Several text environments with a task of their own each; no autoreset.

    It returns lists of length `num_envs`. A slot whose machinery broke (`EnvFailure`, a dead or
    hung worker) answers observation `""`, reward 0, no flags and `{"failure": <message>}` until it
    is reset, which starts it afresh; the other slots play on. The caller's mistakes are raised.

    Args:
        env_fns: a registered id, its short name or `"module:id"`; or a function per slot that makes
            its environment.
        num_envs: the number of slots; needed beside an id only, where None means 1.
        backend: `"sync"` plays the slots one after the other in this thread, `"thread"` each in a
            thread, `"process"` each in a worker process (POSIX).
        step_timeout: seconds that a slot may take to answer a call before it counts as failed; None
            waits for ever. Not for `"sync"`, which cannot interrupt a call.
        **env_kwargs: passed to `gymnasium.make` with the id.

    Raises:
        ValueError: an argument has a value that is not allowed, or does not fit the others.
        TypeError: keyword arguments came with functions, or the environment does not take them.
    """

    num_envs: int

    def __init__(
        self,
        env_fns: str | Sequence[EnvFn],
        num_envs: int | None = None,
        *,
        backend: Backend = "sync",
        step_timeout: float | None = None,
        **env_kwargs: Any,
    ) -> None:
        if backend not in BACKENDS:
            raise ValueError(f"unknown backend {backend!r}; allowed: {', '.join(BACKENDS)}")
        if step_timeout is not None and step_timeout <= 0:
            raise ValueError(f"step_timeout must be > 0 seconds or None, got {step_timeout}")
        if step_timeout is not None and backend == "sync":
            raise ValueError(
                "step_timeout needs backend='thread' or 'process'; 'sync' cannot interrupt a call"
            )
        fns = env_fns_of(env_fns, num_envs, env_kwargs)
        self.num_envs = len(fns)
        self.step_timeout = step_timeout
        self.slots: list[Slot] = [_SLOTS[backend](fn) for fn in fns]
        self._episodes = [_Episode() for _ in fns]
        self._finalizer = weakref.finalize(self, _close_all, self.slots)
        try:
            self._start(range(self.num_envs))
        except BaseException:
            self.close()
            raise

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[list[str], list[dict[str, Any]]]:
        """Start an episode in every slot, or in those that `options["task_id"]` names a task for.

        Args:
            seed: an int gives slot i `seed + i`; a sequence gives each slot its own.
            options: a list holds one value per slot, None in it leaving the option out; anything
                else goes to every slot. A slot whose entry in a `task_id` list is None is left
                alone: it is not reset and repeats its last observation and info.

        Returns:
            observations and infos.

        Raises:
            ValueError: a list has the wrong length, or an environment refuses an option. Slots that
                did not refuse have been reset.
        """
        self._check_open()
        seeds = seeds_of(seed, self.num_envs)
        chosen = chosen_slots(options, self.num_envs)
        for index in chosen:
            if not self._episodes[index].failed:
                self._episodes[index] = _Episode()
        self._start(index for index in chosen if not self.slots[index].running)
        answers = self._exchange(
            {
                index: ("reset", (seeds[index], options_of(index, options or {})))
                for index in chosen
                if self.slots[index].running
            }
        )
        for index, (observation, info) in answers.items():
            self._episodes[index] = _Episode(observation, info=info, begun=True)
        return [e.observation for e in self._episodes], [e.info for e in self._episodes]

    def step(
        self, actions: Sequence[str | None]
    ) -> tuple[list[str], list[float], list[bool], list[bool], list[dict[str, Any]]]:
        """Play one turn in every slot that is given an action; all of them at once.

        Args:
            actions: a completion per slot; None leaves a slot alone: it repeats its last
                observation, flags and info, with reward 0.

        Returns:
            observations, rewards, terminated, truncated and infos.

        Raises:
            ResetNeeded: a slot is given an action whose episode is over or has not begun; no slot
                has been stepped.
            ValueError: there is not one action per slot.
            TypeError: an action is neither a string nor None.
        """
        self._check_open()
        self._check_actions(actions)
        answers = self._exchange(
            {
                index: ("step", (action,))
                for index, action in enumerate(actions)
                if action is not None and not self._episodes[index].failed
            }
        )
        rewards = [0.0] * self.num_envs
        for index, (observation, reward, terminated, truncated, info) in answers.items():
            rewards[index] = reward
            self._episodes[index] = _Episode(observation, terminated, truncated, info, begun=True)
        return (
            [e.observation for e in self._episodes],
            rewards,
            [e.terminated for e in self._episodes],
            [e.truncated for e in self._episodes],
            [e.info for e in self._episodes],
        )

    def get(self, name: str) -> list[Any]:
        """Read an attribute of every slot's environment, such as `"system_prompt"`; wrappers first.

        A failed slot is given a fresh environment to answer, and still waits for its reset.

        Raises:
            EnvFailure: a slot cannot answer.
        """
        return self._ask("get", name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of every slot's environment, wrappers first; failed slots as in `get`.

        Raises:
            EnvFailure: a slot cannot answer.
            TypeError: the answer cannot leave its worker process.
        """
        return self._ask("call", name, args, kwargs)

    def expert_actions(self, where: Sequence[bool] | None = None) -> list[str | None]:
        """Take the next action of the expert of every slot whose episode is not over.

        It serves every backend, as `call("expert")` cannot: an iterator stays in its process.
        Each action must be played before the next is asked for.

        Args:
            where: ask only these slots; None asks all.

        Returns:
            an action per slot; None where the slot was not asked, is over, has failed, or its
            expert has no more.
        """
        self._check_open()
        if where is not None:
            check_length("where", where, self.num_envs)
        asked = [
            index
            for index, episode in enumerate(self._episodes)
            if (where is None or where[index]) and _is_live(episode)
        ]
        answers = self._exchange({index: ("expert_action", ()) for index in asked})
        return [answers.get(index) for index in range(self.num_envs)]

    def close(self) -> None:
        """Close every environment and end every worker; the second time does nothing."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # Slots ------------------------------------------------------------------------------------

    def _start(self, indices: Iterable[int]) -> None:
        """Make fresh environments, all at once."""
        timeout = None if self.step_timeout is None else START_SECONDS
        self._gather({index: partial(self.slots[index].start, timeout) for index in indices})

    def _exchange(self, calls: Mapping[int, tuple[str, tuple[Any, ...]]]) -> dict[int, Any]:
        """Make calls in several slots at once; slots that fail are marked and left out."""
        return self._gather(
            {
                index: partial(self.slots[index].send, method, *args, timeout=self.step_timeout)
                for index, (method, args) in calls.items()
            }
        )

    def _gather(self, begins: Mapping[int, Callable[[], None]]) -> dict[int, Any]:
        answers: dict[int, Any] = {}
        errors: list[Exception] = []
        waiting = list(begins)
        try:
            for begin in begins.values():
                begin()
            while waiting:
                try:
                    answers[waiting[0]] = self.slots[waiting[0]].receive()
                except EnvFailure as failure:
                    self._fail(waiting[0], str(failure))
                except Exception as error:  # raised below, once every slot has been heard
                    errors.append(error)
                waiting.pop(0)
        finally:
            # Only an interrupt leaves some: their answers would be taken for the next call's.
            for index in waiting:
                self._fail(index, "interrupted before it had answered")
        if errors:
            raise errors[0]
        return answers

    def _fail(self, index: int, message: str) -> None:
        self.slots[index].discard()
        self._episodes[index] = _Episode(info={"failure": message}, failed=True)

    def _ask(self, method: str, *args: Any) -> list[Any]:
        self._check_open()
        self._start(index for index, slot in enumerate(self.slots) if not slot.running)
        running = [index for index, slot in enumerate(self.slots) if slot.running]
        answers = self._exchange({index: (method, args) for index in running})
        lost = [index for index in range(self.num_envs) if index not in answers]
        if lost:
            told = "; ".join(f"slot {i}: {self._episodes[i].info['failure']}" for i in lost)
            raise EnvFailure(f"{method} {args[0]!r} has no answer from {told}")
        return [answers[index] for index in range(self.num_envs)]

    # The caller's arguments -------------------------------------------------------------------

    def _check_open(self) -> None:
        if not self._finalizer.alive:
            raise ClosedEnvironmentError("this TextVectorEnv is closed; make a new one")

    def _check_actions(self, actions: Sequence[str | None]) -> None:
        check_length("actions", actions, self.num_envs)
        for index, action in enumerate(actions):
            if action is None:
                continue
            if not isinstance(action, str):
                raise TypeError(
                    f"the action of slot {index} must be a str or None, got {action!r:.80}"
                )
            episode = self._episodes[index]
            if not _is_live(episode) and not episode.failed:
                why = "is over" if episode.begun else "has not begun"
                raise ResetNeeded(
                    f"the episode of slot {index} {why}; give it None, or reset it with "
                    "options={'task_id': [..]}, which holds None for the slots to leave alone"
                )


def _is_live(episode: _Episode) -> bool:
    return episode.begun and not (episode.terminated or episode.truncated)


def _close_all(slots: Sequence[Slot]) -> None:
    """Ask every environment to close, give them some seconds together, then end what is left."""
    running = [slot for slot in slots if slot.running]
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
        finally:
            slot.discard()
    if errors:
        raise errors[0]
