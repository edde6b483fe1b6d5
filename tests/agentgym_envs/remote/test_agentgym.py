"""AgentGym's HTTP from its clients' side: prepared answers for each scenario, and failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import EnvFailure, NoExpert, resolve_env_id
from agentgym_envs.remote.kinds import kinds
from tests.serving import Failure, Server, serving

Answers = dict[str, Any]


def fixed(answers: Answers) -> dict[str, Callable[[dict[str, Any]], Any]]:
    """Answer each path with the same value."""
    return {path: lambda _, value=value: value for path, value in answers.items()}


def make(server: Server, kind: str, **kwargs: Any) -> Any:
    name = f"agentgym:{server.url}/{kind}"
    return gym.make(resolve_env_id(name), disable_env_checker=True, **kwargs)


def under(kind: str, answers: Answers) -> Answers:
    return {f"/{kind}{path}": value for path, value in answers.items()}


SCENARIOS: dict[str, Answers] = {
    "alfworld": {
        "/create": {"id": 4},
        "/reset": {"id": 4, "observation": "A room.", "available_actions": ["look", "go"]},
        "/step": {"observation": "Won.", "reward": 1.0, "available_actions": [], "done": True},
        "/close": True,
    },
    "webshop": {
        "/create": 17,
        "/reset": ["A shop.", None],
        "/step": {"state": "Bought.", "reward": 1.0, "done": True, "info": None},
        "/close": Failure(404, '{"detail": "Not Found"}'),
    },
    "wordle": {
        "/create": {"id": 0},
        "/reset": {"id": 0, "observation": "Let's start Wordle!"},
        "/filtered_vocab?id=0": ["panic", "shire"],
        "/step": {"observation": "g g g g g", "reward": 1, "done": True},
        "/close": True,
    },
    "maze": {
        "/create": {"id": 0},
        "/reset": {"observation": "A maze."},
        "/step": {"observation": "There.", "reward": 1, "done": True},
        "/close": True,
    },
    "sqlgym": {
        "/create": 3,
        "/reset": ["A table.", None],
        "/step": {"state": "[(1,)]", "reward": 1.0, "done": True, "info": None},
        "/close": True,
    },
    "weather": {
        "/create": 3,
        "/reset": "What is the weather?",
        "/step": {"observation": "Sun.", "reward": 1.0, "done": True},
        "/close": True,
    },
    "webarena": {
        "/create": {"env_idx": 2},
        "/reset": {"observation": "tree", "sites": ["shopping"], "object": "Buy it"},
        "/observation?env_idx=2": "OBSERVATION:\ntree\nOBJECTIVE: Buy it",
        "/step": {
            **{"observation": "The page.", "reward": 1.0, "terminated": True},
            **{"truncated": False, "info": None},
        },
        "/close": {"closed": "closed"},
    },
    "sciworld": {
        "/create": {"id": 0},
        "/reset": {"task_description": "Boil water.", "observation": "A hall.", "score": 0},
        "/step": {"observation": "It boils.", "reward": 100, "score": 100, "done": True},
        "/close": True,
    },
}
FIRST = {
    "alfworld": "A room.\nAVAILABLE ACTIONS: look,go",
    "webshop": "A shop.",
    "wordle": "Let's start Wordle!\npanic, shire",
    "sqlgym": "A table.",
    "weather": "What is the weather?",
    "webarena": "OBSERVATION:\ntree\nOBJECTIVE: Buy it",
    "sciworld": "Boil water.\nA hall.",
}
RESETS = {
    "alfworld": {"id": 4, "game": 0, "world_type": "Text"},
    "webshop": {"env_idx": 17, "session_id": 0},
    "wordle": {"id": 0, "seed": 0},
    "sqlgym": {"env_idx": 3, "item_id": 0},
    "weather": {"env_idx": 3, "id": 0},
    "webarena": {"env_idx": 2, "idx": 0, "seed": 0},
    "sciworld": {"id": 0, "data_idx": 0},
}


@pytest.mark.parametrize("kind", SCENARIOS)
def test_an_episode_of_each_scenario(kind: str) -> None:
    with serving(fixed(under(kind, SCENARIOS[kind]))) as server:
        env = make(server, kind)
        observed, info = env.reset(options={"task_id": f"{kind}_0"})
        assert observed == FIRST.get(kind, observed)
        assert server.requests[1] == RESETS.get(kind, server.requests[1])
        assert info["available_actions"] == (["look", "go"] if kind == "alfworld" else None)
        _, reward, terminated, _, info = env.step("do it")
        assert (terminated, info["success"], info["score"]) == (True, True, 1.0)
        assert reward == (100 if kind == "sciworld" else 1)
        asked = len(server.requests)
        env.close()
        assert len(server.requests) - asked == 1


@pytest.mark.full
def test_completions_are_read_as_agentgyms_clients_do() -> None:
    with serving(fixed(under("textcraft", SCENARIOS["alfworld"]))) as server:
        env = make(server, "textcraft", action_format="react")
        env.reset(options={"task_id": 0})
        *_, info = env.step("Action: go\nAction: look")
        assert not info["is_valid_action"]
        assert len(server.requests) == 2  # nothing was sent
        env.step("Thought: hm\nAction: go to [desk] 1")
        assert server.requests[-1] == {"id": 4, "action": "go to desk 1"}
        env.close()
    with serving(fixed(under("alfworld", SCENARIOS["alfworld"]))) as server:
        env = make(server, "alfworld", action_format="react")
        env.reset(options={"task_id": 0})
        env.step("Action: look\nThought: hm\nAction: put mug 1 in/on desk 1")
        assert server.requests[-1] == {"id": 4, "action": "put mug 1 in/on desk 1"}
        env.close()
    with serving(fixed(under("weather", SCENARIOS["weather"]))) as server:
        env = make(server, "weather", action_format="react")
        env.reset()
        env.step("Action: f with Action Input: {}\n")
        assert server.requests[-1]["action"] == "Action: f with Action Input: {}\n"
        env.close()


@pytest.mark.parametrize(
    ("path", "answer", "cause"),
    [
        ("/step", {"error": "The id 4 is not valid."}, "at /step: The id 4 is not valid"),
        ("/step", {"observation": "?"}, "lacks observation, reward or reward"),
        ("/step", Failure(500, "oops"), "at /step: status 500: oops"),
        ("/reset", {"id": 4}, "no observation in"),
        ("/create", {"error": "full"}, "is no alfworld"),
        ("/create", Failure(401, "{}"), "set the variable AGENTGYM_TOKEN"),
    ],
)
def test_what_breaks_names_url_and_cause(path: str, answer: Any, cause: str) -> None:
    answers = {**SCENARIOS["alfworld"], path: answer}
    with serving(fixed(under("alfworld", answers))) as server:
        env = make(server, "alfworld")

        def play() -> None:
            env.reset()
            env.step("look")

        with pytest.raises(EnvFailure, match=f"{server.url}/alfworld failed.*{cause}"):
            play()
        env.close()


def test_a_page_that_does_not_load_is_a_failure() -> None:
    broken = {"observation": "TimeoutError", "sites": "Error", "object": "Error"}
    answers = {**SCENARIOS["webarena"], "/reset": broken}
    with serving(fixed(under("webarena", answers))) as server:
        env = make(server, "webarena")
        with pytest.raises(EnvFailure, match="failed at /reset: TimeoutError"):
            env.reset()


def test_an_environment_lost_between_episodes_is_made_again() -> None:
    alive = {4}
    made: list[int] = []

    def create(_: Any) -> Any:
        made.append(4 + len(made))
        alive.add(made[-1])
        return {"id": made[-1]}

    def reset(body: dict[str, Any]) -> Any:
        if body["id"] not in alive:
            return {"error": f"The id {body['id']} is not valid."}
        return SCENARIOS["alfworld"]["/reset"]

    with serving({"/alfworld/create": create, "/alfworld/reset": reset}) as server:
        env = make(server, "alfworld")
        env.reset()
        alive.clear()
        env.reset()
        assert made == [4, 5]
        env.close()


@pytest.mark.parametrize("path", ["/reset", "/step"])
def test_a_server_that_fails_gets_its_environment_back(path: str) -> None:
    closed: list[dict[str, Any]] = []

    def close(body: dict[str, Any]) -> Any:
        closed.append(body)
        return True

    answers = fixed(under("alfworld", {**SCENARIOS["alfworld"], path: Failure(500, "oops")}))
    with serving({**answers, "/alfworld/close": close}) as server:
        env = make(server, "alfworld")
        with pytest.raises(EnvFailure, match="status 500: oops"):
            env.reset()
            env.step("look")
        assert closed == [{"id": 4}]
        env.close()
        assert closed == [{"id": 4}]


@pytest.mark.parametrize(
    ("greeting", "kind"),
    [("This is environment ScienceWorld.", "sciworld"), ("This is environment BabyAI.", "babyai")],
)
def test_the_server_says_which_scenario_it_is(greeting: str, kind: str) -> None:
    with serving(fixed({"/": greeting})) as server:
        env = gym.make("agentgym/AgentGymServer-v0", url=server.url, disable_env_checker=True)
        assert env.unwrapped.task_set.env_name == kind
        env.close()


def test_who_does_not_say_which_scenario_it_is_is_asked_for_by_name() -> None:
    with serving(fixed({"/": "ok"})) as server:
        with pytest.raises(ValueError, match="pass kind=.*babyai, textcraft.*sheet"):
            gym.make("agentgym/AgentGymServer-v0", url=server.url)
        with pytest.raises(ValueError, match="unknown kind 'go'; allowed: babyai"):
            gym.make("agentgym/AgentGymServer-v0", url=server.url, kind="go")
        gym.make("agentgym/AgentGymServer-v0", url=server.url, kind="searchqa").close()


def test_every_scenario_of_the_table_has_tasks_in_three_splits() -> None:
    for kind in kinds().values():
        for split in ("train", "validation", "test"):
            task_ids = kind.task_set.task_ids(split)
            assert task_ids and task_ids[0].startswith(f"{kind.name}_")


def test_there_is_no_expert() -> None:
    with serving(fixed(under("maze", SCENARIOS["maze"]))) as server:
        env = make(server, "maze")
        env.reset()
        with pytest.raises(NoExpert, match="AgentGym's protocol has none"):
            next(env.unwrapped.expert())
        env.close()
