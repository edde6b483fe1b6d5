"""Serves a retriever over HTTP by Search-R1's protocol, for clients as `RemoteRetriever`.

POST /retrieve takes {"queries": [...], "topk": k, "return_scores": true} and answers
{"result": [[{"document": {"id", "contents"}, "score"}, ...], ...]}; with `return_scores` false or
left out, a hit is its document alone. GET /health says what is served. It has no authentication:
other sites' pages are kept out by the Host header alone, see `RetrievalServer`.

A request is bounded in size, queries and hits; the connections are bounded in number and in the
time that they may take to say what they want.
"""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from typing import Any

from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.hosts import is_allowed_host
from agentgym_envs.retrieval.documents import passage_contents
from agentgym_envs.retrieval.protocol import (
    MAX_K,
    MAX_QUERY_CHARACTERS,
    Hit,
    Retriever,
)

MAX_REQUEST_BYTES = 4 << 20
MAX_QUERIES = 1024
MAX_HITS = 100_000
"""Hits of one request, all queries together: its reply is made in memory."""
DEFAULT_TOPK = 3
MAX_CONNECTIONS = 256
"""Open connections, each with a thread. One more is answered 503 and closed."""
REQUEST_SECONDS = 60.0
"""Time limit of a request's arrival and of a silent connection."""

_log = logging.getLogger(__name__)


class BadRequest(ValueError):
    """A request cannot be answered.

    The message is for its sender.
    """


_BUSY = b'{"detail": "too many connections; ask again later"}'
_BUSY_REPLY = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n"
    b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(_BUSY), _BUSY)
)


class RetrievalServer(ThreadingHTTPServer):
    """A server of one retriever, run by `serve_forever` and ended by `shutdown`.

    Where it listens on the loopback alone it answers requests to an address, to `localhost` or to
    `host`: another name may be another site's that was made to lead here (DNS rebinding). Elsewhere
    it answers to every name, since others may call the machine what they like.

    Args:
        retriever: what answers.
        host: the address to listen on.
        port: the port; 0 takes a free one.
        source: names the corpus, for GET /health.

    Raises:
        OSError: the address cannot be listened on.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, retriever: Retriever, *, host: str = "127.0.0.1", port: int = 8000, source: str = ""
    ) -> None:
        super().__init__((host, port), _Handler)
        self.retriever = retriever
        self.source = source
        self._name = host
        self._is_on_loopback = ip_address(str(self.server_address[0])).is_loopback
        self._connections = threading.BoundedSemaphore(MAX_CONNECTIONS)
        self.arriving: dict[_Handler, float] = {}
        """Handlers that wait for a request, with their deadlines."""

    def service_actions(self) -> None:
        """Hang up on those whose request did not arrive in time, be it silent or drop by drop."""
        for handler, deadline in list(self.arriving.items()):
            if time.monotonic() > deadline:
                with contextlib.suppress(OSError):
                    handler.connection.shutdown(socket.SHUT_RDWR)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Start a thread for a connection, where there are not too many."""
        if self._connections.acquire(blocking=False):
            try:
                super().process_request(request, client_address)
            except BaseException:
                self._connections.release()
                raise
            return
        with contextlib.suppress(OSError):
            request.setblocking(False)  # who reads too little gets no reply
            request.send(_BUSY_REPLY)
        self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Serve a connection to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log the cause of a broken connection."""
        _log.debug("a connection from %s broke", client_address, exc_info=True)

    def is_allowed_host(self, host: str) -> bool:
        """Return whether a Host header names this server, as an IP address always does."""
        return not self._is_on_loopback or is_allowed_host(host, self._name)

    @property
    def url(self) -> str:
        """The server's address: `http://host:port`."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"

    def health(self) -> dict[str, str]:
        """Describe the retriever."""
        return {"status": "ok", "retriever": self.retriever.name, "source": self.source}

    def answer(self, request: object) -> dict[str, Any]:
        """Answer one request to /retrieve.

        Args:
            request: the decoded JSON.

        Raises:
            BadRequest: the request is not of the protocol's form, or asks for too much.
            EnvFailure: the retriever broke.
        """
        queries, topk, with_scores = _read(request)
        results = self.retriever.search_many(queries, topk)
        return {"result": [[_entry(hit, with_scores) for hit in hits] for hits in results]}


class _Handler(BaseHTTPRequestHandler):
    server: RetrievalServer
    protocol_version = "HTTP/1.1"
    timeout = REQUEST_SECONDS  # of one read or write
    # Headers and body leave in two writes; the second must not wait for the first's receipt.
    disable_nagle_algorithm = True

    def handle_one_request(self) -> None:
        """Answer one request, and hang up where it does not arrive in time."""
        self.server.arriving[self] = time.monotonic() + REQUEST_SECONDS
        try:
            super().handle_one_request()
        finally:
            self.server.arriving.pop(self, None)

    def parse_request(self) -> bool:
        """Read the request's head, and refuse requests for another name."""
        if not super().parse_request():
            return False
        if self.server.is_allowed_host(self.headers.get("Host", "localhost")):
            return True
        self.close_connection = True  # its body has not been read
        self._reply(403, {"detail": "this server goes by another name; ask it by its address"})
        return False

    def do_GET(self) -> None:
        if self.path == "/health":
            self._reply(200, self.server.health())
        else:
            self._reply(404, {"detail": "there are GET /health and POST /retrieve"})

    def do_POST(self) -> None:
        if self.path != "/retrieve":
            self.close_connection = True  # its body has not been read
            self._reply(404, {"detail": "there are GET /health and POST /retrieve"})
            return
        try:
            self._reply(200, self.server.answer(self._request()))
        except BadRequest as error:
            self._reply(400, {"detail": str(error)})
        except EnvFailure as failure:
            _log.warning("a search failed: %s", failure)
            self._reply(503, {"detail": str(failure)})

    def _request(self) -> object:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length[:12]) > MAX_REQUEST_BYTES:
            self.close_connection = True  # the rest of the body is not read
            raise BadRequest(
                f"a request needs a Content-Length of at most {MAX_REQUEST_BYTES} bytes, "
                f"got {length[:40]!r}"
            )
        body = self.rfile.read(int(length))
        self.server.arriving.pop(self, None)
        try:
            request: object = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise BadRequest(f"the body is not JSON: {error}") from error
        return request

    def _reply(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        _log.debug("%s %s", self.address_string(), format % args)


def _read(request: object) -> tuple[list[str], int, bool]:
    if not isinstance(request, dict):
        raise BadRequest(f"expected a JSON object, got {type(request).__name__}")
    queries = request.get("queries")
    if not isinstance(queries, list) or not all(isinstance(query, str) for query in queries):
        raise BadRequest("'queries' must be a list of strings")
    if len(queries) > MAX_QUERIES:
        raise BadRequest(f"at most {MAX_QUERIES} queries in one request, got {len(queries)}")
    longest = max(map(len, queries), default=0)
    if longest > MAX_QUERY_CHARACTERS:
        raise BadRequest(f"at most {MAX_QUERY_CHARACTERS} characters in a query, got {longest}")
    topk = request.get("topk")
    topk = DEFAULT_TOPK if topk is None else topk
    if not isinstance(topk, int) or isinstance(topk, bool) or not 1 <= topk <= MAX_K:
        raise BadRequest(f"'topk' must be an integer in 1 to {MAX_K}, got {topk!r:.40}")
    if len(queries) * topk > MAX_HITS:
        raise BadRequest(
            f"at most {MAX_HITS} hits in one request, asked for {len(queries)} x {topk}; ask with "
            "fewer queries at once"
        )
    with_scores = request.get("return_scores", False)
    if not isinstance(with_scores, bool):
        raise BadRequest(f"'return_scores' must be true or false, got {with_scores!r:.40}")
    return queries, topk, with_scores


def _entry(hit: Hit, with_scores: bool) -> dict[str, Any]:
    passage = hit.passage
    document = {"id": str(passage.passage_id), "contents": passage_contents(passage)}
    return {"document": document, "score": hit.score} if with_scores else document
