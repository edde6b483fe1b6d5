"""Which version of the embedded sites and tasks this is.

A number means the same task on every machine as long as the content has this hash; a test makes
everything anew and compares.
"""

from __future__ import annotations

VERSION = 2
"""Raise it with every change that changes the sites' content or what a number means, and pin the
hash anew with `python -m agentgym_envs.webarena.tasks.pin`."""

CONTENT_HASH = "5123b045a126a26c3acfcb545d17bb52ff0fe3ff720200e531483369687a02f8"
"""SHA-256 of the databases' rows and of all tasks of this version."""

SOURCE = f"agentgym-sites v{VERSION} ({CONTENT_HASH[:12]})"
