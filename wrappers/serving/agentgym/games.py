"""AgentGym's games by its HTTP: episodes by `id`, errors with status 200."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from agentgym_envs.core import TextEnv
from agentgym_envs.maze.walk import ACTIONS
from wrappers.serving.agentgym.requests import (
    Episode,
    Episodes,
    Fields,
    Unknown,
    answering,
    saying,
    text,
    whole,
)
from wrappers.serving.endpoints import Endpoints

_DETAIL = ("observation", "reward", "score", "deleted", "done")
_SHORT = ("observation", "reward", "done")


class Game:
    """The common endpoints."""

    greeting: ClassVar[str]
    number_name: ClassVar[str] = "data_idx"
    """The field of a task's number."""
    number_default: ClassVar[int | None] = None
    begun: ClassVar[tuple[str, ...]] = _DETAIL
    """The fields of the answer to a reset."""
    stepped: ClassVar[tuple[str, ...]] = ("observation", "reward", "score", "done")
    """The fields of the answer to a step."""
    further: ClassVar[Mapping[tuple[str, str], str]] = {}
    """Further methods, by HTTP method and path."""

    def __init__(self, episodes: Episodes) -> None:
        self.episodes = episodes

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        names = ("create", "reset", "step", "close")
        gets = {("GET", f"/{name}"): name for name in ("observation", "detail")}
        methods = {("POST", f"/{name}"): name for name in names} | gets | dict(self.further)
        own = {key: answering(getattr(self, name)) for key, name in methods.items()}
        return {("GET", "/"): saying(self.greeting), **own}

    async def create(self, fields: Fields) -> Any:
        """Return the next number."""
        return {"id": (await self.episodes.create()).number}

    async def reset(self, fields: Fields) -> Any:
        """Begin a task by its number."""
        episode = self._episode(fields)
        number = whole(fields, self.number_name, self.number_default)
        return self._begun(episode, await self._begin(episode, {"task_id": number}))

    async def step(self, fields: Fields) -> Any:
        """Play an action."""
        episode = self._episode(fields)
        action = text(fields, "action")
        if episode.done:
            raise _finished(episode)
        observation, reward, terminated, truncated, info = await episode.session.step(action)
        episode.observation, episode.reward = observation, _plain(reward)
        episode.score = _plain(info.get("agentgym_score", reward))
        episode.done = terminated or truncated
        return _answer(episode, self.stepped)

    async def close(self, fields: Fields) -> Any:
        """Close the episode."""
        return await self.episodes.close(whole(fields, "id"))

    async def observation(self, fields: Fields) -> Any:
        """Return the last observation."""
        return self._episode(fields).observation

    async def detail(self, fields: Fields) -> Any:
        """Return all of the last answer."""
        return _answer(self._episode(fields), _DETAIL)

    def _episode(self, fields: Fields, *, playing: bool = False) -> Episode:
        """Return the episode of a request, which has begun and not ended where `playing`."""
        episode = self.episodes.get(fields, "id")
        if playing and episode.session.info is None:
            raise Unknown("Environment not initialized")
        if playing and episode.done:
            raise _finished(episode)
        return episode

    async def _begin(self, episode: Episode, options: Fields) -> Fields:
        observation, info = await episode.session.reset(options=options)
        episode.observation, episode.reward, episode.done = observation, 0, False
        episode.score = _plain(round(info["score"] * 100)) if "variation" in info else 0
        return info

    def _begun(self, episode: Episode, info: Fields) -> Any:
        return _answer(episode, self.begun)


class BabyAI(Game):
    """BabyAI's endpoints."""

    greeting = "This is environment BabyAI."
    number_default = 0
    further = {("POST", "/render"): "render"}

    async def render(self, fields: Fields) -> Any:
        """Draw the grid, for the original's viewer."""
        episode = self._episode(fields, playing=True)
        return _data_url(await episode.session.ask(_frame))

    async def observation(self, fields: Fields) -> Any:
        """Return the last answer, with the goal in front of the observation."""
        episode = self._episode(fields)
        if episode.session.info is None:
            raise Unknown("Environment not initialized")
        goal, last = f"Your goal: {episode.session.info['goal']}\n", episode.observation
        return {**_answer(episode, _DETAIL), "observation": last if goal in last else goal + last}


class TextCraft(Game):
    """TextCraft's endpoints. An episode that is done can be played on, without rewards."""

    greeting = "This is environment TextCraft."
    number_default = 0
    begun = ("id", "observation", "done", "reward")
    stepped = _SHORT

    async def create(self, fields: Fields) -> Any:
        """Return the next number and begin the next task, or that of a goal."""
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
        episode = self._episode(fields)
        if not episode.done:
            return await super().step(fields)
        action = text(fields, "action")

        def play_on(env: Any) -> Any:
            game: TextEnv = env.unwrapped
            return game.apply(game.parser.parse(action))

        outcome = await episode.session.ask(play_on)
        episode.observation, episode.reward = outcome.observation, _plain(outcome.reward)
        return {**_answer(episode, self.stepped), "done": outcome.terminated}


class SciWorld(Game):
    """SciWorld's endpoints, without those of the original's viewer."""

    greeting = "This is environment ScienceWorld."
    number_default = 0
    further = {("GET", f"/{name}"): name for name in ("action_hint", "goals", "task_description")}

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        return {**super().endpoints(), ("POST", "/close"): answering(self.close, error_status=500)}

    async def close(self, fields: Fields) -> Any:
        """Close the episode, once."""
        if not await self.episodes.close(whole(fields, "id")):
            raise Unknown(f"The id {whole(fields, 'id')} is not valid.")
        return True

    async def action_hint(self, fields: Fields) -> Any:
        """List the possible actions and objects."""

        def ask(env: Any) -> Any:
            simulator = env.unwrapped.simulator
            return {
                "possible_actions": simulator.possible_actions(),
                "possible_objects": simulator.objects(),
            }

        return await self._episode(fields, playing=True).session.ask(ask)

    async def goals(self, fields: Fields) -> Any:
        """Return the task's goals that are reached."""

        def ask(env: Any) -> Any:
            return {"goals": env.unwrapped.simulator.goal_progress()}

        return await self._episode(fields, playing=True).session.ask(ask)

    async def task_description(self, fields: Fields) -> Any:
        """Return the task."""
        info = self._episode(fields).session.info
        return {"task_description": "" if info is None else info["goal"]}

    def _begun(self, episode: Episode, info: Fields) -> Any:
        return {
            "task_name": info["task_name"],
            "var_num": info["variation"],
            "task_description": info["goal"],
            **_answer(episode, self.begun),
        }


class ALFWorld(Game):
    """ALFWorld's endpoints, with a task's number as `game`."""

    greeting = "This is environment AlfWorld."
    number_name = "game"
    begun = ("id", "observation", "available_actions")
    stepped = ("observation", "reward", "available_actions", "done")
    further = {("GET", "/available_actions"): "available_actions"}

    async def reset(self, fields: Fields) -> Any:
        """Begin the task `game`."""
        if text(fields, "world_type") not in ("Text", "Embody", "Hybrid"):
            raise Unknown('world_type must be one of "Text", "Embody" and "Hybrid"')
        return await super().reset(fields)

    async def available_actions(self, fields: Fields) -> Any:
        """List the commands that do something now."""
        return _commands(self._episode(fields))

    async def detail(self, fields: Fields) -> Any:
        """Return all of the last answer."""
        return _answer(self._episode(fields), (*self.stepped, "deleted"))

    def _begun(self, episode: Episode, info: Fields) -> Any:
        return {**_answer(episode, self.begun), "task_type": info["game"]}


class Maze(Game):
    """Maze's endpoints, with a task's number as `game`."""

    greeting = "This is environment LMRL-Gym, the maze."
    number_name = "game"
    begun = ("observation",)
    stepped = _SHORT

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        return {**super().endpoints(), ("GET", "/available_actions"): saying([*ACTIONS])}


class Wordle(Game):
    """Wordle's endpoints, with a task's number as `seed`."""

    greeting = "This is environment LMRL-Gym, wordle."
    number_name = "seed"
    begun = ("id", "observation")
    stepped = _SHORT
    further = {("GET", "/filtered_vocab"): "filtered_vocab"}

    async def filtered_vocab(self, fields: Fields) -> Any:
        """List the words that fit the answers so far, or all of them before a reset."""
        episode = self._episode(fields)

        def ask(env: Any) -> Any:
            game = env.unwrapped
            begun = episode.session.info is not None
            return list(game.game.candidates() if begun else game.lists.listed.words)

        return await episode.session.ask(ask)


def _finished(episode: Episode) -> Unknown:
    return Unknown(f"The task with environment {episode.number} has finished.")


def _answer(episode: Episode, names: tuple[str, ...]) -> Fields:
    values = {
        "id": episode.number,
        "observation": episode.observation,
        "reward": episode.reward,
        "score": episode.score,
        "done": episode.done,
        "deleted": False,
    }
    if "available_actions" in names:
        values["available_actions"] = _commands(episode)
    return {name: values[name] for name in names}


def _commands(episode: Episode) -> list[str]:
    info = episode.session.info
    return [] if info is None else info["available_actions"]


def _plain(number: float) -> float:
    """Return 1 for 1.0, as the original writes it."""
    return int(number) if number == int(number) else number


def _frame(env: Any) -> Any:
    level = env.unwrapped.level
    return level.get_frame(highlight=level.highlight, tile_size=level.tile_size)


def _data_url(pixels: NDArray[Any]) -> str:
    """Return a picture, (H, W, 3) uint8 RGB, as PNG in a data URL."""
    height, width, _ = pixels.shape
    eight_bits, colours = 8, 2
    header = struct.pack(">IIBBBBB", width, height, eight_bits, colours, 0, 0, 0)
    no_filter = np.zeros((height, 1), np.uint8)
    rows = np.hstack([no_filter, pixels.astype(np.uint8).reshape(height, width * 3)])
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)
    return f"data:image/png;base64,{b64encode(png).decode()}"


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
