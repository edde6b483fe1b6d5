"""`agentgym serve`: its options, and a server that starts and stops."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("wsproto")

import httpx

from benchmarks.cli.main import main
from tests.helpers import register_helpers
from tests.wrappers.serving.clients import Closed, Socket

ROOT = Path(__file__).parents[3]


@contextmanager
def server(*options: str, **variables: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start the command; the process, and the address of the first environment."""
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks", "serve", *options, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, **variables},
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("serving "), line
            yield process, line.split()[1].rstrip(",;").replace("0.0.0.0", "127.0.0.1")
        finally:
            process.kill()


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_and_its_sessions(number: signal.Signals) -> None:
    with server("--env", "TextCraft", "--env", "BabyAI") as (process, url):
        assert url.endswith("/textcraft")
        client = Socket(url)
        client.observation("reset", task_id="textcraft_0")
        client.observation("step", message="inventory")
        process.send_signal(number)
        with pytest.raises((Closed, ConnectionError)):
            client.receive_text()
        client.vanish()
        _, log = process.communicate(timeout=30)
    assert process.returncode == 0
    (line,) = [line for line in log.splitlines() if "session of" in line]
    assert "session of textcraft ended: the server stops" in line
    assert "1 episodes, 1 steps, 0 failures" in line
    assert "Traceback" not in log


def test_environments_are_made_with_the_commands_arguments() -> None:
    kwargs = json.dumps({"TextCraft": {"action_format": "react"}, "max_turns": 3})
    options = ("--env", "TextCraft", "--env", "BabyAI", "--env_kwargs", kwargs)
    with server(*options) as (_, url):
        metadata = httpx.get(f"{url}/metadata").json()
        assert (metadata["action_format"], metadata["max_turns"]) == ("react", 3)


def test_an_environment_of_the_users_own_is_served(tmp_path: Path) -> None:
    module = tmp_path / "own_game.py"
    module.write_text(
        "from agentgym_envs import register_env\n"
        "register_env('mine/Own-v0', 'tests.helpers:CountingEnv')\n"
    )
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", ""), str(ROOT)])
    with server("--env", "own_game:mine/Own-v0", PYTHONPATH=path) as (_, url):
        assert url.endswith("/own")
        with Socket(url) as client:
            client.observation("reset", task_id=1)
            assert client.observation("step", message="add 2")["reward"] == 1.0


def test_the_token_may_come_from_the_environment() -> None:
    options = ("--env", "TextCraft", "--host", "0.0.0.0")
    with server(*options, AGENTGYM_TOKEN="guess-me") as (_, url):
        assert httpx.get(f"{url}/metadata").status_code == 401
        headers = {"authorization": "Bearer guess-me"}
        assert httpx.get(f"{url}/metadata", headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--env", "TextCraft", "--host", "0.0.0.0"], "a token is needed"),
        (["--env", "TextCraft", "--protocol", "openev"], "unknown protocol 'openev'"),
        (["--env", "TextCrat"], "did you mean TextCraft"),
        (["--env", "TextCraft", "--max_sessions", "0"], "max_sessions must be >= 1"),
        (["--env", "TextCraft", "--step_timeout", "0"], "step_timeout"),
        (["--env", "TextCraft", "--env_kwargs", '{"colour": 1}'], "takes no argument 'colour'"),
        (["--env", "TextCraft", "--env_kwargs", '{"split": "tset"}'], "unknown split 'tset'"),
        (["--env", "CartPole-v1"], "no text environment"),
        (["--env", "counting", "--protocol", "agentgym"], "none of AgentGym's"),
        ([], "--env"),
    ],
)
def test_options_that_cannot_be_followed_are_refused(
    words: list[str], message: str, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_helpers()
    monkeypatch.delenv("AGENTGYM_TOKEN", raising=False)
    try:
        status = main(["serve", *words])
    except SystemExit as end:
        status = int(end.code or 0)
    assert status == 2
    assert message in capsys.readouterr().err


def test_a_port_that_is_taken_is_told(capsys: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SystemExit, match="2"):
            main(["serve", "--env", "TextCraft", "--port", str(port)])
    error = capsys.readouterr().err
    assert f"--port {port}" in error
