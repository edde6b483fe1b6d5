"""A worker process of `TextVectorEnv`: makes one environment and answers calls.

Run as a script by `wrappers.vector.process.ProcessSlot`, with the file descriptors of its
connection and of a pipe whose other end closes with the parent. Only the standard library is
imported before the parent's `sys.path` has arrived.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any

_GRACE_SECONDS = 2.0
"""Seconds for a worker to close its environment once its parent is gone."""


def main() -> None:
    """Serve the connection named on the command line until its other end closes."""
    descriptor, lifeline = map(int, sys.argv[1:])
    _end_with_parent(lifeline, descriptor)
    connection = Connection(descriptor)
    try:
        sys.path[:], env_fn = pickle.loads(connection.recv_bytes())
        serve(connection, env_fn)
    except (EOFError, ConnectionError):
        pass  # the parent has closed its end or is gone


def _end_with_parent(lifeline: int, connection: int) -> None:
    """Fork a process that kills this process group soon after the parent has ended.

    A thread could not: code that never gives the interpreter back would keep it waiting.
    """
    if os.fork():
        os.close(lifeline)
        return
    os.close(connection)  # or the parent would not notice when the worker dies
    for stream in (0, 1, 2):  # nor would whoever reads what the worker prints
        os.close(stream)
    os.read(lifeline, 1)  # nobody writes
    time.sleep(_GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


def serve(connection: Connection, env_fn: bytes) -> None:
    """Make the environment of a cloudpickled function and answer calls.

    The connection brings pickled (method, args), and takes (True, value) or (False, exception).

    Raises:
        EOFError: the parent has closed its end.
    """
    from wrappers.vector.host import EnvHost

    try:
        host = EnvHost(pickle.loads(env_fn))
    except Exception as error:  # raised again in the parent
        connection.send_bytes(failed(error))
        return
    try:
        connection.send_bytes(pickle.dumps((True, None)))
        while True:
            method, args = pickle.loads(connection.recv_bytes())
            connection.send_bytes(_answer(host, method, args))
    finally:
        host.close()


def _answer(host: Any, method: str, args: tuple[Any, ...]) -> bytes:
    try:
        value = getattr(host, method)(*args)
    except Exception as error:  # raised again in the parent
        return failed(error)
    return answered(value, method, args)


def answered(value: Any, method: str, args: tuple[Any, ...]) -> bytes:
    """Return the message that a call has been answered, or that its answer cannot be sent."""
    try:
        return pickle.dumps((True, value))
    except (pickle.PicklingError, TypeError, AttributeError):
        kind = type(value).__name__
        return failed(
            TypeError(
                f"{method}{args!r:.80} gave a {kind}, which cannot leave its worker process; "
                "ask for plain data, or use backend='sync' or 'thread'"
            )
        )


def failed(error: Exception) -> bytes:
    """Return the message that a call has raised an error, as far as it can be sent."""
    error.add_note("In the worker process:\n" + "".join(traceback.format_exception(error)))
    try:
        message = pickle.dumps((False, error))
        pickle.loads(message)  # many exceptions can be written but not read back
    except Exception:  # any exception class may bring its own trouble
        substitute = RuntimeError(f"{type(error).__name__}: {error}\n{error.__notes__[-1]}")
        message = pickle.dumps((False, substitute))
    return message


if __name__ == "__main__":
    main()
