from __future__ import annotations

import json
import lzma
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym_envs.searchqa.sources import load_corpus, open_source
from agentgym_envs.searchqa.world import (
    EMBEDDED,
    WORLD,
    embedded_world,
    load_world,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the world that is shipped."""
    return Path(shutil.copytree(EMBEDDED, tmp_path / "world"))


def test_both_halves_name_the_version_and_the_hash() -> None:
    about = json.loads(WORLD.about_in(EMBEDDED).read_text("utf-8"))
    corpus, questions = embedded_world()
    assert corpus.source == questions.source == f"agentgym-world v4 ({about['content'][:12]})"
    assert embedded_world()[0] is corpus


@pytest.mark.full
def test_its_folder_is_played_as_it_is_and_loaded_once(folder: Path) -> None:
    source = open_source(folder, None)
    assert source is open_source(str(folder), None)
    assert source.corpus is not None and len(source.corpus) == len(embedded_world()[0])
    assert source.tasks.numbers("paper_test") == embedded_world()[1].numbers("paper_test")
    assert len(load_corpus(folder)) == len(source.corpus)


def test_it_has_passages_of_its_own(folder: Path) -> None:
    for data_dir in (None, folder):
        with pytest.raises(ValueError, match="leave corpus out"):
            open_source(data_dir, embedded_world()[0])


@pytest.mark.parametrize("damage", ["cut", "garbage", "flipped", "empty", "gone", "other content"])
def test_damaged_content_is_refused(folder: Path, damage: str) -> None:
    path = WORLD.file_in(folder)
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "cut": whole[:middle],
            "garbage": b"not xz at all",
            "flipped": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
            "other content": lzma.compress(b"[0,0]"),
        }.get(damage, b"")
    )
    if damage == "gone":
        path.unlink()
    with pytest.raises(ValueError, match=r"world\.jsonl\.xz is damaged.*install agentgym-envs"):
        load_world(folder)


def test_a_folder_without_a_description_is_no_world(folder: Path) -> None:
    WORLD.about_in(folder).unlink()
    assert not WORLD.is_in(folder)


@pytest.mark.full
def test_the_first_use_needs_no_cache_and_little_time() -> None:
    """Its own processor time, since other processes may run beside it."""
    pytest.importorskip("bm25s")
    code = (
        "import time, agentgym_envs, gymnasium\n"
        "env = gymnasium.make('agentgym/SearchQA-v0')\n"
        "env.reset(seed=0)\n"
        "print(time.process_time())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(run.stdout) < 4.0
