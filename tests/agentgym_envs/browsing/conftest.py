"""Chromium for the tests that need it, and none of them where the `browser` extra is missing."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

_HAS_EXTRA = find_spec("playwright") is not None and find_spec("uvicorn") is not None

collect_ignore_glob = [] if _HAS_EXTRA else ["chromium_*.py", "test_chromium_*.py"]


@pytest.fixture(scope="session")
def chromium() -> Iterator[None]:
    """Skip where there is no Chromium; end it after the last test."""
    if not _HAS_EXTRA:
        pytest.skip("needs the browser extra")
    from agentgym_envs.browsing.chromium.pool import close_chromium, shared_chromium
    from agentgym_envs.browsing.chromium.server import close_server

    try:
        shared_chromium()
    except ImportError as error:
        pytest.skip(str(error))
    yield
    close_chromium()
    close_server()
