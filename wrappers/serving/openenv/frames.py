"""The frames of OpenEnv's WebSocket and its error codes."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from gymnasium.error import ResetNeeded

from agentgym_envs.errors import EnvFailure, described
from wrappers.serving.json_text import read_object
from wrappers.serving.openenv.play import NotValid
from wrappers.serving.sessions import AtCapacity

KINDS = ("reset", "step", "state", "close", "mcp")


class FrameError(ValueError):
    """A frame that cannot be read.

    Attributes:
        code: OpenEnv's word for it.
    """

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


class Frame(NamedTuple):
    """A client's frame: one of `KINDS`, and its data."""

    kind: str
    data: dict[str, Any]


def read_frame(text: str | bytes) -> Frame:
    """Read a frame.

    Raises:
        FrameError: it is none.
    """
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


def error_of(error: Exception) -> str:
    """Write a session's error as a frame. The session stays open."""
    if isinstance(error, FrameError):
        return write_error(error.code, str(error), **_errors(error))
    if isinstance(error, NotValid):
        return write_error("VALIDATION_ERROR", str(error), **_errors(error))
    if isinstance(error, EnvFailure | ResetNeeded):
        return write_error("EXECUTION_ERROR", str(error))
    return write_error("EXECUTION_ERROR", described(error))


def opening_error_of(error: Exception) -> str:
    """Write why there is no session."""
    if isinstance(error, AtCapacity):
        return write_error(
            "CAPACITY_REACHED", str(error), active_sessions=error.active, max_sessions=error.active
        )
    return write_error("FACTORY_ERROR", f"the environment cannot be made: {described(error)}")


def _errors(error: Exception) -> dict[str, Any]:
    is_validation = getattr(error, "code", "VALIDATION_ERROR") == "VALIDATION_ERROR"
    return {"errors": [{"msg": str(error)}]} if is_validation else {}
