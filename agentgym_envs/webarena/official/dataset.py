"""The 812 official tasks, from the package `webarena-verified`; nothing of it is copied here.

The package carries WebArena's own file unchanged, `test.raw.json`. It is read as a file: the
package's modules, and what they need, are not imported.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from agentgym_envs.webarena.tasks.files import WebTask, read_tasks

PACKAGE = "webarena-verified"

_MODULE = "webarena_verified"
_FILE = Path("assets") / "dataset" / "test.raw.json"


def source_name() -> str:
    """Name the tasks and their version."""
    return f"webarena ({PACKAGE} {version(PACKAGE)})"


@cache
def official_tasks() -> tuple[WebTask, ...]:
    """Return the 812 tasks by their official numbers, which are AgentGym's too.

    Raises:
        ImportError: the package is not installed.
    """
    spec = find_spec(_MODULE)
    if spec is None or not spec.submodule_search_locations:
        raise ImportError(
            f"the official WebArena tasks come from {PACKAGE}: "
            'pip install "agentgym-envs[official]"'
        )
    return tuple(read_tasks(Path(spec.submodule_search_locations[0]) / _FILE))
