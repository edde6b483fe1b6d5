from __future__ import annotations

from pathlib import Path

import pytest

from worlds import sources
from worlds.sources import sources_digest


def test_a_digest_changes_with_a_byte_and_with_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    (tmp_path / "making").mkdir()
    (tmp_path / "making/words.txt").write_text("one")
    before = sources_digest(["making"])
    assert sources_digest(["making/words.txt", "making"]) == before
    (tmp_path / "making/words.txt").write_text("two")
    changed = sources_digest(["making"])
    (tmp_path / "making/words.txt").rename(tmp_path / "making/other.txt")
    assert len({before, changed, sources_digest(["making"])}) == 3


def test_a_folder_without_files_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no file"):
        sources_digest([str(tmp_path)])
