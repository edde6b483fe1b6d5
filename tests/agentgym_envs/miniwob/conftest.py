"""Leaves out what needs the `miniwob` extra where it is missing, and brings Chromium's fixture."""

from __future__ import annotations

from importlib.util import find_spec

from tests.agentgym_envs.browsing.conftest import chromium

__all__ = ["chromium"]

_EXTRA = ("miniwob", "playwright", "starlette", "uvicorn")

collect_ignore_glob = [] if all(map(find_spec, _EXTRA)) else ["test_env.py", "test_pages.py"]
