from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.viewer.command import main
from benchmarks.viewer.index import Index
from benchmarks.viewer.server import ViewerServer
from tests.benchmarks.viewer.samples import training_run


def test_an_export_says_what_it_holds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, page = training_run(tmp_path / "run"), tmp_path / "page.html"
    assert main([str(folder), "--export", str(page)]) == 0
    assert capsys.readouterr().out.startswith(f"{page}: 12 trajectories, ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "there is no nowhere"),
        ([".", "--tokens"], "belong to --export"),
        ([".", "--port", "70000"], r"--port must be in 0\.\.65535, got 70000"),
        ([".", "--host", "192.0.2.1"], r"cannot listen on 192\.0\.2\.1"),
        ([".", "--export", "."], "--export must name a file, got the folder"),
        ([".", "--export", "./file/page.html"], r"cannot write .*, for .*file is not a folder"),
    ],
)
def test_a_mistake_is_told_with_its_remedy(
    words: list[str], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    words = [str(tmp_path) + word[1:] if word[0] == "." else word for word in words]
    with pytest.raises(SystemExit, match="2"):
        main([*words, "--no-browser"])
    error = capsys.readouterr().err
    assert re.search(told, error)


def test_a_taken_port_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ViewerServer(Index(tmp_path)) as server, pytest.raises(SystemExit, match="2"):
        main([str(tmp_path), "--port", str(server.server_port)])
    assert "is taken; --port 0 takes a free one" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "opened"), [([], 1), (["--no-browser"], 0)])
def test_the_page_is_opened_unless_told_otherwise(
    words: list[str],
    opened: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    urls: list[str] = []
    monkeypatch.setattr("webbrowser.open", urls.append)
    monkeypatch.setattr(ViewerServer, "serve_forever", lambda server: None)
    assert main([str(tmp_path), "--port", "0", *words]) == 0
    assert len(urls) == opened
    told = capsys.readouterr().out
    assert "at http://127.0.0.1:" in told
    assert "no password" not in told


def test_listening_for_others_is_said_plainly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ViewerServer, "serve_forever", lambda server: None)
    main([str(tmp_path), "--host", "0.0.0.0", "--port", "0", "--no-browser"])
    assert "can read everything under" in capsys.readouterr().out
