"""Leaves out what needs the `search` extra where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

_NEEDING_SEARCH = [
    "test_compat.py",
    "test_env.py",
    "test_expert.py",
    "test_expert_embedded.py",
    "test_baselines.py",
    "test_fuzz.py",
]
_NEEDING_MONTY = ["test_python_tool.py"]

collect_ignore = [
    *([] if find_spec("bm25s") and find_spec("pydantic_monty") else _NEEDING_SEARCH),
    *([] if find_spec("pydantic_monty") else _NEEDING_MONTY),
]
