"""Names the folder for files that can be made or fetched again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "AGENTGYM_CACHE"


def cache_folder(name: str) -> Path:
    """Return the cache folder of one part of the suite, which may not exist yet.

    It is in `$AGENTGYM_CACHE`, else in `agentgym-envs` where the platform has caches.

    Args:
        name: the part's, such as `"searchqa"`.
    """
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser() / name
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "agentgym-envs" / name
