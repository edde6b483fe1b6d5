"""Maze and Wordle by AgentGym's HTTP: episodes by `id`, errors with status 200."""

from __future__ import annotations

from typing import Any

from agentgym_envs.maze.walk import ACTIONS
from wrappers.serving.agentgym.episodes import Episode
from wrappers.serving.agentgym.games import Fields, Game
from wrappers.serving.agentgym.requests import answering, episode_of, saying, whole
from wrappers.serving.endpoints import Endpoints


class _LMRLGym(Game):
    """The endpoints that the two have in common."""

    number_name: str
    """What a request calls a task's number."""

    async def reset(self, fields: Fields) -> Any:
        """Begin a task."""
        episode = episode_of(self.episodes, fields)
        info = await self._begin(episode, {"task_id": whole(fields, self.number_name)})
        return self._begun(episode, info)

    def _stepped(self, episode: Episode) -> Any:
        return {
            "observation": episode.observation,
            "reward": episode.reward,
            "done": episode.done,
        }


class Maze(_LMRLGym):
    """Maze's endpoints, with a task's number as `game`."""

    greeting = "This is environment LMRL-Gym, the maze."
    number_name = "game"

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        return {**super().endpoints(), ("GET", "/available_actions"): saying([*ACTIONS])}

    def _begun(self, episode: Episode, info: dict[str, Any]) -> Any:
        return {"observation": episode.observation}


class Wordle(_LMRLGym):
    """Wordle's endpoints, with a task's number as `seed`."""

    greeting = "This is environment LMRL-Gym, wordle."
    number_name = "seed"

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        return {
            **super().endpoints(),
            ("GET", "/filtered_vocab"): answering(self.filtered_vocab),
        }

    async def filtered_vocab(self, fields: Fields) -> Any:
        """List the words that fit the answers so far, or all of them before a reset."""
        episode = episode_of(self.episodes, fields)

        def ask(env: Any) -> Any:
            game = env.unwrapped
            begun = episode.session.info is not None
            return list(game.game.fitting() if begun else game.lists.listed.words)

        return await episode.session.ask(ask)

    def _begun(self, episode: Episode, info: dict[str, Any]) -> Any:
        return {"id": episode.number, "observation": episode.observation}
