"""Our episodes as ATIF: what a document says, and that nothing is lost on the way back."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import islice
from typing import Any

import gymnasium as gym
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym_envs import TokenTrace, Trajectory, Turn
from agentgym_envs.trajectories.atif import to_atif, to_line
from agentgym_envs.trajectories.trajectory import ModelCall
from tests.agentgym_envs.trajectories.atif_samples import there_and_back, valid
from tests.helpers import EMBEDDED, unless_missing
from wrappers.record import RecordTrajectories

CALL = ModelCall("stop", "I see a door.", 120, 40, 1, 2.5, 0.002)


def episode(**values: Any) -> Trajectory:
    """An episode of two turns, of which a model wrote both."""
    trace = TokenTrace([1, 2, 3])
    trace.append_action([4, 5], [-0.5, -0.25])
    trace.append_given([6])
    trace.append_action([7], [-1.0])
    standard: dict[str, Any] = {
        "env_id": "agentgym/TextCraft-v0",
        "task_id": "textcraft_3",
        "system_prompt": "Rules.",
        "turns": [
            Turn("A door.", "<think>\nIt is shut.\n</think>\n\nopen door", 0.0, True, 0.5, 2),
            Turn("It opens.", "go", 1.0, True, 1.0, 1),
        ],
        "final_observation": "You win.",
        "status": "terminated",
        "success": True,
        "score": 1.0,
        "traces": [trace],
        "policy": "some/model",
    }
    return Trajectory(**{**standard, **values})


def test_a_turn_is_a_step_with_its_thought_its_tokens_and_what_it_led_to() -> None:
    document = valid(to_atif(episode(), trajectory_id="one", agent_version="0.2"))
    assert document["schema_version"] == "ATIF-v1.7"
    assert document["trajectory_id"] == "one"
    assert document["agent"] == {
        "name": "agentgym-envs", "version": "0.2", "model_name": "some/model"
    }  # fmt: skip
    system, user, first, second = document["steps"]
    assert (system["source"], system["message"]) == ("system", "Rules.")
    assert (user["source"], user["message"]) == ("user", "A door.")
    assert (first["reasoning_content"], first["message"]) == ("It is shut.", "open door")
    assert first["observation"] == {"results": [{"content": "It opens."}]}
    assert second["observation"] == {"results": [{"content": "You win."}]}
    assert "reasoning_content" not in second and "tool_calls" not in second
    assert first["metrics"] == {
        "prompt_tokens": 3,
        "completion_tokens": 2,
        "prompt_token_ids": [1, 2, 3],
        "completion_token_ids": [4, 5],
        "logprobs": [-0.5, -0.25],
    }
    assert second["metrics"]["prompt_token_ids"] == [1, 2, 3, 4, 5, 6]
    assert second["llm_call_count"] == 1
    assert second["extra"]["agentgym"]["reward"] == 1.0
    own = document["extra"]["agentgym"]
    assert (own["task_id"], own["success"], own["reward"]) == ("textcraft_3", True, 1.0)
    assert "traces" not in own  # they are in the steps
    assert document["final_metrics"] == {
        "total_prompt_tokens": 9, "total_completion_tokens": 3, "total_steps": 4
    }  # fmt: skip


def test_the_costs_and_seconds_of_a_server_are_metrics() -> None:
    turns = [Turn("A door.", "open", 1.0, True, 1.0, 12, call=CALL)]
    document = valid(to_atif(episode(turns=turns, traces=[])))
    step = document["steps"][-1]
    assert step["reasoning_content"] == "I see a door."
    assert step["metrics"] == {
        **{"prompt_tokens": 120, "completion_tokens": 12, "cached_tokens": 40, "cost_usd": 0.002},
        "extra": {"seconds": 2.5},
    }
    assert document["final_metrics"]["total_cost_usd"] == 0.002
    assert document["final_metrics"]["extra"] == {"seconds": 2.5}


def test_of_a_turn_without_tokens_nothing_tells_that_a_model_wrote_it() -> None:
    turn = Turn("A door.", "open", 1.0, True, 1.0)
    document = valid(to_atif(episode(turns=[turn], traces=[], policy="expert")))
    assert "model_name" not in document["agent"]
    assert {"llm_call_count", "metrics"} & set(document["steps"][-1]) == set()


def test_turns_that_are_not_trained_are_copied_context() -> None:
    prefix = [Turn("A door.", "knock", 0.0, True, 0.0, trained=False)]
    whole = episode(prefix=prefix)
    steps = valid(to_atif(whole))["steps"]
    assert [step.get("is_copied_context") for step in steps[2:]] == [True, None, None]
    assert there_and_back(whole) == whole.whole()


@pytest.mark.parametrize("env_id", [unless_missing(env_id) for env_id in EMBEDDED])
@pytest.mark.parametrize("action_format", ["plain", "function_call"])
def test_real_episodes_come_back_equal(env_id: str, action_format: str) -> None:
    played: list[Trajectory] = []
    env = RecordTrajectories(
        gym.make(env_id, action_format=action_format, max_turns=4), played.append, policy="expert"
    )
    game: Any = env.unwrapped
    for task_id in game.task_ids("train")[:2]:
        env.reset(options={"task_id": task_id})
        for action in islice(game.expert(), 3):
            if env.step(action)[2]:
                break
        else:
            while not any(env.step("</think> \u2028 nonsense")[2:4]):
                pass
    env.close()
    assert len(played) == 2
    assert [there_and_back(one) for one in played] == played


@pytest.mark.parametrize(
    "completion",
    [
        "<think>\nIt is shut.\n</think>\n\nopen door",
        "It is shut.</think>open door",
        "  <think> a </think>\n<think>b\n</think>\n\n\nopen",
        "<think>\n\n</think>\n\nopen",
        "<think>never ends",
        "open</think>",
        "</think>",
        "Thought: a\nAction: <think>",
        "",
    ],
)
def test_every_thought_comes_back_as_it_was_written(completion: str) -> None:
    turns = [Turn("A door.", completion, 0.0, False, 0.0)]
    assert there_and_back(episode(turns=turns, traces=[])).turns == turns


@pytest.mark.parametrize(
    "changes",
    [
        {"turns": [], "traces": []},
        {"turns": [], "traces": [], "final_observation": "", "system_prompt": ""},
        {"final_observation": ""},
        {"turns": [Turn("A door.", "op", 0.0, True, 0.0, 2, call=ModelCall("length")),
                   Turn("A door.", "go", 0.0, True, 0.0, 1)]},
        {"status": "failed", "error": "broke", "success": False, "score": 0.0},
        {"truncated_by": "max_turns", "verdict": "No.", "judgements": "{}", "global_step": 7},
        {"traces": [TokenTrace([1, 2])]},  # of no turn
        {"traces": [TokenTrace([1], [2, 3, 4], [1, 1, 1], [-1.0, -1.0, -1.0])]},
        {"traces": [TokenTrace([1], [2, 3, 4, 5], [1, 1, 0, 1], [-1.0, -1.0, 0.0, -1.0],
                               [0.5, 0.5, 0.0, -0.5])]},
        {"traces": [TokenTrace([1], [2, 3], [1, 1], [-1.0, -1.0]),
                    TokenTrace([9], [4, 5], [1, 0], [-1.0, 0.0])]},
        {"traces": [TokenTrace([1], [2, 3], [1, 1], [-1.0, -1.0]),
                    TokenTrace([1, 2, 3, 4], [5], [1], [-1.0])]},
    ],
)  # fmt: skip
def test_unusual_episodes_come_back_equal(changes: dict[str, Any]) -> None:
    assert there_and_back(episode(**changes)) == episode(**changes)


TEXTS = st.text(st.characters(codec="utf-8"), max_size=8) | st.sampled_from(
    ["", "<think>\na\n</think>\n\nb", "a</think>b", "\n\n", "<think>a"]
)
CALLS = st.none() | st.builds(
    ModelCall,
    finish_reason=TEXTS,
    reasoning=TEXTS,
    prompt_tokens=st.integers(0, 5),
    cached_tokens=st.integers(0, 5),
    retries=st.integers(0, 2),
    seconds=st.sampled_from([0.0, 0.5]),
    cost=st.sampled_from([None, 0.0, 0.25]),
    is_refusal=st.booleans(),
)
TURNS = st.builds(
    Turn,
    observation=TEXTS,
    completion=TEXTS,
    reward=st.sampled_from([0.0, -1.0, 0.5]),
    is_valid_action=st.booleans(),
    score=st.sampled_from([0.0, 0.5]),
    num_tokens=st.integers(0, 3),
    trained=st.booleans(),
    action=TEXTS,
    call=CALLS,
    weights_step=st.none() | st.integers(0, 3),
)


@st.composite
def traces_of(draw: Any, turns: list[Turn]) -> list[TokenTrace]:
    """Return traces that hold the turns, or most of them."""
    traces = [TokenTrace([1])]
    for turn in turns:
        if draw(st.integers(0, 3)) == 0:
            traces.append(TokenTrace(draw(st.sampled_from([[1], [2], traces[-1].ids]))))
        ids = [draw(st.integers(0, 2)) for _ in range(turn.num_tokens)]
        traces[-1].append_action(ids, [-0.5] * len(ids))
        traces[-1].append_given([3] * draw(st.integers(0, 2)))
    if draw(st.booleans()):
        for trace in traces:
            trace.advantages = [0.5 * mask for mask in trace.action_mask]
    return draw(st.sampled_from([traces, []]))


@given(st.data(), st.lists(TURNS, max_size=4), TEXTS, TEXTS)
def test_any_episode_comes_back_equal(
    data: Any, turns: list[Turn], system_prompt: str, final: str
) -> None:
    traces = data.draw(traces_of(turns))
    one = episode(turns=turns, traces=traces, system_prompt=system_prompt, final_observation=final)
    assert there_and_back(one) == one


def test_characters_that_utf_8_does_not_have_are_replaced_and_it_is_noted() -> None:
    turns = [Turn("\ud800", "go \udc00", 0.0, True, 0.0)]
    document = valid(to_atif(episode(turns=turns, traces=[])))
    assert "U+FFFD" in document["notes"]
    assert [step["message"] for step in document["steps"][1:]] == ["\ufffd", "go \ufffd"]


def test_a_number_that_json_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"one cannot be written; leave it out .*JSON"):
        to_line(to_atif(replace(episode(), score=float("nan")), trajectory_id="one"))


def test_a_line_keeps_the_characters_of_all_languages() -> None:
    line = to_line(to_atif(episode(system_prompt="Türen öffnen: 扉")))
    assert "扉".encode() in line
    assert json.loads(line)["steps"][0]["message"] == "Türen öffnen: 扉"
