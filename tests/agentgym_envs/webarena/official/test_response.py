"""Answers as `webarena-verified` wants them."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs.webarena.official.response import response


def judged_as(status: str, data: Any) -> dict[str, Any]:
    return {"task_type": "retrieve", "status": status, "retrieved_data": data}


@pytest.mark.parametrize(
    ("answer", "status", "data"),
    [
        ("Quest Band", "SUCCESS", ["Quest Band"]),
        (" 42 ", "SUCCESS", ["42"]),
        ("", "SUCCESS", None),
        ('["a", 2]', "SUCCESS", ["a", 2]),
        ("[]", "SUCCESS", None),
        ('{"status": "pending", "total": 3}', "SUCCESS", [{"status": "pending", "total": 3}]),
        ("[not JSON]", "SUCCESS", ["[not JSON]"]),
        ("[" * 100_000, "SUCCESS", ["[" * 100_000]),
        ("[" + "9" * 10_000 + "]", "SUCCESS", ["[" + "9" * 10_000 + "]"]),
        ("\ud800\0", "SUCCESS", ["\ud800\0"]),
        ("N/A", "NOT_FOUND_ERROR", None),
        ("'n/a'", "NOT_FOUND_ERROR", None),
        ("permission_denied_error", "PERMISSION_DENIED_ERROR", None),
        ("SUCCESS", "SUCCESS", None),
    ],
)
def test_a_bare_answer_becomes_a_response(answer: str, status: str, data: Any) -> None:
    assert response(answer, task_type="retrieve") == judged_as(status, data)


def test_a_response_of_the_package_s_own_form_stays_as_it_is() -> None:
    answer = '{"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": null}'
    expected = {"task_type": "MUTATE", "status": "SUCCESS", "retrieved_data": None}
    assert response(answer, task_type="retrieve") == expected
    older = '{"performed_operation": 7}'
    assert response(older, task_type="retrieve") == {"performed_operation": 7}


@pytest.mark.parametrize("task_type", ["mutate", "NAVIGATE"])
def test_tasks_that_retrieve_nothing_get_no_data(task_type: str) -> None:
    answer = response("all done", task_type=task_type)
    assert answer == {"task_type": task_type, "status": "SUCCESS", "retrieved_data": None}
