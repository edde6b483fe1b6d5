from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """A small Ray of this machine; without Ray its tests are skipped."""
    module = pytest.importorskip("ray", reason='needs Ray: pip install "agentgym-envs[ray]"')
    module.init(
        "local",
        num_cpus=8,
        object_store_memory=100_000_000,
        include_dashboard=False,
        log_to_driver=False,
    )
    yield module
    module.shutdown()


@pytest.fixture(autouse=True)
def _connected(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("ray"):
        request.getfixturevalue("ray")
