from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym_envs.content.files import (
    atomic_folder,
    atomic_write,
    open_bytes,
    open_text,
    temporary_siblings,
    write_atomically,
)


def test_text_and_bytes_replace_a_file_and_make_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file"
    for content in ("old\n", "new\n", b"\x00"):
        write_atomically(path, content)
        assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    assert os.listdir(path.parent) == ["file"]


def test_a_file_whose_writing_fails_stays_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), atomic_write(path) as unfinished:
        unfinished.write_text("half")
        assert path.read_text() == "old"
        raise RuntimeError
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_a_folder_gets_its_name_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "folder[1]"
    with atomic_folder(path) as draft:
        (draft / "file").write_text("half")
        assert not path.exists()
        assert temporary_siblings(path) == [draft]
    assert (path / "file").read_text() == "half"
    assert temporary_siblings(path) == []


def test_a_folder_whose_writing_fails_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), atomic_folder(tmp_path / "folder") as draft:
        (draft / "file").touch()
        raise RuntimeError
    assert os.listdir(tmp_path) == []


def test_a_folder_that_another_process_has_made_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "folder"
    with pytest.raises(OSError), atomic_folder(path) as draft:
        (draft / "file").write_text("later")
        path.mkdir()
        (path / "file").write_text("first")
    assert (path / "file").read_text() == "first"
    assert os.listdir(tmp_path) == ["folder"]


def test_a_link_stays_a_link_and_a_device_a_device(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    write_atomically(link, "new")
    assert (link.is_symlink(), file.read_text()) == (True, "new")
    write_atomically(os.devnull, "gone")
    assert not Path(os.devnull).is_file()


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as end, os.fdopen(writing, "wb"):
        write_atomically(f"/dev/fd/{writing}", "told\n")
        assert os.read(end.fileno(), 9) == b"told\n"


def test_a_file_whose_name_ends_with_gz_is_read_decompressed(tmp_path: Path) -> None:
    path = tmp_path / "lines.gz"
    path.write_bytes(gzip.compress(b"a\n") + gzip.compress(b"b\n"))
    with open_bytes(path) as file:
        assert list(file) == [b"a\n", b"b\n"]
    with open_text(path) as text:
        assert text.read() == "a\nb\n"


def test_what_a_killed_writer_left_is_removed_and_what_another_writes_is_not(
    tmp_path: Path,
) -> None:
    path = tmp_path / "episodes.jsonl"
    code = (
        "import os, signal, sys\n"
        "from agentgym_envs.content.files import atomic_write\n"
        "with atomic_write(sys.argv[1]) as draft:\n"
        "    draft.write_text('half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert len(list(tmp_path.iterdir())) == 1
    with atomic_write(path) as own:
        own.write_text("own")
        write_atomically(path, "other")
        assert sorted(tmp_path.iterdir()) == sorted([own, path])
    assert [file.read_text() for file in tmp_path.iterdir()] == ["own"]
