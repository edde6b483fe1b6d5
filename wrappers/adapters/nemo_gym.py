"""Our environments as a resources server of NeMo-Gym, with the package `nemo-gym`.

`gymnasium_agent` plays it: the rows of its data set name the environment and the task.
"""

from __future__ import annotations

import asyncio
from typing import Any

from nemo_gym.base_resources_server import BaseResourcesServerConfig
from nemo_gym.openai_utils import NeMoGymResponse
from pydantic import PrivateAttr
from resources_servers.gymnasium import GymnasiumServer, extract_text

from agentgym_envs.core.outcome import INFO_KEYS
from agentgym_envs.registration.registry import resolve_env_id, short_env_name
from wrappers.serving.environments import ServedEnvironment
from wrappers.serving.limits import Limits
from wrappers.serving.metrics import Metrics
from wrappers.serving.sessions import Sessions


class AgentGymServerConfig(BaseResourcesServerConfig):  # type: ignore[misc]
    """The server's config: `max_sessions` episodes at once, each for an hour without a turn."""

    max_sessions: int = 1024


class AgentGymServer(GymnasiumServer):  # type: ignore[misc]
    """Plays an episode for each row.

    A row has `env`, a registered id or short name, and may have `env_kwargs`, the environment's
    keyword arguments, and `task_id`. The first observation begins with the instruction text.
    """

    config: AgentGymServerConfig
    _sessions: Sessions = PrivateAttr()
    _reaper: asyncio.Task[None] | None = PrivateAttr(default=None)

    def model_post_init(self, context: Any) -> None:
        """Begin without sessions."""
        super().model_post_init(context)
        self._sessions = Sessions(Limits(max_sessions=self.config.max_sessions), Metrics())

    async def reset(
        self, metadata: dict[str, Any], session_id: str | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin the row's episode.

        Raises:
            ValueError: the row names no environment, or one or a task that there is not.
            AtCapacity: as many episodes are played as are allowed.
            EnvFailure: the environment's machinery broke.
        """
        if self._reaper is None:  # an agent that stops at its `max_steps` does not say so
            self._reaper = asyncio.create_task(self._sessions.reap())
        if "env" not in metadata:
            raise ValueError(f"a row must name its env, like 'TextCraft'; got {sorted(metadata)}")
        await self.close_session(session_id)
        env_id = resolve_env_id(str(metadata["env"]))
        kwargs = metadata.get("env_kwargs") or {}
        environment = ServedEnvironment(short_env_name(env_id), env_id, kwargs)
        session = await self._sessions.open(environment)
        self.session_state[session_id] = session
        session.ended.add_done_callback(lambda _: self.session_state.pop(session_id, None))
        task_id = metadata.get("task_id")
        observation, info = await session.reset(
            options={} if task_id is None else {"task_id": task_id}
        )
        prompt = await session.ask(lambda env: env.get_wrapper_attr("system_prompt"))
        return f"{prompt}\n\n{observation}", _plain(info)

    async def step(
        self, action: NeMoGymResponse, metadata: dict[str, Any], session_id: str | None = None
    ) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play the text of a response.

        Raises:
            ValueError: the session has no episode, or it was given up.
            EnvFailure: the environment's machinery broke.
        """
        session = self.session_state.get(session_id)
        if session is None:
            raise ValueError(
                "this session has no episode, or was idle for too long; reset begins one"
            )
        turn = await session.step(extract_text(action))
        observation, reward, terminated, truncated, info = turn
        return observation, reward, terminated, truncated, _plain(info)

    async def close_session(self, session_id: str | None) -> None:
        """Close an episode's environment, where there is one."""
        session = self.session_state.get(session_id)
        if session is not None:
            await self._sessions.close(session, "the episode ended")


def _plain(info: dict[str, Any]) -> dict[str, Any]:
    return {key: info[key] for key in INFO_KEYS if key in info}
