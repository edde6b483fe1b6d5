"""`agentgym export atif`: what it writes is ATIF, and what it refuses leaves nothing behind."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import read_jsonl, write_jsonl
from agentgym_envs.trajectories.agenttraj import read_trajectories
from benchmarks.export.command import main
from tests.agentgym_envs.trajectories.atif_samples import agent, document, user, valid
from tests.benchmarks.viewer.samples import made, solved, traced

ROOT = Path(__file__).parents[3]
EPISODES = [solved(0), made(1), solved(2, traces=[traced(0.5, 0.25, 0.0)])]


@pytest.fixture
def episodes(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "episodes.jsonl", EPISODES)
    return tmp_path / "episodes.jsonl"


def test_a_folder_has_a_document_for_each_episode(
    episodes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = episodes.with_name("atif")
    assert main(["atif", str(episodes), str(episodes), "--out", str(out)]) == 0
    assert capsys.readouterr().out == f"wrote 6 trajectories to {out}\n"
    names = [f"{number:05d}_counting_{(number - 1) % 3}" for number in range(1, 7)]
    files = sorted(out.iterdir())
    assert [file.name for file in files] == [f"{name}.json" for name in names]
    documents = [valid(json.loads(file.read_bytes())) for file in files]
    assert [each["trajectory_id"] for each in documents] == names
    assert list(read_trajectories(out)) == EPISODES * 2


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_file_of_lines_has_a_line_for_each(episodes: Path, name: str) -> None:
    out = episodes.with_name(name)
    out.write_text("an earlier one")
    assert main(["atif", str(episodes), "--out", str(out)]) == 0
    text = gzip.decompress(out.read_bytes()) if out.suffix == ".gz" else out.read_bytes()
    assert len([valid(json.loads(line)) for line in text.splitlines()]) == 3
    assert list(read_trajectories(out)) == EPISODES


@pytest.mark.parametrize("name", ["out.json", "out.json.gz"])
def test_a_json_file_is_one_document(
    episodes: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = episodes.with_name(name)
    with pytest.raises(SystemExit):
        main(["atif", str(episodes), "--out", str(out)])
    assert "hold several episodes; name a folder" in capsys.readouterr().err
    assert not out.exists()
    write_jsonl(episodes, EPISODES[:1])
    assert main(["atif", str(episodes), "--out", str(out)]) == 0
    assert list(read_trajectories(out)) == EPISODES[:1]


def test_documents_of_others_are_exported_too(tmp_path: Path) -> None:
    source, out = tmp_path / "trajectory.json", tmp_path / "out.json"
    source.write_text(json.dumps(document(user("Task."), agent("go")), indent=2))
    assert main(["atif", str(source), "--out", str(out)]) == 0
    (read,) = read_trajectories(source)
    assert [read] == list(read_trajectories(out))
    assert valid(json.loads(out.read_bytes()))["extra"]["agentgym"]["policy"] == "some-model"


def test_a_task_s_name_cannot_lead_out_of_the_folder(tmp_path: Path) -> None:
    episodes, out = tmp_path / "episodes.jsonl", tmp_path / "a" / "out"
    write_jsonl(episodes, [made(task_id="../../etc/x y" + "任" * 300)])
    assert main(["atif", str(episodes), "--out", str(out)]) == 0
    (file,) = out.iterdir()
    assert file.name.startswith("00001_..-..-etc-x-y") and len(file.name.encode()) < 120
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "episodes.jsonl"]


BAD: dict[str, tuple[list[str], str]] = {
    "no file": (["nosuch.jsonl", "--out", "out"], "nosuch.jsonl cannot be read: No such file"),
    "other lines": (["other.jsonl", "--out", "out"], "other.jsonl, line 2: not a trajectory"),
    "other lines in one": (["other.jsonl", "--out", "out.jsonl"], "line 2: not a trajectory"),
    "nothing": (["empty.jsonl", "--out", "out"], "the files hold no episodes"),
    "folder taken": (["episodes.jsonl", "--out", "."], "is there already; pass another --out"),
    "file taken": (["episodes.jsonl", "--out", "empty.txt"], "is there already"),
    "no out": (["episodes.jsonl"], "--out"),
    "not compressed": (["bad.jsonl.gz", "--out", "out"], "bad.jsonl.gz: not compressed, cut short"),
    "not UTF-8": (["latin.jsonl", "--out", "out"], "latin.jsonl: not compressed, cut short"),
    "no kind": ([], "the following arguments are required"),
}


@pytest.mark.parametrize(("words", "problem"), BAD.values(), ids=BAD)
def test_what_cannot_be_exported_is_refused_and_leaves_nothing(
    words: list[str],
    problem: str,
    episodes: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = episodes.parent
    (folder / "other.jsonl").write_bytes(EPISODES[0].to_line() + b'{"x": 1}\n')
    for name in ("empty.jsonl", "empty.txt"):
        (folder / name).touch()
    (folder / "bad.jsonl.gz").write_text("x")
    (folder / "latin.jsonl").write_bytes(b'{"x": "\xff"}\n')
    before = sorted(folder.iterdir())
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as stopped:
        main(["atif", *words] if words else words)
    assert stopped.value.code == 2
    assert problem in capsys.readouterr().err
    assert sorted(folder.iterdir()) == before


def test_an_unknown_kind_is_refused_with_those_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        main(["otif", "episodes.jsonl"])
    assert "choose from" in capsys.readouterr().err


def test_the_command_needs_no_package_of_atif_s(episodes: Path) -> None:
    hidden = episodes.parent / "hide"
    hidden.mkdir()
    hide = "import sys\nfor name in ('atif', 'pydantic', 'torch'):\n    sys.modules[name] = None\n"
    (hidden / "sitecustomize.py").write_text(hide)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(hidden), str(ROOT)])}

    def run(*words: Any) -> None:
        command = [sys.executable, "-m", "agentgym_envs", *map(str, words)]
        subprocess.run(command, cwd=episodes.parent, env=environment, check=True, timeout=60)

    run("export", "atif", episodes, "--out", "atif")
    run("collect", "--data", "atif", "--out", "back.jsonl")
    assert list(read_jsonl(episodes.with_name("back.jsonl"))) == EPISODES
