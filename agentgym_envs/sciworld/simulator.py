"""Runs a ScienceWorld simulator inside a Java process that it shares with others.

The simulator draws from one global random source and numbers its objects with one global counter.
Every simulator has its own of both here, put in place before it is called, so that what it does
depends on nobody else.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from agentgym_envs.errors import EnvFailure
from agentgym_envs.sciworld.gateway import Gateway, JavaError, JavaObject, JavaValue, static
from agentgym_envs.sciworld.java_globals import look_up_globals, tour_routes
from agentgym_envs.sciworld.jvm import Jvm, acquire_slot

CALL_SECONDS = 60.0
"""Time limit of a call. The slowest step takes a second."""

_GOLD_FACTOR = 10
"""Additional time for a task's gold path, which the simulator plays to find."""

_INTERFACE = "scienceworld.runtime.pythonapi.PythonInterface"

Ask = Callable[..., Any]
"""Calls a method: takes the object, the method's name and its arguments."""


class Reply(NamedTuple):
    """The simulator's answer to an action.

    Attributes:
        text: its observation; empty where it took no action.
        score: -1..1.
        is_completed: the task is done, or cannot be done any more.
    """

    text: str
    score: float
    is_completed: bool

    @property
    def points(self) -> int:
        """The score in the official wrapper's points, -100 to 100."""
        return round(100 * self.score)


class Simulator:
    """A simulator, whose methods raise `EnvFailure` once its Java process has died.

    Args:
        timeout: seconds that a call may take.

    Raises:
        ImportError: the science extra is not installed.
        EnvFailure: Java does not start.
    """

    def __init__(self, timeout: float = CALL_SECONDS) -> None:
        self.timeout = timeout
        self._jvm = acquire_slot()
        self._held: list[JavaObject] = []
        # Not `close`: a finalizer runs in any thread at any time, even within a call.
        self._finalizer = weakref.finalize(self, _leave, self._jvm, self._held)
        self._count = 0
        self._game: JavaObject | None = None
        with self._jvm.calling() as gateway:
            self._globals = look_up_globals(self._jvm, gateway)
            self._random = gateway.construct("java.util.Random", timeout=timeout)
            self._take_over(gateway)  # making the next draws and counts
            self._server = gateway.construct(_INTERFACE, timeout=timeout)
        self._held += [self._server, self._random]

    @property
    def alive(self) -> bool:
        """Its Java process lives, as far as is known."""
        return self._finalizer.alive and self._jvm.alive

    @property
    def jvm(self) -> Jvm:
        """The Java process that it lives in."""
        return self._jvm

    def close(self) -> None:
        """Have Java forget it."""
        self._finalizer()

    def load(self, task: str, variation: int) -> str:
        """Set a task up and return its description."""
        with self._jvm.calling() as gateway:
            self._take_over(gateway)
            return self._load(gateway, task, variation)

    def step(self, action: str) -> Reply:
        """Play an action.

        Raises:
            JavaError: the simulator could not read the action; nothing has happened.
            EnvFailure: Java is dead or gave no answer, or the simulator broke while it acted.
        """
        with self._jvm.calling() as gateway:
            self._take_over(gateway)
            answer = gateway.call(self.game, "step", action, timeout=self.timeout)
            outcome = cast(JavaObject, answer)  # Scala's (text, score, is_completed)
            text, score, flag = self._call(gateway, outcome, "toString")[1:-1].rsplit(",", 2)
            gateway.delete(outcome, timeout=self.timeout)
            reply = Reply(text, float(score), flag == "true")
            error = None
            if reply.score < 0 and self._call(gateway, self.game, "isInErrorState"):
                error = self._call(gateway, self.game, "getErrorStateMessage")
        if error is not None:  # raised here, where it does not cost the others their Java
            raise EnvFailure(f"the simulator broke at {action!r:.80}: {error}")
        return reply

    def look(self) -> str:
        """Return the answer to `look around` now, without the moment that it takes."""
        with self.aside() as ask:
            return str(ask(self._server, "freeActionLook"))

    def num_moves(self) -> int:
        """Return the simulator's count of the time steps so far."""
        with self._jvm.calling() as gateway:
            return int(self._call(gateway, self.game, "getCurIterations"))

    def objects(self) -> list[str]:
        """List the names that can be used now."""
        return self._texts("getPossibleObjects")

    def possible_actions(self) -> list[str]:
        """List the actions that the simulator knows, with OBJ where a thing is to be named."""
        return self._texts("getPossibleActions")

    def goal_progress(self) -> str:
        """Describe the goals of the task and which of them are reached."""
        with self.aside() as ask:
            return str(ask(self._server, "getGoalProgressStr"))

    def explain(self, word: str) -> str:
        """Return the answer to `help`, `objects` or `task`, which are no actions."""
        with self.aside() as ask:
            return str(ask(self._server, "step", word))

    def solve(self, task: str, variation: int, *, tours: int = 0) -> tuple[str, ...]:
        """Return the simulator's own solution of a task, in up to a second.

        Some solutions search the house. The simulator would find a route through it at random, and
        keep it for all later solutions; it is given ours.

        Args:
            task: the task.
            variation: its variation.
            tours: which of `house.tour`'s routes it searches along.
        """
        with self._jvm.calling() as gateway:
            self._take_over(gateway)
            self._call(gateway, self._globals.routes, "clear")
            for room, route in tour_routes(self._jvm, gateway, tours):
                self._call(gateway, self._globals.routes, "update", room, route)
            self._load(gateway, task, variation, with_path=True)
        return tuple(self._texts("getGoldActionSequence"))

    @property
    def game(self) -> JavaObject:
        """The loaded game.

        Raises:
            EnvFailure: no task is loaded.
        """
        if self._game is None:
            raise EnvFailure("no task is loaded: the simulator broke while it was loading one")
        return self._game

    @contextlib.contextmanager
    def aside(self) -> Iterator[Ask]:
        """Make calls that leave the game as it is.

        The simulator picks names for its lists at random, and would draw from the source that
        moves its bees. The objects that the calls return are deleted at the end: each of them keeps
        a whole game in memory.
        """
        made: list[JavaObject] = []
        with self._jvm.calling() as gateway:

            def ask(target: JavaObject, method: str, *arguments: JavaValue) -> Any:
                answer = self._call(gateway, target, method, *arguments)
                if isinstance(answer, JavaObject):
                    made.append(answer)
                return answer

            self._take_over(gateway)
            count = self._call(gateway, self._globals.counter, "count")
            aside = gateway.construct("java.util.Random", 0, timeout=self.timeout)
            made.append(aside)
            self._call(gateway, self._globals.field, "set", self._globals.random, aside)
            yield ask
            self._call(gateway, self._globals.field, "set", self._globals.random, self._random)
            self._call(gateway, self._globals.counter, "count_$eq", count)
            for each in made:
                gateway.delete(each, timeout=self.timeout)

    def _texts(self, method: str) -> list[str]:
        with self.aside() as ask:
            joined = ask(static("java.lang.String"), "join", "\n", ask(self._server, method))
        return str(joined).split("\n") if joined else []

    # Inside `calling` -------------------------------------------------------------------------

    def _load(self, gateway: Gateway, task: str, variation: int, *, with_path: bool = False) -> str:
        if self._game is not None:
            self._held.remove(self._game)
            gateway.delete(self._game, timeout=self.timeout)
            self._game = None
        timeout = self.timeout * (_GOLD_FACTOR if with_path else 1)
        arguments = (task, variation, "", with_path)
        error = self._call(gateway, self._server, "load", *arguments, timeout=timeout)
        if error:
            raise EnvFailure(f"the simulator does not load {task!r} {variation}: {error}")
        option = cast(JavaObject, self._call(gateway, self._server, "agentInterface"))
        self._game = cast(JavaObject, self._call(gateway, option, "get"))
        self._held.append(self._game)
        gateway.delete(option, timeout=self.timeout)
        self._jvm.collect_garbage(gateway)
        return str(self._call(gateway, self._game, "getTaskDescription"))

    def _take_over(self, gateway: Gateway) -> None:
        """Put this simulator's random source and counter in the place of the last one's."""
        tenant = None if self._jvm.tenant is None else self._jvm.tenant()
        if tenant is self:
            return
        if isinstance(tenant, Simulator):
            tenant._count = self._call(gateway, self._globals.counter, "count")
        self._jvm.tenant = weakref.ref(self)
        self._call(gateway, self._globals.counter, "count_$eq", self._count)
        self._call(gateway, self._globals.field, "set", self._globals.random, self._random)

    def _call(
        self,
        gateway: Gateway,
        target: JavaObject,
        method: str,
        *arguments: JavaValue,
        timeout: float | None = None,
    ) -> Any:
        try:
            return gateway.call(target, method, *arguments, timeout=timeout or self.timeout)
        except JavaError as error:
            raise EnvFailure(f"the simulator broke in {method}: {error}") from error


def _leave(jvm: Jvm, held: Sequence[JavaObject]) -> None:
    for each in held:
        jvm.discard(each)
    jvm.free_slots.append(None)
