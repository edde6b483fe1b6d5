"""Serves JSON by path over real HTTP: prepared answers, and failures."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Failure:
    """An answer that is none: a status, a body, headers; or one that breaks off amid its body."""

    status: int
    body: str = "{}"
    headers: dict[str, str] = field(default_factory=dict)
    breaks_off: bool = False


Answer = Callable[[dict[str, Any]], "dict[str, Any] | Failure"]


@dataclass
class Server:
    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str | None] = field(default_factory=list)
    most_at_once: int = 0


@contextmanager
def serving(answers: dict[str, Answer]) -> Iterator[Server]:
    """Serve JSON by path; an answer is given the request's body."""
    lock = threading.Lock()
    busy = [0]

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are two packets

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            body = json.loads(self.rfile.read(length) or b"null") or {}
            with lock:
                busy[0] += 1
                server.most_at_once = max(server.most_at_once, busy[0])
                if self.command == "POST":
                    server.requests.append(body)
                    server.keys.append(self.headers.get("authorization"))
            answer = answers.get(self.path)
            found = Failure(404, '{"detail": "Not Found"}') if answer is None else answer(body)
            with lock:
                busy[0] -= 1
            self._send(found)

        def _send(self, found: dict[str, Any] | Failure) -> None:
            failure = found if isinstance(found, Failure) else None
            text = json.dumps(found) if failure is None else failure.body
            self.send_response(200 if failure is None else failure.status)
            for name, value in ({} if failure is None else failure.headers).items():
                self.send_header(name, value)
            data = text.encode()
            breaks_off = failure is not None and failure.breaks_off
            self.send_header("content-length", str(len(data) + breaks_off))
            self.end_headers()
            self.wfile.write(data)
            self.close_connection = self.close_connection or breaks_off

        def log_message(self, *_args: Any) -> None:
            pass

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server = Server(f"http://127.0.0.1:{http.server_port}")
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        http.shutdown()
        thread.join()
        http.server_close()
