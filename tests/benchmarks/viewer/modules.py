"""Runs the page's own modules in Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.viewer.pages import page_files

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node.js")


def run_script(folder: Path, script: str) -> Any:
    """Return the JSON value that a module prints which stands beside the page's own.

    Args:
        folder: where the modules are written.
        script: the module's text.
    """
    assert NODE is not None
    for name, (body, _) in page_files().items():
        if name.endswith(".js"):
            (folder / name).write_bytes(body)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "test.js").write_text(script)
    done = subprocess.run(
        [NODE, "test.js"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
