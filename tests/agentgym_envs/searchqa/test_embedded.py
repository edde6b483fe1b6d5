from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym_envs.searchqa import embedded
from agentgym_envs.searchqa.world.store import compress, decompress, fingerprint, pack, unpack

_GENERATE = """
from agentgym_envs.searchqa.embedded import generate
from agentgym_envs.searchqa.world.store import fingerprint
print(fingerprint(generate()))
"""

_FILL = """
import sys
from pathlib import Path
from agentgym_envs.searchqa import embedded
content = Path(sys.argv[1]).read_bytes()
embedded.generate = lambda: content
corpus, questions = embedded.embedded_world()
print(len(corpus), len(questions))
"""


@pytest.fixture(scope="module")
def content() -> bytes:
    corpus, questions = embedded.embedded_world()
    listed = [questions.question(number) for number in range(len(questions))]
    return pack(corpus.passages, listed)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes) -> list[int]:
    """Point the cache at an empty folder; return a list that grows with each generation."""
    calls: list[int] = []

    def generate() -> bytes:
        calls.append(1)
        return content

    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path))
    monkeypatch.setattr(embedded, "generate", generate)
    return calls


def test_the_content_is_pinned_under_every_hash_seed(content: bytes) -> None:
    """Fails when the generator changes content: raise VERSION, then run `world.pin`."""
    run = subprocess.run(
        [sys.executable, "-c", _GENERATE],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == fingerprint(content) == embedded.CONTENT_HASH
    assert (embedded.SOURCE, embedded.VERSION) == ("agentgym-world v1 (228ddd5509c0)", 1)


def test_both_halves_name_the_source() -> None:
    corpus, questions = embedded.embedded_world()
    assert corpus.source == questions.source == embedded.SOURCE
    assert embedded.embedded_world()[0] is corpus


def test_packing_loses_nothing(content: bytes) -> None:
    assert pack(*unpack(content)) == content
    assert decompress(compress(content)) == content


def test_the_cache_is_filled_once_and_then_read(made: list[int], content: bytes) -> None:
    assert embedded.packed_content() == content
    assert embedded.packed_content() == content
    assert len(made) == 1
    assert embedded.cache_file().stat().st_size < len(content) / 3


@pytest.mark.parametrize("damage", ["cut", "garbage", "flipped", "empty", "other content"])
def test_a_damaged_cache_is_made_anew(
    made: list[int], content: bytes, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    embedded.packed_content()
    path = embedded.cache_file()
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "cut": whole[:middle],
            "garbage": b"not gzip at all",
            "flipped": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
            "empty": b"",
            "other content": compress(b"[[0,0]]"),
        }[damage]
    )
    with caplog.at_level(logging.WARNING):
        assert embedded.packed_content() == content
    assert len(made) == 2 and "made anew" in caplog.text
    assert path.read_bytes() == whole


def test_without_a_writable_folder_the_world_is_still_made(
    made: list[int],
    content: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    blocked = tmp_path / "a file"
    blocked.write_text("in the way")
    monkeypatch.setenv("AGENTGYM_CACHE", str(blocked))
    assert embedded.packed_content() == content
    assert "AGENTGYM_CACHE" in caplog.text


def test_content_of_another_hash_is_refused(
    made: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded, "generate", lambda: b"[[0,0]]")
    with pytest.raises(RuntimeError, match="raise VERSION"):
        embedded.packed_content()
    assert not embedded.cache_file().exists()


def test_processes_may_fill_the_cache_at_once(content: bytes, tmp_path: Path) -> None:
    plain = tmp_path / "content"
    plain.write_bytes(content)
    folder = tmp_path / "cache"
    environment = {**os.environ, "AGENTGYM_CACHE": str(folder)}
    runs = [
        subprocess.Popen(
            [sys.executable, "-c", _FILL, str(plain)], env=environment, stdout=subprocess.PIPE
        )
        for _ in range(3)
    ]
    outputs = {run.communicate()[0] for run in runs}
    assert [run.returncode for run in runs] == [0, 0, 0] and len(outputs) == 1
    assert [path.suffix for path in (folder / "searchqa").iterdir()] == [".gz"]
