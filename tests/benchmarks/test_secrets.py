"""Commands are given secrets in every way that there is; none may stand in what they leave."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from benchmarks.cli.main import main
from benchmarks.sweep import command as sweep_command
from benchmarks.sweep.suites import Panel, Suite
from tests.serving import Failure, serving
from tests.trainers.policies.chat_server import completions_of, message, models
from tests.trainers.toys import ENV_ID, make_folder, make_model

PASSWORD, KEY, TOKEN, API_KEY = "pw-Tr0ub4dor", "k-8f3a91c2", "hf_QqWwEeRrTt", "sk-live-5150x"
SECRETS = (PASSWORD, KEY, TOKEN, API_KEY)
QUERY = f"?sig={KEY}"

Leaks = Callable[[], list[str]]


def with_secrets(url: str) -> str:
    """Return an address with a user, a password and a query."""
    return f"{url.replace('://', f'://ada:{PASSWORD}@')}/v1{QUERY}"


def keyed(answers: dict[str, Any]) -> dict[str, Any]:
    """Return the answers of a server that only knows who sends the query."""
    return {path + QUERY: answer for path, answer in answers.items()}


CHAT = keyed(
    {
        "/v1/models": models("mine"),
        "/v1/chat/completions": lambda body: message("Thought: no.\nAction: inventory"),
    }
)


@pytest.fixture
def leaks(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> Leaks:
    """Return what names the places where a secret stands."""
    monkeypatch.setenv("OPENAI_API_KEY", API_KEY)
    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.INFO)

    def find() -> list[str]:
        out, err = capfd.readouterr()
        texts = {"stdout": out, "stderr": err, "log": caplog.text}
        for path in tmp_path.rglob("*"):
            name = str(path.relative_to(tmp_path))
            texts[f"the name {name}"] = name
            if path.is_file():
                texts[name] = path.read_bytes().decode("latin-1")
        assert len(texts) > 3
        return [
            f"{secret} in {where}"
            for where, t in texts.items()
            for secret in SECRETS
            if secret in t
        ]

    return find


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    """Run a command as a shell does; return its exit status."""
    monkeypatch.setattr(sys, "argv", ["agentgym", *words])
    try:
        return int(main(words))
    except SystemExit as stopped:
        return int(str(stopped.code or 0))


def test_eval_and_collect_leave_no_secret(
    leaks: Leaks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kwargs = json.dumps({"metadata": {"api_key": TOKEN}})
    with serving(CHAT) as server:
        words = ["--env", "TextCraft", "--policy", with_secrets(server.url), "--max_turns", "1"]
        words += ["--num_tasks", "2", "--api_kwargs", kwargs]
        files = ["--out", "result.json", "--trajectories", "played.jsonl"]
        assert run(monkeypatch, "eval", *words, *files) == 0
        assert run(monkeypatch, "collect", *words, "--out", "collected.jsonl") == 0
    assert {request["metadata"]["api_key"] for request in server.requests} == {TOKEN}
    assert all(key is not None and key.startswith("Basic ") for key in server.keys)
    assert leaks() == []


@pytest.mark.parametrize("status", [401, 500])
def test_a_server_that_fails_and_repeats_the_secret_does_not_show_it(
    leaks: Leaks,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    status: int,
) -> None:
    echo = json.dumps({"error": {"message": f"bad key {API_KEY} for {KEY} of ada:{PASSWORD}"}})
    answers = {**CHAT, f"/v1/chat/completions{QUERY}": lambda body: Failure(status, echo)}
    monkeypatch.setattr("trainers.backends.json_client.FIRST_PAUSE", 0.0)
    (tmp_path / "notes").write_text("")
    with serving(answers) as server:
        words = ["--env", "TextCraft", "--policy", with_secrets(server.url), "--max_turns", "1"]
        files = ["--trajectories", "played.jsonl", "--max_failed_share", "1", "--max_outage", "1s"]
        assert run(monkeypatch, "eval", *words, "--num_tasks", "1", *files) != 0
        assert run(monkeypatch, "eval", *words, "--api_modl", TOKEN, "--api_key", TOKEN) == 2
        assert run(monkeypatch, "eval", *words, "--samples", "0") == 2
    assert leaks() == []


def test_a_server_that_is_gone_is_named_without_its_secrets(
    leaks: Leaks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "notes").write_text("")
    monkeypatch.setattr("trainers.backends.json_client.FIRST_PAUSE", 0.0)
    with serving({}) as server:
        pass
    for words in (["eval", "--env", "TextCraft"], ["sweep", "--suite", "textcraft"]):
        assert run(monkeypatch, *words, "--policy", with_secrets(server.url)) != 0
    assert leaks() == []


@contextmanager
def small_suite(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have every suite be two tasks of TextCraft."""
    small = Panel("agentgym/TextCraft-v0", "test", every=40)
    monkeypatch.setattr(sweep_command, "find_suite", lambda name: Suite(name, "", (small,)))
    yield


@pytest.mark.full
def test_a_sweep_and_its_report_leave_no_secret(
    leaks: Leaks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kwargs = json.dumps({"metadata": {"api_key": TOKEN}})
    with serving(CHAT) as server, small_suite(monkeypatch):
        words = ["--policy", with_secrets(server.url), "--api_kwargs", kwargs, "--turns", "1"]
        assert run(monkeypatch, "sweep", *words, "--out", "sweep", "--workers", "1") == 0
        played = len(server.requests)
        assert run(monkeypatch, "sweep", *words, "--out", "sweep", "--workers", "1") == 0
    assert (played > 0, len(server.requests)) == (True, played)  # the second call found all there
    assert {request["metadata"]["api_key"] for request in server.requests} == {TOKEN}
    assert run(monkeypatch, "report", "sweep") == 0
    assert run(monkeypatch, "view", "sweep", "--export", "view.html", "--tokens") == 0
    assert leaks() == []


def test_a_training_run_leaves_no_secret(
    leaks: Leaks, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    model = make_model()
    names: list[str] = []
    answers: dict[str, Any] = keyed(
        {
            "/v1/models": models("toy", max_model_len=300),
            "/v1/completions": completions_of(model),
            "/collective_rpc": lambda body: {"results": [None]},
            "/reset_prefix_cache": lambda body: {"success": True},
            "/update_weight_version": lambda body: names.append(body["new_version"]) or {},
            "/weight_info": lambda body: {"weight_version": names[-1]},
        }
    )
    with serving(answers) as server:
        words = ["--env", ENV_ID, "--model", str(make_folder(tmp_path / "model"))]
        words += ["--action_format", "plain", "--max_tokens_per_turn", "4", "--max_steps", "1"]
        words += ["--num_generations", "4", "--per_device_train_batch_size", "4"]
        words += ["--gradient_accumulation_steps", "1", "--eval_strategy", "no"]
        words += ["--save_strategy", "steps", "--save_steps", "1", "--output_dir", "run"]
        words += ["--backend", "vllm_server", "--server_url", with_secrets(server.url)]
        words += ["--backend_kwargs", json.dumps({"weights_dir": str(tmp_path / "weights")})]
        words += ["--hub_token", TOKEN, "--disable_tqdm", "true"]
        assert run(monkeypatch, "train", "grpo", *words) == 0
        assert run(monkeypatch, "train", "grpo", *words, "--resume", "--max_steps", "2") == 0
    assert server.requests
    assert (tmp_path / "run" / "checkpoint-2" / "training_args.bin").is_file()
    assert leaks() == []
