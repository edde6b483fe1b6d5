"""OpenEnv's WebSocket, frame by frame."""

from __future__ import annotations

import json
from typing import Any

import gymnasium as gym
import pytest

from tests.helpers import COUNTING_ID, register_helpers
from tests.wrappers.serving.clients import Socket


@pytest.fixture
def client(counting: str) -> Any:
    with Socket(counting) as client:
        yield client


def test_a_reset_shows_the_prompt_and_the_task(client: Socket) -> None:
    answer = client.observation("reset", task_id="counting_3")
    observation = answer["observation"]
    assert observation["text"].startswith("Goal: bring the counter to 4. The counter is 0.")
    assert "A counter stands at 0" in observation["prompt"]
    assert observation["messages"] == [
        {"sender_id": -1, "content": observation["text"], "category": "MESSAGE"}
    ]
    assert "double" in observation["available_actions"]
    assert (answer["reward"], answer["done"]) == (None, False)
    assert answer["metadata"] == observation["metadata"]
    assert answer["metadata"]["task_id"] == "counting_3"


def test_an_experts_episode_is_the_one_in_process(client: Socket) -> None:
    register_helpers()
    env = gym.make(COUNTING_ID)
    observation, _ = env.reset(options={"task_id": 25})
    answer = client.observation("reset", task_id=25)
    assert answer["observation"]["text"] == observation
    for action in env.unwrapped.expert():  # type: ignore[attr-defined]
        observation, reward, terminated, truncated, info = env.step(action)
        answer = client.observation("step", message=action)
        assert answer["observation"]["text"] == observation
        assert (answer["reward"], answer["done"]) == (reward, terminated or truncated)
        for key in ("success", "score", "turn", "available_actions", "is_valid_action"):
            assert answer["metadata"][key] == info[key]
    assert answer["reward"] == 1.0
    assert (answer["metadata"]["terminated"], answer["metadata"]["truncated"]) == (True, False)


def test_a_truncated_episode_says_by_what(client: Socket) -> None:
    client.observation("reset", task_id=39, horizon=1)
    metadata = client.observation("step", message="add 1")["metadata"]
    assert (metadata["terminated"], metadata["truncated"]) == (False, True)
    assert metadata["truncated_by"] == "horizon"


def test_a_task_is_named_by_its_place_in_a_split(client: Socket) -> None:
    metadata = client.observation("reset", split="test", index=2)["metadata"]
    assert (metadata["task_id"], metadata["split"]) == ("counting_52", "test")


def test_the_same_seed_draws_the_same_task(client: Socket) -> None:
    tasks = [client.observation("reset", seed=s)["metadata"]["task_id"] for s in (5, 6, 5)]
    assert tasks[0] == tasks[2] != tasks[1]


@pytest.mark.parametrize("two", [2, 2.0, "2"])
def test_whole_numbers_are_taken_as_any_language_writes_them(client: Socket, two: Any) -> None:
    metadata = client.observation("reset", split="test", index=two)["metadata"]
    assert metadata["task_id"] == "counting_52"
    tasks = [client.observation("reset", seed=s)["metadata"]["task_id"] for s in (2, two)]
    assert tasks[0] == tasks[1]


def test_a_number_without_a_fraction_is_whole_in_options_and_tools(client: Socket) -> None:
    metadata = client.observation("reset", task_id=39.0, horizon=1.0)["metadata"]
    assert metadata["task_id"] == "counting_39"
    call = {"tool_name": "add", "arguments": {"amount": 2.0}}
    answer = client.observation("step", type="call_tool", **call)
    assert answer["metadata"]["is_valid_action"] is True
    assert answer["metadata"]["truncated_by"] == "horizon"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"colour": "red"}, "unknown reset options ['colour']; allowed: seed, episode_id"),
        ({"task_id": "counting_99"}, "unknown task_id 'counting_99'"),
        ({"split": "tset", "index": 0}, "unknown split 'tset'"),
        ({"split": "test", "index": 10}, "index must be in 0..9"),
        ({"split": "test"}, "split and index come together"),
        ({"split": "test", "index": 0, "task_id": 1}, "leave one of them out"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"seed": "one"}, "seed must be a whole number"),
        ({"seed": 1.5}, "seed must be a whole number >= 0 or null, got 1.5"),
        ({"split": "test", "index": True}, "a whole number; got 'test' and True"),
        ({"episode_id": 7}, "episode_id must be a text"),
        ({"horizon": "long"}, "horizon"),
    ],
)
def test_a_reset_refuses_what_it_cannot_follow(
    client: Socket, options: dict[str, Any], message: str
) -> None:
    answer = client.ask("reset", **options)
    assert answer["type"] == "error"
    assert answer["data"]["code"] == "VALIDATION_ERROR"
    assert message in answer["data"]["message"]
    client.observation("reset", task_id=1)
    assert client.observation("step", message="add 2")["reward"] == 1.0


def test_malformed_text_is_an_observation(client: Socket) -> None:
    client.observation("reset", task_id=1)
    for text in ("", "\x00", "\ud800", "fly", "add " * 20_000):
        answer = client.observation("step", message=text)
        assert answer["reward"] == 0.0
        assert answer["metadata"]["is_valid_action"] is False


@pytest.mark.parametrize(
    "action",
    [{}, {"message": 1}, {"message": None}, {"text": "add 1"}, {"message": "add 1", "extra": 1}],
)
def test_what_is_no_action_is_refused_and_plays_nothing(
    client: Socket, action: dict[str, Any]
) -> None:
    client.observation("reset", task_id=1)
    answer = client.ask("step", **action)
    assert answer["data"]["code"] == "VALIDATION_ERROR"
    assert client.ask("state")["data"]["step_count"] == 0


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "INVALID_JSON"),
        ("{", "INVALID_JSON"),
        ("[" * 100_000, "INVALID_JSON"),
        ("[]", "INVALID_JSON"),
        ('{"type": "rest"}', "UNKNOWN_TYPE"),
        ("{}", "UNKNOWN_TYPE"),
        ('{"type": ["reset"]}', "UNKNOWN_TYPE"),
        ('{"type": "reset", "data": []}', "VALIDATION_ERROR"),
        ('{"type": "reset", "seed": 1}', "VALIDATION_ERROR"),
    ],
)
def test_the_connection_survives_a_bad_frame(client: Socket, text: str, code: str) -> None:
    client.send_text(text)
    answer = json.loads(client.receive_text())
    assert (answer["type"], answer["data"]["code"]) == ("error", code)
    assert client.ask("state")["type"] == "state"


def test_a_step_outside_of_an_episode_is_an_error(client: Socket) -> None:
    answer = client.ask("step", message="add 1")
    assert answer["data"]["code"] == "EXECUTION_ERROR"
    assert "reset" in answer["data"]["message"]


def test_the_state_says_how_far_the_episode_is(client: Socket) -> None:
    assert client.ask("state")["data"]["step_count"] == 0
    client.observation("reset", task_id=5, episode_id="mine")
    client.observation("step", message="add 1")
    state = client.ask("state")["data"]
    assert (state["episode_id"], state["step_count"], state["task_id"]) == ("mine", 1, "counting_5")


def test_an_episodes_name_opens_no_session(client: Socket, counting: str) -> None:
    client.observation("reset", task_id=5)
    name = client.ask("state")["data"]["episode_id"]
    assert name
    with Socket(counting, f"/ws?session_id={name}") as other:
        assert json.loads(other.receive_text())["data"]["code"] == "SESSION_ERROR"
    client.observation("reset", task_id=5)
    assert client.ask("state")["data"]["episode_id"] != name


def test_tools_are_played_through_a_step(client: Socket) -> None:
    client.observation("reset", task_id=4)
    tools = client.observation("step", type="list_tools")["observation"]["tools"]
    assert [tool["name"] for tool in tools] == ["add", "double", "say"]
    assert tools[0]["input_schema"]["properties"] == {"amount": {"type": "integer"}}
    answer = client.observation("step", type="call_tool", tool_name="add", arguments={"amount": 5})
    assert answer["observation"]["result"] == "The counter is 5."
    assert (answer["reward"], answer["done"]) == (1.0, True)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        ({"tool_name": "fly", "arguments": {}}, "tool_not_found"),
        ({"tool_name": "add", "arguments": {"number": 1}}, "invalid_args"),
        ({"tool_name": "add", "arguments": []}, "tool_not_found"),
        ({"tool_name": "add", "arguments": [1]}, "invalid_args"),
        ({"arguments": {}}, "invalid_args"),
    ],
)
def test_a_tool_that_cannot_be_called_is_an_observation(
    client: Socket, call: dict[str, Any], kind: str
) -> None:
    client.observation("reset", task_id=4)
    observation = client.observation("step", type="call_tool", **call)["observation"]
    expected = "invalid_args" if call.get("tool_name") == "add" else kind
    assert observation["error"]["error_type"] == expected
    assert observation["result"] is None
