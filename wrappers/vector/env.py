"""TextVectorEnv: several text environments, stepped together or asynchronously.

`wrappers.vector.calls` calls the slots, and `wrappers.vector.slots` says what a slot is.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Self

from gymnasium.error import ClosedEnvironmentError

from agentgym_envs.errors import EnvFailure
from wrappers.vector.arguments import (
    Answer,
    check_length,
    chosen_slots,
    slot_env_fns,
    slot_options,
    slot_seeds,
)
from wrappers.vector.backends import Backend, make_slots
from wrappers.vector.calls import Begin, Call, SlotCalls, SlotEpisode
from wrappers.vector.host import EnvFn
from wrappers.vector.ray_slot import RayActors
from wrappers.vector.slots import Slot

STEP_TIMEOUT = 600.0
"""Seconds of a call where `step_timeout` is not given."""

START_SECONDS = 120.0
"""Seconds for a fresh environment to be made, where `step_timeout` is shorter."""


class TextVectorEnv:
    """Several text environments with a task each, without autoreset.

    It returns lists of length `num_envs`. A slot whose machinery broke (`EnvFailure`, a dead or
    hung worker) answers observation `""`, reward 0, no flags and `{"failure": <message>}` until it
    is reset, which starts it afresh; the other slots play on. So does one whose environment's code
    raised in a step, with its `"traceback"` besides. The caller's mistakes are raised.
    A worker process that dies between episodes is replaced unnoticed, some times in a row.

    A process that is forked from this one cannot use its threads and workers, and never ends them.

    Args:
        env_fns: a registered id, its short name or `"module:id"`; or a function per slot that makes
            its environment.
        num_envs: the number of slots; needed beside an id only, where None means 1.
        backend: `"sync"` plays the slots one after the other in this thread, `"thread"` each in a
            thread, `"process"` each in a worker process (POSIX), `"ray"` some in each
            actor of a Ray cluster.
        step_timeout: seconds that a slot may take to answer a call before it counts as failed; None
            means 600. Not for `"sync"`, which cannot interrupt a call and waits for ever.
        ray: for `"ray"`, which cluster and what each actor takes of it; None is `RayActors()`.
        **env_kwargs: passed to `gymnasium.make` with the id.

    Raises:
        ValueError: an argument has a value that is not allowed, or does not fit the others.
        TypeError: keyword arguments came with functions, or the environment does not take them.
        MissingExtra: the backend is `"ray"`, which is not installed.
    """

    num_envs: int

    def __init__(
        self,
        env_fns: str | Sequence[EnvFn],
        num_envs: int | None = None,
        *,
        backend: Backend = "sync",
        step_timeout: float | None = None,
        ray: RayActors | None = None,
        **env_kwargs: Any,
    ) -> None:
        if step_timeout is not None and step_timeout <= 0:
            raise ValueError(f"step_timeout must be > 0 seconds or None, got {step_timeout}")
        if step_timeout is not None and backend == "sync":
            raise ValueError(
                "step_timeout needs backend='thread', 'process' or 'ray'; 'sync' cannot interrupt "
                "a call"
            )
        fns = slot_env_fns(env_fns, num_envs, env_kwargs)
        self.num_envs = len(fns)
        self.step_timeout = STEP_TIMEOUT if step_timeout is None else step_timeout
        self._calls = SlotCalls(make_slots(backend, fns, ray))
        self._backend = backend
        self._pid = os.getpid()
        self._finalizer = weakref.finalize(self, _close_own, self._calls, self._pid)
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
            ValueError: a list has the wrong length, or an environment refuses an option. A slot
                that refuses goes on with the episode it had; the others have been reset.
        """
        self._check_open()
        seeds = slot_seeds(seed, self.num_envs)
        chosen = self._chosen(options)
        self._calls.gather(
            {
                index: self._restartable(
                    self._begin(index, "reset", seeds[index], slot_options(index, options or {})),
                    index,
                )
                for index in self._revived(chosen)
            },
            record=True,
        )
        return [e.observation for e in self._episodes], self._infos()

    def step(
        self, actions: Sequence[str | None]
    ) -> tuple[list[str], list[float], list[bool], list[bool], list[dict[str, Any]]]:
        """Play one turn in every slot that has an action, all at once.

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
        self._calls.check_actions(actions)
        self._calls.check_settled(_slots_with_action(actions), "step")
        answers = self._calls.gather(
            {
                index: Call((self._begin(index, "step", action),))
                for index, action in enumerate(actions)
                if action is not None and not self._episodes[index].failed
            },
            record=True,
        )
        rewards = [0.0] * self.num_envs
        for index, (_, reward, *_flags) in answers.items():
            rewards[index] = reward
        return (
            [e.observation for e in self._episodes],
            rewards,
            [e.terminated for e in self._episodes],
            [e.truncated for e in self._episodes],
            self._infos(),
        )

    # One by one -------------------------------------------------------------------------------

    def reset_async(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> None:
        """Begin a `reset` without waiting. `poll` brings each slot's answer.

        Raises:
            AlreadyPendingCallError: a slot is in the middle of a call; no slot has been called.
            ValueError: a list has the wrong length.
        """
        self._check_open()
        seeds = slot_seeds(seed, self.num_envs)
        for index in self._chosen(options):
            begin = self._begin(index, "reset", seeds[index], slot_options(index, options or {}))
            self._calls.begin(index, self._restartable(begin, index))

    def step_async(self, actions: Sequence[str | None]) -> None:
        """Begin a `step` without waiting. `poll` brings each slot's answer.

        Slots given None are left alone, whatever they are doing.

        Raises:
            AlreadyPendingCallError: a slot is in the middle of a call; no slot has been called.
            ResetNeeded, ValueError, TypeError: as `step` does.
        """
        self._check_open()
        self._calls.check_settled(_slots_with_action(actions), "step_async")
        self._calls.check_actions(actions)
        for index, action in enumerate(actions):
            if action is None:
                continue
            if self._episodes[index].failed:
                self._calls.repeat(index)
            else:
                self._calls.begin(index, Call((self._begin(index, "step", action),)))

    def poll(self, timeout: float | None = 0.0) -> dict[int, Answer]:
        """Take the answers to `reset_async` and `step_async` that have come, in no set order.

        A slot has `step_timeout` from when it was called; one that is found to have answered has
        not failed, however late one looks. Under `"sync"` the calls are made here.

        Args:
            timeout: seconds to wait where no answer has come yet; None waits until one does.

        Returns:
            By slot: observation, reward, terminated, truncated and info, as `step` gives them. A
            slot that broke answers as it does there. Empty where nothing is on its way.

        Raises:
            Exception: what an environment raised, a mistake of the caller's; the next call gives
                the answers that had come beside it.
        """
        self._check_open()
        return self._calls.poll(timeout)

    def unanswered(self) -> list[Slot]:
        """List the slots with a pending call, for `slots.wait_for_any`."""
        return self._calls.unanswered()

    def cancel(self) -> None:
        """Cancel the pending calls, whose slots count as failed."""
        self._calls.cancel()

    # All together -----------------------------------------------------------------------------

    def get(self, name: str) -> list[Any]:
        """Read an attribute of every slot's environment, such as `"system_prompt"`.

        A failed slot is given a fresh environment to answer, and still waits for its reset; so
        does one whose worker process has died meanwhile.

        Raises:
            EnvFailure: a slot cannot answer.
        """
        return self._ask("get", name)

    def call(self, name: str, *args: Any, **kwargs: Any) -> list[Any]:
        """Call a method of every slot's environment, wrappers first.

        Raises:
            EnvFailure: a slot cannot answer.
            TypeError: the answer cannot leave its worker process.
        """
        return self._ask("call", name, args, kwargs)

    def expert_actions(
        self, where: Sequence[bool] | None = None, *, baseline: str | None = None, **kwargs: Any
    ) -> list[str | None]:
        """Take the expert's or a baseline's next action in each slot whose episode is not over.

        It serves every backend, as `call("expert")` cannot: an iterator stays in its process.
        Each action must be played before the next is asked for.

        Args:
            where: ask only these slots; None asks all.
            baseline: one of the environments' `baselines`, asked in place of their experts.
            **kwargs: passed to each `expert`. They and `baseline` stay the same through an episode.

        Returns:
            an action per slot; None where the slot was not asked, is over, has failed, or its
            expert has no more.
        """
        self._check_open()
        if where is not None:
            check_length("where", where, self.num_envs)
        requested = [
            index
            for index, episode in enumerate(self._episodes)
            if (where is None or where[index]) and episode.is_live
        ]
        self._calls.check_settled(requested, "expert_actions")
        answers = self._calls.gather(
            {i: Call((self._begin(i, "expert_action", baseline, kwargs),)) for i in requested}
        )
        return [answers.get(index) for index in range(self.num_envs)]

    def close(self) -> None:
        """Close every environment and end every worker, once."""
        self._finalizer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    # Slots ------------------------------------------------------------------------------------

    @property
    def slots(self) -> list[Slot]:
        """The slots that run the environments."""
        return self._calls.slots

    @property
    def _episodes(self) -> list[SlotEpisode]:
        return self._calls.episodes

    @property
    def _start_timeout(self) -> float:
        return max(START_SECONDS, self.step_timeout)

    def _infos(self) -> list[dict[str, Any]]:
        """Copy the slots' last infos, since a caller may write into them."""
        return [{**episode.info} for episode in self._episodes]

    def _chosen(self, options: dict[str, Any] | None) -> list[int]:
        """List the slots that `reset(options=options)` resets, none with a pending call."""
        chosen = chosen_slots(options, self.num_envs)
        self._calls.check_settled(chosen, "reset")
        return chosen

    def _start(self, indices: Iterable[int]) -> None:
        """Make fresh environments, all at once."""
        starts = {index: self._begin_start(index) for index in indices}
        self._calls.gather({index: Call((start,), (start,)) for index, start in starts.items()})

    def _revived(self, indices: Sequence[int]) -> list[int]:
        """Make environments for slots without one, and list the slots that can be called.

        Left out are those that could not be made. One whose worker has died again since is not.
        """
        dead = [index for index in indices if not self.slots[index].running]
        for index in dead:
            self._calls.lose_episode(index, "the worker process died between two calls")
        self._start(dead)
        return [i for i in indices if self.slots[i].running or not self._episodes[i].failed]

    def _begin_start(self, index: int) -> Begin:
        return partial(self.slots[index].start, self._start_timeout)

    def _begin(self, index: int, method: str, *args: Any) -> Begin:
        return partial(self.slots[index].send, method, *args, timeout=self.step_timeout)

    def _restartable(self, begin: Begin, index: int) -> Call:
        """Return a call that a fresh environment can answer as well, where there is none now."""
        call = Call((begin,), (self._begin_start(index), begin))
        if self.slots[index].running:
            return call
        self._calls.lose_episode(index, "the worker process died between two calls")
        return replace(call, begins=call.again)

    def _ask(self, method: str, *args: Any) -> list[Any]:
        self._check_open()
        self._calls.settle()
        answers = self._calls.gather(
            {
                index: self._restartable(self._begin(index, method, *args), index)
                for index in self._revived(range(self.num_envs))
            }
        )
        lost = [index for index in range(self.num_envs) if index not in answers]
        if lost:
            failures = "; ".join(f"slot {i}: {self._episodes[i].info['failure']}" for i in lost)
            raise EnvFailure(f"{method} {args[0]!r} has no answer from {failures}")
        return [answers[index] for index in range(self.num_envs)]

    def _check_open(self) -> None:
        if not self._finalizer.alive:
            raise ClosedEnvironmentError("this TextVectorEnv is closed; make a new one")
        if self._backend != "sync" and self._pid != os.getpid():
            raise ClosedEnvironmentError(
                "this TextVectorEnv belongs to the process that this one was forked from; make "
                "another one here"
            )


def _close_own(calls: SlotCalls, pid: int) -> None:
    """Close the slots, unless this is a forked child: they are its parent's."""
    if os.getpid() == pid:
        calls.close()


def _slots_with_action(actions: Sequence[str | None]) -> list[int]:
    return [index for index, action in enumerate(actions) if action is not None]
