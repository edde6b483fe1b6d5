"""Calls Java over one socket, in the text protocol of py4j's `GatewayServer`.

py4j's own client keeps a pool of connections, their threads and a table of Java objects; here there
is one connection, and whoever makes an object also deletes it. A call has a deadline; a connection
that missed it is of no use any more, for its answers would be taken for those of later calls.
"""

from __future__ import annotations

import contextlib
import socket
import time
from dataclasses import dataclass

from agentgym_envs.errors import EnvFailure

_ADDRESS = "127.0.0.1"
CONNECT_SECONDS = 10.0
_LEAST_SECONDS = 0.001
_PIECE = 1 << 16


@dataclass(frozen=True)
class JavaObject:
    """An object that the server keeps until it is deleted, under the server's `name`."""

    name: str


JavaValue = None | bool | int | float | str | JavaObject


class JavaError(RuntimeError):
    """Java threw an exception over a sound connection."""


class ConnectionLost(EnvFailure):
    """Java has ended, or closed the connection."""


def static(class_name: str) -> JavaObject:
    """Name a class as the target of static calls."""
    return JavaObject(f"z:{class_name}")


class Gateway:
    """A connection to a `GatewayServer`.

    Args:
        port: where the server listens, on this machine.
        token: what the server asks of whoever connects.

    Raises:
        EnvFailure: nobody answers there, or not as a `GatewayServer` does.
    """

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        try:
            self._socket = socket.create_connection((_ADDRESS, port), timeout=CONNECT_SECONDS)
        except OSError as error:
            raise EnvFailure(f"Java does not answer at port {port}: {error}") from error
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._ask(f"A\n{token}\n", CONNECT_SECONDS)
        except JavaError as error:
            self.close()
            raise EnvFailure(f"Java refuses us at port {port}: {error}") from error
        except EnvFailure:
            self.close()
            raise

    def call(
        self, target: JavaObject, method: str, *arguments: JavaValue, timeout: float
    ) -> JavaValue:
        """Call a method.

        Args:
            target: an object, or a class by `static`.
            method: its name.
            *arguments: what it takes.
            timeout: seconds that it may take.

        Raises:
            ConnectionLost: Java is gone.
            EnvFailure: it gave no answer in time.
            JavaError: Java threw an exception.
        """
        return self._ask(f"c\n{target.name}\n{method}\n{_written(arguments)}e\n", timeout)

    def construct(self, class_name: str, *arguments: JavaValue, timeout: float) -> JavaObject:
        """Make an object, with the errors of `call`."""
        made = self._ask(f"i\n{class_name}\n{_written(arguments)}e\n", timeout)
        assert isinstance(made, JavaObject)
        return made

    def field(self, target: JavaObject, name: str, *, timeout: float) -> JavaValue:
        """Read a public field, with the errors of `call`."""
        return self._ask(f"f\ng\n{target.name}\n{name}\ne\n", timeout)

    def delete(self, target: JavaObject, *, timeout: float) -> None:
        """Have the server forget an object, with the errors of `call`."""
        self._ask(f"m\nd\n{target.name}\ne\n", timeout)

    def close(self) -> None:
        """End the connection, which wakes a thread that waits for an answer."""
        with contextlib.suppress(OSError):  # the other end may have gone first
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def forget(self) -> None:
        """Let go of the connection without ending it, for a forked child."""
        self._socket.close()

    def _ask(self, command: str, timeout: float) -> JavaValue:
        deadline = time.monotonic() + timeout
        try:
            self._socket.settimeout(timeout)
            # Lone surrogates, which a policy can write and UTF-8 cannot hold, become "?".
            self._socket.sendall(command.encode("utf-8", "replace"))
            line = self._read_line(deadline)
        except TimeoutError as error:
            raise EnvFailure(f"Java gave no answer within {timeout:g} s") from error
        except OSError as error:
            raise ConnectionLost(f"the connection to Java broke: {error}") from error
        return _read(line.decode("utf-8"))

    def _read_line(self, deadline: float) -> bytes:
        pieces = []
        while True:
            piece = self._socket.recv(_PIECE)
            if not piece:
                raise ConnectionError("Java has ended")
            pieces.append(piece)
            if piece.endswith(b"\n"):  # only one answer is ever under way
                return b"".join(pieces)[:-1]
            self._socket.settimeout(max(_LEAST_SECONDS, deadline - time.monotonic()))


def _written(arguments: tuple[JavaValue, ...]) -> str:
    return "".join(f"{_tagged(argument)}\n" for argument in arguments)


def _tagged(value: JavaValue) -> str:
    if value is None:
        return "n"
    if isinstance(value, JavaObject):
        return f"r{value.name}"
    if isinstance(value, bool):
        return f"b{str(value).lower()}"
    if isinstance(value, int):
        return f"i{value}" if -(2**31) <= value < 2**31 else f"L{value}"
    if isinstance(value, float):
        return f"d{value!r}"
    return "s" + value.replace("\\", "\\\\").replace("\r", "\\r").replace("\n", "\\n")


def _read(answer: str) -> JavaValue:
    """Read an answer: `!y` and a tagged value, or `!x` and an error."""
    if not answer.startswith("!y"):
        raise JavaError(_unescaped(answer[3:]) or answer)
    tag, value = answer[2:3], answer[3:]
    if tag == "s":
        return _unescaped(value)
    if tag in ("i", "L"):
        return int(value)
    if tag == "d":
        return float(value)
    if tag == "b":
        return value == "true"
    if tag in ("", "v", "n"):
        return None
    return JavaObject(value)


def _unescaped(text: str) -> str:
    parts = text.split("\\\\")
    return "\\".join(part.replace("\\n", "\n").replace("\\r", "\r") for part in parts)
