from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from agentgym_envs.trajectories.trajectory import write_jsonl
from benchmarks.viewer.index import Index
from benchmarks.viewer.logged import metric_curve
from benchmarks.viewer.server import ViewerServer
from tests.benchmarks.viewer.samples import made, traced, training_run


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ViewerServer]:
    (tmp_path / "secret.txt").write_text("not to be read")
    training_run(tmp_path / "shown")
    with ViewerServer(Index(tmp_path / "shown")) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(
    server: ViewerServer, path: str, *, host: str | None = None, method: str = "GET"
) -> tuple[http.client.HTTPResponse, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    headers = {} if host is None else {"Host": host}
    connection.request(method, path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response, body


def answer(server: ViewerServer, path: str) -> Any:
    response, body = ask(server, path)
    assert response.status == 200, body
    return json.loads(body)


def test_the_page_and_its_modules_are_served_by_their_types(server: ViewerServer) -> None:
    for path, kind in (("/", "html"), ("/main.js", "javascript"), ("/list.css", "css")):
        response, body = ask(server, path)
        assert response.status == 200
        assert kind in str(response.getheader("Content-Type"))
        assert body


def test_every_answer_forbids_other_scripts_and_guessed_types(server: ViewerServer) -> None:
    for path in ("/", "/main.js", "/api/index?epoch=-1&from=0", "/nothing"):
        response, _ = ask(server, path)
        policy = str(response.getheader("Content-Security-Policy"))
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert response.getheader("X-Content-Type-Options") == "nosniff"


@pytest.mark.parametrize("sent", [b"", b"GET / HT"])
def test_a_client_that_goes_silent_is_dropped(
    server: ViewerServer, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    handler: Any = server.RequestHandlerClass
    assert handler.timeout == 60
    monkeypatch.setattr(handler, "timeout", 0.1)
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=3) as silent:
        silent.sendall(sent)
        assert silent.recv(1) == b""


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_a_request_under_another_name_is_refused(server: ViewerServer, host: str) -> None:
    response, body = ask(server, "/api/index?epoch=-1&from=0", host=host)
    assert response.status == 403
    assert b"rows" not in body


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "LOCALHOST:7060", "[::1]:7060"])
def test_a_request_under_an_own_name_is_answered(server: ViewerServer, host: str) -> None:
    assert ask(server, "/", host=host)[0].status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/%2e%2e/secret.txt",
        "/static/../../secret.txt",
        "//etc/passwd",
        "/run.json",
        "/trajectories/train_000000.jsonl",
        "/__init__.py",
        "/api/../secret.txt",
        "/api/trajectory?id=../secret.txt",
        "/api/curve?run=/etc",
        "/api/trajectory?id=-1",
        "/api/trajectory?id=12",
        "/api/curve?run=1",
        "/api/curve",
        "/api/curve?run=0&names=loss",
        "/api/curve?run=0&names=[1]",
        "/api/options?run=1",
        "/api/options?run=../secret.txt",
    ],
)
def test_no_path_of_a_request_names_a_file(server: ViewerServer, path: str) -> None:
    response, body = ask(server, path)
    assert response.status in (400, 404)
    assert "error" in json.loads(body)
    assert b"not to be read" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_nothing_can_be_written(server: ViewerServer, method: str) -> None:
    assert ask(server, "/api/index", method=method)[0].status == 501


def test_the_index_answers_with_what_the_page_lacks(server: ViewerServer) -> None:
    first = answer(server, "/api/index?epoch=-1&from=0")
    assert (len(first["rows"]), first["start"], first["complete"]) == (12, 0, True)
    assert first["files"][0] == ["trajectories/train_000000.jsonl", 0, "train_000000"]
    folder = server.index.root / "trajectories"
    write_jsonl(folder / "train_000009.jsonl", [made(8, global_step=9)])
    later = answer(server, f"/api/index?epoch={first['epoch']}&from=12")
    assert (len(later["rows"]), later["start"]) == (1, 12)
    assert len(answer(server, "/api/index?epoch=99&from=12")["rows"]) == 13


def test_a_curve_is_what_the_run_logged(server: ViewerServer) -> None:
    answer(server, "/api/index?epoch=-1&from=0")
    names = ["episodes/success", "horizon"]
    rows = [[step, 0.5, 6.0 + step // 3] for step in (1, 2, 3, 4)]
    assert answer(server, "/api/curve?run=0") == {"names": names, "rows": rows}
    some = answer(server, "/api/curve?run=0&names=" + quote(json.dumps(["horizon", "loss"])))
    assert some == {"names": names, "rows": [[step, turns, None] for step, _, turns in rows]}
    assert answer(server, '/api/curve?run=0&names=["loss"]')["rows"] == []


def test_the_options_of_a_run_are_texts_under_their_groups(server: ViewerServer) -> None:
    answer(server, "/api/index?epoch=-1&from=0")
    expected = {"command": "train grpo", "seed": "7", "env": '["Counting"]'}
    assert answer(server, "/api/options?run=0") == expected


def test_what_a_quickstart_measured_is_on_its_curve(tmp_path: Path) -> None:
    folder = training_run(tmp_path / "run")
    measured = {f"success_{end}": at for end, at in (("before", 0.45), ("after", 0.66))}
    bounds = {"ci95_before": [0.36, 0.54], "ci95_after": [0.58, 0.74]}
    (folder / "summary.json").write_text(json.dumps({**measured, **bounds, "global_step": 4}))
    index = Index(folder)
    index.update()
    names = ["eval_success", "eval_success_low", "eval_success_high"]
    rows = metric_curve(index.runs[0], names)["rows"]
    assert rows == [[0, 0.45, 0.36, 0.54], [4, 0.66, 0.58, 0.74]]


def test_an_episode_comes_with_its_texts_and_its_tokens_on_demand(server: ViewerServer) -> None:
    answer(server, "/api/index?epoch=-1&from=0")
    record = answer(server, "/api/trajectory?id=0")
    assert record["turns"][1]["completion"] == "Thought: a guess\nAction: jump"
    assert record["turns"][1]["action"] == "Thought: a guess\nAction: jump"
    assert record["traces"] == []
    tokens = answer(server, "/api/tokens?id=0")
    assert tokens["traces"][0]["ids"] == traced().completion_ids
    assert tokens["traces"][0]["mask"] == [1, 1, 1]


def test_the_credit_of_a_group_comes_in_one_answer_and_of_a_crowd_in_none(
    server: ViewerServer,
) -> None:
    folder = server.index.root / "trajectories"
    write_jsonl(folder / "train_000009.jsonl", [made(8, traces=[traced(1.0, 1.0, -4.0)])])
    answer(server, "/api/index?epoch=-1&from=0")
    credit = {"turns": [-0.6667, None], "mean": -0.6667, "most": 4.0}
    assert answer(server, "/api/credits?ids=0,12") == [None, credit]
    assert ask(server, "/api/credits?ids=" + ",".join(["0"] * 65))[0].status == 400
    assert ask(server, "/api/credits?ids=13")[0].status == 404


def test_a_search_answers_with_numbers_and_refuses_a_book(server: ViewerServer) -> None:
    answer(server, "/api/index?epoch=-1&from=0")
    assert answer(server, "/api/search?q=jump") == [0, 2, 4, 6, 8, 10]
    assert ask(server, "/api/search?q=" + "a" * 501)[0].status == 400


def test_it_listens_on_this_machine_only_unless_told_otherwise(server: ViewerServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.server_port}/"
