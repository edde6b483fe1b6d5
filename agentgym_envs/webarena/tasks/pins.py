"""The version of the embedded sites and tasks, and the test panel; `pin` writes hash and panel.

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

PAPER_TEST: tuple[int, ...] = tuple(
    int(number)
    for number in """
    100 101 102 400 401 700 701 1000 1001 1500 1501 1900 1901 2200 2201 3200 3201 3500 3501 3900
    3901 4200 4201 4600 4601 4800 4801 4900 5100 5800 6800 6801 6900 6901 7100 7101 7200 7201
    7900 7901 8200 8600 8900 9000 9700 10100 10500 11000 11400 11700
    """.split()
)
"""The numbers of the panel `paper_test`."""
