"""Searches by asking a server that speaks Search-R1's protocol.

The request is POST /retrieve with {"queries": [...], "topk": k, "return_scores": true}; the reply
is {"result": [[{"document": {"id", "contents"}, "score"}, ...], ...]}, a list of hits per query.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any

from agentgym_envs.arguments import positive_seconds, whole_number
from agentgym_envs.errors import EnvFailure
from agentgym_envs.retrieval.address import read_url
from agentgym_envs.retrieval.documents import Corpus, Passage, split_contents
from agentgym_envs.retrieval.protocol import Hit, check_k, clean_query

MAX_REPLY_BYTES = 64 << 20
MAX_QUERIES = 256
_PIECE_BYTES = 1 << 20
_FIRST_PAUSE = 0.1
_RETRIED_STATUS = (408, 425, 429, 500, 502, 503, 504)


class RemoteRetriever:
    """Finds passages by a retrieval server.

    Each call opens a connection of its own, so threads and forked processes may share it. A query
    is sent up to `MAX_QUERY_CHARACTERS`, and 256 queries go in one request.

    Args:
        url: `http://host:port`, with or without `/retrieve`; https likewise. User and password of
            `http://user:password@host` are sent as `Authorization`, and a query is kept; `url` and
            `name` of the retriever, and its messages, show neither password nor the query's values.
        timeout: seconds for one request and all its repetitions together.
        retries: how often a request is repeated when the connection fails or the server is
            overloaded or broken (status 408, 425, 429 or 5xx), with growing pauses between. What
            runs into the timeout is not repeated.
        corpus: hits whose document stands in it under the same id become its passages, so that
            whole documents can be read; None keeps hits as the server sends them.

    Raises:
        ValueError: the URL or a number is not usable.
    """

    def __init__(
        self, url: str, *, timeout: float = 30.0, retries: int = 3, corpus: Corpus | None = None
    ) -> None:
        self.timeout = positive_seconds("timeout", timeout)
        self.retries = whole_number("retries", retries, least=0)
        self._address = read_url(url)
        self._make = HTTPSConnection if self._address.is_secure else HTTPConnection
        self.url = self.name = self._address.shown
        self._corpus = corpus

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the server's hits for one query.

        Raises:
            EnvFailure: no usable reply came within the timeout; the message names URL and cause.
        """
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Return the server's hits for several queries.

        Raises:
            EnvFailure: no usable reply came within the timeout; the message names URL and cause.
        """
        check_k(k)
        hits: list[list[Hit]] = []
        for start in range(0, len(queries), MAX_QUERIES):
            hits += self._ask([clean_query(q) for q in queries[start : start + MAX_QUERIES]], k)
        return hits

    def _ask(self, queries: list[str], k: int) -> list[list[Hit]]:
        request = {"queries": queries, "topk": k, "return_scores": True}
        reply = self._repeat(json.dumps(request).encode())
        try:
            rows = json.loads(reply)["result"]
            if len(rows) != len(queries):
                raise ValueError(f"{len(rows)} lists of hits for {len(queries)} queries")
            return [[self._hit(entry) for entry in row[:k]] for row in rows]
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise self._failure(
                f"its reply is not of Search-R1's form ({type(error).__name__}: {error}): "
                f"{reply[:120]!r}"
            ) from error

    def _hit(self, entry: dict[str, Any]) -> Hit:
        document = entry["document"]
        title, text = split_contents(document["contents"])
        score = float(entry["score"])
        name = str(document.get("id", ""))
        number = int(name) if name.isascii() and name.isdigit() and len(name) < 19 else -1
        if self._corpus is not None and 0 <= number < len(self._corpus):
            passage = self._corpus.passages[number]
            if (passage.title, passage.text) == (title, text):
                return Hit(passage, score)
        return Hit(Passage(number, title, text, document_id=-1, part=0), score)

    def _repeat(self, body: bytes) -> bytes:
        """Post until there is a reply, a reason to give up, or no time left."""
        deadline = time.monotonic() + self.timeout
        for attempt in range(self.retries + 1):
            cause: Exception
            try:
                status, reply = self._post(body, deadline)
            except TimeoutError as error:
                raise self._failure(f"no reply within {self.timeout:g} s") from error
            except (OSError, HTTPException) as error:
                reason, cause = f"{type(error).__name__}: {error}", error
            else:
                if status == 200:
                    return reply
                reason = f"status {status}: {reply[:200].decode('utf-8', 'replace')}"
                cause = ConnectionError(reason)
                if status not in _RETRIED_STATUS:
                    raise self._failure(f"it refused the request with {reason}")
            pause = _FIRST_PAUSE * 2**attempt
            if attempt == self.retries or time.monotonic() + pause >= deadline:
                raise self._failure(f"{reason} (after {attempt + 1} attempts)") from cause
            time.sleep(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _post(self, body: bytes, deadline: float) -> tuple[int, bytes]:
        where = self._address
        connection = self._make(where.host, where.port, timeout=_left(deadline))
        try:
            connection.connect()
            sock = connection.sock
            headers = {"Content-Type": "application/json", **where.headers}
            connection.request("POST", where.target, body, headers)
            response = connection.getresponse()
            pieces: list[bytes] = []
            while not response.isclosed():
                # A socket's timeout counts from its last byte: a trickle would never end.
                sock.settimeout(_left(deadline))
                pieces.append(response.read1(_PIECE_BYTES))
                if len(pieces[-1]) == 0:
                    break
                if sum(map(len, pieces)) > MAX_REPLY_BYTES:
                    raise self._failure(f"its reply is longer than {MAX_REPLY_BYTES} bytes")
            return response.status, b"".join(pieces)
        finally:
            connection.close()

    def _failure(self, reason: str) -> EnvFailure:
        return EnvFailure(f"the retrieval server {self.url} failed: {reason}")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left
