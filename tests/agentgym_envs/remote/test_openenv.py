from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import EnvFailure, NoExpert, check_text_env, resolve_env_id
from agentgym_envs.machinery.secrets import MASK, masked
from agentgym_envs.remote import pool
from tests.agentgym_envs.remote.openenv_server import (
    Game,
    Server,
    error,
    observation,
    serving_openenv,
)

TASKS = {
    "train": [{"task_id": f"guess_{n}", "subtask": "low"} for n in (3, 1, 2)],
    "validation": [{"task_id": "guess_7"}],
    "test": [{"task_id": "guess_8"}, {"task_id": "guess_9"}],
}


def begin(session: dict[str, Any], data: dict[str, Any]) -> Any:
    rows = TASKS[data["split"]]
    session["number"] = int(rows[data["index"]]["task_id"].rpartition("_")[2])
    return observation({"text": "Guess."}, goal="guess the number", available_actions=["1", "2"])


def guess(session: dict[str, Any], data: dict[str, Any]) -> Any:
    message = data["message"]
    if message == "hang up":
        return None
    if message == "be silent":
        return 5.0
    if message == "write nonsense":
        return "nonsense"
    if message.startswith("fail "):
        return error(message.removeprefix("fail "))
    if message == "stop":
        return observation({"text": "Stopped."}, 0.0, done=True, truncated=True)
    if not message.isdecimal():
        return error("VALIDATION_ERROR", "a number is needed")
    is_right = int(message) == session["number"]
    return observation({"text": "Yes." if is_right else "No."}, float(is_right), done=is_right)


@pytest.fixture
def server() -> Iterator[Server]:
    with serving_openenv(Game(begin, guess, splits=TASKS)) as server:
        yield server


def make(server: Server, **kwargs: Any) -> Any:
    return gym.make(resolve_env_id(f"openenv:{server.url}"), disable_env_checker=True, **kwargs)


def test_an_episode_is_played_by_url(server: Server) -> None:
    env = make(server)
    observed, info = env.reset(options={"task_id": "guess_2"})
    assert (observed, info["goal"], info["subtask"]) == ("Guess.", "guess the number", "low")
    assert info["available_actions"] == ["1", "2"]
    assert env.step("1")[:4] == ("No.", 0.0, False, False)
    _, reward, terminated, truncated, info = env.step("2")
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert (info["success"], info["score"], info["source"]) == (True, 1.0, "openenv:toy/2")
    assert server.resets[-1] == {"split": "train", "index": 2}
    env.close()


def test_the_registered_id_takes_the_url(server: Server) -> None:
    env = gym.make("agentgym/OpenEnv-v0", url=server.url, name="mine")
    assert env.unwrapped.task_ids("train") == ["mine_3", "mine_1", "mine_2"]
    env.close()


def test_it_keeps_the_contract(server: Server) -> None:
    check_text_env(lambda **kwargs: make(server, **kwargs).unwrapped, num_tasks=1)


def test_a_refused_action_is_an_observation(server: Server) -> None:
    env = make(server)
    env.reset(options={"task_id": "guess_2"})
    observed, reward, terminated, _, info = env.step("what?")
    assert observed == "a number is needed"
    assert (reward, terminated, info["is_valid_action"]) == (0.0, False, False)
    assert env.step("2")[2]
    env.close()


def test_the_servers_own_limit_truncates(server: Server) -> None:
    env = make(server)
    env.reset(options={"task_id": "guess_2"})
    _, _, terminated, truncated, info = env.step("stop")
    assert (terminated, truncated, info["truncated_by"]) == (False, True, "env_limit")
    assert not info["success"]
    env.close()


@pytest.mark.full
@pytest.mark.parametrize(
    ("action", "cause"),
    [
        ("hang up", "the session is lost"),
        ("write nonsense", "has not OpenEnv's form"),
        ("be silent", "no answer within 2 s"),
        ("fail EXECUTION_ERROR", r"it broke \(EXECUTION_ERROR\)"),
        ("fail SESSION_ERROR", r"it broke \(SESSION_ERROR\)"),
    ],
)
def test_what_breaks_names_url_and_cause_and_the_next_reset_opens_a_session(
    server: Server, action: str, cause: str
) -> None:
    env = make(server, timeout=2.0)
    env.reset(options={"task_id": "guess_2"})
    with pytest.raises(EnvFailure, match=f"{server.url} failed.*{cause}"):
        env.step(action)
    env.reset(options={"task_id": "guess_1"})
    assert env.step("1")[2]
    env.close()


def test_a_session_lost_between_episodes_is_replaced(server: Server) -> None:
    env = make(server)
    env.reset(options={"task_id": "guess_2"})
    env.unwrapped._session._connection.close()
    assert env.reset(options={"task_id": "guess_1"})[0] == "Guess."
    env.close()


def test_no_room_is_a_failure(server: Server) -> None:
    env = make(server)
    server.game.most_sessions = 0
    with pytest.raises(EnvFailure, match=r"no room \(CAPACITY_REACHED\)"):
        env.reset()


def test_nobody_there_is_a_failure() -> None:
    with pytest.raises(EnvFailure, match="http://127.0.0.1:9 failed: no connection"):
        gym.make("agentgym/OpenEnv-v0", url="http://127.0.0.1:9")


def test_sessions_are_closed(server: Server) -> None:
    for _ in range(3):
        env = make(server)
        env.reset()
        env.close()
    assert sum(pool.shared_pool("openenv", (server.url,))._sessions.values()) == 0


def test_there_is_no_expert(server: Server) -> None:
    env = make(server)
    env.reset()
    with pytest.raises(NoExpert, match="OpenEnv's protocol has none"):
        next(env.unwrapped.expert())
    env.close()


def test_a_token_is_sent_and_never_shown(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.game.token = "rather-secret"
    with pytest.raises(EnvFailure, match="no connection"):
        make(server)
    monkeypatch.setenv("AGENTGYM_TOKEN", "rather-secret")
    make(server).close()
    assert masked("it says rather-secret") == f"it says {MASK}"
    monkeypatch.delenv("AGENTGYM_TOKEN")
    env = gym.make("agentgym/OpenEnv-v0", url=server.url, token="rather-secret")
    env.reset()
    env.close()


def test_two_servers_share_the_sessions_and_one_goes_on_alone() -> None:
    game = Game(begin, guess, splits=TASKS)
    with serving_openenv(game) as one, serving_openenv(game) as other:
        url = f"{one.url},{other.url}"
        envs = [gym.make("agentgym/OpenEnv-v0", url=url) for _ in range(4)]
        for env in envs:
            env.reset()
        assert (one.sessions, other.sessions) == (2, 2)
        one.stop()
        failed = 0
        for env in envs:
            try:
                env.step("0")
            except EnvFailure as failure:
                failed += 1
                assert one.url in str(failure)
                env.reset()
                env.step("0")
        assert failed == 2
        assert other.sessions == 4
        for env in envs:
            env.close()


def test_a_server_that_rests_is_asked_again() -> None:
    now = [0.0]
    servers: Any = pool.Pool(("http://a", "http://b"), clock=lambda: now[0])
    down = {"http://a"}

    def connect(url: str) -> str:
        if url in down:
            raise EnvFailure(f"{url} is down")
        return url

    assert [servers.open(connect)[0] for _ in range(2)] == ["http://b"] * 2
    down.clear()
    assert servers.open(connect)[0] == "http://b"
    now[0] = pool.REST_SECONDS + 1
    assert servers.open(connect)[0] == "http://a"
    down.update(servers.urls)
    with pytest.raises(EnvFailure, match="is down; .* is down"):
        servers.open(connect)


def test_tasks_without_ids_are_numbered_by_place() -> None:
    splits = {"train": [{}] * 3, "test_easy": [{}] * 2, "test_hard": [{}]}
    game = Game(lambda *_: observation({"text": "Go."}), guess, splits=splits, counts_only=True)
    with serving_openenv(game) as server:
        env = make(server).unwrapped
        assert env.task_ids("train") == ["toy_0", "toy_1", "toy_2"]
        assert env.task_ids("test") == ["toy_1000000", "toy_1000001", "toy_2000000"]
        assert env.task_set.spec("toy_2000000").subtask == "test_hard"
        env.reset(options={"task_id": "toy_1000001"})
        assert server.resets[-1] == {"split": "test_easy", "index": 1}
        env.close()


def test_tasks_are_seeds_where_there_is_no_task_api() -> None:
    game = Game(lambda *_: observation({"text": "Go."}), guess)
    with serving_openenv(game) as server:
        env = make(server).unwrapped
        assert env.task_ids("validation")[0] == "toy_game_10000"
        env.reset(options={"task_id": 10_007})
        assert server.resets[-1] == {"seed": 10_007}
        env.close()


def test_a_prompt_of_the_server_stands_for_the_format() -> None:
    prompt = "Guess a number.\n\nAnswer with one action and nothing else."

    def reset(session: dict[str, Any], data: dict[str, Any]) -> Any:
        fields = {"prompt": prompt, "text": "Go."}
        return observation(fields, truncated_by=None, horizon=data.get("horizon"))

    def step(session: dict[str, Any], data: dict[str, Any]) -> Any:
        return observation({"text": data["message"]}, 0.0)

    metadata = {"action_format": "plain", "max_turns": 9, "source": "toys/1"}
    with serving_openenv(Game(reset, step, metadata=metadata)) as server:
        env = make(server)
        assert (env.unwrapped.max_turns, env.unwrapped.source) == (9, "toys/1")
        env.close()
        env = make(server, max_turns=3)
        assert env.unwrapped.system_prompt == prompt
        env.reset(options={"horizon": 2})
        assert server.resets[-1]["horizon"] == 2
        assert env.step(" as it is. ")[0] == " as it is. "
        assert env.step("2")[4]["truncated_by"] == "horizon"
        env.close()
        with pytest.raises(ValueError, match="after 9 turns, got max_turns=10"):
            make(server, max_turns=10)
        with pytest.raises(ValueError, match="reads the action format 'plain', got 'react'"):
            make(server, action_format="react")


def test_text_games_show_prompt_and_last_message() -> None:
    def reset(session: dict[str, Any], data: dict[str, Any]) -> Any:
        messages = [{"content": "old"}, {"sender_id": -1, "content": "You may begin."}]
        return observation({"prompt": "Wordle.", "messages": messages})

    def step(session: dict[str, Any], data: dict[str, Any]) -> Any:
        return observation({"board": [data["message"]]}, 0.5, done=True)

    with serving_openenv(Game(reset, step)) as server:
        env = make(server, action_format="react")
        assert env.reset()[0] == "Wordle.\n\nYou may begin."
        assert "Play the toy." in env.unwrapped.system_prompt
        observed, reward, terminated, _, info = env.step("Thought: hm\nAction: [crane]")
        assert (observed, reward, terminated) == ('{"board": ["[crane]"]}', 0.5, True)
        assert (info["success"], info["score"]) == (False, 0.5)
        env.close()


def test_tools_are_called_as_functions() -> None:
    schema = {
        "properties": {
            "type": {"const": "call_tool"},
            "tool_name": {"type": "string"},
            "arguments": {"type": "object"},
        }
    }
    tool = {
        "name": "echo",
        "description": "Say it again.",
        "inputSchema": {"properties": {"words": {"type": "string"}}, "required": ["words"]},
    }

    def step(session: dict[str, Any], data: dict[str, Any]) -> Any:
        assert data["type"] == "call_tool"
        called = {"tool_name": data["tool_name"], "result": None, "error": None}
        words = data["arguments"].get("words")
        if words is None or words == "break":
            kind = "invalid_args" if words is None else "transport_error"
            return observation({**called, "error": {"error_type": kind, "message": "no words"}})
        result = {"content": [{"type": "text", "text": words}]}
        return observation({**called, "result": result}, 1.0, done=True)

    def reset(*_: Any) -> Any:
        return observation({"metadata": {}, "greeting": "hello"})

    with serving_openenv(Game(reset, step, schema=schema, tools=[tool])) as server:
        env = make(server, action_format="function_call")
        assert "- echo(words: string): Say it again." in env.unwrapped.system_prompt
        assert env.reset()[0] == '{"greeting": "hello"}'
        call = {"name": "echo", "arguments": {}}
        observed, *_, info = env.step(json.dumps(call))
        assert (observed, info["is_valid_action"]) == ("no words", False)
        assert not env.step('{"name": "no", "arguments": {}}')[4]["is_valid_action"]
        assert env.step('{"name": "echo", "arguments": {"words": "hi"}}')[0] == "hi"
        env.reset()
        with pytest.raises(EnvFailure, match="the tool 'echo' broke"):
            env.step('{"name": "echo", "arguments": {"words": "break"}}')
        with pytest.raises(ValueError, match="pass --action_format function_call"):
            make(server, action_format="react")
        env.close()


def test_several_fields_are_the_arguments_of_one_function() -> None:
    schema = {
        "properties": {"x": {"type": "integer"}, "label": {"type": "string"}},
        "required": ["x", "label"],
    }

    def step(session: dict[str, Any], data: dict[str, Any]) -> Any:
        return observation({"text": json.dumps(data)}, 0.0)

    game = Game(lambda *_: observation({"text": "Go."}), step, schema=schema)
    with serving_openenv(game) as server:
        env = make(server)
        env.reset()
        call = {"name": "act", "arguments": {"x": 1, "label": "a"}}
        assert env.step(json.dumps(call))[0] == '{"x": 1, "label": "a"}'
        env.close()
