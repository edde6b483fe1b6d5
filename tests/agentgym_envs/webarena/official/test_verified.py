"""`webarena-verified` judges recordings that are written here, of the official sites' requests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip(
    "agentgym_envs.webarena.official.verified",
    reason="needs webarena-verified with all that it requires: make test-partner NAME=official",
    exc_type=ImportError,
)

from agentgym_envs import EnvFailure
from agentgym_envs.webarena.evaluators import Verdict
from agentgym_envs.webarena.official import verified
from agentgym_envs.webarena.official.deployment import SITES

# url-normalize 2.2.1, which the package requires, passes what idna 3.20 no longer heeds.
pytestmark = pytest.mark.filterwarnings("ignore:Transitional processing:DeprecationWarning")

ADDRESSES = {site: f"http://host:{7770 + index}" for index, site in enumerate(SITES)}
ADDRESSES["shopping_admin"] += "/admin"

REVIEWS = 11  # how many mention a word: 6
BEST_SELLER = 0  # a name
NONE_FOUND = 22
TODOS = 44  # open a page
BIOGRAPHY = 399  # send a form: "I am a robot"


def request(url: str, *, status: int = 200, form: dict[str, str] | None = None) -> dict[str, Any]:
    """Write one entry of a HAR."""
    sent: dict[str, Any] = {
        "method": "GET" if form is None else "POST",
        "url": url,
        "headers": [{"name": "Accept", "value": "text/html,*/*"}],
    }
    if form is not None:
        mime = "application/x-www-form-urlencoded"
        sent["postData"] = {"mimeType": mime, "text": urlencode(form)}
    moved = "/elsewhere" if 300 <= status < 400 else ""
    came = {"status": status, "headers": [], "cookies": [], "redirectURL": moved, "content": {}}
    return {"request": sent, "response": came}


def judge(folder: Path, number: int, answer: str, *entries: dict[str, Any]) -> Verdict:
    har = folder / "network.har"
    entries = entries or (request("http://host/"),)
    har.write_text(json.dumps({"log": {"entries": entries}}), encoding="utf-8")
    return verified.judge(number, answer, har, sites=ADDRESSES)


# Answers ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("6", 1.0),
        ("six", 1.0),
        ("[6]", 1.0),
        ('{"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": [6]}', 1.0),
        ('{"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": [6]}', 0.0),
        ('{"task_type": ["RETRIEVE"], "status": {}, "retrieved_data": [6]}', 0.0),
        ("7", 0.0),
        ("[6, 6]", 0.0),
        ("", 0.0),
        ("N/A", 0.0),
        ("[" * 5000, 0.0),
        ("\ud800\0", 0.0),
    ],
)
def test_an_answer_is_compared_with_the_reference(
    tmp_path: Path, answer: str, score: float
) -> None:
    verdict = judge(tmp_path, REVIEWS, answer)
    assert verdict.score == score
    assert bool(verdict.reasons) == (score == 0.0)


@pytest.mark.parametrize(
    ("answer", "score"),
    [("N/A", 1.0), ("NOT_FOUND_ERROR", 1.0), ("PERMISSION_DENIED_ERROR", 0.0), ("nobody", 0.0)],
)
def test_what_cannot_be_done_has_a_status(tmp_path: Path, answer: str, score: float) -> None:
    assert judge(tmp_path, NONE_FOUND, answer).score == score


@pytest.mark.parametrize("answer", ["^.*$", '["^.*$"]', " \uff3e.*\uff04", '["^quest.*", "x$"]'])
def test_a_regular_expression_is_no_answer(tmp_path: Path, answer: str) -> None:
    assert judge(tmp_path, BEST_SELLER, answer).score == 0.0


def test_nor_is_one_a_status(tmp_path: Path) -> None:
    answer = {"task_type": "^.*$", "status": "^.*$", "retrieved_data": [6]}
    assert judge(tmp_path, REVIEWS, json.dumps(answer)).score == 0.0


def test_nor_is_a_list_of_guesses_one_answer(tmp_path: Path) -> None:
    assert judge(tmp_path, REVIEWS, "[[5, 6, 7]]").score == 0.0
    guesses = ["driving", "walking"]
    routes = [{"mode": guesses, "duration": "2min"}, {"mode": guesses, "duration": "16min"}]
    assert judge(tmp_path, 16, json.dumps(routes)).score == 0.0
    routes = [{"mode": "walking", "duration": "16min"}, {"mode": "driving", "duration": "2min"}]
    assert judge(tmp_path, 16, json.dumps(routes)).score == 1.0


def test_every_task_can_be_judged_and_those_of_an_answer_alone_take_the_reference(
    tmp_path: Path,
) -> None:
    package = verified.package_for(tuple(sorted(ADDRESSES.items())))
    answers_alone = 0
    for task in package.get_tasks():
        expected = task.expected_agent_response
        reply = {"task_type": expected.task_type, "status": expected.status}
        data = one_of(expected.retrieved_data, task.eval[0].results_schema)
        answer = json.dumps({**reply, "retrieved_data": data or None})
        address = ADDRESSES[task.sites[0]]
        verdict = judge(tmp_path, task.task_id, answer, request(address + "/"))
        if task.task_id in verified.UNSCORABLE:
            assert verdict.score is None
        elif '"^' in answer:
            assert verdict.score == 0.0  # the reference is an expression, not an answer
        elif len(task.eval) == 1:
            answers_alone += 1
            assert verdict.score == 1.0, (task.task_id, verdict)
            assert judge(tmp_path, task.task_id, "?", request(address + "/")).score == 0.0
        else:
            assert not any(reason.startswith("Error") for reason in verdict.reasons), verdict
    assert answers_alone > 300


def one_of(value: Any, schema: Mapping[str, Any]) -> Any:
    """Choose the first of several right values, as references have them where one is wanted."""
    if schema.get("type") == "array":
        return [one_of(item, schema["items"]) for item in value or ()]
    if isinstance(value, Mapping):
        fields = schema.get("properties", {})
        return {name: one_of(inner, fields.get(name, {})) for name, inner in value.items()}
    return value[0] if isinstance(value, list | tuple) else value


def test_the_unscored_tasks_are_those_that_the_package_cannot_score(tmp_path: Path) -> None:
    package = verified.package_for(tuple(sorted(ADDRESSES.items())))
    for number in verified.UNSCORABLE:
        task = package.get_task(number)
        expected = task.expected_agent_response
        answer = {
            "task_type": expected.task_type,
            "status": expected.status,
            "retrieved_data": None,
        }
        event = request(ADDRESSES[task.sites[0]] + "/")
        result = package.evaluate_task(task_id=number, agent_response=answer, network_trace=[event])
        message = str(result.evaluators_results)
        assert "Alternatives require 2+ items" in message or "Missing keys in actual" in message


# Requests ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pages", "score"),
    [
        (["/", "/dashboard/todos"], 1.0),
        (["/dashboard/todos?page=2"], 1.0),
        (["/dashboard/todos", "/dashboard"], 0.0),
        (["/"], 0.0),
    ],
)
def test_the_last_page_is_the_one_that_was_asked_for(
    tmp_path: Path, pages: list[str], score: float
) -> None:
    entries = [request(ADDRESSES["gitlab"] + page) for page in pages]
    assert judge(tmp_path, TODOS, "", *entries).score == score


def test_a_page_that_is_not_there_does_not_count(tmp_path: Path) -> None:
    missing = request(ADDRESSES["gitlab"] + "/dashboard/todos", status=404)
    assert judge(tmp_path, TODOS, "", missing).score == 0.0


def test_another_site_s_requests_do_no_harm(tmp_path: Path) -> None:
    entries = [
        request(url)
        for url in (
            "https://example.org/x?y=1",
            "data:text/html,x",
            "chrome-error://x/",
            ADDRESSES["gitlab"] + "/dashboard/todos",
        )
    ]
    assert judge(tmp_path, TODOS, "done", *entries).score == 1.0


@pytest.mark.parametrize(
    ("text", "status", "score"),
    [
        ("I am a robot", 302, 1.0),
        ("I am no robot", 302, 0.0),
        ("I am a robot", 200, 0.0),
        ("^.*$", 302, 0.0),
    ],
)
def test_a_change_is_the_request_that_makes_it(
    tmp_path: Path, text: str, status: int, score: float
) -> None:
    page = ADDRESSES["reddit"] + "/user/MarvelsGrantMan136/edit_biography"
    sent = request(page, status=status, form={"user_biography[biography]": text})
    assert judge(tmp_path, BIOGRAPHY, "", request(page), sent).score == score
    assert judge(tmp_path, BIOGRAPHY, "N/A", request(page), sent).score == 0.0


# What is not the policy's fault -----------------------------------------------------------------


@pytest.mark.parametrize("text", [None, "", "{}", '{"log": {"entries": []}}'])
def test_an_unreadable_recording_is_a_failure_of_the_machinery(
    tmp_path: Path, text: str | None
) -> None:
    har = tmp_path / "network.har"
    if text is not None:
        har.write_text(text, encoding="utf-8")
    with pytest.raises(EnvFailure, match="unreadable"):
        verified.judge(REVIEWS, "6", har, sites=ADDRESSES)


def test_a_task_needs_its_sites(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"the task 44 needs \['gitlab'\]"):
        verified.judge(TODOS, "", tmp_path / "none.har", sites={"reddit": "http://host"})
