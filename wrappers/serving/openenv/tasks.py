"""OpenEnv's Task API: the splits of an environment and the tasks of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from agentgym_envs.errors import UnknownTask
from wrappers.serving.endpoints import Endpoint, Endpoints, json_response, read_body, whole_number
from wrappers.serving.environments import ServedEnvironment

Asked = Callable[[ServedEnvironment, dict[str, Any]], dict[str, Any]]

_TYPES = ("train", "validation", "test")


def list_endpoint(environments: Sequence[ServedEnvironment]) -> Endpoint:
    """Return the endpoint that lists environments by name."""

    async def list_environments(_: Request) -> Response:
        return json_response([environment.name for environment in environments])

    return list_environments


def endpoints(environment: ServedEnvironment) -> Endpoints:
    """Return the endpoints of one environment, by paths after its name."""

    async def splits(_: Request) -> Response:
        return json_response(_splits(environment))

    return {
        ("GET", "/splits"): splits,
        ("POST", "/tasks"): _endpoint(environment, _tasks),
        ("POST", "/num_tasks"): _endpoint(environment, _num_tasks),
        ("POST", "/task"): _endpoint(environment, _task),
        ("POST", "/task_range"): _endpoint(environment, _task_range),
    }


def _endpoint(environment: ServedEnvironment, answer: Asked) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            body = await read_body(request)
            return json_response(answer(environment, body))
        except UnknownTask as error:
            return json_response({"detail": str(error)}, 400)
        except ValueError as error:
            return json_response({"detail": str(error)}, 422)

    return endpoint


def _splits(environment: ServedEnvironment) -> list[dict[str, str]]:
    panels = environment.sample.task_set.panels
    return [{"name": name, "type": _type(panels.get(name, name))} for name in environment.splits]


def _type(split: str) -> str:
    return split if split in _TYPES else "test"


def _tasks(environment: ServedEnvironment, body: dict[str, Any]) -> dict[str, Any]:
    ids = environment.task_ids(_split(body))
    return {"tasks": _described(environment, ids), "env_name": environment.name}


def _num_tasks(environment: ServedEnvironment, body: dict[str, Any]) -> dict[str, Any]:
    return {"num_tasks": len(environment.task_ids(_split(body)))}


def _task(environment: ServedEnvironment, body: dict[str, Any]) -> dict[str, Any]:
    index = _place(body, "index", None)
    if index is None:
        raise ValueError("index must be a whole number, and is missing")
    task_id = environment.task_id(_split(body), index)
    return {"task": _described(environment, [task_id])[0]}


def _task_range(environment: ServedEnvironment, body: dict[str, Any]) -> dict[str, Any]:
    ids = environment.task_ids(_split(body))
    start, stop = _place(body, "start", 0), _place(body, "stop", len(ids))
    return {"tasks": _described(environment, ids[start:stop])}


def _described(environment: ServedEnvironment, ids: Sequence[str]) -> list[dict[str, str]]:
    task_set = environment.sample.task_set
    specs = map(task_set.spec, ids)
    return [{"task_id": s.task_id, "subtask": s.subtask, "split": s.split} for s in specs]


def _split(body: dict[str, Any]) -> str:
    split = body.get("split")
    if not isinstance(split, str):
        raise ValueError(f'split must be a name such as "train", got {split!r:.80}')
    return split


def _place(body: dict[str, Any], name: str, default: int | None) -> int | None:
    place = body.get(name)
    if place is None:
        return default
    number = whole_number(place)
    if number is None or number < 0:
        raise ValueError(f"{name} must be a whole number >= 0, got {place!r:.80}")
    return number
