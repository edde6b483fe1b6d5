"""Names the folder in which SearchQA caches what can be made again."""

from __future__ import annotations

import os
import sys
from pathlib import Path

CACHE_VARIABLE = "AGENTGYM_CACHE"


def cache_folder() -> Path:
    """Return SearchQA's folder for what can be made again; it may not exist yet.

    It is `searchqa` in `$AGENTGYM_CACHE`, else in `agentgym-envs` where the platform has caches.
    """
    if chosen := os.environ.get(CACHE_VARIABLE):
        return Path(chosen).expanduser() / "searchqa"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "agentgym-envs" / "searchqa"
