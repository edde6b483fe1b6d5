"""AgentGym's and AgentGym-RL's own clients, unchanged, play on the server.

`AGENTGYM_CHECKOUT` names a checkout of AgentGym, `AGENTGYM_RL_CHECKOUT` one of AgentGym-RL.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import httpx
import pytest

import agentgym_envs  # noqa: F401 - registers the ids
from tests.helpers import GOLDEN
from tests.wrappers.serving.clients import serving
from wrappers.serving.app import make_app
from wrappers.serving.environments import served

if "AGENTGYM_CHECKOUT" not in os.environ:
    pytest.skip("AGENTGYM_CHECKOUT names no checkout of AgentGym", allow_module_level=True)
sys.path.append(str(Path(os.environ["AGENTGYM_CHECKOUT"], "agentenv")))

from agentenv import envs
from agentenv.controller import ActionWithTought, APIAgent

NEEDS_JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="no Java on PATH")
CLIENTS: dict[str, Any] = {
    "BabyAI": envs.BabyAIEnvClient,
    "TextCraft": envs.TextCraftEnvClient,
    "ALFWorld": envs.AlfWorldEnvClient,
    "SciWorld": envs.SciworldEnvClient,
    "SearchQA": envs.SearchQAEnvClient,
    "WebArena": envs.WebarenaEnvClient,
    "WebShop": envs.WebshopEnvClient,
}
TASKS: dict[str, Any] = {
    "BabyAI": envs.BabyAITask,
    "TextCraft": envs.TextCraftTask,
    "ALFWorld": envs.AlfWorldTask,
    "SciWorld": envs.SciworldTask,
    "SearchQA": envs.SearchQATask,
    "WebArena": envs.WebarenaTask,
    "WebShop": envs.WebshopTask,
}
NAMES = [pytest.param(name, marks=NEEDS_JAVA) if name == "SciWorld" else name for name in CLIENTS]
FULL = {"SciWorld": 100}
"""The score of a solved task, where it is not 1."""
NOT_ACTIONS = (
    "",
    "I do not know.",
    "Thought:\nhm\n\nAction:\nfly to the moon",
    "Action: inventory\nAction: inventory",
    "I see. ```fly [moon]```",
)


@pytest.fixture
def url() -> Iterator[str]:
    """The address of a server that has everything back at the end."""
    app = make_app(served([f"agentgym/{name}-v0" for name in CLIENTS], {}))
    with serving(app) as url:
        yield url
        lines = httpx.get(f"{url}/metrics").text.splitlines()
        assert "agentgym_sessions_active 0" in lines
        assert not [line for line in lines if line.startswith("agentgym_failures_total")]


def connect(url: str, name: str, **kwargs: Any) -> Any:
    return CLIENTS[name](f"{url}/{name.lower()}", data_len=1, timeout=120, **kwargs)


def twin(name: str, action_format: str = "react") -> Any:
    """An environment in process that reads what the client reads."""
    max_turns = None if name == "SciWorld" else 1000
    return gym.make(
        f"agentgym/{name}-v0",
        compat="agentgym",
        action_format=action_format,
        max_turns=max_turns,
    )


def numbers(env: Any, count: int) -> list[int]:
    """The numbers of tasks here and there in the training split."""
    ids = env.unwrapped.task_ids("train")
    return [int(ids[len(ids) * n // count].rpartition("_")[2]) for n in range(count)]


def begin(env: Any, name: str, number: int) -> str:
    """Begin a task in process; what AgentGym's client shows at first."""
    observation, info = env.reset(options={"task_id": number})
    is_apart = name == "SciWorld" and env.unwrapped.action_format == "plain"
    return f"{info['goal']}\n{observation}" if is_apart else observation


@pytest.mark.parametrize("name", NAMES)
def test_an_experts_episode_is_the_one_in_process(url: str, name: str) -> None:
    env = twin(name)
    client = connect(url, name)
    for number in numbers(env, 2 if name == "SciWorld" else 3):
        first = begin(env, name, number)
        client.reset(number)
        assert client.observe() == first
        reward, terminated, info = 0.0, False, {}
        for completion in env.unwrapped.expert():
            observation, reward, terminated, _, info = env.step(completion)
            step = client.step(completion)
            assert (step.state, step.done) == (observation, terminated)
            assert step.reward == info.get("agentgym_score", reward)
        assert terminated
        assert info["success"]
    assert client.close() or name == "WebShop"  # whose client tells nothing
    env.close()


@pytest.mark.parametrize("name", NAMES)
def test_completions_without_an_action_are_answered_as_in_process(url: str, name: str) -> None:
    env = twin(name)
    client = connect(url, name)
    number = numbers(env, 1)[0]
    begin(env, name, number)
    client.reset(number)
    for completion in NOT_ACTIONS:
        if name == "WebArena" and "```" not in completion:
            continue  # its client answers these itself, in other words than its server
        observation, _, terminated, _, _ = env.step(completion)
        step = client.step(completion)
        assert (step.state, step.done) == (observation, terminated)
    assert client.close() or name == "WebShop"  # whose client tells nothing
    env.close()


@pytest.mark.parametrize("action_format", ["function_calling", "code_as_action"])
@NEEDS_JAVA
def test_sciworld_is_played_in_the_clients_other_formats(url: str, action_format: str) -> None:
    env = twin("SciWorld", "plain")
    client = connect(url, "SciWorld", action_format=action_format)
    number = numbers(env, 1)[0]
    first = begin(env, "SciWorld", number)
    client.reset(number)
    assert client.observe() == first
    adapter = client.adapter_cls
    write = getattr(adapter, f"to_{action_format}")
    for action in env.unwrapped.expert():
        observation, _, terminated, _, info = env.step(action)
        step = client.step(write(ActionWithTought("so", action)))
        assert (step.state, step.done) == (observation, terminated)
        assert step.reward == info["agentgym_score"]
    assert step.reward == 100
    assert client.close() is True


class Expert(APIAgent):
    """An agent that says what it has been given."""

    def __init__(self, completions: list[str]) -> None:
        self.completions = iter(completions)
        self.conversations: list[Any] = []

    def generate(self, conversation: list[Any]) -> tuple[str, None]:
        self.conversations.append(list(conversation))
        return next(self.completions), None


@pytest.mark.parametrize("name", NAMES)
def test_agentgyms_tasks_collect_experience(url: str, name: str) -> None:
    env = twin(name)
    number = numbers(env, 2)[1]
    first = begin(env, name, number)
    completions = []
    for completion in env.unwrapped.expert():
        completions.append(completion)
        env.step(completion)
    env.close()
    address = {"env_server_base": f"{url}/{name.lower()}", "data_len": 1}
    task = TASKS[name](client_args=address, n_clients=1)
    agent = Expert(completions)
    (experience,) = task.generate_experience(agent, [number])
    assert experience.reward == pytest.approx(FULL.get(name, 1), abs=0.3 if name == "BabyAI" else 0)
    assert agent.conversations[0][2]["content"] == first
    assert len(agent.conversations) == len(completions)
    assert task.clients[0].close() or name == "WebShop"


def records(name: str) -> list[dict[str, Any]]:
    path = GOLDEN / f"{name}_a.jsonl"
    if not path.exists():
        pytest.skip(f"no recordings of the original under {GOLDEN}")
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_babyai_plays_the_recordings(url: str) -> None:
    recorded = records("babyai")[::9]
    client = connect(url, "BabyAI")
    for record in recorded:
        if not record.get("same_on_minigrid_3_2_0", True) or "GoToObjS6" in record["level"]:
            continue
        assert client.reset(record["data_idx"]) == record["reset"]
        for step in record["steps"]:
            completion = f"Action: {step['action']}"
            if "error" in step:
                with pytest.raises(KeyError):  # as with the original's server
                    client.step(completion)
                break
            answer = client.step(completion)
            assert (answer.state, answer.done) == (step["observation"], step["done"])
            assert answer.reward == pytest.approx(step["score"])
    assert client.close() is True


def test_textcraft_plays_the_recordings(url: str) -> None:
    for record in records("textcraft"):
        goal = record["goal"].removeprefix("minecraft:").replace("_", " ")
        client = connect(url, "TextCraft", goal=goal)
        assert client.observe().endswith(record["reset_observation"].splitlines()[-1])
        for step in record["steps"]:
            if " ".join(re.sub(r"[^\w, ]", "", step["action"]).split()) != step["action"]:
                break  # the client sends something else
            answer = client.step(f"Action: {step['action']}")
            assert answer.state == step["observation"]
            assert (answer.reward, answer.done) == (step["reward"], step["done"])
        assert client.close() is True


@NEEDS_JAVA
def test_sciworld_plays_the_recordings(url: str) -> None:
    recorded = records("sciworld")[1:8]
    client = connect(url, "SciWorld")
    for record in recorded:
        assert client.reset(record["data_idx"]) == record["reset"]
        for step in record["steps"][: record["stable_entries"] - 1]:
            answer = client.step(f"Thought:\nso\n\nAction:\n{step['action']}")
            assert (answer.state, answer.done) == (step["observation"], step["done"])
            assert answer.reward == step["score"]
    assert client.close() is True


def roll_out(clients: list[Any], tasks: list[int], completions: list[list[str]]) -> list[float]:
    """Play as AgentGym-RL's rollout does: resets one by one, then rounds of a thread each."""
    for client, number in zip(clients, tasks, strict=True):
        client.reset(number)
        assert isinstance(client.observe(), str)
    scores = [0.0] * len(clients)
    said = [iter(each) for each in completions]
    not_done = list(range(len(clients)))

    def play(index: int) -> bool:
        step = clients[index].step(next(said[index]))
        scores[index] = step.reward
        return bool(step.done)

    while not_done:
        with ThreadPoolExecutor(len(not_done)) as pool:
            is_done = list(pool.map(play, not_done))
        not_done = [index for index, done in zip(not_done, is_done, strict=True) if not done]
    for client in clients:
        client.close()
    return scores


@pytest.mark.parametrize("name", NAMES)
def test_agentgym_rl_rolls_out(url: str, name: str) -> None:
    checkout = os.environ.get("AGENTGYM_RL_CHECKOUT")
    if checkout is None:
        pytest.skip("AGENTGYM_RL_CHECKOUT names no checkout of AgentGym-RL")
    path = Path(checkout) / "AgentGym-RL" / "verl" / "utils" / "agentgym" / "client.py"
    init_env_client = runpy.run_path(str(path))["init_env_client"]
    env = twin(name)
    tasks = numbers(env, 2 if name == "SciWorld" else 8)
    completions = []
    for number in tasks:
        begin(env, name, number)
        completions.append([])
        for completion in env.unwrapped.expert():
            completions[-1].append(completion)
            env.step(completion)
    env.close()
    args = SimpleNamespace(task_name=name.lower(), env_addr=f"{url}/{name.lower()}", max_retries=0)
    clients = [init_env_client(args) for _ in tasks]
    scores = roll_out(clients, tasks, completions)
    full = FULL.get(name, 1)
    assert scores == [pytest.approx(full, abs=0.3 if name == "BabyAI" else 0)] * len(tasks)
