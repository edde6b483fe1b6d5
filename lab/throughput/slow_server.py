"""A server of chat completions that takes its time, and counts the requests under way.

It speaks real HTTP. One answer in ten takes ten times as long as the others; each looks into the
inventory, which a game of TextCraft always allows.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

_SLOW_SHARE = 0.1
_SLOW = 10.0
_LOOK = json.dumps({"name": "inventory", "arguments": {}})


def delay(seconds: float, numbers: Sequence[int]) -> float:
    """Return how long an answer takes.

    Args:
        seconds: where it is not slow.
        numbers: decide whether it is.
    """
    return seconds * (_SLOW if np.random.default_rng(numbers).random() < _SLOW_SHARE else 1.0)


class SlowServer:
    """The counters of a server's requests.

    Attributes:
        url: its address.
        num_requests: requests so far.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self.num_requests = 0
        self._under_way = 0
        self._area = 0.0  # requests under way times seconds
        self._first: float | None = None
        self._last = 0.0
        self._lock = threading.Lock()

    @property
    def mean_under_way(self) -> float:
        """Requests under way on average, from the first one to the last answer."""
        return self._area / (self._last - (self._first or 0.0))

    def count(self, change: int) -> None:
        """Count a request that has come, 1, or was answered, -1."""
        with self._lock:
            now = time.perf_counter()
            if self._first is None:
                self._first = self._last = now
            self._area += self._under_way * (now - self._last)
            self._last = now
            self._under_way += change
            self.num_requests += change > 0


@contextmanager
def serving(delay_of: Callable[[dict[str, Any]], float]) -> Iterator[SlowServer]:
    """Serve chat completions.

    Args:
        delay_of: tells by a request's body how many seconds its answer takes.
    """

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # headers and body are two packets

        def do_POST(self) -> None:
            slow_server.count(1)
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            time.sleep(delay_of(body))
            message = {"role": "assistant", "content": _LOOK}
            data = json.dumps({"choices": [{"message": message}]}).encode()
            slow_server.count(-1)
            self.send_response(200)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    slow_server = SlowServer(f"http://127.0.0.1:{server.server_port}/v1")
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield slow_server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
