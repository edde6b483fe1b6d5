"""A slot whose environment runs in a worker process, whose side is `wrappers.vector.worker`."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import cloudpickle  # type: ignore[import-untyped]  # it ships no type information

from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.exits import describe_returncode
from wrappers.vector.host import EnvFn
from wrappers.vector.slots import WakeupPipe, WorkerDied, deadline_after, is_over, seconds_left

_WORKER = Path(__file__).with_name("worker.py")
# A socket takes this much at least without a reader, so a shorter message never blocks the sender.
_SURE_TO_FIT = 16_384
_DEATH_SECONDS = 5.0

_log = logging.getLogger(__name__)


class ProcessSlot:
    """Runs its environment in a worker process of its own.

    The worker is a fresh interpreter that imports what the environment needs and nothing of the
    caller's program, so a training script needs no `__main__` guard and its workers hold no torch.
    It leads its own process group: Ctrl-C reaches the parent alone, and a hung worker is killed
    together with the simulators it started, as any is some seconds after its parent's end. POSIX
    only.

    Args:
        env_fn: makes the environment, in the worker; cloudpickle carries it there.
    """

    def __init__(self, env_fn: EnvFn) -> None:
        self._env_fn = cloudpickle.dumps(env_fn)
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._lifeline: int | None = None
        self._sender: threading.Thread | None = None
        self._timeout: float | None = None
        self.deadline: float | None = None
        self._starting = False

    @property
    def running(self) -> bool:
        """There is a worker, and it lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The worker's process id."""
        return None if self._process is None else self._process.pid

    def answered(self) -> bool:
        """Whether the worker has answered or died, or the time is over."""
        assert self._connection is not None
        return self._connection.poll() or is_over(self.deadline)

    def watch(self, wakeup: WakeupPipe | None) -> Connection | None:
        """Return the worker's connection."""
        return self._connection

    def start(self, timeout: float | None) -> None:
        """Start a worker and have it make the environment."""
        self.discard()
        own_end, worker_end = socket.socketpair()
        pipe, self._lifeline = os.pipe()
        descriptors = [worker_end.fileno(), pipe]
        with worker_end, open(pipe, "rb"):  # closed here, once the worker has them
            self._process = subprocess.Popen(
                [sys.executable, "-P", str(_WORKER), *map(str, descriptors)],
                pass_fds=descriptors,
                # One environment a process: threads of a numerical library would only compete.
                env={"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", **os.environ},
                start_new_session=True,
            )
        self._connection = Connection(own_end.detach())
        self._starting = True
        self._write((sys.path, self._env_fn), timeout)

    def send(self, method: str, *args: Any, timeout: float | None) -> None:
        """Write the call to the worker."""
        self._write((method, args), timeout)

    def receive(self) -> Any:
        """Wait for the worker's answer, its death, or the deadline.

        Raises:
            EnvFailure: there was no answer in time, or the environment's machinery broke.
            WorkerDied: the process died.
        """
        assert self._connection is not None
        try:
            if not self._connection.poll(seconds_left(self.deadline)):
                self.discard()
                raise EnvFailure(
                    f"the worker process gave no answer within {self._timeout:g} s and was killed"
                )
            answered, value = pickle.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError):
            raise WorkerDied(f"the worker process died: {self._cause_of_death()}") from None
        starting, self._starting = self._starting, False
        if not answered:
            if starting:
                self.discard()
            raise value
        return value

    def discard(self) -> None:
        """Kill the worker and its own processes."""
        process, connection, sender = self._process, self._connection, self._sender
        self._process = self._connection = self._sender = None
        if process is not None:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # the latter on macOS
                pass  # it has ended by itself, with all it had started
            process.wait()
        if sender is not None:
            sender.join()
        if connection is not None:
            connection.close()
        lifeline, self._lifeline = self._lifeline, None
        if lifeline is not None:
            os.close(lifeline)

    def _write(self, message: Any, timeout: float | None) -> None:
        self._timeout = timeout
        self.deadline = deadline_after(timeout)
        assert self._connection is not None
        data = pickle.dumps(message)
        if len(data) <= _SURE_TO_FIT:
            _send_bytes(self._connection, data)
        else:
            # A stopped worker would block us here for ever; `receive` is what keeps the time.
            self._sender = threading.Thread(
                target=_send_bytes, args=(self._connection, data), daemon=True
            )
            self._sender.start()

    def _cause_of_death(self) -> str:
        assert self._process is not None
        try:
            code = self._process.wait(_DEATH_SECONDS)
        except subprocess.TimeoutExpired:
            return "it closed its connection"
        return describe_returncode(code)


def _send_bytes(connection: Connection, data: bytes) -> None:
    try:
        connection.send_bytes(data)
    except OSError as error:  # dead or discarded meanwhile: `receive` finds that out and says so
        _log.debug("a worker took no more calls: %s", error)
