from __future__ import annotations

import os
from pathlib import Path

import pytest

from trainers.options.errors import check_output


def test_a_file_that_can_be_written_is_taken(tmp_path: Path) -> None:
    check_output("out", None)
    check_output("out", str(tmp_path / "new" / "deep" / "file"))
    (tmp_path / "old").touch()
    check_output("out", str(tmp_path / "old"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["old"]


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="out must name a file, got the folder"):
        check_output("out", str(tmp_path))


def test_a_file_holds_no_files(tmp_path: Path) -> None:
    (tmp_path / "old").touch()
    with pytest.raises(ValueError, match="cannot write .*new, for .*old is not a folder"):
        check_output("out", str(tmp_path / "old" / "new"))


def test_a_write_protected_folder_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write everywhere
    with pytest.raises(ValueError, match="is write-protected"):
        check_output("out", str(tmp_path / "new"))
