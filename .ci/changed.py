"""Prints the test files that import, over any number of steps, a module that has changed.

Changed is what differs from the branch main, committed or not. A data file stands for the modules
of its folder. Prints `tests` where the set-up of all tests has changed, and nothing where no test
is touched.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("agentgym_envs", "wrappers", "trainers", "benchmarks", "lab", "worlds", "tests")
FOR_ALL = {"setup.cfg", "pyproject.toml", "constraints.txt", "tests/conftest.py", "tests/quick.py"}


def main() -> int:
    """Print the files, one to a line."""
    changed = set(changed_files())
    if changed & FOR_ALL:
        print("tests")
        return 0
    graph = {path: set(imports(path)) for name in PACKAGES for path in (ROOT / name).rglob("*.py")}
    reached = {ROOT / name for name in changed if name.endswith(".py")}
    for name in changed:  # the modules beside a data file, or in the nearest folder above it
        folder = (ROOT / name).parent
        while not name.endswith(".py") and folder.name and ROOT in folder.parents:
            if beside := set(folder.glob("*.py")):
                reached |= beside
                break
            folder = folder.parent
    while further := {
        path for path, used in graph.items() if path not in reached and used & reached
    }:
        reached |= further
    for path in [path for path in reached if path.name == "conftest.py"]:
        reached |= set(path.parent.rglob("test_*.py"))
    for path in sorted(reached):
        name = path.relative_to(ROOT).as_posix()
        if name.startswith("tests/") and path.name.startswith("test_") and path.is_file():
            print(name)
    if any(name.endswith(".md") for name in changed):
        print("tests/test_docs.py")
    return 0


def changed_files() -> Iterator[str]:
    """Yield the paths that differ from main, from the root."""
    base = git("merge-base", "HEAD", "main").strip()
    yield from git("diff", "--name-only", base).splitlines()
    yield from git("ls-files", "--others", "--exclude-standard").splitlines()


def git(*words: str) -> str:
    """Return the output of a git command."""
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def imports(path: Path) -> Iterator[Path]:
    """Yield the files of ours that a module imports, with the packages that they lie in."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            if name.split(".")[0] in PACKAGES:
                place = ROOT.joinpath(*name.split("."))
                yield from (place.with_suffix(".py"), place / "__init__.py")


if __name__ == "__main__":
    sys.exit(main())
