from __future__ import annotations

import json
import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from agentgym_envs.searchqa.questions import Question
from agentgym_envs.searchqa.world import ABOUT_FILE, EMBEDDED, embedded_world, unpack
from worlds.searchqa.make import SOURCES, make, pack
from worlds.sources import sources_digest

ABOUT = json.loads((EMBEDDED / ABOUT_FILE).read_text("utf-8"))


@pytest.fixture(scope="module")
def questions() -> list[Question]:
    held = embedded_world()[1]
    return [held.question(number) for number in range(len(held))]


def test_the_shipped_content_is_made_by_these_sources() -> None:
    """Fails when the generator changed: raise VERSION if content does, then `make worlds`."""
    assert ABOUT["sources"] == sources_digest(SOURCES)


def test_packing_loses_nothing(questions: list[Question]) -> None:
    passages = list(embedded_world()[0].passages)
    content = pack(passages, questions)
    assert unpack(content) == (passages, questions)
    assert sha256(content).hexdigest() == ABOUT["content"]


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
    assert json.loads((tmp_path / ABOUT_FILE).read_text("utf-8")) == ABOUT


@pytest.mark.slow
def test_another_seed_makes_a_world_that_shares_no_question(
    tmp_path: Path, questions: list[Question]
) -> None:
    from agentgym_envs.searchqa.sources import open_source

    make(tmp_path, seed=7)
    fresh = open_source(tmp_path, None)
    assert fresh.name.startswith(ABOUT["name"] + " seed 7 (")
    asked = {question.text for question in questions}
    texts = {
        fresh.tasks.questions.question(number).text
        for split in fresh.tasks.splits
        for number in fresh.tasks.numbers(split)
    }
    assert len(texts & asked) <= 0.01 * len(texts)
