"""SearchQA, SQL, WebArena and WebShop by AgentGym's HTTP: episodes by `env_idx`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from agentgym_envs.errors import described
from wrappers.serving.agentgym.requests import (
    Episode,
    Episodes,
    Fields,
    answering,
    saying,
    text,
    whole,
)
from wrappers.serving.endpoints import Endpoints


class _ByEnvIdx(ABC):
    """The common endpoints of the four: bare values, and errors with status 500."""

    further: ClassVar[tuple[str, ...]] = ()
    """The names of further methods, by GET."""

    def __init__(self, episodes: Episodes) -> None:
        self.episodes = episodes

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""
        methods = {("POST", f"/{name}"): name for name in ("create", "reset", "step", "close")}
        methods |= {("GET", f"/{name}"): name for name in ("observation", *self.further)}
        own = {key: answering(getattr(self, m), error_status=500) for key, m in methods.items()}
        return {("GET", "/"): saying("ok"), **own}

    async def create(self, fields: Fields) -> Any:
        """Return the next number."""
        return (await self.episodes.create()).number

    @abstractmethod
    async def reset(self, fields: Fields) -> Any:
        """Begin a task."""

    @abstractmethod
    async def step(self, fields: Fields) -> Any:
        """Play a completion or an action."""

    async def observation(self, fields: Fields) -> Any:
        """Return the last observation, in SearchQA the question."""
        return self._episode(fields).observation

    async def close(self, fields: Fields) -> Any:
        """Close the episode."""
        return await self.episodes.close(whole(fields, "env_idx"))

    def _episode(self, fields: Fields) -> Episode:
        return self.episodes.get(fields, "env_idx")


class SearchQA(_ByEnvIdx):
    """SearchQA's endpoints."""

    async def reset(self, fields: Fields) -> Any:
        """Ask the question `id`."""
        episode = self._episode(fields)
        options = {"task_id": whole(fields, "id", 0)}
        episode.observation, _ = await episode.session.reset(options=options)
        return episode.observation

    async def step(self, fields: Fields) -> Any:
        """Play a completion."""
        episode = self._episode(fields)
        turn = await episode.session.step(text(fields, "action"))
        observation, reward, terminated, truncated, _ = turn
        return {
            "observation": observation,
            "reward": reward,
            "done": terminated or truncated,
            "info": None,
        }


class SQL(SearchQA):
    """SQLGym's endpoints: as SearchQA's, but for the names of fields."""

    async def reset(self, fields: Fields) -> Any:
        """Ask the question `item_id`."""
        return await super().reset({**fields, "id": whole(fields, "item_id")}), None

    async def step(self, fields: Fields) -> Any:
        """Run the statement, and tell the one that the question was made with."""
        answer = await super().step(fields)
        info = self._episode(fields).session.info or {}
        return {
            "state": answer["observation"],
            "reward": answer["reward"],
            "done": answer["done"],
            "info": {"ground_truth": info.get("ground_truth")},
        }


class WebArena(_ByEnvIdx):
    """WebArena's endpoints, with errors in the fields of an answer."""

    further = ("observation_metadata",)

    def endpoints(self) -> Endpoints:
        """Return the endpoints by method and path."""

        async def greet(_: Request) -> Response:
            return PlainTextResponse("ok")

        return {**super().endpoints(), ("GET", "/"): greet}

    async def create(self, fields: Fields) -> Any:
        """Return the next number."""
        return {"env_idx": (await self.episodes.create()).number}

    async def reset(self, fields: Fields) -> Any:
        """Open the first page of the task `idx`."""
        episode = self._episode(fields)
        options = {"task_id": whole(fields, "idx", 0)}
        try:
            episode.observation, info = await episode.session.reset(options=options)
            sites = await episode.session.ask(lambda env: list(env.unwrapped.web_task.sites))  # type: ignore[attr-defined]
        except Exception:  # by which the original's client knows that it failed
            return {"observation": "TimeoutError", "sites": "Error", "object": "Error"}
        tree = _tree(episode.observation)
        return {"observation": tree, "sites": sites, "object": info["goal"]}

    async def step(self, fields: Fields) -> Any:
        """Play a completion."""
        episode = self._episode(fields)
        action = text(fields, "action")
        try:
            turn = await episode.session.step(action)
        except Exception as error:
            return {
                "observation": described(error),
                "reward": 0,
                "terminated": False,
                "truncated": False,
                "info": None,
            }
        episode.observation, reward, terminated, truncated, info = turn
        page = {"url": info["url"], "content": _tree(episode.observation)}
        return {
            "observation": episode.observation,
            "reward": reward,
            "terminated": terminated,
            "truncated": truncated,
            "info": {"page": page, "fail_error": "", "observation_metadata": _METADATA},
        }

    async def observation_metadata(self, fields: Fields) -> Any:
        """Answer without the original's boxes of elements, which nothing but its pictures need."""
        _ = self._episode(fields)
        return _METADATA

    async def close(self, fields: Fields) -> Any:
        """Close the episode."""
        await self.episodes.close(whole(fields, "env_idx"))
        return {"closed": "closed"}


class WebShop(_ByEnvIdx):
    """WebShop's endpoints.

    The original's have no `/close`, which its client asks for; here it gives the episode back. They
    have a `/state` that tells nothing; here it is OpenEnv's.
    """

    further = ("available_actions", "instruction_text")

    async def create(self, fields: Fields) -> Any:
        """Return the next number, with a drawn task begun."""
        episode = await self.episodes.create()
        try:
            await self._begin(episode, {})
        except BaseException:
            await self.episodes.close(episode.number)
            raise
        return episode.number

    async def reset(self, fields: Fields) -> Any:
        """Begin the task `session_id`, or one that is drawn."""
        episode = self._episode(fields)
        is_drawn = fields.get("session_id") is None
        await self._begin(episode, {} if is_drawn else {"task_id": whole(fields, "session_id")})
        return [episode.observation, None]

    async def step(self, fields: Fields) -> Any:
        """Play an action. After the purchase the last page stays."""
        episode = self._episode(fields)
        action = text(fields, "action")
        reward: float = 0
        is_over = episode.done
        if not is_over:
            turn = await episode.session.step(action)
            episode.observation, reward, terminated, truncated, _ = turn
            episode.done = terminated or truncated
        return {
            "state": episode.observation,
            "reward": reward,
            "done": episode.done and not is_over,
            "info": None,
        }

    async def available_actions(self, fields: Fields) -> Any:
        """Return whether there is a search bar, and the clickable elements."""

        def ask(env: Any) -> Any:
            visit = env.unwrapped.visit
            is_start = visit.page.kind == "search"
            clickables = ["search"] if is_start else visit.clickables
            return {"has_search_bar": is_start, "clickables": clickables}

        return await self._episode(fields).session.ask(ask)

    async def instruction_text(self, fields: Fields) -> Any:
        """Return the instruction."""
        info = self._episode(fields).session.info
        assert info is not None
        return f"Instruction: {info['goal']}"

    async def _begin(self, episode: Episode, options: Fields) -> None:
        episode.observation, _ = await episode.session.reset(options=options)
        episode.done = False


_METADATA: dict[str, Any] = {"text": {}, "image": {}}


def _tree(observation: str) -> str:
    """Return the page of an observation's four parts."""
    return observation.removeprefix("OBSERVATION:\n").rpartition("\nURL: ")[0]
