"""A few tasks in WebArena's own form, on the embedded sites, with known ways to solve them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from agentgym_envs.webarena.env import WebArenaEnv


def task(number: int, evaluation: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Return a task; `values` replace what it is made of."""
    return {
        "sites": ["map"],
        "task_id": number,
        "require_login": True,
        "storage_state": None,
        "start_url": "http://homepage.test/",
        "geolocation": None,
        "intent_template": "Do {{what}}",
        "instantiation_dict": {"what": "it"},
        "intent": "Do it",
        "require_reset": False,
        "eval": {"reference_answers": None, "reference_url": "", "program_html": [], **evaluation},
        "intent_template_id": 7,
        **values,
    }


def string_task(number: int = 0, **values: Any) -> dict[str, Any]:
    """Return a task that wants the answer 42."""
    answers = {"exact_match": "42"}
    return task(number, {"eval_types": ["string_match"], "reference_answers": answers}, **values)


TASKS = [
    string_task(0, intent="What is the answer?"),
    task(
        1,
        {"eval_types": ["url_match"], "reference_url": "__MAP__/"},
        intent="Open the map.",
    ),
    task(
        2,
        {"eval_types": ["string_match"], "reference_answers": {"fuzzy_match": ["a map"]}},
        intent="What is Wayfinder?",
    ),
    task(
        3,
        {
            "eval_types": ["program_html"],
            "program_html": [
                {
                    "url": "last",
                    "locator": "document.querySelector('h1').outerText",
                    "required_contents": {"exact_match": "Homepage"},
                }
            ],
        },
        intent="Stay on the home page.",
    ),
    task(
        4,
        {
            "eval_types": ["state_change", "string_match"],
            "reference_answers": {"must_include": ["done"]},
            "state_change": [{"shopping": {"admins": {"removed": [{"id": 1}]}}}],
        },
        sites=["shopping"],
        intent="Do the impossible.",
    ),
    task(
        5,
        {"eval_types": ["url_match"], "reference_url": "http://homepage.test/"},
        start_url="http://homepage.test/ |AND| http://map.test/",
        intent="Open two tabs.",
    ),
]


def write(path: Path, tasks: list[dict[str, Any]] | None = None) -> Path:
    """Write a task file and return its path."""
    path.write_text(json.dumps(TASKS if tasks is None else tasks), encoding="utf-8")
    return path


def make(path: Path, **kwargs: Any) -> WebArenaEnv:
    """Make an environment over the small tasks."""
    return WebArenaEnv(tasks_file=write(path / "small.json"), split="test", **kwargs)
