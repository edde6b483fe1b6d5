"""A server of small games; none of these tests where the `serve` extra is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec

import pytest

from tests.helpers import COUNTING_ID, FRAGILE_ID, register_helpers

_HAS_EXTRA = all(find_spec(name) for name in ("starlette", "uvicorn", "wsproto", "httpx"))

collect_ignore_glob = [] if _HAS_EXTRA else ["*.py"]

Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Serve environments by id with the limits and options given; the address."""
    from tests.wrappers.serving.clients import serving
    from wrappers.serving.app import make_app
    from wrappers.serving.environments import served
    from wrappers.serving.limits import Limits

    register_helpers()
    with ExitStack() as stack:

        def start(
            *env_ids: str,
            token: str | None = None,
            host: str = "127.0.0.1",
            protocols: tuple[str, ...] = ("openenv", "agentgym"),
            **limits: float,
        ) -> str:
            app = make_app(
                served(env_ids or (FRAGILE_ID,), {}),
                limits=Limits(**limits),
                token=token,
                host=host,
                protocols=protocols,
            )
            return stack.enter_context(serving(app))

        yield start


@pytest.fixture(scope="module")
def counting() -> Iterator[str]:
    """The address of a server of the counting game alone."""
    from tests.wrappers.serving.clients import serving
    from wrappers.serving.app import make_app
    from wrappers.serving.environments import served

    register_helpers()
    with serving(make_app(served([COUNTING_ID], {}))) as url:
        yield url
