"""OpenEnv's WebSocket: one connection is one session.

The next frame is read while a step runs, so that pings are answered and a client that vanishes is
noticed; at most one frame waits.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from typing import Any, NamedTuple

from gymnasium.error import ResetNeeded
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from agentgym_envs.errors import EnvFailure, described
from wrappers.serving.endpoints import read_object
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.limits import CLOSE_SECONDS, FINAL_SEND_SECONDS
from wrappers.serving.openenv import play
from wrappers.serving.openenv.mcp import answer_rpc
from wrappers.serving.openenv.play import NotValid
from wrappers.serving.sessions import AtCapacity, Session, Sessions

KINDS = ("reset", "step", "state", "close", "mcp")

_TRY_AGAIN = 1013
_GOING_AWAY = 1001
_SERVICE_RESTART = 1012
"""The code with which uvicorn closes connections when it is stopped."""

Reply = Callable[[Session, str | bytes], Awaitable[str | None]]
"""Answers one text of the client. None ends the connection, an empty answer is not sent."""


async def serve_frames(
    socket: WebSocket, sessions: Sessions, environment: ServedEnvironment
) -> None:
    """Serve OpenEnv's frames until one side closes the connection."""
    await serve(socket, sessions, environment, answer_frame)


async def serve(
    socket: WebSocket, sessions: Sessions, environment: ServedEnvironment, reply: Reply
) -> None:
    """Serve a connection with a session of its own, or with that of `?session_id=`."""
    await socket.accept()
    attached = socket.query_params.get("session_id")
    session: Session | None = None
    try:
        if attached is not None:
            session = sessions.get(attached)
            if session is None or session.environment != environment:
                message = (
                    f"there is no session {attached!r:.80}; leave session_id out for a new one"
                )
                await _end(socket, _TRY_AGAIN, write_error("SESSION_ERROR", message))
                return
        else:
            session = await sessions.open(environment)
    except Exception as error:
        await _end(socket, _TRY_AGAIN, _opening_error(error))
        return
    session.patience = sessions.limits.idle_timeout
    reason = "the client left"
    try:
        if await _converse(socket, session, reply) == _SERVICE_RESTART:
            reason = "the server stops"
    except asyncio.CancelledError:
        reason = "the server stops"
        raise
    finally:
        if attached is None:
            await sessions.close(session, reason)
        else:
            session.patience = sessions.limits.short_patience


async def answer_frame(session: Session, text: str | bytes) -> str | None:
    """Answer one frame of OpenEnv."""
    try:
        kind, data = read_frame(text)
        if kind == "close":
            return None
        if kind == "state":
            return write_frame("state", play.state(session))
        if kind == "mcp":
            return write_frame("mcp", await answer_rpc(session, data))
        answer = await (play.reset if kind == "reset" else play.step)(session, data)
        return write_frame("observation", answer)
    except Exception as error:
        return _error_frame(error)


async def _converse(socket: WebSocket, session: Session, reply: Reply) -> int | None:
    """Answer the client until it leaves or the session ends, and return the code of its close."""
    frames: asyncio.Queue[str | bytes] = asyncio.Queue(maxsize=1)
    reading: asyncio.Future[Any] = asyncio.ensure_future(_read(socket, frames))
    answering: asyncio.Future[Any] = asyncio.ensure_future(_answer(socket, session, reply, frames))
    try:
        await asyncio.wait([reading, answering, session.ended], return_when=asyncio.FIRST_COMPLETED)
    finally:
        reading.cancel()
        answering.cancel()
        await asyncio.gather(reading, answering, return_exceptions=True)
    for task in (reading, answering):
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error
    if not reading.cancelled():
        code: int = reading.result()
        return code
    if session.ended.done():
        await _end(socket, _GOING_AWAY, write_error("SESSION_ERROR", session.ended.result()))
    else:
        await _end(socket)
    return None


async def _read(socket: WebSocket, frames: asyncio.Queue[str | bytes]) -> int:
    """Read ahead by a frame until the connection ends, and return the code of its end."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        await frames.put(_payload(message))
    return int(message.get("code") or 1005)


async def _answer(
    socket: WebSocket, session: Session, reply: Reply, frames: asyncio.Queue[str | bytes]
) -> None:
    """Answer frame by frame, until one closes the connection or the client has left."""
    while True:
        text = await frames.get()
        session.touch()
        answer = await reply(session, text)
        if answer is None or (answer and not await _send(socket, answer, CLOSE_SECONDS)):
            return


def _payload(message: MutableMapping[str, Any]) -> str | bytes:
    text = message.get("text")
    return message.get("bytes") or b"" if text is None else text


async def _send(socket: WebSocket, text: str, seconds: float) -> bool:
    """Send a text, and return whether the client read the texts before it."""
    try:
        await asyncio.wait_for(socket.send_text(text), seconds)
    except (TimeoutError, WebSocketDisconnect, RuntimeError):
        return False
    return True


async def _end(socket: WebSocket, code: int = 1000, text: str | None = None) -> None:
    """Close the connection after a last text, without waiting for a client that does not read."""
    with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
        async with asyncio.timeout(FINAL_SEND_SECONDS):
            if text is not None:
                await socket.send_text(text)
            if socket.application_state is WebSocketState.CONNECTED:
                await socket.close(code)


class FrameError(ValueError):
    """A frame that cannot be read, with OpenEnv's error code."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class Frame(NamedTuple):
    """A client's frame: one of `KINDS`, and its data."""

    kind: str
    data: dict[str, Any]


def read_frame(text: str | bytes) -> Frame:
    """Parse a client's frame, or raise FrameError."""
    try:
        frame = read_object(text)
    except ValueError as error:
        raise FrameError("INVALID_JSON", str(error)) from None
    kind, data = frame.get("type"), frame.get("data", {})
    if kind not in KINDS:
        raise FrameError("UNKNOWN_TYPE", f"unknown type {kind!r:.80}; allowed: {', '.join(KINDS)}")
    unknown = sorted(set(frame) - {"type", "data"})
    if unknown:
        raise FrameError("VALIDATION_ERROR", f"unknown keys {unknown}; allowed: type, data")
    if not isinstance(data, dict):
        raise FrameError("VALIDATION_ERROR", f"data must be an object, got {type(data).__name__}")
    return Frame(kind, data)


def write_frame(kind: str, data: Any) -> str:
    """Write a frame of the server."""
    return json.dumps({"type": kind, "data": data})


def write_error(code: str, message: str, **more: Any) -> str:
    """Write an error frame."""
    return write_frame("error", {"message": message, "code": code, **more})


def _error_frame(error: Exception) -> str:
    """Write a session's error as a frame. The session stays open."""
    if isinstance(error, FrameError):
        return write_error(error.code, str(error), **_errors(error))
    if isinstance(error, NotValid):
        return write_error("VALIDATION_ERROR", str(error), **_errors(error))
    if isinstance(error, EnvFailure | ResetNeeded):
        return write_error("EXECUTION_ERROR", str(error))
    return write_error("EXECUTION_ERROR", described(error))


def _opening_error(error: Exception) -> str:
    """Write why there is no session."""
    if isinstance(error, AtCapacity):
        return write_error(
            "CAPACITY_REACHED", str(error), active_sessions=error.active, max_sessions=error.active
        )
    return write_error("FACTORY_ERROR", f"the environment cannot be made: {described(error)}")


def _errors(error: Exception) -> dict[str, Any]:
    is_validation = getattr(error, "code", "VALIDATION_ERROR") == "VALIDATION_ERROR"
    return {"errors": [{"msg": str(error)}]} if is_validation else {}
