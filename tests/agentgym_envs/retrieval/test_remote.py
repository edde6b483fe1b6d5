from __future__ import annotations

import json
import socket
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agentgym_envs import EnvFailure
from agentgym_envs.retrieval.remote import MAX_QUERIES, RemoteRetriever
from tests.agentgym_envs.retrieval.passages import corpus_of, rivers

Answer = tuple[int, bytes]


class Scripted:
    """A server that gives prepared answers, the last of them again and again."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[tuple[str, Any]] = []
        self.authorizations: list[str | None] = []

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def serve(script: Scripted) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            script.requests.append((self.path, json.loads(body)))
            script.authorizations.append(self.headers["Authorization"])
            status, answer = script.next()
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def listening(answer: bytes = b"", *, pause: float = 0.0) -> Iterator[str]:
    """A port that takes connections, sends `answer` byte by byte, and then is silent."""
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def run() -> None:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                for position in range(len(answer)):
                    if ended.wait(pause):
                        return
                    try:
                        connection.send(answer[position : position + 1])
                    except OSError:
                        return
                ended.wait(20)

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            ended.set()
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def reply(*rows: list[dict[str, Any]]) -> Answer:
    return 200, json.dumps({"result": list(rows)}).encode()


def entry(contents: str, score: float = 1.0, **document: Any) -> dict[str, Any]:
    return {"document": {"contents": contents, **document}, "score": score}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_request_has_search_r1s_form() -> None:
    script = Scripted(reply([], []))
    with serve(script) as url:
        assert RemoteRetriever(url).search_many(["a", "b"], 4) == [[], []]
    request = {"queries": ["a", "b"], "topk": 4, "return_scores": True}
    assert script.requests == [("/retrieve", request)]


@pytest.mark.parametrize("path", ["", "/", "/retrieve", "/retrieve/"])
def test_the_url_may_name_the_path_or_not(path: str) -> None:
    script = Scripted(reply([]))
    with serve(script) as url:
        RemoteRetriever(url + path).search("x", 1)
    assert script.requests[0][0] == "/retrieve"


def test_credentials_and_query_are_sent() -> None:
    script = Scripted(reply([]))
    with serve(script) as url:
        host = url.removeprefix("http://")
        RemoteRetriever(f"http://us%40er:p%3Aw@{host}/v1?key=a%20b&x=ü y").search("q", 1)
        RemoteRetriever(f"http://token@{host}/retrieve/?key=1#part").search("q", 1)
        RemoteRetriever(url).search("q", 1)
    paths = [path for path, _ in script.requests]
    assert paths == ["/v1/retrieve?key=a%20b&x=%C3%BC%20y", "/retrieve?key=1", "/retrieve"]
    sent = [header and b64decode(header.removeprefix("Basic ")) for header in script.authorizations]
    assert sent == [b"us@er:p:w", b"token:", None]


def test_secrets_of_the_url_stand_in_no_name_and_no_message() -> None:
    script = Scripted((403, b"no"))
    with serve(script) as url:
        host = url.removeprefix("http://")
        retriever = RemoteRetriever(f"http://user:secret@{host}/retrieve?key=hidden&v=2")
        with pytest.raises(
            EnvFailure, match=r"http://user:\*\*\*@127.*key=\*\*\*&v=\*\*\*"
        ) as caught:
            retriever.search("q", 1)
    for text in (str(caught.value), retriever.url, retriever.name):
        assert "secret" not in text and "hidden" not in text
    assert retriever.url == f"http://user:***@{host}/retrieve?key=***&v=***"
    token = RemoteRetriever(f"http://secret@{host}")
    assert token.url == f"http://***@{host}/retrieve"


@pytest.mark.parametrize(
    "url",
    [
        "http://user:secret@host:99999",
        "http://user:secret@host:y",
        "http://user:secret/more@host",
        "http://user:secret@",
        "ftp://user:secret@host",
        "http://user:secret@[::1",
        "http://host:99999/?key=secret",
    ],
)
def test_a_refused_url_is_shown_without_its_secrets(url: str) -> None:
    with pytest.raises(ValueError, match="retriever URL") as caught:
        RemoteRetriever(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_hits_are_read_from_contents() -> None:
    with serve(Scripted(reply([entry('"Quill"\nA town.\nOld.', 2.5, id="7")]))) as url:
        [hit] = RemoteRetriever(url).search("q", 3)
    assert hit.score == 2.5
    assert (hit.passage.title, hit.passage.text) == ("Quill", "A town.\nOld.")
    assert (hit.passage.passage_id, hit.passage.document_id) == (7, -1)


@pytest.mark.parametrize("name", [None, "doc-12", "", "-3", "9" * 30, "\u0663"])
def test_an_id_that_is_no_number_becomes_minus_one(name: str | None) -> None:
    document = {} if name is None else {"id": name}
    with serve(Scripted(reply([entry("t\nx", **document)]))) as url:
        [hit] = RemoteRetriever(url, corpus=rivers()).search("q", 3)
    assert hit.passage.passage_id == -1


def test_a_hit_that_stands_in_the_corpus_is_its_passage() -> None:
    corpus = rivers()
    passage = corpus.passages[6]
    rows = [
        entry(f'"{passage.title}"\n{passage.text}', id="6"),
        entry('"Other"\ntext', id="6"),
        entry("t\nx", id="700"),
    ]
    with serve(Scripted(reply(rows))) as url:
        hits = RemoteRetriever(url, corpus=corpus).search("q", 3)
    assert hits[0].passage is passage
    assert [hit.passage.document_id for hit in hits[1:]] == [-1, -1]


def test_more_hits_than_asked_for_are_left_out() -> None:
    with serve(Scripted(reply([entry("t\nx")] * 5))) as url:
        assert len(RemoteRetriever(url).search("q", 2)) == 2


def test_many_queries_go_in_several_requests() -> None:
    count = MAX_QUERIES + 1
    script = Scripted(reply(*[[entry("t\nx")]] * MAX_QUERIES), reply([entry("last\nx")]))
    with serve(script) as url:
        rows = RemoteRetriever(url).search_many(["q"] * count, 1)
    assert len(rows) == count and rows[-1][0].passage.title == "last"
    assert [len(request["queries"]) for _, request in script.requests] == [MAX_QUERIES, 1]


def test_no_queries_need_no_server() -> None:
    assert RemoteRetriever("http://127.0.0.1:1").search_many([], 3) == []


def test_long_queries_and_half_characters_are_made_sendable() -> None:
    script = Scripted(reply([]))
    with serve(script) as url:
        RemoteRetriever(url).search("\ud800x" + "y" * 5000, 1)
    [query] = script.requests[0][1]["queries"]
    assert query.startswith("?xy") and len(query) == 2000


@pytest.mark.parametrize("status", [500, 502, 503, 429])
def test_an_overloaded_server_is_asked_again(status: int) -> None:
    script = Scripted((status, b"busy"), (status, b"busy"), reply([entry("t\nx")]))
    with serve(script) as url:
        assert len(RemoteRetriever(url).search("q", 1)) == 1
    assert len(script.requests) == 3


def test_retries_end(caplog: pytest.LogCaptureFixture) -> None:
    script = Scripted((503, b"busy"))
    with serve(script) as url, pytest.raises(EnvFailure, match=r"503: busy \(after 3 attempts\)"):
        RemoteRetriever(url, retries=2).search("q", 1)
    assert len(script.requests) == 3


@pytest.mark.parametrize("status", [400, 404, 413, 422])
def test_a_refused_request_is_a_failure_at_once(status: int) -> None:
    script = Scripted((status, b"no such thing"))
    with serve(script) as url:
        with pytest.raises(EnvFailure, match=f"{url}/retrieve.*{status}: no such thing"):
            RemoteRetriever(url).search("q", 1)
    assert len(script.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b"{}",
        b'{"result": 3}',
        b'{"result": []}',
        b'{"result": [[], []]}',
        b'{"result": [3]}',
        b'{"result": [[3]]}',
        b'{"result": [[{"document": {"contents": "t"}}]]}',
        b'{"result": [[{"contents": "without scores"}]]}',
        b'{"result": [[{"document": {"contents": 3}, "score": 1}]]}',
        b'{"result": [[{"document": {"contents": "t"}, "score": null}]]}',
        b'{"result": [[{"document": "t", "score": 1}]]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_a_malformed_reply_is_a_failure(body: bytes) -> None:
    with serve(Scripted((200, body))) as url:
        with pytest.raises(EnvFailure, match=f"{url}/retrieve.*not of Search-R1's form"):
            RemoteRetriever(url).search("q", 1)


def test_a_dead_port_is_a_failure_that_names_url_and_cause() -> None:
    port = free_port()
    start = time.monotonic()
    with pytest.raises(EnvFailure, match=f"http://127.0.0.1:{port}/retrieve.*ConnectionRefused"):
        RemoteRetriever(f"http://127.0.0.1:{port}", timeout=5, retries=2).search("q", 1)
    assert time.monotonic() - start < 5


@pytest.mark.parametrize(
    ("answer", "pause"),
    [
        (b"", 0.0),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10000\r\n\r\n" + b"x" * 500, 0.0),
        (b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 500, 0.0),
    ],
    ids=["nothing", "half a reply", "a reply without an end"],
)
def test_a_hanging_server_is_a_failure_within_the_timeout(answer: bytes, pause: float) -> None:
    with listening(answer, pause=pause) as url:
        start = time.monotonic()
        with pytest.raises(EnvFailure, match=r"no reply within 0\.5 s"):
            RemoteRetriever(url, timeout=0.5).search("q", 1)
        assert 0.4 < time.monotonic() - start < 2


def test_a_trickling_server_is_a_failure_within_the_timeout() -> None:
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    with listening(head + b"x" * 500, pause=0.02) as url:
        start = time.monotonic()
        with pytest.raises(EnvFailure, match="no reply within 1 s"):
            RemoteRetriever(url, timeout=1).search("q", 1)
        assert time.monotonic() - start < 3


def test_what_is_no_http_is_a_failure() -> None:
    with listening(b"220 mail ready\r\n") as url:
        with pytest.raises(EnvFailure, match="BadStatusLine"):
            RemoteRetriever(url, retries=0).search("q", 1)


@pytest.mark.parametrize(
    "url", ["", "localhost:80", "ftp://x", "http://", "http://x:99999", "http://x:y"]
)
def test_a_url_of_another_form_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="retriever URL"):
        RemoteRetriever(url)


@pytest.mark.parametrize(
    "kwargs",
    [{"timeout": 0}, {"timeout": "3"}, {"timeout": None}, {"retries": -1}, {"retries": 1.5}],
)
def test_numbers_have_bounds(kwargs: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(kwargs))} must be"):
        RemoteRetriever("http://x", **kwargs)


def test_a_reply_over_an_empty_corpus_is_kept() -> None:
    with serve(Scripted(reply([entry("t\nx", id="0")]))) as url:
        assert len(RemoteRetriever(url, corpus=corpus_of([])).search("q", 1)) == 1
