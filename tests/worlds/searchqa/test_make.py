from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from agentgym_envs.searchqa.questions import Question
from agentgym_envs.searchqa.sources import open_source
from agentgym_envs.searchqa.world import (
    EMBEDDED,
    WORLD,
    embedded_world,
    load_world,
)
from worlds.searchqa import make as make_module
from worlds.searchqa.make import SOURCES, VERSION, make, pack
from worlds.sources import sources_digest

ABOUT = json.loads(WORLD.about_in(EMBEDDED).read_text("utf-8"))


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    held = embedded_world()[1]
    return [held.question(number) for number in range(len(held))]


def test_the_shipped_content_is_made_by_these_sources() -> None:
    """Fails when the generator changed: raise VERSION if content does, then `make worlds`."""
    assert ABOUT["sources"] == sources_digest(SOURCES)


def test_packing_loses_nothing(questions: list[Question]) -> None:
    corpus, held = embedded_world()
    name = f"agentgym-world v{VERSION}"
    content = pack(name, corpus.passages, questions)
    assert sha256(content).hexdigest() == ABOUT["content"]
    assert corpus.source == held.source == f"{name} ({ABOUT['content'][:12]})"


def test_what_is_written_is_what_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, questions: list[Question]
) -> None:
    passages = list(embedded_world()[0].passages)[:50]
    few = [replace(question, number=number) for number, question in enumerate(questions[::300])]
    monkeypatch.setattr(make_module, "generate", lambda seed: (passages, few))
    make(tmp_path, seed=3)
    corpus, held = load_world(tmp_path)
    assert list(corpus.passages) == passages
    assert [held.question(number) for number in range(len(held))] == few
    assert set(held.numbers("paper_test")) <= set(held.numbers("test"))
    assert corpus.source.startswith(f"agentgym-world v{VERSION} seed 3 (")


def test_what_is_written_again_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, questions: list[Question]
) -> None:
    """Another version of the compressor writes other bytes for the same content."""
    monkeypatch.setattr(make_module, "generate", lambda seed: ([], questions[:1]))
    make(tmp_path, seed=3)
    WORLD.file_in(tmp_path).write_bytes(b"as another compressor writes it")
    make(tmp_path, seed=3)
    assert WORLD.file_in(tmp_path).read_bytes() == b"as another compressor writes it"


def test_there_is_only_one_scale(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no --scale"):
        make(tmp_path, seed=1, scale=2)


@pytest.mark.slow
@pytest.mark.parametrize("hash_seed", ["0", "77"])
def test_the_shipped_content_is_made_again_byte_for_byte(tmp_path: Path, hash_seed: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "worlds", "searchqa", "--out", str(tmp_path)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=True,
    )
    assert json.loads(WORLD.about_in(tmp_path).read_text("utf-8")) == ABOUT


@pytest.mark.slow
def test_another_seed_makes_a_world_that_shares_no_question(
    tmp_path: Path, questions: list[Question]
) -> None:
    make(tmp_path, seed=7)
    fresh = open_source(tmp_path, None)
    assert fresh.name.startswith(f"agentgym-world v{VERSION} seed 7 (")
    asked = {question.text for question in questions}
    texts = {
        fresh.tasks.questions.question(number).text
        for split in fresh.tasks.splits
        for number in fresh.tasks.numbers(split)
    }
    assert len(texts & asked) <= 0.01 * len(texts)
