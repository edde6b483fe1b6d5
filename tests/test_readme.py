"""README's commands run, in order, where its first command has just installed the package.

Its `make quickstart` is played as the Makefile has it, with what it installs and nothing else: the
packages of other extras are hidden from every process.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from agentgym_envs.machinery.requirements import DISTRIBUTION, all_packages, extras, own_packages

ROOT = Path(__file__).parent.parent
SMALLER = {
    "quickstart": "--batches 1 --episodes 16 --num_tasks 2 --samples 1 --max_turns 4",
    "train sft": "--max_steps 1 --eval_strategy no",
    "train grpo": "--max_steps 1 --gradient_accumulation_steps 2 --eval_strategy no",
    "eval": "--num_tasks 2 --max_turns 3",
    "sweep": "--turns 2",
    "view": "--export episodes.html",
}
"""What makes a command of the page short, or end by itself."""


def commands() -> Iterator[list[str]]:
    """Yield the commands of README's first two blocks, one as its words."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    for line in "".join(blocks[:2]).splitlines():
        yield shlex.split(line, comments=True)


def recipe(target: str) -> str:
    """Return the lines of a target of the Makefile."""
    text = (ROOT / "Makefile").read_text("utf-8")
    found = re.search(rf"^{re.escape(target)}:[^\n]*\n((?:\t[^\n]*\n)+)", text, re.M)
    assert found is not None, target
    return found[1]


def installed_by_quickstart() -> set[str]:
    """Return the extras that `make quickstart` installs."""
    found = re.search(r"-e '\.\[(.+)\]'", recipe("$(VENV)/.train"))
    assert found is not None
    return set(found[1].split(","))


def required(names: set[str]) -> set[str]:
    """Return distributions with all that they require, in lower case."""
    done: set[str] = set()
    while waiting := names - done:
        for name in waiting:
            done.add(name)
            try:
                lines = metadata.requires(name) or []
            except metadata.PackageNotFoundError:
                continue
            needs = map(Requirement, lines)
            names = names | {
                one.name.lower()
                for one in needs
                if one.marker is None or one.marker.evaluate({"extra": ""})
            }
    return done


def hidden() -> set[str]:
    """Return the modules of the extras that `make quickstart` does not install."""
    there = {one.name.lower() for one in own_packages()}
    for extra in installed_by_quickstart():
        there |= {one.name.lower() for one in all_packages(extra)}
    others = {one.name.lower() for extra in extras() for one in own_packages(extra)}
    absent = others - required(there) - {DISTRIBUTION, "setuptools"}
    modules = metadata.packages_distributions()
    return {module for module, owners in modules.items() if {o.lower() for o in owners} <= absent}


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """Return the environment of a shell in which `make quickstart` has just ended."""
    (tmp_path / "hide").mkdir()
    lines = [f"import sys\nsys.modules |= dict.fromkeys({sorted(hidden())})\n"]
    (tmp_path / "hide" / "sitecustomize.py").write_text("".join(lines))
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "agentgym"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m agentgym_envs "$@"\n')
    script.chmod(0o755)
    path = os.pathsep.join([str(tmp_path / "bin"), os.environ["PATH"]])
    python_path = os.pathsep.join([str(tmp_path / "hide"), str(ROOT)])
    return {**os.environ, "PATH": path, "PYTHONPATH": python_path}


def run(words: list[str], shell: dict[str, str], folder: Path) -> str:
    done = subprocess.run(
        words, cwd=folder, env=shell, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{shlex.join(words)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.full
def test_make_quickstart_installs_what_readmes_suite_needs(
    shell: dict[str, str], tmp_path: Path
) -> None:
    assert {"pytest", "hypothesis", "mypy"} <= hidden() and not {"torch", "lxml"} & hidden()
    (suite,) = {words[3] for words in commands() if words[:3] == ["agentgym", "sweep", "--suite"]}
    table = run(["agentgym", "suites", suite], shell, tmp_path)
    assert "WebArena" in table and "SciWorld" in table


def test_the_quickstart_ends_with_what_activates_the_environment() -> None:
    assert "agentgym quickstart" in recipe("quickstart")
    first, second, *_ = commands()
    assert first == ["make", "quickstart"] and second == ["source", ".venv/bin/activate"]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_readmes_commands_run_in_order(shell: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "clone"
    folder.mkdir()
    for words in commands():
        if words == ["make", "quickstart"]:
            words = ["agentgym", "quickstart"]
        if words[0] != "agentgym":
            continue
        name = " ".join(words[1:3]) if words[1] == "train" else words[1]
        out = run([*words, *SMALLER.get(name, "").split()], shell, folder)
        if name == "quickstart":
            last = out.partition("\nnext:\n")[2].splitlines()[-3:]
            assert [line.split()[0] for line in last] == ["agentgym"] * 3
    assert (folder / "runs/sweep/report.html").is_file()
    assert (folder / "episodes.html").is_file()
