"""Our environments as a task set of verifiers (`vf-eval`, prime-rl).

Verifiers finds a task set by the name of an importable module without dots: one of yours that
imports the three public classes and lists them in `__all__`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from operator import methodcaller
from typing import Any

import gymnasium as gym
import httpx
import verifiers.v1 as vf
from openai import APIStatusError, AsyncOpenAI
from verifiers.v1.dialects.chat import message_to_wire
from verifiers.v1.harnesses.utils.compaction import is_context_overflow

from agentgym_envs.core import TextEnv
from agentgym_envs.registration.registry import resolve_env_id
from wrappers.serving.limits import Limits
from wrappers.serving.worker import Worker

_TLS = httpx.create_ssl_context()
"""Reading the certificates takes longer than all else in a turn."""


class AgentGymConfig(vf.TasksetConfig):  # type: ignore[misc]
    """`env`, a registered id or short name, its keyword arguments, and whose tasks are played."""

    env: str = ""  # verifiers validates a config of the task set's name alone first
    env_kwargs: dict[str, Any] = {}
    split: str = "train"


class AgentGymData(vf.TaskData):  # type: ignore[misc]
    """A task: how its environment is made, and its id."""

    env: str
    env_kwargs: dict[str, Any]


class AgentGymTask(vf.Task[AgentGymData]):  # type: ignore[misc]
    """A task, whose rewards the environment gives."""


class AgentGymTaskset(vf.Taskset[AgentGymTask, AgentGymConfig]):  # type: ignore[misc]
    """The tasks of a split."""

    def load(self) -> Iterator[AgentGymTask]:
        """Yield the tasks in the split's order, with the instruction text as system prompt.

        Raises:
            ValueError: no environment is named, or there is no such one, or no such split.
        """
        if not self.config.env:
            raise ValueError("no environment is named; add --env.taskset.env TextCraft")
        env_id, kwargs = resolve_env_id(self.config.env), self.config.env_kwargs
        env = gym.make(env_id, disable_env_checker=True, **kwargs)
        game = env.unwrapped
        assert isinstance(game, TextEnv)
        system_prompt = game.system_prompt
        task_ids = game.task_ids(self.config.split)
        env.close()
        for task_id in task_ids:
            data = AgentGymData(
                id=task_id,
                name=task_id,
                system_prompt=system_prompt,
                env=env_id,
                env_kwargs=kwargs,
            )
            yield AgentGymTask(data, self.config.task)


class AgentGymHarness(vf.Harness[vf.HarnessConfig]):  # type: ignore[misc]
    """Asks the model for one reply a turn, from this process.

    Verifiers' own `null` starts a program for each turn, in an environment that `uv` fetches.
    """

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace,
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: vf.TaskData,
    ) -> vf.ProgramResult:
        """Sample the model's reply. A full context ends the conversation without one."""
        system_prompt, prompt = self.resolve_prompt(data)
        messages = [message_to_wire(message) for message in prompt]
        if system_prompt:
            messages.insert(0, {"role": "system", "content": system_prompt})
        http = httpx.AsyncClient(verify=_TLS, timeout=None)
        try:
            async with AsyncOpenAI(
                base_url=endpoint, api_key=secret, timeout=None, http_client=http
            ) as client:
                await client.chat.completions.create(model=ctx.model, messages=messages)
        except APIStatusError as error:
            return vf.ProgramResult(int(not is_context_overflow(error)), "", str(error))
        return vf.ProgramResult(0, "", "")


class AgentGymEnvConfig(vf.EnvConfig):  # type: ignore[misc]
    """One seat, `agent`, which no sandbox is needed for."""

    agent: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class AgentGymEnv(vf.Env[AgentGymEnvConfig]):  # type: ignore[misc]
    """Plays an episode of a task: each observation is a message of the user.

    The reward is the sum of the environment's rewards; success, score and turns are metrics. What
    breaks in the environment's machinery (`EnvFailure`) fails the episode, which
    `--env.retries.max-retries` plays again.
    """

    async def run(self, task: AgentGymTask, agents: vf.Agents) -> None:
        """Play until the episode ends, or the seat's own limits stop it."""
        data = task.data
        make = partial(gym.make, data.env, disable_env_checker=True, **data.env_kwargs)
        worker = Worker(make, timeout=Limits().step_timeout)
        total = 0.0
        is_over = False
        try:
            options = {"task_id": data.id}
            observation, info = await worker.call(lambda host: host.reset(None, options))
            async with agents.agent.interaction(task) as interaction:
                while not is_over:
                    segment = await interaction.turn(observation)
                    if segment.terminated:
                        break
                    turn = await worker.call(methodcaller("step", segment.last_reply))
                    observation, reward, terminated, truncated, info = turn
                    total += reward
                    is_over = terminated or truncated
        finally:
            await worker.close()
        trace = interaction.trace
        trace.record_reward("reward", total)
        metrics = {key: float(info[key]) for key in ("success", "score", "turn")}
        trace.record_metrics(metrics)
        trace.info["truncated_by"] = info["truncated_by"]
        trace.info["last_observation"] = observation
