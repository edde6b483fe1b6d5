"""The Python blocks of the pages run as they stand, and the pages point at things that exist."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_envs import registered_ids
from agentgym_envs.registration import registry
from benchmarks.cli.main import COMMANDS
from trainers import installed_trainers

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ELSEWHERE = ("<!-- trains -->\n", "<!-- sweeps -->\n")
"""Stand above blocks that train or sweep; the tests of trainers and sweeps run them, for a step."""


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def python_blocks(page: Path) -> list[str]:
    blocks = re.split(r"^```python\n(.*?)^```$", page.read_text("utf-8"), flags=re.M | re.S)
    return [
        code
        for before, code in zip(blocks[::2], blocks[1::2], strict=False)
        if not before.endswith(ELSEWHERE)
    ]


def local_links(page: Path) -> list[str]:
    """List the files that a page's links and pictures name, without their anchors."""
    text = page.read_text("utf-8")
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text)
    targets += re.findall(r'<img src="([^"]+)"', text)
    return [target for target in targets if "://" not in target]


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)], ids=name)
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
        registry.REGISTERED.remove(env_id)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    assert [target for target in local_links(page) if not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_a_table_of_a_page_has_no_empty_line(page: Path) -> None:
    """An empty line ends it, so the rows below would be shown as text."""
    text = page.read_text("utf-8")
    assert re.findall(r"^\|.*\n\n(\|.*)\n(?!\|[ :]*-)", text, flags=re.M) == []


def test_the_index_lists_every_page_and_every_picture_is_shown() -> None:
    docs = ROOT / "docs"
    listed = {(docs / link).resolve() for link in local_links(docs / "index.md")}
    assert {page for page in docs.rglob("*.md") if page.name != "index.md"} - listed == set()
    shown = {(page.parent / link).resolve() for page in PAGES for link in local_links(page)}
    assert set(docs.rglob("*.png")) - shown == set()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_commands_of_a_page_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    used = set(re.findall(r"^agentgym ([a-z-]+)", text, flags=re.M))
    assert used <= set(COMMANDS)
    assert set(re.findall(r"agentgym train ([a-z_]+)", text)) <= set(installed_trainers())
    made = set(re.findall(r"^make ([a-z-]+)", text, flags=re.M))
    assert made <= set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), flags=re.M))


def test_the_smallest_environment_has_at_most_45_lines() -> None:
    """Expert, splits, four formats and registration are in them; the next block checks it."""
    smallest, checked, *_ = python_blocks(ROOT / "docs" / "tutorials" / "own_environment.md")
    assert "expert_moves" in smallest and 'register_env("mylab/Guess-v0"' in smallest
    assert len(smallest.strip().splitlines()) <= 45
    assert 'check_text_env("mylab/Guess-v0")' in checked
