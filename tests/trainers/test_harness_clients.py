"""Agents of other packages, whose model is trained here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import ListedTasks, TaskSpec, register_env
from agentgym_envs.harness import Endpoint, HarnessEnv
from tests.trainers.toys import ENV_ID, make_model
from trainers.grpo import AgentGRPOTrainer

LETTERS = {"train": {"own": range(8)}, "validation": {"own": [8, 9]}, "test": {"own": [10, 11]}}


class OpenAIAgent(HarnessEnv):
    """Plays the toy game by OpenAI's client, every other answer as a stream."""

    task_set = ListedTasks("openai", LETTERS)
    source = "openai-1"

    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        openai = pytest.importorskip("openai")
        client = openai.OpenAI(base_url=endpoint.base_url, api_key=endpoint.api_key)
        env: Any = gym.make(ENV_ID, action_format="plain")
        observation, _ = env.reset(options={"task_id": task.number})
        messages = [{"role": "system", "content": env.unwrapped.system_prompt}]
        while True:
            messages.append({"role": "user", "content": observation})
            stream = len(messages) % 4 == 0
            sent = client.chat.completions.create(
                model=endpoint.model, messages=messages, stream=stream, temperature=0.3
            )
            if stream:
                answer = "".join(chunk.choices[0].delta.content or "" for chunk in sent)
            else:
                answer = sent.choices[0].message.content
            messages.append({"role": "assistant", "content": answer})
            observation, reward, terminated, truncated, _ = env.step(answer)
            if terminated or truncated:
                return float(reward)


class SmolAgent(HarnessEnv):
    """An agent of smolagents, which writes code, in a loop and with prompts of its own."""

    task_set = ListedTasks("smol", LETTERS)
    source = "smol-1"

    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        smolagents = pytest.importorskip("smolagents")
        model = smolagents.OpenAIServerModel(
            endpoint.model, api_base=endpoint.base_url, api_key=endpoint.api_key
        )
        agent = smolagents.CodeAgent(tools=[], model=model, max_steps=2, verbosity_level=0)
        said = str(agent.run("Say a letter."))
        return float(said != "" and ord(said[0]) % 2 == 0)


register_env("toy/OpenAIAgent-v0", OpenAIAgent)
register_env("toy/SmolAgent-v0", SmolAgent)


def test_openais_client_plays_what_is_trained(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    pytest.importorskip("openai")
    trainer = trainer_in(env={"env": ["toy/OpenAIAgent-v0"], "max_turns": 3})
    trainer.train()
    inside = trainer_in("inside")
    inside.train()
    logs = [
        [(e["loss"], e["grad_norm"]) for e in run.state.log_history if "loss" in e]
        for run in (trainer, inside)
    ]
    assert logs[0] == logs[1]


def test_an_agent_of_smolagents_is_trained_on_each_of_its_requests(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    pytest.importorskip("smolagents")
    model = make_model()
    model.config.max_position_embeddings = 32_768  # its prompts have some 10,000 bytes
    trainer = trainer_in(
        max_steps=1,
        model=model,
        env={"env": ["toy/SmolAgent-v0"]},
        rollout={"max_tokens_per_episode": 30_000, "max_tokens_per_turn": 4},
    )
    trainer.train()
    (entry,) = [e for e in trainer.state.log_history if "loss" in e]
    assert entry["episodes/failed"] == 0 and entry["episodes/turns"] >= 2
    assert entry["sampling/sampling_logp_difference/max"] < 1e-4
