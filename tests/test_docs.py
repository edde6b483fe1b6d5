"""The Python blocks of the pages run as they stand, and the pages point at things that exist."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_envs import registered_ids, registry
from benchmarks.cli.main import COMMANDS, _trainers

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
TRAINS = "<!-- trains -->\n"
"""Stands above blocks that train; the trainers' tests run such code on smaller models."""


def python_blocks(page: Path) -> list[str]:
    blocks = re.split(r"^```python\n(.*?)^```$", page.read_text("utf-8"), flags=re.M | re.S)
    return [
        code
        for before, code in zip(blocks[::2], blocks[1::2], strict=False)
        if not before.endswith(TRAINS)
    ]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if python_blocks(page)], ids=lambda page: page.name
)
def test_the_python_blocks_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    known = registered_ids()
    module = types.ModuleType(f"page_{page.stem}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    for number, code in enumerate(python_blocks(page)):
        exec(compile(code, f"{page.name}, block {number}", "exec"), module.__dict__)
    for env_id in set(registered_ids()) - set(known):  # other tests must not see them
        del gym.registry[env_id]
        registry._REGISTERED.remove(env_id)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#]+)\)", page.read_text("utf-8"))
    local = [target for target in targets if "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    used = set(re.findall(r"^agentgym ([a-z-]+)", text, flags=re.M))
    assert used <= set(COMMANDS)
    assert set(re.findall(r"agentgym train ([a-z_]+)", text)) <= set(_trainers())
    made = set(re.findall(r"^make ([a-z-]+)", text, flags=re.M))
    assert made <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))
