"""A small OpenEnv server in a thread: games by function, faults on demand."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("websockets", reason="the remote extra is not installed")
uvicorn = pytest.importorskip("uvicorn", reason="the serve extra is not installed")

from starlette.applications import Starlette  # noqa: E402
from starlette.requests import Request  # noqa: E402
from starlette.responses import JSONResponse, Response  # noqa: E402
from starlette.routing import Route, WebSocketRoute  # noqa: E402
from starlette.websockets import WebSocket, WebSocketDisconnect  # noqa: E402

Frame = dict[str, Any]
TEXT_SCHEMA = {"properties": {"metadata": {"type": "object"}, "message": {"type": "string"}}}


def observation(fields: Any, reward: float | None = None, *, done: bool = False, **metadata: Any):
    """Return the frame of an observation."""
    data = {"observation": fields, "reward": reward, "done": done}
    return {"type": "observation", "data": {**data, **({"metadata": metadata} if metadata else {})}}


def error(code: str, message: str = "it broke") -> Frame:
    """Return the frame of an error."""
    return {"type": "error", "data": {"message": message, "code": code}}


@dataclass
class Game:
    """What a server plays: `reset` and `step` are given a session's dict and what came.

    A function may return a frame, several, `None` to hang up, or seconds to be silent for.
    """

    reset: Callable[[dict[str, Any], dict[str, Any]], Any]
    step: Callable[[dict[str, Any], dict[str, Any]], Any]
    schema: dict[str, Any] = field(default_factory=lambda: TEXT_SCHEMA)
    tools: list[dict[str, Any]] | None = None
    splits: dict[str, list[Any]] | None = None
    counts_only: bool = False
    num_tasks: int | None = None
    token: str | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    most_sessions: int = 64
    broken_paths: tuple[str, ...] = ()


@dataclass
class Server:
    """A running server."""

    url: str
    game: Game
    stop: Callable[[], None]
    resets: list[dict[str, Any]] = field(default_factory=list)
    sessions: int = 0
    tokens: list[str | None] = field(default_factory=list)

    async def play(self, websocket: WebSocket) -> None:
        self.tokens.append(websocket.headers.get("authorization"))
        if self.game.token and self.tokens[-1] != f"Bearer {self.game.token}":
            await websocket.close(1008)
            return
        await websocket.accept()
        if self.sessions >= self.game.most_sessions:
            await websocket.send_text(json.dumps(error("CAPACITY_REACHED", "no room")))
            await websocket.close()
            return
        self.sessions += 1
        try:
            session: dict[str, Any] = {}
            while True:
                frame = json.loads(await websocket.receive_text())
                answer = self.answer(session, frame)
                if isinstance(answer, float):
                    await asyncio.sleep(answer)
                elif answer is None:
                    await websocket.close()
                    return
                else:
                    for part in answer if isinstance(answer, list) else [answer]:
                        await websocket.send_text(
                            part if isinstance(part, str) else json.dumps(part)
                        )
        except WebSocketDisconnect:
            pass
        finally:
            self.sessions -= 1

    def answer(self, session: dict[str, Any], frame: Frame) -> Any:
        kind, data = frame["type"], frame.get("data", {})
        if kind == "reset":
            self.resets.append(data)
            return self.game.reset(session, data)
        if kind == "step":
            return self.game.step(session, data)
        if kind == "mcp":
            if self.game.tools is None:
                return error("UNKNOWN_TYPE", "no mcp")
            return {"type": "mcp", "data": {"id": 1, "result": {"tools": self.game.tools}}}
        return None

    async def get(self, request: Request) -> Response:
        splits = self.game.splits
        answers: dict[str, Any] = {
            "/metadata": {
                **{"name": "Toy Game", "description": "Play the toy.", "version": "2"},
                **self.game.metadata,
            },
            "/schema": {"action": self.game.schema},
        }
        if splits is not None:
            answers["/list_environments"] = ["toy"]
            answers["/toy/splits"] = [
                {"name": name, "type": name.partition("_")[0]} for name in splits
            ]
        if request.url.path in self.game.broken_paths:
            return Response(status_code=500)
        answer = answers.get(request.url.path)
        return Response(status_code=404) if answer is None else JSONResponse(answer)

    async def tasks(self, request: Request) -> Response:
        rows = (self.game.splits or {})[(await request.json())["split"]]
        if request.url.path.endswith("/num_tasks"):
            count = self.game.num_tasks
            return JSONResponse({"num_tasks": len(rows) if count is None else count})
        if self.game.counts_only:
            return Response(status_code=501)
        return JSONResponse({"tasks": rows})


@contextmanager
def serving_openenv(game: Game, *, port: int = 0) -> Iterator[Server]:
    """Serve a game on a free port."""
    listener = socket.create_server(("127.0.0.1", port))
    server = Server(f"http://127.0.0.1:{listener.getsockname()[1]}", game, lambda: None)
    app = Starlette(
        routes=[
            WebSocketRoute("/ws", server.play),
            Route("/toy/{what}", server.tasks, methods=["POST"]),
            Route("/{path:path}", server.get),
        ]
    )
    runner = uvicorn.Server(
        uvicorn.Config(app, log_level="critical", ws="wsproto", timeout_graceful_shutdown=1)
    )
    thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not runner.started:
        time.sleep(0.01)

    def stop() -> None:
        runner.should_exit = runner.force_exit = True
        thread.join(10)

    server.stop = stop
    try:
        yield server
    finally:
        stop()
