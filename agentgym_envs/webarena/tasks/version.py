"""Which version of the embedded sites and tasks this is.

A number means the same task on every machine as long as the content has this hash; a test makes
everything anew and compares.
"""

from __future__ import annotations

VERSION = 1
"""Raise it with every change that changes the sites' content or what a number means, and pin the
hash anew with `python -m agentgym_envs.webarena.tasks.pin`."""

CONTENT_HASH = "1236cc5bf62a99f0e3124294cfcd07c7c31121620086543ed2c99e88e83318ca"
"""SHA-256 of the databases' rows and of all tasks of this version."""

SOURCE = f"agentgym-sites v{VERSION} ({CONTENT_HASH[:12]})"
