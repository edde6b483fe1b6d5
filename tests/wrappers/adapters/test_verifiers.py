"""Our environments as a task set of verifiers, with the real package and its `vf-eval`."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import EnvFailure
from benchmarks.export.verifiers import main as export
from tests.serving import Failure, Server, serving
from tests.wrappers.adapters.experts import Expert, chat_answers, chat_message

pytest.importorskip("verifiers", reason="verifiers is missing: make test-partner NAME=verifiers")

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import load_environment, resolve_env_config

CHAT = "/v1/chat/completions"
NAME = "my_agentgym"
KWARGS = {"action_format": "react", "max_turns": 20}
TASKS = ["textcraft_0", "textcraft_1"]
MODULE = """
from wrappers.adapters.verifiers import AgentGymEnv, AgentGymHarness, AgentGymTaskset

__all__ = ["AgentGymEnv", "AgentGymHarness", "AgentGymTaskset"]
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module by which verifiers finds the task set."""
    (tmp_path / f"{NAME}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, NAME, raising=False)


def vf_eval(folder: Path, name: str, server: Server, *words: str) -> list[dict[str, Any]]:
    """Run `vf-eval` on the first tasks of a module in a folder, and return the saved traces."""
    command = [str(Path(sys.executable).with_name("vf-eval")), name]
    command += ["--select.include.idx", "0:2"]
    command += ["--model", "expert", "--client.base-url", f"{server.url}/v1"]
    command += ["--no-push", "--no-rich", "--output-dir", str(folder / "out"), *words]
    paths = os.pathsep.join([str(folder), str(Path.cwd()), os.environ.get("PYTHONPATH", "")])
    ended = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": paths, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    (path,) = (folder / "out").glob("*/traces.jsonl")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def evaluate(folder: Path, server: Server, *words: str, **kwargs: Any) -> list[dict[str, Any]]:
    """Run `vf-eval` on TextCraft's first tasks, and return the saved traces."""
    (folder / f"{NAME}.py").write_text(MODULE)
    own = ["--env.taskset.env", "TextCraft"]
    own += ["--env.taskset.env-kwargs", json.dumps({**KWARGS, **kwargs})]
    return vf_eval(folder, NAME, server, *own, *words)


def test_vf_eval_plays_an_experts_episodes(tmp_path: Path) -> None:
    expert = Expert("agentgym/TextCraft-v0", TASKS, **KWARGS)
    with serving(chat_answers(expert)) as server:
        episodes = evaluate(tmp_path, server)
    assert sorted(episode["task"]["data"]["id"] for episode in episodes) == TASKS
    for episode in episodes:
        (trace,) = episode["traces"]
        turns = expert.turns[trace["task"]["data"]["id"]]
        assert episode["ok"]
        assert [node["message"]["content"] for node in trace["nodes"]] == [
            expert.system_prompt,
            *(text for turn in turns for text in turn),
        ]
        assert [n["sampled"] for n in trace["nodes"]] == [False, *[False, True] * len(turns)]
        assert trace["rewards"] == {"reward": {"score": 1.0, "weight": 1.0}}
        assert trace["metrics"] == {"success": 1.0, "score": 1.0, "turn": len(turns)}


def play(env: str, server: Server, **agent: Any) -> vf.Episode:
    """Play the second task of an environment in this process."""
    config = resolve_env_config(
        {
            "taskset": {"id": NAME, "env": env, "env_kwargs": KWARGS},
            "agent": {"harness": {"id": NAME}, **agent},
        }
    )
    game = load_environment(config)
    task = list(game.taskset.take(2))[1]
    client = vf.EvalClientConfig(base_url=f"{server.url}/v1")

    async def episode() -> vf.Episode:
        async with game.serving():
            return await game.run_episode(
                task, vf.ModelContext(model="m", client=client, sampling=vf.SamplingConfig())
            )

    return asyncio.run(episode())


def test_the_seats_own_limit_ends_an_episode(module: None) -> None:
    with serving(chat_answers(Expert("agentgym/TextCraft-v0", TASKS, **KWARGS))) as server:
        episode = play("TextCraft", server, max_turns=1)
    (trace,) = episode.traces
    assert (episode.ok, trace.stop_condition) == (True, "max_turns")
    assert (trace.reward, trace.metrics["success"], trace.metrics["turn"]) == (0, 0, 1)


def test_a_full_context_ends_an_episode(module: None) -> None:
    error = {"error": {"message": "too long", "code": "context_length_exceeded"}}
    full = Failure(400, json.dumps(error))
    answer = chat_answers(Expert("agentgym/TextCraft-v0", TASKS, **KWARGS))[CHAT]
    with serving({CHAT: lambda b: answer(b) if len(b["messages"]) == 2 else full}) as server:
        episode = play("TextCraft", server)
    (trace,) = episode.traces
    assert (episode.ok, trace.reward, trace.metrics["turn"]) == (True, 0, 1)


def test_a_model_that_fails_fails_the_episode(module: None) -> None:
    with serving({CHAT: lambda _: Failure(400, '{"error": {"message": "no"}}')}) as server:
        episode = play("TextCraft", server)
    assert not episode.ok


def test_broken_machinery_fails_the_episode(module: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def breaks(*_: Any) -> Any:
        raise EnvFailure("the simulator died")

    monkeypatch.setattr("agentgym_envs.textcraft.env.TextCraftEnv.apply", breaks)
    with serving({CHAT: lambda _: chat_message("Action: inventory")}) as server:
        episode = play("TextCraft", server)
    assert not episode.ok
    assert "the simulator died" in episode.errors[0].message


def test_an_exported_package_plays_as_it_is(tmp_path: Path) -> None:
    assert export(["--env", "TextCraft", "--out", str(tmp_path / "package")]) == 0
    expert = Expert("agentgym/TextCraft-v0", TASKS, action_format="react")
    with serving(chat_answers(expert)) as server:
        episodes = vf_eval(tmp_path / "package", "text-craft-agentgym", server)
    assert sorted(episode["task"]["data"]["id"] for episode in episodes) == TASKS
    assert [trace["metrics"]["success"] for one in episodes for trace in one["traces"]] == [1, 1]


def test_a_task_set_without_an_environment_is_refused(module: None) -> None:
    with pytest.raises(ValueError, match="add --env.taskset.env TextCraft"):
        list(load_environment(resolve_env_config({"taskset": {"id": NAME}})).taskset)
