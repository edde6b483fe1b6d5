"""Named policies, what their answers cost, and that nothing paid for is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import EnvFailure, read_jsonl
from tests.serving import Failure, serving
from tests.trainers.policies.chat_server import message
from tests.trainers.policies.test_openai_api import CHAT, says_the_letter
from tests.trainers.toys import ENV_ID
from trainers.collect import main as collect
from trainers.evaluate import EvalResult
from trainers.evaluate import main as evaluate
from trainers.ledger import Answer, Costs, Ledger
from trainers.options.errors import BROKEN_OFF, run_command
from trainers.options.policies import PolicyArguments, Prices, read_policies

PRICES = {"prompt": 2.0, "cached": 0.5, "completion": 10.0}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-of-small-5150")


def policies_file(folder: Path, url: str, **changes: Any) -> Path:
    """Write a file of two policies of one server; JSON is YAML."""
    entry = {
        "name": "small",
        "endpoint": f"{url}/v1",
        "model": "maker/small-2026",
        "key": "SOME_KEY",
        "sampling": {"top_p": 0.9, "max_tokens": None, "max_completion_tokens": 64},
        "prices": PRICES,
        **changes,
    }
    path = folder / "policies.yaml"
    path.write_text(json.dumps([entry, {**entry, "name": "large", "model": "maker/large"}]))
    return path


def words_of(folder: Path, url: str, *more: str, samples: int = 1, **changes: Any) -> list[str]:
    words = f"--env {ENV_ID} --split train --action_format plain --policy small --num_tasks 8"
    return [
        *words.split(),
        *("--policies", str(policies_file(folder, url, **changes))),
        *("--samples", str(samples), "--max_requests", "2"),
        *("--trajectories", str(folder / "episodes.jsonl"), "--out", str(folder / "result.json")),
        *more,
    ]


def test_the_price_of_a_request_counts_cached_tokens_apart() -> None:
    assert Prices(**PRICES).cost(1_000_000, 0, 0) == 2.0
    assert Prices(**PRICES).cost(1_000_000, 400_000, 100_000) == pytest.approx(1.2 + 0.2 + 1.0)
    assert Prices(2.0, 10.0).cost(1_000_000, 400_000, 0) == 2.0


def test_a_named_policy_is_asked_as_its_file_says_and_keeps_its_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return message(says_the_letter(body)["choices"][0]["message"]["content"],
                       prompt_tokens=1000, cached_tokens=400, tokens=100)  # fmt: skip

    with serving({CHAT: answer}) as server:
        words = words_of(tmp_path, server.url)
        assert evaluate(words) == 0
        words = words[: words.index("--samples")]
        assert collect([*words, "--num_episodes", "2", "--out", str(tmp_path / "more.jsonl")]) == 0
    result = EvalResult.load(tmp_path / "result.json")
    one = (600 * 2.0 + 400 * 0.5 + 100 * 10.0) / 1e6
    assert result.policy == "small"
    assert result.cost == pytest.approx(8 * one)
    assert (result.prompt_tokens, result.cached_tokens, result.sampled_tokens) == (8000, 3200, 800)
    assert "8000 prompt tokens, 3200 of them cached, cost 0.0192" in capsys.readouterr().out
    for file in ("episodes.jsonl", "more.jsonl"):
        for episode in read_jsonl(tmp_path / file):
            assert episode.policy == "small"
            assert episode.cost == pytest.approx(one)
    assert set(server.keys) == {"Bearer sk-of-small-5150"}
    assert set(server.requests[0]) == {
        *("model", "messages", "seed", "temperature", "top_p", "max_completion_tokens")
    }
    assert server.requests[0]["model"] == "maker/small-2026"
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        *("episodes.jsonl", "more.jsonl", "policies.yaml", "result.json")
    ]


def test_answers_that_end_at_their_token_limit_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        told = message("q")
        is_first = len(body["messages"]) < 4
        told["choices"][0]["finish_reason"] = "length" if is_first else "stop"
        return told

    with serving({CHAT: answer}) as server:
        assert evaluate(words_of(tmp_path, server.url)) == 0
    assert EvalResult.load(tmp_path / "result.json").cut_answers == 8
    assert "turns cut off 8, " in capsys.readouterr().out


def test_a_temperature_of_the_file_is_not_recorded_as_the_commands(tmp_path: Path) -> None:
    with serving({CHAT: says_the_letter}) as server:
        assert evaluate(words_of(tmp_path, server.url, sampling={"temperature": 0.3})) == 0
    assert {request["temperature"] for request in server.requests} == {0.3}
    assert EvalResult.load(tmp_path / "result.json").temperature is None


# What may be spent ------------------------------------------------------------------------------


def one_a_time(body: dict[str, Any]) -> dict[str, Any]:
    """Three turns an episode; each answer costs 1."""
    return message("q", prompt_tokens=0, tokens=100_000)


def test_a_budget_stops_what_it_stops_is_kept_and_a_larger_one_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving({CHAT: one_a_time}) as server:
        words = words_of(tmp_path, server.url, "--max_cost", "10")
        assert run_command(lambda: evaluate(words)) == BROKEN_OFF
        told = capsys.readouterr().err
        asked = len(server.requests)
        assert 10 <= asked <= 11  # one more may have been under way
        assert "--max_cost 10 is reached" in told
        assert "The same command with --resume and a larger one goes on" in told
        assert not (tmp_path / "result.json").exists()

        assert run_command(lambda: evaluate([*words, "--resume"])) == BROKEN_OFF
        assert len(server.requests) == asked  # what was spent before counts

        more = words_of(tmp_path, server.url, "--max_cost", "100", "--resume")
        assert evaluate(more) == 0
    assert len(server.requests) == 24  # each turn was paid for once
    result = EvalResult.load(tmp_path / "result.json")
    assert result.cost == pytest.approx(24)
    assert len(list(read_jsonl(tmp_path / "episodes.jsonl"))) == 8
    assert not list(tmp_path.glob("*unfinished*"))


def test_a_resumed_evaluation_is_the_one_that_would_have_been(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        return message("qsu"[body["seed"] % 3], prompt_tokens=0, tokens=100_000)

    episodes: dict[str, list[Any]] = {}
    for name, budgets in (("whole", ["100"]), ("parts", ["7", "15", "100"])):
        folder = tmp_path / name
        folder.mkdir()
        with serving({CHAT: answer}) as server:
            for budget in budgets:
                words = words_of(folder, server.url, "--max_cost", budget, "--resume", samples=2)
                run_command(lambda words=words: evaluate(words))  # type: ignore[misc]
            assert len(server.requests) == 48
        episodes[name] = [
            [turn.completion for turn in episode.turns]
            for episode in read_jsonl(folder / "episodes.jsonl")
        ]
    assert episodes["whole"] == episodes["parts"]
    assert len(episodes["whole"]) == 16


@pytest.mark.full
def test_what_is_paid_for_outlives_a_server_that_breaks_for_good(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calls: list[int] = []

    def breaks(body: dict[str, Any]) -> dict[str, Any] | Failure:
        calls.append(1)
        return one_a_time(body) if len(calls) <= 8 else Failure(401)

    with serving({CHAT: breaks}) as server:
        words = words_of(tmp_path, server.url)
        assert run_command(lambda: evaluate(words)) == 2
        assert "the answers that have cost 8" in capsys.readouterr().err
    with serving({CHAT: one_a_time}) as server:
        assert evaluate(words_of(tmp_path, server.url, "--resume")) == 0
        assert len(server.requests) == 16
    assert EvalResult.load(tmp_path / "result.json").cost == pytest.approx(24)


def test_the_cost_that_a_server_tells_counts_where_no_prices_are_listed(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        told = says_the_letter(body)
        told["usage"]["cost"] = 0.125
        return told

    with serving({CHAT: answer}) as server:
        assert evaluate(words_of(tmp_path, server.url, prices=None)) == 0
    assert EvalResult.load(tmp_path / "result.json").cost == pytest.approx(1.0)


def test_an_answer_without_a_message_is_paid_for_too(tmp_path: Path) -> None:
    calls: list[int] = []

    def answer(body: dict[str, Any]) -> dict[str, Any]:
        calls.append(1)
        return {**one_a_time(body), "choices": []} if len(calls) == 2 else one_a_time(body)

    with serving({CHAT: answer}) as server:
        words = words_of(tmp_path, server.url, "--max_cost", "10")
        assert run_command(lambda: evaluate(words)) == BROKEN_OFF
        assert evaluate(words_of(tmp_path, server.url, "--max_cost", "100", "--resume")) == 0
        assert len(server.requests) == 25
    assert EvalResult.load(tmp_path / "result.json").cost == pytest.approx(25)


def test_a_budget_without_prices_is_refused_after_one_answer_at_most(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with serving({CHAT: one_a_time}) as server:
        words = words_of(tmp_path, server.url, "--max_cost", "3", prices=None)
        assert run_command(lambda: evaluate(words)) == 2
        assert len(server.requests) <= 2  # those under way together
    assert "list the prices in --policies" in capsys.readouterr().err


def test_a_batch_is_asked_for_anew_and_an_earlier_commands_answers_are_not(
    tmp_path: Path,
) -> None:
    ledger = Ledger()
    ledger.keep_in(tmp_path / "answers")
    ledger.add("here", Answer("a", cost=0.5))
    ledger.begin_batch()
    assert ledger.find("here") is None
    with (tmp_path / "answers").open("ab") as file:
        file.write(b'{"key": "half')  # as a kill leaves it
    later = Ledger()
    later.keep_in(tmp_path / "answers")
    later.begin_batch()
    assert later.find("here") == Answer("a", cost=0.5)
    assert later.spent == 0.5
    later.forget()
    assert not list(tmp_path.iterdir())


def test_several_processes_add_to_one_total(tmp_path: Path) -> None:
    one, other = Costs(tmp_path / "costs"), Costs(tmp_path / "costs")
    assert one.total() == 0
    one.add(0.25)
    assert (one.total(), other.total()) == (0.25, 0.25)
    other.add(1e-9, "a policy")
    assert one.by_payer() == {"": 0.25, "a policy": pytest.approx(1e-9)}
    assert one.total() == pytest.approx(0.25 + 1e-9, abs=1e-15)


# The file ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"nmae": "x"}, r"unknown key 'nmae'; did you mean name\?"),
        (
            {"name": "random"},
            "random, smollm2, smollm2-textcraft, tiny, nor begin with baseline:; got 'random'",
        ),
        ({"name": "baseline:luck"}, "nor begin with baseline:; got 'baseline:luck'"),
        ({"name": "a/b"}, "got 'a/b'"),
        ({"name": 7}, "name must be a text, got 7"),
        ({"endpoint": "localhost"}, "an address such as https://host/v1, got 'localhost'"),
        ({"model": ""}, "model must be a text, got ''"),
        ({"sampling": [1]}, r"sampling must map fields of the request, got \[1\]"),
        ({"prices": {"prompt": 1}}, "prices has no completion"),
        ({"prices": {"prompt": -1, "completion": 1}}, "prompt must be a number >= 0"),
        ({"prices": {"prompt": "2$", "completion": 1}}, "got '2\\$'"),
        ({"prices": {"prompt": 1, "completion": 1, "output": 3}}, "unknown key 'output'"),
    ],
)
def test_a_wrong_entry_is_named_with_what_is_allowed(
    change: dict[str, Any], told: str, tmp_path: Path
) -> None:
    path = policies_file(tmp_path, "http://localhost:1", **change)
    with pytest.raises(ValueError, match=told) as refused:
        read_policies(path)
    assert f"{path}, entry 1" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not YAML"),
        ("", "must list policies"),
        ("small: {endpoint: http://h}", "must list policies"),
        ("- small", "must map endpoint, name, model"),
        ("- {name: a, endpoint: http://h}", "has no model"),
        ("- &a {name: a, endpoint: http://h, model: m}\n- *a", "lists 'a' twice"),
    ],
)
def test_a_file_that_lists_no_policies_is_refused(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "policies.yaml"
    path.write_text(text)
    with pytest.raises(ValueError, match=told):
        read_policies(path)
    with pytest.raises(ValueError, match="cannot read .*nowhere.yaml"):
        read_policies(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"policy": "smal"}, "lists small, large; name one with `policy`, got smal"),
        ({"policy": "tiny"}, "name one with `policy`, got tiny, the default"),
        (
            {"policy": "127.0.0.1:8000/v1", "policies": None},
            "begins with http:// or https://, such as http://127.0.0.1:8000/v1",
        ),
        ({"policy": "api.example.com/v1", "policies": None}, "such as http://api.example.com/v1"),
        ({"policy": "small", "api_model": "m"}, "`api_model=m` goes with an address"),
        ({"policy": "random", "policies": None, "max_cost": 1.0}, "needs a policy behind a server"),
        ({"policy": "small", "max_cost": 0.0}, "max_cost must be > 0, got 0.0"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    options: dict[str, Any], told: str, tmp_path: Path
) -> None:
    path = str(policies_file(tmp_path, "http://localhost:1"))
    with pytest.raises(ValueError, match=told):
        PolicyArguments(**{"policies": path, **options})


def test_a_key_that_is_not_there_is_named_before_anything_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SOME_KEY")
    with serving({CHAT: one_a_time}) as server:
        assert run_command(lambda: evaluate(words_of(tmp_path, server.url))) == 2
        assert not server.requests
    assert "small: the environment variable SOME_KEY" in capsys.readouterr().err


@pytest.mark.slow  # each request is tried again with growing pauses
@pytest.mark.parametrize("is_listed", [True, False])
def test_a_failure_names_the_policy_before_the_address(
    is_listed: bool, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving({CHAT: lambda body: Failure(500, '{"error": "no"}')}) as server:
        words = words_of(tmp_path, server.url, "--max_outage", "0")
        if not is_listed:
            words[words.index("small")] = f"{server.url}/v1"
            at = words.index("--policies")
            words[at : at + 2] = ["--api_model", "maker/small-2026"]
        with pytest.raises(EnvFailure) as failed:
            evaluate(words)
    name = "small" if is_listed else "maker/small-2026"
    line = f"{name} ({server.url}{CHAT}) failed"
    assert f"causes: 24 x {line} 4 times" in str(failed.value)
    assert line in caplog.text
    assert f"{server.url}{CHAT}" not in caplog.text.replace(f"{name} ({server.url}{CHAT})", "")
