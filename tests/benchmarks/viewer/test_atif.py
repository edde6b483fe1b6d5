"""Documents of ATIF are listed, opened and searched as files of episodes are."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectories.atif import to_atif, to_line
from agentgym_envs.trajectories.trajectory import Trajectory, write_jsonl
from benchmarks.viewer.command import main
from benchmarks.viewer.entries import FIELDS
from benchmarks.viewer.index import Index
from benchmarks.viewer.scenes import episode_credits, scene, tokens
from tests.agentgym_envs.trajectories.atif_samples import IMAGE, agent, call, document, user
from tests.benchmarks.viewer.samples import made, solved, traced

OURS = [made(0), solved(1, traces=[traced(0.5, 0.25, 0.0)])]
FOREIGN = document(
    user("Where is Paris?"),
    agent("I ask.", "In France.", tool_calls=[call("ask", place="Paris")], reasoning_content="Hm"),
    subagent_trajectories=[document(user("Inner."), agent("A part"), trajectory_id="inner")],
)


def index_of(folder: Path) -> Index:
    index = Index(folder)
    assert index.update()
    return index


def rows(index: Index) -> list[dict[str, Any]]:
    return [dict(zip(FIELDS, entry.row(), strict=True)) for entry in index.entries]


def settle(path: Path) -> None:
    """Make a file one that is no longer written."""
    os.utime(path, (1e9, 1e9))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a document of ours and one of others, and JSON of another kind."""
    (tmp_path / "ours.json").write_bytes(to_line(to_atif(OURS[1])))
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "trajectory.json").write_text(json.dumps(FOREIGN, indent=2))
    (tmp_path / "result.json").write_text('{"verdict": "ATIF-v1.7"')
    os.mkfifo(tmp_path / "pipe.json")
    return tmp_path


def test_an_exported_episode_is_listed_and_opened_as_the_original(tmp_path: Path) -> None:
    (tmp_path / "atif").mkdir()
    (tmp_path / "jsonl").mkdir()
    for number, one in enumerate(OURS):
        (tmp_path / "atif" / f"{number}.json").write_bytes(to_line(to_atif(one)))
        write_jsonl(tmp_path / "jsonl" / f"{number}.jsonl", [one])
    theirs, ours = index_of(tmp_path / "atif"), index_of(tmp_path / "jsonl")
    assert rows(theirs) == rows(ours)
    for number, one in enumerate(OURS):
        assert theirs.record(number) == ours.record(number)
        assert theirs.trajectory(number) == ours.trajectory(number) == one
    assert theirs.problems == []


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.json", "a.json.gz"])
def test_a_file_holds_several(tmp_path: Path, name: str) -> None:
    documents = [to_atif(OURS[0]), FOREIGN, to_atif(OURS[1])]
    text = "".join(json.dumps(one) + "\n" for one in documents)
    if name.startswith("a.json") and "jsonl" not in name:
        text = json.dumps(documents, indent=1)
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    index = index_of(path)
    tasks = [row["task"] for row in rows(index)]
    assert [tasks[0], tasks[3]] == ["counting_0", "counting_1"]
    assert tasks[2] == "conversation_inner"
    assert index.record(2)["turns"][0]["completion"] == "A part"
    assert index.trajectory(3) == OURS[1]
    assert index.problems == []


def test_documents_of_others_are_shown_with_their_subagents(folder: Path) -> None:
    index = index_of(folder)
    assert index.problems == []
    ours, parent, inner = rows(index)
    assert (ours["task"], ours["traced"]) == ("counting_1", True)
    assert (parent["policy"], parent["turns"], inner["task"]) == (
        *("some-model", 1, "conversation_inner"),
    )
    (turn,) = index.record(1)["turns"]
    assert turn["completion"] == 'I ask.\n{"name": "ask", "arguments": {"place": "Paris"}}'
    assert turn["call"]["reasoning"] == "Hm"
    assert index.record(1)["final_observation"] == "In France."
    assert index.search("in france") == [1]
    assert index.search("inner.") == [2]
    for make in (scene, tokens, lambda trajectory, _folder: episode_credits(trajectory)):
        index.view(1, make)


def test_an_image_is_a_problem_that_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document(user("T."), agent("a", [IMAGE]))))
    settle(path)
    (problem,) = index_of(tmp_path).problems
    assert problem.startswith("a.json, line 1: step 2: it holds a part that is no text")
    with pytest.raises(SystemExit):
        main([str(path), "--export", str(tmp_path / "page.html")])
    assert "line 1: step 2: it holds a part" in capsys.readouterr().err


def test_a_document_that_is_still_written_waits_for_its_end(tmp_path: Path) -> None:
    path, text = tmp_path / "a.json", json.dumps(FOREIGN, indent=2)
    path.write_text(text[:-20])
    index = index_of(tmp_path)
    assert (len(index.entries), index.problems) == (0, [])
    path.write_text(text)
    index.update()
    assert (len(index.entries), index.problems) == (2, [])
    changed = {**FOREIGN, "subagent_trajectories": []}
    path.write_text(json.dumps(changed, indent=2))
    index.update()
    assert (len(index.entries), index.problems) == (1, [])
    path.write_text(text[:-20])
    settle(path)
    assert index_of(tmp_path).problems == ["a.json: its last line has no end"]


def test_the_command_writes_a_page_of_documents(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = folder / "page.html"
    words = [str(folder), "--export", str(page), "--tokens", "--scenes"]
    assert main(words) == 0
    assert "3 trajectories" in capsys.readouterr().out
    assert page.stat().st_size > 1000


def test_one_document_is_a_root(folder: Path) -> None:
    index = index_of(folder / "ours.json")
    one: Trajectory = index.trajectory(0)
    assert one == OURS[1]
