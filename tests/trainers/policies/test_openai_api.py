from __future__ import annotations

import json
import re
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import EnvFailure, Trajectory, read_jsonl
from tests.serving import Failure, Server, serving
from tests.trainers.policies.chat_server import chat_of, message, models
from tests.trainers.toys import ENV_ID, make_model, make_tokenizer
from trainers.backends.json_client import JSONClient, RequestFailed
from trainers.collect import main as collect_main
from trainers.evaluate import EvalResult, evaluate
from trainers.evaluate import main as evaluate_main
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.options.errors import UsageError
from trainers.policies.api import APIPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout

CHAT = "/v1/chat/completions"


def says_the_letter(body: dict[str, Any]) -> dict[str, Any]:
    """Play the game right: the first observation is `Say x.`"""
    users = [m["content"] for m in body["messages"] if m["role"] == "user"]
    return message(users[0][-2])


def client_of(server: Server, **options: Any) -> JSONClient:
    options = {"retries": 2, "wait": lambda seconds: None, **options}
    return JSONClient(f"{server.url}/v1", **options)


def rollout_of(
    server: Server, *, client: dict[str, Any] | None = None, fields: Any = None, **budgets: Any
) -> Rollout:
    environments = Environments(EnvArguments(env=[ENV_ID], action_format="plain"), episodes=4)
    budgets = {"max_tokens_per_turn": 8, **budgets}
    policy = APIPolicy(
        client_of(server, **(client or {})), "letters", EpisodeArguments(**budgets), fields=fields
    )
    return environments.rollout(policy)


def test_a_policy_behind_a_server_plays_and_is_measured() -> None:
    with serving({CHAT: says_the_letter}) as server:
        result = evaluate(
            rollout_of(server), ["letters_10", "letters_11"], samples=3, temperature=0
        )
    assert (result.success, result.n_tasks, result.failures) == (1.0, 2, 0)
    assert (result.policy, result.temperature, result.sampled_tokens) == ("letters", 0, 12)


def test_a_conversation_grows_by_what_was_said() -> None:
    def wrong(body: dict[str, Any]) -> dict[str, Any]:
        return message(f"q{sum(m['role'] == 'assistant' for m in body['messages'])}")

    with serving({CHAT: wrong}) as server:
        (episode,) = rollout_of(server).run(["letters_0"])
    assert episode.truncated_by == "max_turns"
    assert [turn.completion for turn in episode.turns] == ["q0", "q1", "q2"]
    assert episode.traces == []
    system = {"role": "system", "content": episode.system_prompt}
    said = [("user", "Say a."), ("assistant", "q0"), ("user", episode.turns[1].observation)]
    second = server.requests[1]
    assert second["messages"] == [system, *({"role": r, "content": c} for r, c in said)]
    assert (second["model"], second["temperature"], second["max_tokens"]) == ("letters", 1.0, 8)


def test_budgets_are_those_of_the_environment() -> None:
    with serving({CHAT: lambda body: message("q")}) as server:
        rollout_of(
            server,
            max_tokens_per_turn={"Letters": 5, "default": 9},
            keep_last_turns={"Other": 1},
        ).run(["letters_0"])
    assert [request["max_tokens"] for request in server.requests] == [5] * 3
    assert len(server.requests[2]["messages"]) == 6


def test_a_window_keeps_the_task_and_the_last_turns() -> None:
    with serving({CHAT: lambda body: message("q")}) as server:
        rollout_of(server, keep_last_turns=1).run(["letters_0"])
    first, last = server.requests[0]["messages"], server.requests[2]["messages"]
    assert [m["role"] for m in last] == ["system", *["user", "assistant"] * 2, "user"]
    assert last[1] == first[1]
    assert [m["content"] for m in last if m["role"] == "assistant"] == ["...", "q"]


def test_every_turn_of_every_episode_has_its_own_seed_and_it_is_the_same_again() -> None:
    found = []
    for _ in range(2):
        with serving({CHAT: lambda body: message("q")}) as server:
            rollout_of(server).run(["letters_0", "letters_0"], stream=(2, 7))
        found.append(sorted(request["seed"] for request in server.requests))
    assert found[0] == found[1]
    assert len(set(found[0])) == 6


def test_fields_can_be_added_and_left_out() -> None:
    fields = {"max_tokens": None, "seed": None, "max_completion_tokens": 9}
    with serving({CHAT: says_the_letter}) as server:
        rollout_of(server, fields=fields).run(["letters_0"])
    assert set(server.requests[0]) == {
        "model", "messages", "temperature", "max_completion_tokens"
    }  # fmt: skip


def test_requests_run_at_once_up_to_the_bound() -> None:
    meeting = threading.Barrier(2)

    def together(body: dict[str, Any]) -> dict[str, Any]:
        meeting.wait(timeout=30)  # breaks unless two requests are under way
        return says_the_letter(body)

    with serving({CHAT: together}) as server:
        rollout_of(server, client={"max_requests": 2}).run([f"letters_{n}" for n in range(4)])
    assert server.most_at_once == 2


def test_the_environment_reads_what_follows_a_thought() -> None:
    with serving({CHAT: lambda body: message("<think>\na?\n</think>\n\na")}) as server:
        (episode,) = rollout_of(server).run(["letters_0"])
    assert episode.success
    assert episode.turns[0].completion.startswith("<think>")


def test_an_empty_answer_is_the_policys_own_and_is_played() -> None:
    with serving({CHAT: lambda body: message(None)}) as server:
        (episode,) = rollout_of(server).run(["letters_0"])
    assert (episode.status, len(episode.turns)) == ("truncated", 3)


# Failures -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failure",
    [
        Failure(500, '{"error": {"message": "out of memory"}}'),
        Failure(429, headers={"retry-after": "7"}),
        Failure(200, "<html>not JSON</html>"),
        Failure(200, '{"choices": []}'),
    ],
)
def test_a_request_that_fails_is_sent_again_and_changes_nothing(failure: Failure) -> None:
    calls: list[int] = []

    def flaky(body: dict[str, Any]) -> dict[str, Any] | Failure:
        calls.append(1)
        return failure if len(calls) == 1 else says_the_letter(body)

    waits: list[float] = []
    with serving({CHAT: flaky}) as server:
        rollout = rollout_of(server, client={"wait": waits.append})
        assert isinstance(rollout.policy, APIPolicy)
        rollout.policy._client.pace._clock = lambda: time.monotonic() + sum(waits)
        (episode,) = rollout.run(["letters_0"])
    assert (episode.status, episode.success, len(episode.turns)) == ("terminated", True, 1)
    assert waits == pytest.approx([7.0 if failure.status == 429 else 0.5], abs=0.1)


def test_an_episode_whose_requests_fail_is_failed_and_in_no_success_rate() -> None:
    def broken_for_a(body: dict[str, Any]) -> dict[str, Any] | Failure:
        is_a = any(m["content"] == "Say a." for m in body["messages"])
        return Failure(503) if is_a else says_the_letter(body)

    ids = [f"letters_{number}" for number in range(8)]
    ended: list[Trajectory] = []
    seen: list[Trajectory] = []
    with serving({CHAT: broken_for_a}) as server:
        result = evaluate(
            rollout_of(server), ids, on_trajectory=ended.append, on_trajectories=seen.extend
        )
    assert (result.success, result.n_tasks, result.failures) == (1.0, 7, 1)
    assert [t.task_id for t in seen] == ids
    assert sorted(map(id, ended)) == sorted(map(id, seen))  # each of them once
    assert (seen[0].status, seen[0].truncated_by) == ("failed", None)
    assert "503" in str(seen[0].error)


def test_a_server_that_is_gone_stops_the_run_and_is_named() -> None:
    with serving({}) as server:
        pass
    with pytest.raises(EnvFailure, match=r"2 of 2 episodes failed .*ConnectError"):
        rollout_of(server).run(["letters_0", "letters_1"])


def test_an_answer_that_comes_too_late_is_a_failure() -> None:
    released = threading.Event()

    def slow(body: dict[str, Any]) -> dict[str, Any]:
        released.wait(timeout=30)
        return message("a")

    with serving({CHAT: slow}) as server:
        client = client_of(server, timeout=0.05)
        with pytest.raises(
            RequestFailed,
            match=f"{server.url}.* gave no answer in 0.05 s .ReadTimeout.*lower max_requests",
        ):
            client.post("/chat/completions", {})
        released.set()
    assert len(server.requests) == 1


def test_a_conversation_beyond_the_servers_context_is_truncated_by_its_tokens() -> None:
    told = "This model's maximum context length is 10 tokens, however you requested 12."

    def small(body: dict[str, Any]) -> dict[str, Any] | Failure:
        if len(body["messages"]) > 2:
            return Failure(400, json.dumps({"error": {"message": told}}))
        return message("q")

    with serving({CHAT: small}) as server:
        (episode,) = rollout_of(server).run(["letters_0"])
    assert (episode.status, episode.truncated_by) == ("truncated", "token_budget")
    assert len(episode.turns) == 1


def test_the_episodes_token_budget_goes_by_the_servers_count() -> None:
    with serving({CHAT: lambda body: message("q", prompt_tokens=30)}) as server:
        (episode,) = rollout_of(server, max_tokens_per_episode=32).run(["letters_0"])
    assert (episode.truncated_by, len(episode.turns)) == ("token_budget", 1)


@pytest.mark.parametrize(
    ("status", "remedy"),
    [(401, "OPENAI_API_KEY"), (404, "`api_model`"), (400, "`api_kwargs`")],
)
def test_a_refused_request_stops_at_once_and_names_the_remedy(status: int, remedy: str) -> None:
    failure = Failure(status, '{"error": {"message": "no such thing"}}')
    with serving({CHAT: lambda body: failure}) as server:
        with pytest.raises(ValueError, match=f"(?s){status}: no such thing.*{remedy}"):
            rollout_of(server).run(["letters_0"])
    assert len(server.requests) == 1


def test_a_web_page_in_place_of_every_answer_is_a_wrong_address() -> None:
    page = Failure(200, "<!doctype html>\n<title>Sign in</title><body>Welcome</body>")
    waits: list[float] = []
    with serving({CHAT: lambda body: page}) as server:
        rollout = rollout_of(server, client={"wait": waits.append})
        told = "200: a web page in place of JSON: Sign in Welcome; check the address, which ends in"
        with pytest.raises(UsageError, match=told):
            rollout.run(["letters_0"])
    assert waits == [0.5, 1.0]  # `client_of` sends twice again


def test_a_web_page_of_a_server_that_has_answered_is_a_failure_that_passes() -> None:
    calls: list[int] = []

    def away(body: dict[str, Any]) -> dict[str, Any] | Failure:
        calls.append(1)
        return Failure(200, "<html>back soon</html>") if 1 < len(calls) < 7 else message("q")

    with serving({CHAT: away}) as server:
        rollout = rollout_of(server, client={"wait": lambda seconds: None})
        (episode,) = rollout.run(["letters_0"])
    assert (episode.status, len(episode.turns)) == ("truncated", 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"timeout": 0}, "timeout must be > 0 seconds, got 0"),
        ({"retries": -1}, "retries must be >= 0, got -1"),
        ({"max_requests": 0}, "max_requests must be >= 1, got 0"),
    ],
)
def test_a_clients_wrong_numbers_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        JSONClient("http://localhost", **options)
    with pytest.raises(ValueError, match="got 'localhost:8000'"):
        JSONClient("localhost:8000")


# Commands -------------------------------------------------------------------------------------


def test_the_commands_measure_and_collect_by_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-1")
    tokenizer = make_tokenizer()
    answers = {CHAT: chat_of(make_model(), tokenizer), "/v1/models": models("mine")}
    with serving(answers) as server:
        common = f"--env {ENV_ID} --policy {server.url}/v1 --action_format plain "
        common += "--max_tokens_per_turn 4"
        evaluated = [*common.split(), "--samples", "4", "--out", str(tmp_path / "result.json")]
        assert evaluate_main(evaluated) == 0
        first = EvalResult.load(tmp_path / "result.json")
        assert evaluate_main(evaluated) == 0
        collected = tmp_path / "episodes.jsonl"
        assert collect_main([*common.split(), "--num_episodes", "3", "--out", str(collected)]) == 0
    again = EvalResult.load(tmp_path / "result.json")
    assert (first.policy, first.n_tasks) == ("mine", 2)
    assert (first.tasks, first.sampled_tokens) == (again.tasks, again.sampled_tokens)
    assert first.sampled_tokens > 0
    assert len(list(read_jsonl(collected))) == 3
    assert set(server.keys) == {"Bearer secret-1"}
    assert "secret-1" not in capsys.readouterr().out + collected.read_text()


def test_several_models_on_a_server_need_a_name() -> None:
    options = ["--env", ENV_ID, "--policy"]
    with serving({"/v1/models": models("one", "two")}) as server:
        with pytest.raises(ValueError, match=r"serves \['one', 'two'\]; name one with `api_model`"):
            evaluate_main([*options, f"{server.url}/v1"])
        with pytest.raises(ValueError, match="with its /v1"):
            evaluate_main([*options, server.url])


def test_what_every_request_meets_is_told_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = JSONClient("http://127.0.0.1:9", retries=2, wait=lambda _: None)
    for _ in range(3):
        with pytest.raises(
            RequestFailed, match="failed 3 times.*ConnectError.*; is the server running"
        ):
            client.get("/models")
    assert len([r for r in caplog.records if r.levelname == "WARNING"]) == 1


def test_ctrl_c_ends_what_would_be_sent_again() -> None:
    before = set(threading.enumerate())
    client = JSONClient("http://127.0.0.1:9", retries=50)
    failures: list[BaseException] = []

    def ask(item: int) -> None:
        if item == 0:
            raise KeyboardInterrupt
        try:
            client.get("/models")
        except RequestFailed as failure:
            failures.append(failure)

    with pytest.raises(KeyboardInterrupt):
        client.map(ask, range(4))
    client.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(timeout=10)
        assert not thread.is_alive()
    assert all(re.search("has ended|not asked any more", str(failure)) for failure in failures)
