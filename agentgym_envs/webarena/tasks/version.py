"""Which version of the embedded sites and tasks this is.

A number means the same task on every machine as long as the content has this hash; a test makes
everything anew and compares.
"""

from __future__ import annotations

VERSION = 3
"""Raise it with every change that changes the sites' content or what a number means, and pin the
hash anew with `python -m agentgym_envs.webarena.tasks.pin`."""

CONTENT_HASH = "6a648fb2ca9a04b65ea9c7ec297f8f2a81db0dc6909da8c4db8694ced6b5cbc6"
"""SHA-256 of the databases' rows and of all tasks of this version."""

SOURCE = f"agentgym-sites v{VERSION} ({CONTENT_HASH[:12]})"
