"""Slots whose environments run in actors of a Ray cluster, several in each.

The actor's side is `wrappers.vector.ray_actor`. An actor that dies takes its environments' episodes
along; the next environment that is made for one of its slots brings a new actor.
"""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from importlib import import_module
from multiprocessing.connection import Connection
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it ships no type information

from agentgym_envs.errors import EnvFailure, needs_extra
from wrappers.vector.host import EnvFn
from wrappers.vector.ray_actor import EnvActor
from wrappers.vector.slots import Wakeup, WorkerDied, deadline_after, is_over, seconds_left

GRACE_SECONDS = 10.0
"""Seconds past its environment's deadline after which an actor is killed."""


SET_UP_SECONDS = 1800.0
"""Seconds for an actor to be set up. A busy cluster may have no place for it yet."""


@dataclass(frozen=True)
class RayActors:
    """The Ray cluster of the environments, and the resources of each actor.

    Attributes:
        address: of the cluster, as `ray.init` takes it; None is the one of `RAY_ADDRESS` or of this
            machine, and starts one here where there is none.
        envs: environments of an actor at most; they share its process, and so a Java or a browser.
        options: arguments of `ray.remote`, such as `num_cpus` (1 where it is left out), `memory`,
            `resources`, `scheduling_strategy` and `runtime_env`.

    Raises:
        ValueError: `envs` is below 1.
    """

    address: str | None = None
    envs: int = 8
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.envs < 1:
            raise ValueError(f"envs must be >= 1 environments of an actor, got {self.envs}")


def connect(address: str | None, option: str) -> Any:
    """Return the module `ray`, connected to a cluster. An existing connection stays.

    `address` is as `ray.init` takes it, and `option` names the user's option in the message.

    Raises:
        MissingExtra: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """
    with needs_extra("ray", option):
        ray = import_module("ray")
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    return ray


def deaths(ray: Any) -> tuple[type[Exception], ...]:
    """Return the errors of a call whose actor or machine has been lost."""
    errors = ray.exceptions
    # A long answer stays where it was given until it is fetched, and is lost with the machine.
    return errors.RayActorError, errors.ObjectLostError, errors.OutOfMemoryError


def ray_slots(env_fns: Sequence[EnvFn], actors: RayActors) -> list[RaySlot]:
    """Return a slot for each function that makes an environment, spread evenly over the actors.

    Raises:
        MissingExtra: Ray is not installed.
        ConnectionError: there is no cluster at the address.
        ValueError: `actors.options` are not what `ray.remote` takes, or the cluster, as it is now,
            has not the cores for all actors.
    """
    ray = connect(actors.address, "backend='ray'")
    options = {"num_cpus": 1, **actors.options, "max_restarts": 0}
    remote = ray.remote(**options)(EnvActor)
    places = [_Place(ray, remote) for _ in range(math.ceil(len(env_fns) / actors.envs))]
    cores, present = len(places) * options["num_cpus"], ray.cluster_resources().get("CPU", 0)
    if cores > present:
        raise ValueError(
            f"{len(env_fns)} environments in {len(places)} Ray actors take {cores:g} cores, and "
            f"the cluster has {present:g}; allow more environments of an actor (--ray_envs), give "
            "each actor less (--ray_actor '{\"num_cpus\": 0.5}'), or play fewer "
            "at once (--num_envs)"
        )
    return [RaySlot(fn, places[index % len(places)]) for index, fn in enumerate(env_fns)]


class _Actor:
    """An actor, and the numbers of its environments."""

    def __init__(self, ray: Any, remote: Any) -> None:
        self._ray = ray
        self._numbers = itertools.count()
        self._present: set[int] = set()
        self._is_lost = False
        self.handle = remote.remote()

    @property
    def is_lost(self) -> bool:
        """The actor is known to have died, or its cluster is disconnected."""
        return self._is_lost or not self._ray.is_initialized()

    def add(self) -> int:
        """Return the number of another environment."""
        number = next(self._numbers)
        self._present.add(number)
        return number

    def remove(self, number: int) -> None:
        """Let go of an environment, and of the actor with the last one."""
        self._present.remove(number)
        if not self._present:
            self.kill()
        elif not self.is_lost:
            self.handle.discard.remote(number)

    def kill(self) -> None:
        """End the actor, which may have ended already, and all its environments."""
        if not self.is_lost:
            self._is_lost = True
            self._ray.kill(self.handle)

    def lose(self) -> None:
        """Take note that the actor has died."""
        self._is_lost = True


class _Place:
    """Holder of the living actor that several slots share."""

    def __init__(self, ray: Any, remote: Any) -> None:
        self.deaths = deaths(ray)
        self._ray, self._remote = ray, remote
        self._actor: _Actor | None = None

    def living(self) -> _Actor:
        """Return the actor, a new one where it has died."""
        if self._actor is None or self._actor.is_lost:
            self._actor = _Actor(self._ray, self._remote)
        return self._actor


class RaySlot:
    """Runs its environment in a Ray actor, which it may share with other slots."""

    def __init__(self, env_fn: EnvFn, place: _Place) -> None:
        self._env_fn = cloudpickle.dumps(env_fn)
        self._place = place
        self._actor: _Actor | None = None
        self._number = 0
        self._answer: Future[bytes] = Future()
        self._wakeup: Wakeup | None = None
        self._limit: float | None = None
        self.deadline: float | None = None
        self._starting = False

    @property
    def running(self) -> bool:
        """There is an actor, which is not known to have died."""
        return self._actor is not None and not self._actor.is_lost

    def answered(self) -> bool:
        """Whether the actor has answered or died, or the time is over."""
        return self._answer.done() or is_over(self.deadline)

    def watch(self, wakeup: Wakeup | None) -> Connection | None:
        """Have the answer wake who waits."""
        self._wakeup = wakeup
        return None

    def start(self, timeout: float | None) -> None:
        """Have the actor make the environment, once the cluster has room for it."""
        self.discard()
        self._actor = self._place.living()
        self._number = self._actor.add()
        self._starting = True
        answer = self._actor.handle.start.remote(self._number, self._env_fn, timeout)
        self._follow(answer, SET_UP_SECONDS + (timeout or 0.0))

    def send(self, method: str, *args: Any, timeout: float | None) -> None:
        """Send the call to the actor."""
        assert self._actor is not None
        answer = self._actor.handle.call.remote(self._number, method, args, timeout)
        self._follow(answer, None if timeout is None else timeout + GRACE_SECONDS)

    def receive(self) -> Any:
        """Wait for the actor's answer, its death, or the deadline.

        Raises:
            EnvFailure: there was no answer in time, or the environment's machinery broke.
            WorkerDied: the actor died.
        """
        assert self._actor is not None
        try:
            # Not `result(timeout)`: an answer that is there counts, however late one looks.
            message = self._answer.result(seconds_left(self.deadline))
        except self._place.deaths as error:
            self._actor.lose()
            raise WorkerDied(f"the Ray actor died: {_in_one_line(error)}") from None
        except TimeoutError:
            self._actor.kill()
            raise EnvFailure(
                f"the Ray actor gave no answer within {self._limit:g} s and was killed"
            ) from None
        is_answer, value = pickle.loads(message)
        starting, self._starting = self._starting, False
        if not is_answer:
            if starting:
                self.discard()
            raise value
        return value

    def discard(self) -> None:
        """Release the environment. Its actor ends with the last one."""
        actor, self._actor = self._actor, None
        if actor is not None:
            actor.remove(self._number)

    def _follow(self, answer: Any, limit: float | None) -> None:
        self._limit, self.deadline = limit, deadline_after(limit)
        self._answer = answer.future()
        self._answer.add_done_callback(self._wake)

    def _wake(self, _answer: Future[bytes]) -> None:
        wakeup = self._wakeup
        if wakeup is not None:
            wakeup.wake()


def _in_one_line(error: Exception) -> str:
    """Return why an actor died, without Ray's table of who it was."""
    reason = str(error)
    return " ".join(reason[max(0, reason.find("The actor is dead because")) :].split())[:300]
