"""Which version of the embedded sites and tasks this is.

A number means the same task on every machine as long as the content has this hash; a test makes
everything anew and compares.
"""

from __future__ import annotations

VERSION = 2
"""Raise it with every change that changes the sites' content or what a number means, and pin the
hash anew with `python -m agentgym_envs.webarena.tasks.pin`."""

CONTENT_HASH = "d094b349e1411665eaa46b34afe4648a074127afd4d8da59ebcb3420cf4b8986"
"""SHA-256 of the databases' rows and of all tasks of this version."""

SOURCE = f"agentgym-sites v{VERSION} ({CONTENT_HASH[:12]})"
