"""AgentGym's games by its HTTP: episodes by `id`, errors with status 200."""

from __future__ import annotations

from typing import Any

from agentgym_envs.core import TextEnv
from wrappers.serving.agentgym.episodes import Episode, Episodes
from wrappers.serving.agentgym.pictures import data_url
from wrappers.serving.agentgym.requests import (
    Unknown,
    answering,
    episode_of,
    saying,
    text,
    whole,
)
from wrappers.serving.endpoints import Endpoints

Fields = dict[str, Any]


class Game:
    """The endpoints that they have in common.

    Args:
        episodes: what is played.
    """

    greeting: str

    def __init__(self, episodes: Episodes) -> None:
        self.episodes = episodes

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        return {
            ("GET", "/"): saying(self.greeting),
            ("POST", "/create"): answering(self.create),
            ("POST", "/reset"): answering(self.reset),
            ("POST", "/step"): answering(self.step),
            ("POST", "/close"): answering(self.close),
            ("GET", "/observation"): answering(self.observation),
            ("GET", "/detail"): answering(self.detail),
        }

    async def create(self, fields: Fields) -> Any:
        """Answer with the next number."""
        return {"id": (await self.episodes.create()).number}

    async def reset(self, fields: Fields) -> Any:
        """Begin the task `data_idx`."""
        episode = episode_of(self.episodes, fields)
        info = await self._begin(episode, {"task_id": whole(fields, "data_idx", 0)})
        return self._begun(episode, info)

    async def step(self, fields: Fields) -> Any:
        """Play an action."""
        episode = episode_of(self.episodes, fields)
        action = text(fields, "action")
        if episode.done:
            raise Unknown(f"The task with environment {episode.number} has finished.")
        observation, reward, terminated, truncated, info = await episode.session.step(action)
        episode.observation, episode.reward = observation, _plain(reward)
        episode.score = _plain(info.get("agentgym_score", reward))
        episode.done = terminated or truncated
        return self._stepped(episode)

    async def close(self, fields: Fields) -> Any:
        """Give the episode back."""
        return await self.episodes.close(whole(fields, "id"))

    async def observation(self, fields: Fields) -> Any:
        """Repeat the last observation."""
        return episode_of(self.episodes, fields).observation

    async def detail(self, fields: Fields) -> Any:
        """Repeat all of the last answer."""
        return _detail(episode_of(self.episodes, fields))

    async def _begin(self, episode: Episode, options: dict[str, Any]) -> dict[str, Any]:
        observation, info = await episode.session.reset(options=options)
        episode.observation, episode.reward, episode.done = observation, 0, False
        episode.score = _plain(round(info["score"] * 100)) if "variation" in info else 0
        return info

    def _begun(self, episode: Episode, info: dict[str, Any]) -> Any:
        raise NotImplementedError

    def _stepped(self, episode: Episode) -> Any:
        return {
            "observation": episode.observation,
            "reward": episode.reward,
            "score": episode.score,
            "done": episode.done,
        }


class BabyAI(Game):
    """BabyAI's endpoints."""

    greeting = "This is environment BabyAI."

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        return {**super().endpoints(), ("POST", "/render"): answering(self.render)}

    async def render(self, fields: Fields) -> Any:
        """Draw the grid, for the original's viewer."""
        episode = _playing(self.episodes, fields)
        return data_url(await episode.session.ask(_frame))

    async def observation(self, fields: Fields) -> Any:
        """Repeat the last answer, with the goal in front of the observation."""
        episode = episode_of(self.episodes, fields)
        if episode.session.info is None:
            raise Unknown("Environment not initialized")
        goal = f"Your goal: {episode.session.info['goal']}\n"
        shown = episode.observation
        return {**_detail(episode), "observation": shown if goal in shown else goal + shown}

    def _begun(self, episode: Episode, info: dict[str, Any]) -> Any:
        return _detail(episode)


class TextCraft(Game):
    """TextCraft's endpoints. An episode that is done can be played on, without rewards."""

    greeting = "This is environment TextCraft."

    async def create(self, fields: Fields) -> Any:
        """Answer with the next number and begin the next task, or that of a goal."""
        goal = fields.get("goal")
        episode = await self.episodes.create()
        try:
            ids = self.episodes.environment.task_ids("train")
            task = {"task_id": ids[episode.place % len(ids)]} if goal is None else {"goal": goal}
            return self._begun(episode, await self._begin(episode, task))
        except BaseException:
            await self.episodes.close(episode.number)
            raise

    async def step(self, fields: Fields) -> Any:
        """Play an action."""
        episode = episode_of(self.episodes, fields)
        if not episode.done:
            return await super().step(fields)
        action = text(fields, "action")

        def play_on(env: Any) -> Any:
            game: TextEnv = env.unwrapped
            return game.apply(game.parser.parse(action))

        outcome = await episode.session.ask(play_on)
        episode.observation, episode.reward = outcome.observation, _plain(outcome.reward)
        return {**self._stepped(episode), "done": outcome.terminated}

    def _begun(self, episode: Episode, info: dict[str, Any]) -> Any:
        return {
            "id": episode.number,
            "observation": episode.observation,
            "done": False,
            "reward": 0,
        }

    def _stepped(self, episode: Episode) -> Any:
        return {
            "observation": episode.observation,
            "reward": episode.reward,
            "done": episode.done,
        }


class SciWorld(Game):
    """SciWorld's endpoints, without those of the original's viewer."""

    greeting = "This is environment ScienceWorld."

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        return {
            **super().endpoints(),
            ("POST", "/close"): answering(self.close, error_status=500),
            ("GET", "/action_hint"): answering(self.action_hint),
            ("GET", "/goals"): answering(self.goals),
            ("GET", "/task_description"): answering(self.task_description),
        }

    async def close(self, fields: Fields) -> Any:
        """Close the episode, once."""
        if not await self.episodes.close(whole(fields, "id")):
            raise Unknown(f"The id {whole(fields, 'id')} is not valid.")
        return True

    async def action_hint(self, fields: Fields) -> Any:
        """List the possible actions and objects."""
        episode = _playing(self.episodes, fields)

        def ask(env: Any) -> Any:
            game = env.unwrapped
            return {
                "possible_actions": game.simulator.possible_actions(),
                "possible_objects": game.simulator.objects(),
            }

        return await episode.session.ask(ask)

    async def goals(self, fields: Fields) -> Any:
        """Tell which goals of the task are reached."""
        episode = _playing(self.episodes, fields)

        def ask(env: Any) -> Any:
            return {"goals": env.unwrapped.simulator.goal_progress()}

        return await episode.session.ask(ask)

    async def task_description(self, fields: Fields) -> Any:
        """Repeat the task."""
        info = episode_of(self.episodes, fields).session.info
        return {"task_description": "" if info is None else info["goal"]}

    def _begun(self, episode: Episode, info: dict[str, Any]) -> Any:
        return {
            "task_name": info["task_name"],
            "var_num": info["variation"],
            "task_description": info["goal"],
            **_detail(episode),
        }


class ALFWorld(Game):
    """ALFWorld's endpoints, with a task's number as `game`."""

    greeting = "This is environment AlfWorld."

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        return {
            **super().endpoints(),
            ("GET", "/available_actions"): answering(self.available_actions),
        }

    async def reset(self, fields: Fields) -> Any:
        """Begin the task `game`."""
        if text(fields, "world_type") not in ("Text", "Embody", "Hybrid"):
            raise Unknown('world_type must be one of "Text", "Embody" and "Hybrid"')
        episode = episode_of(self.episodes, fields)
        info = await self._begin(episode, {"task_id": whole(fields, "game")})
        return self._begun(episode, info)

    async def available_actions(self, fields: Fields) -> Any:
        """List the commands that do something now."""
        return _commands(episode_of(self.episodes, fields))

    async def detail(self, fields: Fields) -> Any:
        """Repeat all of the last answer."""
        episode = episode_of(self.episodes, fields)
        return {**self._stepped(episode), "deleted": False}

    def _begun(self, episode: Episode, info: dict[str, Any]) -> Any:
        return {
            "id": episode.number,
            "observation": episode.observation,
            "available_actions": info["available_actions"],
            "task_type": info["game"],
        }

    def _stepped(self, episode: Episode) -> Any:
        return {
            "observation": episode.observation,
            "reward": episode.reward,
            "available_actions": _commands(episode),
            "done": episode.done,
        }


def _commands(episode: Episode) -> list[str]:
    info = episode.session.info
    return [] if info is None else info["available_actions"]


def _playing(episodes: Episodes, fields: Fields) -> Episode:
    """Return the episode that a request names.

    Raises:
        Unknown: there is none, it has not begun, or it has ended.
    """
    episode = episode_of(episodes, fields)
    if episode.session.info is None:
        raise Unknown("Environment not initialized")
    if episode.done:
        raise Unknown(f"The task with environment {episode.number} has finished.")
    return episode


def _frame(env: Any) -> Any:
    level = env.unwrapped.level
    return level.get_frame(highlight=level.highlight, tile_size=level.tile_size)


def _detail(episode: Episode) -> dict[str, Any]:
    return {
        "observation": episode.observation,
        "reward": episode.reward,
        "score": episode.score,
        "deleted": False,
        "done": episode.done,
    }


def _plain(number: float) -> float:
    """Return 1 for 1.0, as the original writes it."""
    return int(number) if number == int(number) else number
