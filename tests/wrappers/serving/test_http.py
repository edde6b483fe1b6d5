"""OpenEnv over HTTP: descriptions, single requests, tasks; and where environments are found."""

from __future__ import annotations

import httpx
import pytest

from tests.helpers import COUNTING_ID, FRAGILE_ID
from tests.wrappers.serving.clients import Refused, Socket
from tests.wrappers.serving.conftest import Serve


def test_what_the_environment_is(counting: str) -> None:
    assert httpx.get(f"{counting}/health").json() == {"status": "healthy"}
    metadata = httpx.get(f"{counting}/metadata").json()
    assert metadata["name"] == "counting"
    assert metadata["description"].startswith("Reach a number")
    schema = httpx.get(f"{counting}/schema").json()
    assert set(schema) == {"action", "observation", "state"}
    assert schema["action"]["required"] == ["message"]
    document = httpx.get(f"{counting}/openapi.json").json()
    assert document["info"]["version"] == "1.0.0"
    assert {"/reset", "/step", "/state"} <= set(document["paths"])


def test_a_request_has_an_environment_of_its_own(counting: str) -> None:
    answer = httpx.post(f"{counting}/reset", json={"task_id": "counting_3"}).json()
    assert answer["metadata"]["task_id"] == "counting_3"
    assert (answer["reward"], answer["done"]) == (None, False)
    step = httpx.post(f"{counting}/step", json={"action": {"message": "add 1"}})
    assert step.status_code == 409
    assert "/ws" in step.json()["detail"]
    assert httpx.post(f"{counting}/step", json={"action": {"text": 1}}).status_code == 422
    assert httpx.post(f"{counting}/step", json={"message": "add 1"}).status_code == 422
    assert httpx.post(f"{counting}/reset", json={"colour": 1}).status_code == 422
    assert httpx.get(f"{counting}/state").json()["step_count"] == 0


@pytest.mark.parametrize("prefix", ["", "/counting", "/counting/counting"])
def test_the_tasks_are_those_of_the_splits(counting: str, prefix: str) -> None:
    url = f"{counting}{prefix}"
    splits = httpx.get(f"{url}/splits").json()
    assert {"name": "train", "type": "train"} in splits
    assert {"name": "validation", "type": "validation"} in splits
    assert httpx.post(f"{url}/num_tasks", json={"split": "test"}).json() == {"num_tasks": 10}
    tasks = httpx.post(f"{url}/tasks", json={"split": "test"}).json()
    assert tasks["env_name"] == "counting"
    assert tasks["tasks"][0] == {"task_id": "counting_50", "subtask": "small", "split": "test"}
    task = httpx.post(f"{url}/task", json={"split": "test", "index": 2}).json()["task"]
    assert task == tasks["tasks"][2]
    part = httpx.post(f"{url}/task_range", json={"split": "test", "start": 8}).json()["tasks"]
    assert part == tasks["tasks"][8:]
    part = httpx.post(f"{url}/task_range", json={"split": "test", "start": 1, "stop": 3}).json()
    assert part["tasks"] == tasks["tasks"][1:3]
    part = httpx.post(f"{url}/task_range", json={"split": "test", "start": 1.0, "stop": "3"}).json()
    assert part["tasks"] == tasks["tasks"][1:3]


@pytest.mark.parametrize(
    ("call", "body", "status"),
    [
        ("task", {"split": "test", "index": 10}, 400),
        ("task", {"split": "tset", "index": 0}, 400),
        ("task", {"split": "test"}, 422),
        ("task", {"split": "test", "index": -1}, 422),
        ("tasks", {}, 422),
        ("num_tasks", {"split": 3}, 422),
        ("task_range", {"split": "test", "start": "a"}, 422),
    ],
)
def test_a_task_that_there_is_not_is_refused(
    counting: str, call: str, body: dict[str, object], status: int
) -> None:
    answer = httpx.post(f"{counting}/{call}", json=body)
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_each_environment_is_under_its_name(serve: Serve) -> None:
    url = serve(COUNTING_ID, FRAGILE_ID)
    assert httpx.get(f"{url}/list_environments").json() == ["counting", "fragile"]
    assert httpx.get(f"{url}/fragile/list_environments").json() == ["fragile"]
    assert httpx.get(f"{url}/fragile/metadata").json()["name"] == "fragile"
    assert httpx.get(f"{url}/metadata").status_code == 404
    assert httpx.get(f"{url}/maze/splits").status_code == 404
    with Socket(url, "/fragile/ws") as client:
        assert client.observation("reset", task_id=1)
    with pytest.raises(Refused):
        Socket(url, "/ws")


def test_only_the_protocols_that_are_asked_for_are_served(serve: Serve) -> None:
    url = serve("agentgym/TextCraft-v0", protocols=("agentgym",))
    assert httpx.get(f"{url}/metadata").status_code == 404
    assert httpx.post(f"{url}/create").json()["id"] >= 0
    url = serve("agentgym/TextCraft-v0", protocols=("openenv",))
    assert httpx.post(f"{url}/create").status_code == 404
