"""What servers answer in their several forms, and what is kept of it for each turn."""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import ModelCall, Trajectory
from tests.serving import Failure, serving
from tests.trainers.policies.chat_server import message
from tests.trainers.policies.test_openai_api import CHAT, rollout_of, says_the_letter
from trainers.evaluate import evaluate
from trainers.ledger import Answer
from trainers.options.errors import UsageError
from trainers.policies.answers import is_within_thought, read_answer

CALL = {"type": "function", "function": {"name": "say", "arguments": '{"letter": "a"}'}}
CALLED = '{"name": "say", "arguments": {"letter": "a"}}'
NO = "I can't help with that."
FILTERED = json.dumps(
    {
        "error": {
            "message": "The response was filtered due to the prompt triggering our policy.",
            "code": "content_filter",
        }
    }
)


@pytest.mark.parametrize(
    ("said", "text", "reasoning"),
    [
        ({"content": "a"}, "a", ""),
        ({"content": None}, "", ""),
        ({}, "", ""),
        ({"content": ["a", {"type": "text", "text": "b"}]}, "ab", ""),
        (
            {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}]},
            "a",
            "hm",
        ),
        ({"content": "a", "reasoning_content": "hm"}, "a", "hm"),
        ({"content": "a", "reasoning": "hm"}, "a", "hm"),
        ({"content": None, "tool_calls": [CALL]}, CALLED, ""),
        ({"content": "hm", "tool_calls": [CALL, CALL]}, CALLED, "hm"),
        ({"content": "a", "tool_calls": []}, "a", ""),
        ({"content": None, "function_call": CALL["function"]}, CALLED, ""),
        ({"content": "a", "function_call": None}, "a", ""),
        (
            {"content": "", "tool_calls": [{"function": {"name": "say", "arguments": "{letter"}}]},
            '{"name": "say", "arguments": "{letter"}',
            "",
        ),
    ],
)
def test_content_reasoning_and_tool_calls_are_read(
    said: dict[str, Any], text: str, reasoning: str
) -> None:
    answer = read_answer({"choices": [{"message": said, "finish_reason": "stop"}]})
    assert (answer.text, answer.reasoning) == (text, reasoning)


@pytest.mark.parametrize(
    ("said", "reason", "text"),
    [
        ({"content": None, "refusal": NO}, "stop", NO),
        ({"refusal": NO}, "stop", NO),
        ({"content": "I see.", "refusal": NO}, "stop", f"I see.\n\n{NO}"),
        ({"content": [{"type": "refusal", "refusal": NO}]}, "stop", NO),
        ({"content": NO}, "refusal", NO),
    ],
)
def test_a_refusal_is_text_that_is_marked(said: dict[str, Any], reason: str, text: str) -> None:
    answer = read_answer({"choices": [{"message": said, "finish_reason": reason}]})
    assert (answer.text, answer.is_refusal) == (text, True)


@pytest.mark.parametrize(
    "said",
    [
        {"content": "a", "refusal": None},
        {"content": "a", "refusal": ""},
        {"content": None, "tool_calls": [CALL], "refusal": None},
        {"content": None, "tool_calls": [CALL], "refusal": NO},  # it acts all the same
    ],
)
def test_an_answer_that_acts_is_no_refusal(said: dict[str, Any]) -> None:
    answer = read_answer({"choices": [{"message": said, "finish_reason": "stop"}]})
    assert answer.text and not answer.is_refusal


def test_a_refusal_is_played_kept_and_counted_apart() -> None:
    def refuses_first(body: dict[str, Any]) -> dict[str, Any]:
        return message(None, refusal=NO) if len(body["messages"]) == 2 else says_the_letter(body)

    played: list[Trajectory] = []
    with serving({CHAT: refuses_first}) as server:
        result = evaluate(rollout_of(server), ["letters_0"], on_trajectory=played.append)
    first, *others = played[0].turns
    assert first.completion == NO
    assert first.call is not None and first.call.is_refusal and others
    assert not any(turn.call is None or turn.call.is_refusal for turn in others)
    assert Trajectory.from_json(json.loads(played[0].to_line())) == played[0]
    assert result.refusals == 1 and "answers that refuse 1, " in str(result)
    assert {"role": "assistant", "content": NO} in server.requests[1]["messages"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        [],
        "text",
        {"choices": []},
        {"choices": None},
        {"choices": [{"message": None}]},
        {"choices": [{"message": {"content": 3}}]},
        {"error": {"message": "upstream failed", "code": 502}},
    ],
)
def test_what_holds_no_message_is_no_answer(body: Any) -> None:
    with pytest.raises(ValueError, match="holds no message"):
        read_answer(body)


@pytest.mark.parametrize(
    "ended",
    [
        {"finish_reason": "error", "error": {"code": 502, "message": "provider failed"}},
        {"finish_reason": "stop", "native_finish_reason": "network_error"},
        {"finish_reason": "abort"},
        {"finish_reason": None, "error": {"code": 503}},
    ],
)
def test_an_answer_that_broke_off_is_none(ended: dict[str, Any]) -> None:
    """It came with status 200; played, it would be the policy's own mistake."""
    with pytest.raises(ValueError, match="broke off"):
        read_answer({"choices": [{"message": {"content": "Action: ge"}, **ended}]})


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        (  # reasoning apart from the completion
            {"prompt_tokens": 32, "completion_tokens": 9, "total_tokens": 135},
            (32, 0, 103, None),
        ),
        (None, (0, 0, 0, None)),
        ({"prompt_tokens": 9, "completion_tokens": 2}, (9, 0, 2, None)),
        ({"completion_tokens": 2, "total_tokens": 11}, (9, 0, 2, None)),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None},
            (9, 0, 2, None),
        ),
        (
            {
                "prompt_tokens": 9,
                "completion_tokens": 2,
                "prompt_tokens_details": {"cached_tokens": 4},
                "cost": 0.25,
            },
            (9, 4, 2, 0.25),
        ),
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_cache_hit_tokens": 5},
            (9, 5, 2, None),
        ),
    ],
)
def test_tokens_are_counted_as_servers_tell_them(usage: Any, counts: tuple[Any, ...]) -> None:
    answer = read_answer({"choices": [{"message": {"content": "a"}}], "usage": usage})
    found = answer.prompt_tokens, answer.cached_tokens, answer.completion_tokens, answer.cost
    assert found == counts


def test_each_turn_keeps_what_the_server_told_and_a_file_gives_it_back() -> None:
    calls: list[int] = []

    def answer(body: dict[str, Any]) -> dict[str, Any] | Failure:
        calls.append(1)
        if len(calls) == 1:
            return Failure(500)
        return message(
            "a",
            prompt_tokens=40,
            cached_tokens=30,
            tokens=7,
            finish_reason="length",
            reasoning_content="hm",
        )

    with serving({CHAT: answer}) as server:
        (episode,) = rollout_of(server).run(["letters_0"])
    (turn,) = episode.turns
    call = turn.call
    assert call is not None
    assert turn.num_tokens == 7
    assert call == ModelCall("length", "hm", 40, 30, retries=1, seconds=call.seconds, cost=None)
    assert call.seconds > 0
    assert Trajectory.from_json(json.loads(episode.to_line())) == episode


def test_reasoning_is_not_sent_back() -> None:
    answer = message("q", reasoning_content="a secret thought")
    with serving({CHAT: lambda body: answer}) as server:
        rollout_of(server).run(["letters_0"])
    assert "a secret thought" not in json.dumps(server.requests)


@pytest.mark.parametrize(
    "broken", [Failure(200, '{"choices": []}'), Failure(200, '{"choices": [', breaks_off=True)]
)
def test_an_unusable_answer_is_asked_for_again_amid_the_episode(broken: Failure) -> None:
    calls: list[int] = []

    def answer(body: dict[str, Any]) -> dict[str, Any] | Failure:
        calls.append(len(body["messages"]))
        return broken if len(calls) == 2 else message("q")

    with serving({CHAT: answer}) as server:
        (episode,) = rollout_of(server).run(["letters_0"])
    assert calls == [2, 4, 4, 6]  # the first turn, which is paid for, is not asked for again
    assert [turn.call.retries for turn in episode.turns if turn.call] == [0, 1, 0]


# Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", [Failure(400, FILTERED), Failure(403, FILTERED)])
def test_a_filtered_prompt_costs_its_own_episode_and_says_so(failure: Failure) -> None:
    def filters_a(body: dict[str, Any]) -> dict[str, Any] | Failure:
        return failure if body["messages"][1]["content"] == "Say a." else says_the_letter(body)

    episodes: list[Trajectory] = []
    with serving({CHAT: filters_a}) as server:
        result = evaluate(
            rollout_of(server),
            [f"letters_{number}" for number in range(4)],
            on_trajectories=episodes.extend,
        )
    assert len(server.requests) == 4
    assert (episodes[0].status, episodes[0].truncated_by) == ("truncated", "refused")
    assert "filtered" in str(episodes[0].error)
    assert "content_filter" in str(episodes[0].error)
    assert (result.success, result.n_tasks, result.failures) == (0.75, 4, 0)
    assert result.truncated == {"refused": 1}
    assert "refused prompts 1" in str(result)


def test_a_filter_that_takes_the_answer_ends_the_episode_too() -> None:
    filtered = message(None, finish_reason="content_filter")
    with serving({CHAT: lambda body: filtered}) as server:
        (episode,) = rollout_of(server).run(["letters_0"])
    assert (episode.status, episode.truncated_by, episode.turns) == ("truncated", "refused", [])


def test_a_refusal_for_an_unknown_reason_is_of_its_prompt_once_the_server_has_answered() -> None:
    def refuses_a(body: dict[str, Any]) -> dict[str, Any] | Failure:
        is_a = body["messages"][1]["content"] == "Say a."
        return Failure(400, '{"error": "we would rather not"}') if is_a else says_the_letter(body)

    with serving({CHAT: refuses_a}) as server:
        trajectories = rollout_of(server).run([f"letters_{number}" for number in range(4)])
    assert [t.truncated_by for t in trajectories] == ["refused", None, None, None]
    assert trajectories[0].error == "we would rather not"


def test_a_request_that_the_server_never_takes_ends_the_command_and_costs_nothing() -> None:
    told = '{"error": {"message": "Unsupported parameter: max_tokens"}}'
    with serving({CHAT: lambda body: Failure(400, told)}) as server:
        with pytest.raises(UsageError, match=r"400: Unsupported .*`api_kwargs`"):
            rollout_of(server).run([f"letters_{number}" for number in range(8)])
    assert len(server.requests) <= 4  # those of the first wave


@pytest.mark.parametrize(
    ("failure", "remedy"),
    [
        (Failure(401), "OPENAI_API_KEY"),
        (Failure(403), "OPENAI_API_KEY"),
        (Failure(404), "`api_model`"),
        (Failure(402), "no credit left"),
        (Failure(429, '{"error": {"message": "-", "code": "insufficient_quota"}}'), "no credit"),
    ],
)
def test_what_no_request_gets_past_ends_at_once_even_late(failure: Failure, remedy: str) -> None:
    calls: list[int] = []

    def later(body: dict[str, Any]) -> dict[str, Any] | Failure:
        calls.append(1)
        return message("q") if len(calls) <= 4 else failure

    with serving({CHAT: later}) as server:
        with pytest.raises(UsageError, match=remedy):
            rollout_of(server).run([f"letters_{number}" for number in range(8)])
    assert len(server.requests) <= 8


@pytest.mark.parametrize(
    ("finish_reason", "text", "reasoning", "is_within"),
    [
        ("length", "I guess. Action: add 5", "", True),
        ("length", "<think>I guess. Action: add 5", "", True),
        ("length", "", "I guess", True),
        ("length", "", "", True),
        ("length", "so</think>Action: add 5", "", False),
        ("length", "Action: add 5", "I guess", False),
        ("stop", "Action: add 5", "", False),
    ],
)
def test_a_text_that_was_cut_is_a_thought_unless_one_has_ended(
    finish_reason: str, text: str, reasoning: str, is_within: bool
) -> None:
    answer = Answer(text, finish_reason=finish_reason, reasoning=reasoning)
    assert is_within_thought(answer) is is_within


def test_a_whole_tool_call_is_played_where_the_answer_was_cut_behind_it() -> None:
    function = {"name": "add", "arguments": '{"number": 5}'}
    message = {"content": None, "tool_calls": [{"function": function}]}
    answer = read_answer({"choices": [{"finish_reason": "length", "message": message}]})
    assert not is_within_thought(answer)
    assert json.loads(answer.text)["arguments"] == {"number": 5}
    function["arguments"] = '{"number": 5'
    cut = read_answer({"choices": [{"finish_reason": "length", "message": message}]})
    assert json.loads(cut.text)["arguments"] == '{"number": 5'  # no JSON object, so no action


def test_nothing_of_an_answer_that_a_server_has_cut_is_played() -> None:
    def cut(body: dict[str, Any]) -> dict[str, Any]:
        answer = says_the_letter(body)
        answer["choices"][0]["finish_reason"] = "length"
        return answer

    with serving({CHAT: cut}) as server:
        (episode,) = rollout_of(server).run(["letters_10"])
    assert not episode.success
    assert all(turn.is_cut and not turn.is_valid_action for turn in episode.turns)
    assert "Your thought did not end" in episode.messages()[-1]["content"]
