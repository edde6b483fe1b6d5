"""What AgentGym's own client classes send and read, written down from its wire."""

from __future__ import annotations

from typing import Any, NamedTuple

import httpx


class Step(NamedTuple):
    """The original's `StepOutput`."""

    state: str
    reward: float
    done: bool


class Client:
    """The client of BabyAI: episodes by `id`, the score in place of the reward.

    Args:
        http: asks the server's address with the environment's prefix.
    """

    id_name = "id"
    score_key = "reward"

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.number = self.create(self.post("create"))

    def post(self, path: str, **body: Any) -> Any:
        answer = self.http.post(path, json=body) if body else self.http.post(path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def call(self, path: str, **body: Any) -> Any:
        return self.post(path, **{self.id_name: self.number}, **body)

    def create(self, answer: Any) -> int:
        number: int = answer["id"]
        return number

    def reset(self, number: int) -> str:
        self.info = self.call("reset", data_idx=number)
        return self.observe()

    def observe(self) -> str:
        observation: str = self.info["observation"]
        return observation

    def step(self, action: str) -> Step:
        answer = self.call("step", action=action)
        return Step(answer["observation"], answer[self.score_key], answer["done"])

    def close(self) -> Any:
        return self.call("close")


class BabyAI(Client):
    score_key = "score"


class TextCraft(Client):
    pass


class SciWorld(Client):
    score_key = "score"

    def observe(self) -> str:
        return f"{self.info['task_description']}\n{self.info['observation']}"


class ALFWorld(Client):
    def reset(self, number: int) -> str:
        self.info = self.call("reset", game=number, world_type="Text")
        return self.observe()

    def observe(self) -> str:
        commands = ",".join(self.info["available_actions"])
        return f"{self.info['observation']}\nAVAILABLE ACTIONS: {commands}"


class Maze(Client):
    def reset(self, number: int) -> str:
        self.info = self.call("reset", game=number)
        return self.observe()


class Wordle(Client):
    def __init__(self, http: httpx.Client) -> None:
        super().__init__(http)
        self.words: list[str] = http.get("filtered_vocab", params={"id": self.number}).json()

    def reset(self, number: int) -> str:
        self.info = self.call("reset", seed=number)
        return self.observe()


class SearchQA(Client):
    id_name = "env_idx"

    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.number = self.post("create", id=0)

    def reset(self, number: int) -> str:
        self.call("reset", id=number)
        return self.observe()

    def observe(self) -> str:
        observation: str = self.http.get("observation", params={"env_idx": self.number}).json()
        return observation


class SQL(SearchQA):
    def __init__(self, http: httpx.Client) -> None:
        self.http = http
        self.number = self.post("create")

    def reset(self, number: int) -> str:
        begun = self.call("reset", item_id=number)
        assert begun == [self.observe(), None]
        return str(begun[0])

    def step(self, action: str) -> Step:
        self.info = self.call("step", action=action)
        return Step(self.info["state"], self.info["reward"], self.info["done"])


class WebArena(Client):
    id_name = "env_idx"

    def create(self, answer: Any) -> int:
        number: int = answer["env_idx"]
        return number

    def reset(self, number: int) -> str:
        self.info = self.call("reset", seed=0, idx=number)
        return self.observe()

    def observe(self) -> str:
        observation: str = self.http.get("observation", params={"env_idx": self.number}).json()
        return observation

    def step(self, action: str) -> Step:
        answer = self.call("step", action=action)
        reward = answer["reward"] if answer["terminated"] else 0
        return Step(answer["observation"], reward, answer["terminated"] or answer["truncated"])


class WebShop(Client):
    id_name = "env_idx"

    def create(self, answer: Any) -> int:
        assert isinstance(answer, int)
        return answer

    def reset(self, number: int) -> str:
        self.info = self.call("reset", session_id=number)
        assert self.info == [self.observe(), None]
        return self.observe()

    def observe(self) -> str:
        observation: str = self.http.get("observation", params={"env_idx": self.number}).json()
        return observation

    def step(self, action: str) -> Step:
        answer = self.call("step", action=action)
        return Step(answer["state"], answer["reward"], answer["done"])


CLIENTS: dict[str, type[Client]] = {
    "BabyAI": BabyAI,
    "TextCraft": TextCraft,
    "SciWorld": SciWorld,
    "ALFWorld": ALFWorld,
    "Maze": Maze,
    "Wordle": Wordle,
    "SearchQA": SearchQA,
    "SQL": SQL,
    "WebArena": WebArena,
    "WebShop": WebShop,
}
