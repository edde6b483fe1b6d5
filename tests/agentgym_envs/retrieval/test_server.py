from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("bm25s")

from agentgym_envs import EnvFailure
from agentgym_envs.retrieval import Hit
from agentgym_envs.retrieval import server as module
from agentgym_envs.retrieval.bm25 import BM25Retriever
from agentgym_envs.retrieval.documents import passage_contents
from agentgym_envs.retrieval.remote import RemoteRetriever
from agentgym_envs.retrieval.server import MAX_REQUEST_BYTES, RetrievalServer
from tests.agentgym_envs.retrieval.passages import noise, rivers

CORPUS = noise(300)


def run(server: RetrievalServer) -> threading.Thread:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    return thread


@pytest.fixture(scope="module")
def server() -> Iterator[RetrievalServer]:
    server = RetrievalServer(BM25Retriever(CORPUS), port=0, source=CORPUS.source)
    thread = run(server)
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def ask(
    server: RetrievalServer, method: str, path: str, body: bytes = b"", **headers: str
) -> tuple[int, Any]:
    connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    try:
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def post(server: RetrievalServer, request: object) -> tuple[int, Any]:
    return ask(server, "POST", "/retrieve", json.dumps(request).encode())


def test_the_client_gets_what_the_local_retriever_finds(server: RetrievalServer) -> None:
    local, remote = BM25Retriever(CORPUS), RemoteRetriever(server.url, corpus=CORPUS)
    queries = [" ".join(p.text.split()[:5]) for p in CORPUS.passages[:50]]
    assert remote.search_many(queries, 4) == local.search_many(queries, 4)
    assert remote.search("the", 3) == []


def test_many_clients_at_once_get_their_own_answers(server: RetrievalServer) -> None:
    local, remote = BM25Retriever(CORPUS), RemoteRetriever(server.url, corpus=CORPUS)
    queries = [" ".join(p.text.split()[:5]) for p in CORPUS.passages[:100]]
    with ThreadPoolExecutor(16) as pool:
        results = list(pool.map(lambda query: remote.search(query, 3), queries))
    assert results == [local.search(query, 3) for query in queries]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_may_use_the_client(server: RetrievalServer) -> None:
    remote = RemoteRetriever(server.url)
    query = CORPUS.passages[0].text
    message = f"{remote.search(query, 3)!r}"
    code = (
        "import os, sys\n"
        "from agentgym_envs.retrieval.remote import RemoteRetriever\n"
        f"remote = RemoteRetriever({server.url!r})\n"
        f"remote.search({query!r}, 3)\n"
        "child = os.fork()\n"
        f"sys.stdout.write(repr(remote.search({query!r}, 3)) + chr(10))\n"
        "sys.stdout.flush()\n"
        "if child: os.waitpid(child, 0)\n"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert output.splitlines() == [message, message]


def test_the_reply_has_search_r1s_form(server: RetrievalServer) -> None:
    query = CORPUS.passages[5].text
    [best, *_] = BM25Retriever(CORPUS).search(query, 2)
    document = {"id": str(best.passage.passage_id), "contents": passage_contents(best.passage)}
    status, reply = post(server, {"queries": [query], "topk": 2, "return_scores": True})
    assert status == 200 and list(reply) == ["result"]
    assert reply["result"][0][0] == {"document": document, "score": best.score}
    _, reply = post(server, {"queries": [query], "topk": 2})
    assert reply["result"][0][0] == document


@pytest.mark.parametrize("extra", [{}, {"topk": None}])
def test_without_topk_there_are_three_hits(server: RetrievalServer, extra: dict[str, Any]) -> None:
    _, reply = post(server, {"queries": [CORPUS.passages[0].text], **extra})
    assert [len(row) for row in reply["result"]] == [3]


def test_no_queries_have_no_rows(server: RetrievalServer) -> None:
    assert post(server, {"queries": []}) == (200, {"result": []})


def test_health_says_what_is_served(server: RetrievalServer) -> None:
    assert ask(server, "GET", "/health") == (
        200,
        {"status": "ok", "retriever": "bm25", "source": "noise v1"},
    )


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/retrieve"), ("POST", "/x")])
def test_other_paths_are_not_found(server: RetrievalServer, method: str, path: str) -> None:
    status, reply = ask(server, method, path)
    assert status == 404 and "POST /retrieve" in reply["detail"]


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ([], "expected a JSON object, got list"),
        ({}, "'queries' must be a list of strings"),
        ({"queries": "one"}, "'queries' must be"),
        ({"queries": [1]}, "'queries' must be"),
        ({"queries": ["x"] * 1025}, "at most 1024 queries"),
        ({"queries": ["x" * 2001]}, "at most 2000 characters in a query, got 2001"),
        ({"queries": ["x"] * 101, "topk": 1000}, "at most 100000 hits in one request"),
        ({"queries": ["x"], "topk": 1001}, "'topk' must be an integer in 1 to 1000"),
        ({"queries": ["x"], "topk": 0}, "'topk' must be an integer in 1 to 1000, got 0"),
        ({"queries": ["x"], "topk": -1}, "'topk' must be"),
        ({"queries": ["x"], "topk": "3"}, "'topk' must be"),
        ({"queries": ["x"], "topk": True}, "'topk' must be"),
        ({"queries": ["x"], "return_scores": 1}, "'return_scores' must be"),
    ],
)
def test_a_bad_request_is_told_what_is_wrong(
    server: RetrievalServer, request_: object, message: str
) -> None:
    status, reply = post(server, request_)
    assert status == 400 and message in reply["detail"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b"\xff", b"[" * 100_000, b'{"topk": ' + b"9" * 5000 + b"}"]
)
def test_a_body_that_is_not_json_is_told_so(server: RetrievalServer, body: bytes) -> None:
    status, reply = ask(server, "POST", "/retrieve", body)
    assert status == 400 and "not JSON" in reply["detail"]


@pytest.mark.parametrize("length", [str(MAX_REQUEST_BYTES + 1), "9" * 40, "-1", "x", "\u00b2"])
def test_a_request_too_long_is_refused_unread(server: RetrievalServer, length: str) -> None:
    with socket.create_connection(server.server_address[:2], timeout=10) as connection:
        head = f"POST /retrieve HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n"
        connection.sendall(head.encode("latin-1"))
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 400") and b"Content-Length of at most" in answer


def test_a_connection_serves_several_requests(server: RetrievalServer) -> None:
    connection = HTTPConnection("127.0.0.1", server.server_address[1], timeout=10)
    body = json.dumps({"queries": ["x"]})
    for _ in range(3):
        connection.request("POST", "/retrieve", body)
        assert connection.getresponse().read() == b'{"result": [[]]}'
    connection.close()


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1:8000", 200),
        ("localhost", 200),
        ("[::1]:8000", 200),
        ("evil.example", 403),
        ("127.0.0.1.evil.example:8000", 403),
        ("[", 403),
    ],
)
def test_a_name_that_is_not_its_own_is_refused(
    server: RetrievalServer, host: str, status: int
) -> None:
    assert ask(server, "GET", "/health", Host=host)[0] == status
    assert ask(server, "POST", "/retrieve", b'{"queries": []}', Host=host)[0] == status


def test_a_server_for_other_machines_answers_to_every_name() -> None:
    with RetrievalServer(BM25Retriever(CORPUS), host="0.0.0.0", port=0) as open_to_all:
        assert open_to_all.is_allowed_host("gpu-node-3:8001")


def test_a_flood_of_connections_starts_no_thread_above_the_bound(
    server: RetrievalServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MAX_CONNECTIONS", 3)
    small = RetrievalServer(BM25Retriever(CORPUS), port=0)
    thread = run(small)
    before = threading.active_count()
    silent = []
    try:
        for _ in range(3):
            silent.append(socket.create_connection(small.server_address[:2], timeout=10))
        over = [socket.create_connection(small.server_address[:2], timeout=10) for _ in range(9)]
        for connection in over:
            assert connection.makefile("rb").read().startswith(b"HTTP/1.1 503")
            connection.close()
        assert threading.active_count() <= before + 3
        for connection in silent:
            connection.close()
        assert RemoteRetriever(small.url, retries=9).search("nothing", 1) == []
    finally:
        small.shutdown()
        small.server_close()
        thread.join()


@pytest.mark.parametrize(
    "start", [b"", b"GET /health", b"POST /retrieve HTTP/1.1\r\nContent-Length: 9999\r\n\r\n"]
)
@pytest.mark.parametrize("drop", [b"", b" "])
def test_a_slow_client_is_not_waited_for(
    start: bytes, drop: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "REQUEST_SECONDS", 0.2)
    quick = RetrievalServer(BM25Retriever(CORPUS), port=0)
    thread = run(quick)
    try:
        with socket.create_connection(quick.server_address[:2], timeout=10) as connection:
            connection.sendall(start)
            begin = time.monotonic()
            with contextlib.suppress(ConnectionError):
                while not select.select([connection], [], [], 0.02)[0]:
                    assert time.monotonic() - begin < 8
                    connection.sendall(drop)
    finally:
        quick.shutdown()
        quick.server_close()
        thread.join()


class Broken:
    name = "broken"

    def search(self, query: str, k: int) -> list[Hit]:
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        raise EnvFailure("the engine behind is gone")


def test_a_broken_retriever_is_503_and_a_failure_for_the_client() -> None:
    server = RetrievalServer(Broken(), port=0)
    thread = run(server)
    try:
        assert post(server, {"queries": ["x"]})[0] == 503
        with pytest.raises(EnvFailure, match="503.*the engine behind is gone"):
            RemoteRetriever(server.url, retries=1).search("x", 1)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_a_corpus_file_until_a_signal(
    number: signal.Signals, tmp_path: Path
) -> None:
    corpus = rivers()
    path = tmp_path / "rivers.jsonl"
    path.write_text(
        "".join(
            json.dumps({"id": str(p.passage_id), "contents": passage_contents(p)}) + "\n"
            for p in corpus.passages
        )
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks", "serve-retriever", "--corpus", path, "--port", "0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "AGENTGYM_CACHE": str(tmp_path / "cache")},
    )
    assert process.stdout is not None
    with process, process.stdout:
        try:
            about, listening = process.stdout.readline(), process.stdout.readline()
            match = re.search(r"http://127\.0\.0\.1:\d+", listening)
            assert about.startswith("bm25 over rivers.jsonl (") and match, (about, listening)
            hits = RemoteRetriever(match[0], corpus=corpus).search("sculptor", 2)
            process.send_signal(number)
            assert process.wait(60) == 0
        finally:
            process.kill()
    assert hits == BM25Retriever(corpus).search("sculptor", 2)


def test_the_command_refuses_what_it_cannot_serve(capsys: pytest.CaptureFixture[str]) -> None:
    from benchmarks.retrieval.serve import main

    for words, message in [
        (["--corpus", "/nowhere.jsonl"], "there is no corpus file '/nowhere.jsonl'"),
    ]:
        with pytest.raises(SystemExit) as ended:
            main(words)
        assert ended.value.code == 2 and message in capsys.readouterr().err
