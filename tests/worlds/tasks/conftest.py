"""Leaves everything out where the `web` extra is not installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # the fixtures import what needs the `web` extra
    from agentgym_envs.webarena.env import WebArenaEnv
    from worlds.tasks.template import World

_EXTRA = ("cssselect", "jinja2", "lxml", "python_multipart", "starlette")

collect_ignore_glob = [] if all(map(find_spec, _EXTRA)) else ["*"]


@pytest.fixture(scope="module")
def world() -> World:
    from tests.worlds.tasks.arriving import WORLD

    return WORLD


@pytest.fixture(scope="module")
def env() -> Iterator[WebArenaEnv]:
    from agentgym_envs.webarena.env import WebArenaEnv

    made = WebArenaEnv()
    yield made
    made.close()
