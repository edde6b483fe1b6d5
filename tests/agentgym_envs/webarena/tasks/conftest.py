from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:  # the fixtures import what needs the `web` extra
    from agentgym_envs.webarena.env import WebArenaEnv
    from agentgym_envs.webarena.tasks.template import World


@pytest.fixture(scope="module")
def world() -> World:
    from agentgym_envs.webarena.tasks.template import World

    return World()


@pytest.fixture(scope="module")
def env() -> Iterator[WebArenaEnv]:
    from agentgym_envs.webarena.env import WebArenaEnv

    made = WebArenaEnv()
    yield made
    made.close()
