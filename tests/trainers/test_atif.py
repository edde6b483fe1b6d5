"""Episodes of language models as ATIF: their tokens come back, and trainers read the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import Trajectory, read_jsonl
from agentgym_envs.trajectories.agenttraj import read_trajectories
from benchmarks.export.command import main as export
from tests.agentgym_envs.trajectories.atif_samples import (
    IMAGE,
    agent,
    call,
    document,
    there_and_back,
    user,
)
from tests.helpers import COUNTING_ID, register_helpers
from tests.trainers.toys import ENV_ID, make_folder, make_tokenizer
from trainers.collect import main as collect
from trainers.collect import read_data_files
from trainers.options.errors import UsageError
from trainers.sft import main as sft
from trainers.sft import token_rows
from trainers.tokens.chat import ChatFormat

register_helpers()


def played(folder: Path, *words: str, env: str = ENV_ID) -> list[Trajectory]:
    """Let a random model play, and write the episodes to `episodes.jsonl`."""
    out = folder / "episodes.jsonl"
    model = make_folder(folder / "model")
    limits = ["--max_tokens_per_turn", "4", "--max_turns", "4", "--num_episodes", "4"]
    assert collect(["--env", env, "--model", model, *limits, "--out", str(out), *words]) == 0
    return list(read_jsonl(out))


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--history", "last_turns", "--keep_last_turns", "1"],
        ["--history", "notes"],
        ["--history", "summary"],
    ],
    ids=["all", "last_turns", "notes", "summary"],
)
def test_the_tokens_of_a_model_s_episodes_come_back(tmp_path: Path, words: list[str]) -> None:
    episodes = played(tmp_path, *words, env=COUNTING_ID)
    assert all(episode.traces for episode in episodes)
    assert [there_and_back(episode) for episode in episodes] == episodes


def test_exported_episodes_train_as_the_originals_do(tmp_path: Path) -> None:
    episodes = played(tmp_path)
    assert export(["atif", str(tmp_path / "episodes.jsonl"), "--out", str(tmp_path / "atif")]) == 0
    read = read_data_files([str(tmp_path / "atif")])
    assert read == episodes
    chat = ChatFormat.from_tokenizer(make_tokenizer())
    rows = [token_rows(each, chat, unsuccessful=True) for each in (read, episodes)]
    assert rows[0] == rows[1]


def test_a_folder_of_documents_is_converted_and_trained_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = (user("say a"), agent("", "a, well done", tool_calls=[call("say", letter="a")]))
    folder, back = tmp_path / "atif", tmp_path / "back.jsonl"
    folder.mkdir()
    for number in range(4):
        (folder / f"{number}.json").write_text(json.dumps(document(*steps), indent=2))
    assert collect(["--data", str(folder), "--out", str(back)]) == 0
    assert list(read_jsonl(back)) == list(read_trajectories(folder))
    words = ["--model", make_folder(tmp_path / "model"), "--output_dir", str(tmp_path / "run")]
    words += ["--max_steps", "1", "--per_device_train_batch_size", "2", "--eval_strategy", "no"]
    assert sft([*words, "--save_strategy", "no", "--data", str(folder)]) == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (document(user("T."), agent([IMAGE])), "item 1: step 2: it holds"),
        ({"a": 1}, "item 1|line 1"),
    ],
)
def test_a_file_that_is_no_episode_is_refused(tmp_path: Path, text: Any, problem: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(text, indent=2))
    with pytest.raises(UsageError, match=f"`data`: .*a.json, {problem}"):
        read_data_files([str(path)])
