"""Runs the `agentgym` command as `python -m agentgym_envs`, a name that no other has.

The command needs the packages `wrappers`, `trainers` and `benchmarks`, and others have folders of
such names too. The console script begins here as well, so that both tell what is in the way.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import agentgym_envs

SIBLINGS = ("wrappers", "trainers", "benchmarks")


def main() -> int:
    """Run the command.

    Returns:
        its exit status; 2 where a folder hides one of our packages.
    """
    for name in SIBLINGS:
        hiding = hidden_by(name)
        if hiding is not None:
            print(
                f"agentgym: {hiding} is in the way of the package {name!r} of agentgym-envs; "
                f"rename it, or call the command from another folder without {hiding.parent} on "
                f"PYTHONPATH",
                file=sys.stderr,
            )
            return 2
    return int(import_module("benchmarks.cli.main").main())


def hidden_by(name: str) -> Path | None:
    """Return the module that Python finds in place of one of our packages, or None if ours.

    Raises:
        ModuleNotFoundError: it finds nothing.
    """
    spec = find_spec(name)
    if spec is None:
        raise ModuleNotFoundError(f"agentgym-envs is installed without {name!r}", name=name)
    folders = list(spec.submodule_search_locations or ())
    location = Path(folders[0] if folders else str(spec.origin))  # or a module, such as trainers.py
    ours = Path(agentgym_envs.__file__).parent.with_name(name)
    return None if location.resolve() == ours.resolve() else location


if __name__ == "__main__":
    if sys.path[0] in ("", os.getcwd()):  # where `-m` puts it; last, it hides nothing of ours
        sys.path.append(sys.path.pop(0))
    sys.exit(main())
