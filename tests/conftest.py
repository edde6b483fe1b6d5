from __future__ import annotations

import signal

import pytest
from hypothesis import settings

from agentgym_envs import secrets

# The same examples in every run, on slow machines too.
settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.load_profile("suite")

# Where the tests are started in the background, a shell makes them ignore Ctrl-C, and the commands
# that they start inherit that; some tests are about Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _own_secrets(monkeypatch):
    """Start without hidden secrets: one test's password may be a word of another's messages."""
    monkeypatch.setattr(secrets, "_true", {})
    monkeypatch.setattr(secrets, "_pieces", set())
