from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
from gymnasium.error import ResetNeeded

from agentgym_envs import EnvFailure, TaskSpec
from agentgym_envs.core import CONVERSATION_KEY, Conversation
from agentgym_envs.errors import EnvCodeError
from agentgym_envs.harness import Endpoint
from tests.agentgym_envs.harness.agents import (
    Refused,
    Scripted,
    ToyHarness,
    chat,
    message,
    post,
)


def conversation(instruction: str, observations: list[str], *turns: int | str) -> Conversation:
    return Conversation(instruction=instruction, observations=observations, turns=[*turns])


SYSTEM, HELLO = message("system", "Be brief."), message("user", "Hello.")
FIRST = [SYSTEM, HELLO]
SECOND = [*FIRST, message("assistant", "{0}"), message("user", "And now?")]


def scripted(*script: list[dict[str, Any]], reward: Any = 1.0, **kwargs: Any) -> Scripted:
    env = Scripted(**kwargs)
    env.script, env.reward = script, reward
    return env


def test_a_request_is_an_observation_and_the_answer_to_it_an_action() -> None:
    env = scripted(FIRST, SECOND, reward=0.5)
    observation, info = env.reset(options={"task_id": 3})
    assert observation == "Be brief.\n\nHello."
    assert info[CONVERSATION_KEY] == conversation("Be brief.", ["Hello."])
    observation, reward, terminated, _, info = env.step("Hi.")
    assert (observation, reward, terminated) == ("And now?", 0.0, False)
    assert info[CONVERSATION_KEY] == conversation("Be brief.", ["Hello.", "And now?"], 0)
    _, reward, terminated, truncated, info = env.step("<think>So?</think>Bye.")
    assert (reward, terminated, truncated) == (0.5, True, False)
    assert info["score"] == 0.5 and not info["success"]


def test_a_rewritten_history_is_read_as_it_is() -> None:
    edited = [SYSTEM, HELLO, message("assistant", "Something else."), message("user", "Go on.")]
    summary = [message("system", "Sum up."), message("user", "He said {0}, then {1}.")]
    back = [*SECOND, message("assistant", "{1}"), message("tool", "a"), message("user", "b")]
    env = scripted(FIRST, SECOND, edited, summary, back)
    env.reset(options={"task_id": 0})
    shown = [env.step(answer) for answer in ("x", "y", "z", "w")]
    assert shown[1][0] == "Be brief.\n\nHello.\n\nSomething else.\n\nGo on."
    assert [info[CONVERSATION_KEY] for *_, info in shown[1:]] == [
        conversation("Be brief.", ["Hello.", "Go on."], "Something else."),
        conversation("Sum up.", ["He said x, then y."]),
        conversation("Be brief.", ["Hello.", "And now?", "a\n\nb"], 0, 1),
    ]
    *_, info = env.step("end")
    assert info["success"]


class Streaming(ToyHarness):
    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        body = {"messages": [message("user", [{"type": "text", "text": "Hello."}])]}
        sent = post(endpoint, {**body, "stream": True, "stop": ["\n"]}).decode()
        *chunks, end = [line.removeprefix("data: ") for line in sent.split("\n\n") if line]
        assert end == "[DONE]"
        deltas = [json.loads(chunk)["choices"][0]["delta"] for chunk in chunks]
        text = "".join(delta.get("content", "") for delta in deltas)
        again = [*body["messages"], message("assistant", text), message("user", "Well?")]
        assert json.loads(post(endpoint, None, path="/models"))["data"][0]["id"] == "policy"
        return float(chat(endpoint, again) == "yes")


def test_answers_are_streamed_and_end_before_a_stop() -> None:
    env = Streaming()
    assert env.reset(options={"task_id": 0})[0] == "Hello."
    observation, *_, info = env.step("one line\nand more")
    assert observation == "Well?"
    assert info[CONVERSATION_KEY]["turns"] == [0]  # though the text that the agent has is cut
    assert env.step("yes")[4]["success"]


def refusals() -> list[tuple[dict[str, Any], str]]:
    image = {"type": "image_url", "image_url": {"url": "data:"}}
    return [
        ({"messages": []}, "`messages` must be a list"),
        ({"prompt": "Hello."}, "must be a JSON object with `messages`"),
        ({"messages": [HELLO], "tools": [{}]}, "`tools` is not served"),
        ({"messages": [HELLO], "n": 2}, "`n` must be 1, got 2"),
        ({"messages": [HELLO], "response_format": {"type": "json_object"}}, "must be text"),
        ({"messages": [HELLO], "response_format": "json"}, "must be text, got 'json'"),
        ({"messages": [HELLO], "stop": 5}, "`stop` must be a text or several"),
        ({"messages": [HELLO], "stop": ["x", ""]}, "none of them empty, got ['x', '']"),
        ({"messages": [message("user", [image])]}, "reads text alone"),
        ({"messages": [message("critic", "a")]}, "one of the roles"),
        ({"messages": [message("user", None)]}, "`content` must be a text"),
        ({"messages": [HELLO, message("assistant", "a")]}, "end with a user's message"),
    ]


class Wrong(ToyHarness):
    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        seen = []
        for body, _ in refusals():
            with pytest.raises(Refused) as caught:
                post(endpoint, body)
            seen.append(str(caught.value))
        with pytest.raises(Refused) as caught:
            post(endpoint._replace(api_key="another"), {"messages": [HELLO]})
        assert caught.value.status == 401
        with pytest.raises(Refused) as caught:
            post(endpoint, {"messages": [HELLO]}, path="/embeddings")
        assert caught.value.status == 404
        chat(endpoint, [message("user", "\n".join(seen))])
        return 1.0


def test_a_request_that_cannot_be_answered_is_refused_and_is_no_turn() -> None:
    observation, info = Wrong().reset(options={"task_id": 0})
    lines = observation.split("\n")
    assert info["turn"] == 0 and len(lines) == len(refusals())
    for line, (_, said) in zip(lines, refusals(), strict=True):
        assert said in line


def test_an_agent_that_raises_has_lost_and_one_whose_machinery_broke_has_failed() -> None:
    env = scripted(FIRST, reward=KeyError("answer"))
    env.reset(options={"task_id": 0})
    _, reward, terminated, _, info = env.step("a")
    assert (reward, terminated, info["success"]) == (0.0, True, False)
    assert info["verdict"].startswith("the agent raised KeyError: 'answer', at ")
    env = scripted(FIRST, reward=SystemExit("enough"))
    env.reset(options={"task_id": 0})
    assert env.step("a")[4]["verdict"].startswith("the agent raised SystemExit: enough")
    env = scripted(FIRST, reward=EnvFailure("its database is gone"))
    env.reset(options={"task_id": 0})
    with pytest.raises(EnvFailure, match="its database is gone"):
        env.step("a")
    with pytest.raises(EnvCodeError, match="own_0 ended before its first request: KeyError"):
        scripted(reward=KeyError("x")).reset(options={"task_id": 0})
    with pytest.raises(EnvCodeError, match="ended without a request to the model"):
        scripted().reset(options={"task_id": 0})


@pytest.mark.parametrize("reward", [1.5, -0.1, float("nan"), "1"])
def test_a_reward_beyond_0_and_1_is_an_error(reward: Any) -> None:
    env = scripted(FIRST, reward=reward)
    env.reset(options={"task_id": 0})
    with pytest.raises(ValueError, match=r"Scripted\.run must return a reward from 0 to 1, got"):
        env.step("a")


class Persistent(ToyHarness):
    """Returns half a reward where its third request is refused."""

    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        for _ in range(2):
            chat(endpoint, [HELLO])
        try:
            chat(endpoint, [HELLO])
        except Refused as error:
            assert error.code == "episode_over" and "its turns are spent" in str(error)
            return 0.5
        return 1.0


def test_an_agent_whose_turns_are_spent_may_return_what_it_has_come_to() -> None:
    env = Persistent(max_turns=2)
    env.reset(options={"task_id": 0})
    env.step("a")
    assert env.step("b")[1:4] == (0.5, True, False)
    env = scripted(FIRST, SECOND, max_turns=1)  # it does not expect the refusal
    env.reset(options={"task_id": 0})
    _, reward, terminated, truncated, info = env.step("a")
    assert (reward, terminated, truncated) == (0.0, False, True)
    assert info["truncated_by"] == "max_turns"


class Impatient(ToyHarness):
    """Asks twice at once, and returns without waiting for an answer."""

    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        for _ in range(2):
            threading.Thread(target=self.ask, args=(endpoint,), daemon=True).start()
        time.sleep(0.3)  # until both have arrived
        return 0.5

    def ask(self, endpoint: Endpoint) -> None:
        with suppress(Refused):
            chat(endpoint, [HELLO])


def test_the_result_of_an_agent_that_has_ended_counts_though_its_turns_are_spent() -> None:
    env, before = Impatient(max_turns=1, agent_timeout=5.0), set(threading.enumerate())
    env.reset(options={"task_id": 0})
    for thread in set(threading.enumerate()) - before:
        if thread.name == "agent":
            thread.join(timeout=10)
    assert env.step("a")[1:4] == (0.5, True, False)


def test_the_agent_of_an_episode_that_is_left_is_refused() -> None:
    env, before = scripted(FIRST, SECOND), set(threading.enumerate())
    for _ in range(5):
        env.reset(options={"task_id": 0})
    agents = [t for t in set(threading.enumerate()) - before if t.name == "agent"]
    env.close()
    for agent in agents:
        agent.join(timeout=10)
    assert agents and not any(agent.is_alive() for agent in agents)


def test_an_agent_that_was_closed_is_not_stepped() -> None:
    env = scripted(FIRST, SECOND)
    env.reset(options={"task_id": 0})
    env.close()
    with pytest.raises(ResetNeeded, match=r"close\(\); call reset"):
        env.step("a")
    env.reset(options={"task_id": 0})
    assert not env.step("a")[2]


class Parallel(ToyHarness):
    """Sends three requests at once."""

    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        with ThreadPoolExecutor(3) as pool:
            told = pool.map(lambda n: chat(endpoint, [message("user", f"Say {n}.")]), range(3))
        return float(list(told) == ["0", "1", "2"])


def test_requests_at_once_are_answered_one_after_the_other() -> None:
    env = Parallel()
    observation, _ = env.reset(options={"task_id": 0})
    for turn in range(3):
        observation, reward, terminated, _, info = env.step(observation[4:5])
        assert (terminated, info["turn"]) == (turn == 2, turn + 1)
    assert reward == 1.0


def test_a_thought_without_an_end_is_an_empty_answer() -> None:
    env = scripted(FIRST, SECOND)
    env.reset(options={"task_id": 0})
    *_, info = env.step("<think>I wonder whether")
    assert info[CONVERSATION_KEY]["turns"] == [0] and info["is_valid_action"]


class Silent(ToyHarness):
    def run(self, task: TaskSpec, endpoint: Endpoint) -> float:
        chat(endpoint, [HELLO])
        threading.Event().wait(5)
        return 1.0


def test_an_agent_that_does_nothing_has_failed() -> None:
    env = Silent(agent_timeout=0.2)
    env.reset(options={"task_id": 0})
    with pytest.raises(EnvFailure, match=r"no request for 0\.2 seconds.*raise agent_timeout"):
        env.step("a")


def test_the_format_and_the_instruction_are_the_agent_s() -> None:
    with pytest.raises(ValueError, match="the agent reads answers itself, got .*'react'"):
        Scripted(action_format="react")
    with pytest.raises(ValueError, match="system_prompt would be ignored; leave it out"):
        Scripted(system_prompt="Be brief.")
