"""Training the model behind an agent that has a loop of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch

from agentgym_envs import ListedTasks, TaskSpec, read_jsonl, register_env
from agentgym_envs.harness import Endpoint, HarnessEnv
from tests.agentgym_envs.harness.agents import chat, message
from tests.trainers.toys import ENV_ID, make_tokenizer
from trainers.grpo import AgentGRPOTrainer
from trainers.tokens.chat import ChatFormat

LETTERS = {"train": {"own": range(8)}, "validation": {"own": [8, 9]}, "test": {"own": [10, 11]}}


class LettersAgent(HarnessEnv):
    """Plays the toy game by a loop of its own."""

    task_set = ListedTasks("agent", LETTERS)
    source = "agent-1"

    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        env: Any = gym.make(ENV_ID, action_format="plain")
        observation, _ = env.reset(options={"task_id": task.number})
        messages = [message("system", env.unwrapped.system_prompt)]
        while True:
            messages.append(message("user", observation))
            answer = chat(endpoint, messages)
            messages.append(message("assistant", answer))
            observation, reward, terminated, truncated, _ = env.step(answer)
            if terminated or truncated:
                return float(reward)


class ForgetfulAgent(LettersAgent):
    """Shows each turn the last answer alone, in words of its own."""

    task_set = ListedTasks("forgetful", LETTERS)

    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        answer = chat(endpoint, [message("user", "Say a.")])
        again = [message("system", "Repeat."), message("user", f"You said {answer!r}.")]
        return float(chat(endpoint, again)[:1] == answer[:1])


register_env("toy/LettersAgent-v0", LettersAgent)
register_env("toy/ForgetfulAgent-v0", ForgetfulAgent)


def test_a_step_of_a_foreign_loop_is_the_step_of_the_same_game_played_inside(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    agent = {"env": ["toy/LettersAgent-v0"], "max_turns": 3}
    inside = trainer_in("inside")
    inside.train()
    outside = trainer_in("outside", env=agent)
    outside.train()
    for ours, theirs in zip(inside.model.parameters(), outside.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    entries = [
        [(e["loss"], e["grad_norm"], e["reward"]) for e in trainer.state.log_history if "loss" in e]
        for trainer in (inside, outside)
    ]
    assert entries[0] == entries[1] and any(norm for _, norm, _ in entries[0])
    for file in ("trajectories/train_000001.jsonl", "trajectories/train_000002.jsonl"):
        played, agents = (
            list(read_jsonl(Path(trainer.args.output_dir) / file)) for trainer in (inside, outside)
        )
        assert [t.traces for t in played] == [t.traces for t in agents]
        assert [[turn.observation for turn in t.turns][1:] for t in played] == [
            [turn.observation for turn in t.turns][1:] for t in agents
        ]


def test_each_turn_of_a_rewritten_history_is_trained_behind_what_it_read(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(max_steps=1, env={"env": ["toy/ForgetfulAgent-v0"]})
    trainer.train()
    chat_format = ChatFormat.from_tokenizer(make_tokenizer())
    file = Path(trainer.args.output_dir) / "trajectories/train_000001.jsonl"
    for episode in read_jsonl(file):
        first, second = episode.traces
        assert first.prompt_ids == chat_format.prompt_ids("", "Say a.")
        said = f"You said {episode.turns[0].action!r}."
        assert second.prompt_ids == chat_format.prompt_ids("Repeat.", said)
        assert len(second.advantages) == len(second.completion_ids)


def test_a_history_beside_the_agent_s_own_is_refused(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    env = {"env": ["toy/LettersAgent-v0"]}
    trainer = trainer_in(env=env, rollout={"keep_last_turns": 1})
    with pytest.raises(ValueError, match="LettersAgent-v0 writes the whole conversation"):
        trainer.train()
