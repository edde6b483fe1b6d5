"""Turns the answer of `stop` into the response that `webarena-verified` judges.

The package wants `{"task_type", "status", "retrieved_data"}`. An agent may say exactly that, as
JSON. A bare answer becomes one:

1. Its `task_type` is the task's own, so a bare answer is never wrong about it.
2. `N/A` is `NOT_FOUND_ERROR`; the name of a status is that status; everything else is `SUCCESS`.
3. The data are the items of a JSON list, else one item: a JSON object, or the text as it stands.
   There are none where nothing was said, nor with a status, nor in tasks that retrieve nothing.
"""

from __future__ import annotations

import json
from typing import Any

from agentgym_envs.webarena.evaluators.string_match import IMPOSSIBLE, clean

RETRIEVE = "retrieve"
SUCCESS = "SUCCESS"
NOT_FOUND = "NOT_FOUND_ERROR"
STATUSES = (
    SUCCESS,
    "ACTION_NOT_ALLOWED_ERROR",
    "PERMISSION_DENIED_ERROR",
    NOT_FOUND,
    "DATA_VALIDATION_ERROR",
    "UNKNOWN_ERROR",
)

_TASK_TYPES = ("task_type", "performed_operation")  # the second is its older name


def response(answer: str, *, task_type: str) -> dict[str, Any]:
    """Return a response of the package's form.

    Args:
        answer: what `stop` said.
        task_type: of the task: retrieve, mutate or navigate.
    """
    content = _read(answer)
    if isinstance(content, dict) and any(key in content for key in _TASK_TYPES):
        return content
    status, data = SUCCESS, content if isinstance(content, list) else [content]
    if isinstance(content, str):
        word = clean(content).upper()
        if word == IMPOSSIBLE:
            status, data = NOT_FOUND, []
        elif word in STATUSES:
            status, data = word, []
        elif not word:
            data = []
    retrieved = data if task_type.lower() == RETRIEVE else []
    return {"task_type": task_type, "status": status, "retrieved_data": retrieved or None}


def _read(answer: str) -> Any:
    """Return a JSON object or list as such, and everything else as text."""
    text = answer.strip()
    # A number or word stays text: it may be a part of a name, and the package reads numbers itself.
    if not text.startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
