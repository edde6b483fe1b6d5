"""Servers that answer what nobody asked, play what nobody asked for, or are shown secrets."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import EnvFailure, NoExpert, resolve_env_id
from agentgym_envs.remote.task_lists import SPLIT_STRIDE
from tests.agentgym_envs.remote.openenv_server import Game, Server, observation, serving_openenv
from tests.serving import serving

SPLITS = {"train": [{"task_id": "toy_1"}, {"task_id": "toy_2"}]}


def begin(session: dict[str, Any], data: dict[str, Any]) -> Any:
    return observation({"text": "Begin."})


def echo(session: dict[str, Any], data: dict[str, Any]) -> Any:
    return observation({"text": f"You said {data['message']}."}, 0.0)


def say(session: dict[str, Any], data: dict[str, Any]) -> Any:
    return json.loads(data["message"])


def make(server: Server, **kwargs: Any) -> Any:
    return gym.make(resolve_env_id(f"openenv:{server.url}"), disable_env_checker=True, **kwargs)


def paid(**data: Any) -> dict[str, Any]:
    """Return a frame whose fields are replaced."""
    return {"type": "observation", "data": {"observation": {"text": "x"}, "reward": 1.0, **data}}


@pytest.mark.parametrize(
    "frame",
    [
        {**paid(done=True), "type": "state"},
        paid(done=True, reward=10**400),
        paid(done="true"),
        paid(done=1),
        paid(done=True, metadata="x"),
        {"type": "error", "data": "boom"},
        {"type": "error", "data": None},
        [1],
    ],
)
def test_an_answer_of_another_form_is_a_failure(frame: Any) -> None:
    with serving_openenv(Game(begin, say, splits=SPLITS)) as server:
        env = make(server)
        env.reset()
        with pytest.raises(EnvFailure):
            env.step(json.dumps([frame] if isinstance(frame, list) else frame))
        assert env.reset()[0] == "Begin."
        env.close()


def test_a_score_beyond_all_numbers_is_none() -> None:
    with serving_openenv(Game(begin, say, splits=SPLITS)) as server:
        env = make(server)
        env.reset()
        info = env.step(json.dumps(paid(done=True, metadata={"score": 10**400})))[4]
        assert info["score"] == 1.0 and info["success"]
        env.close()


def test_an_interrupted_step_leaves_no_answer_for_the_next() -> None:
    with serving_openenv(Game(begin, echo, splits=SPLITS)) as server:
        env = make(server)
        env.reset()
        connection = env.unwrapped._session._connection

        def interrupted(timeout: float | None = None) -> str:
            if timeout == 0:
                raise TimeoutError
            del connection.recv
            raise KeyboardInterrupt

        connection.recv = interrupted
        with pytest.raises(KeyboardInterrupt):
            env.step("slow")
        assert env.reset()[0] == "Begin."
        assert env.step("next")[0] == "You said next."
        env.close()


def test_a_second_answer_is_not_taken_for_the_next_one() -> None:
    def twice(session: dict[str, Any], data: dict[str, Any]) -> Any:
        return [echo(session, data), observation({"text": "And again."}, 0.0)]

    with serving_openenv(Game(begin, twice, splits=SPLITS)) as server:
        env = make(server)
        env.reset()
        assert env.step("one")[0] == "You said one."
        with pytest.raises(EnvFailure, match="nobody asked for"):
            for _ in range(50):  # until the second one is here
                env.step("two")
        assert env.reset()[0] == "Begin."
        env.close()


def test_another_task_than_the_one_asked_for_is_a_failure() -> None:
    rows = [{"task_id": "toy_1"}, {"task_id": "toy_2"}]

    def begin_row(session: dict[str, Any], data: dict[str, Any]) -> Any:
        return observation({"text": "Begin."}, task_id=rows[data["index"]]["task_id"])

    with serving_openenv(Game(begin_row, echo, splits={"train": rows})) as server:
        env = make(server)
        assert env.reset(options={"task_id": "toy_2"})[1]["task_id"] == "toy_2"
        rows.insert(0, {"task_id": "toy_0"})
        with pytest.raises(EnvFailure, match="asked for toy_2 it plays 'toy_1'"):
            env.reset(options={"task_id": "toy_2"})
        env.close()
        later = make(server)
        assert later.reset(options={"task_id": "toy_2"})[1]["task_id"] == "toy_2"
        later.close()


def test_a_task_list_that_fails_is_not_taken_for_none() -> None:
    with serving_openenv(Game(begin, echo, splits=SPLITS, broken_paths=("/toy/splits",))) as server:
        with pytest.raises(EnvFailure, match="/toy/splits: status 500"):
            make(server)
        server.game.broken_paths = ()
        env = make(server)
        assert env.unwrapped.task_ids("train") == ["toy_1", "toy_2"]
        env.close()


@pytest.mark.parametrize("number", [-1, SPLIT_STRIDE + 1, 10**10])
def test_no_number_of_tasks(number: int) -> None:
    game = Game(begin, echo, splits=SPLITS, counts_only=True, num_tasks=number)
    with (
        serving_openenv(game) as server,
        pytest.raises(EnvFailure, match="expected num_tasks of 0 to"),
    ):
        make(server)


@pytest.mark.parametrize("properties", [[], {"message": 5}])
def test_a_description_of_another_form_is_a_failure(properties: Any) -> None:
    schema = {"properties": properties, "required": 5, "anyOf": None}
    with serving_openenv(Game(begin, echo, splits=SPLITS, schema=schema)) as server:
        try:
            make(server).close()
        except EnvFailure as failure:
            assert "has not OpenEnv's form" in str(failure)


def test_the_password_of_an_address_is_sent_and_never_shown() -> None:
    with serving_openenv(Game(begin, echo, splits=SPLITS)) as server:
        secret = "long-secret-word"
        url = server.url.replace("http://", f"http://me:{secret}@")
        env = gym.make("agentgym/OpenEnv-v0", url=url, disable_env_checker=True)
        env.reset()
        basic = f"Basic {b64encode(f'me:{secret}'.encode()).decode()}"
        assert set(server.tokens) == {basic}
        with pytest.raises(NoExpert) as raised:
            list(env.unwrapped.expert())
        assert secret not in str(raised.value)
        env.close()


@pytest.mark.parametrize("form", ["http://{}@127.0.0.1:1", "http://127.0.0.1:1/#{}"])
def test_a_token_where_no_password_stands_is_refused_unseen(form: str) -> None:
    with pytest.raises(ValueError, match="http://user:token@host:port") as raised:
        gym.make("agentgym/OpenEnv-v0", url=form.format("long-secret-word"))
    if "@" in form:
        assert "long-secret-word" not in str(raised.value)


def test_what_a_server_refuses_leaves_no_environment_on_it() -> None:
    closed = []

    def close(body: dict[str, Any]) -> bool:
        closed.append(body["id"])
        return True

    answers: dict[str, Any] = {
        "/wordle/create": lambda _: {"id": 3},
        "/wordle/reset": lambda _: {"error": "no such task"},
        "/wordle/close": close,
    }
    with serving(answers) as server:
        name = resolve_env_id(f"agentgym:{server.url}/wordle")
        env = gym.make(name, disable_env_checker=True)
        with pytest.raises(EnvFailure, match="no such task"):
            env.reset()
        assert closed == [3]
        env.close()
