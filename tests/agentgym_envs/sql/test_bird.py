"""BIRD's own files, by AgentGym's numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import EnvFailure, NoExpert
from agentgym_envs.sql.compat import in_words
from agentgym_envs.sql.env import SQLEnv
from tests.agentgym_envs.sql.folders import IN_WORDS, QUESTIONS, bird_folder


def made(folder: Path, **kwargs: Any) -> SQLEnv:
    env = gym.make("agentgym/SQL-v0", data_dir=folder, **kwargs).unwrapped
    assert isinstance(env, SQLEnv)
    return env


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return bird_folder(tmp_path)


def test_the_numbers_are_agentgyms(folder: Path) -> None:
    env = made(folder)
    assert env.task_ids("train") == ["sql_0", "sql_1", "sql_2"]
    assert env.task_ids("validation") == ["sql_9428", "sql_9429", "sql_9430"]
    assert env.task_ids("test") == []
    assert env.source.startswith("bird (")
    _, info = env.reset(options={"task_id": 9429})
    assert (info["subtask"], info["split"]) == ("moderate", "validation")
    assert env.reset(options={"task_id": 1})[1]["subtask"] == "unrated"


def test_one_part_is_enough(tmp_path: Path) -> None:
    env = made(bird_folder(tmp_path, parts=("dev",)), split="validation")
    assert env.task_ids("train") == []
    assert env.reset()[1]["split"] == "validation"


def test_the_originals_prompt_and_answer(folder: Path) -> None:
    env = made(folder, compat="agentgym")
    observation, _ = env.reset(options={"task_id": 0})
    assert observation == f"{IN_WORDS}\n\nWhich schools have 80 pupils?"
    assert in_words(env.questions.schema("schools")) == IN_WORDS
    statement = 'SELECT "School Name" FROM Schools WHERE Pupils < 100 ORDER BY 1 DESC'
    observation, reward, terminated, _, info = env.step(statement)
    assert (observation, reward, terminated) == ("[('West',), ('South',)]", 1.0, True)
    assert info["ground_truth"] == QUESTIONS[0]["SQL"]


def test_by_default_there_is_a_hint_and_several_statements(folder: Path) -> None:
    env = made(folder)
    observation, _ = env.reset(options={"task_id": 0})
    assert observation == (
        "The database schools has the tables: Schools, Scores.\n"
        "Question: Which schools have 80 pupils?\nHint: pupils refers to Pupils"
    )
    assert "School Name TEXT" in env.step("columns schools")[0]
    assert env.step("query SELECT count(*) FROM Schools")[0].endswith("3\n(1 row)")
    *_, info = env.step("answer SELECT 'South' UNION ALL SELECT 'West' UNION ALL SELECT 'West'")
    assert info["success"]  # BIRD compares sets


def test_its_questions_have_a_privileged_expert_only(folder: Path) -> None:
    env = made(folder)
    env.reset(options={"task_id": 9429})
    with pytest.raises(NoExpert, match=r"expert\(privileged=True\)"):
        next(env.expert())
    (action,) = env.expert(privileged=True)
    assert env.step(action)[4]["success"]


def test_whether_a_question_is_solved_whose_statement_fails_is_not_known(folder: Path) -> None:
    env = made(folder)
    env.reset(options={"task_id": 2})
    *_, info = env.step("answer SELECT 1")
    assert info["verdict"].startswith("the question's own statement cannot be run: no such table")
    assert info["unscored"] and not info["success"]
    env.reset(options={"task_id": 0})
    assert not env.step("answer SELECT 1")[4].get("unscored")


def test_its_databases_are_not_written_to(folder: Path) -> None:
    path = folder / "train" / "train_databases" / "schools" / "schools.sqlite"
    before = path.read_bytes()
    env = made(folder, compat="agentgym")
    env.reset(options={"task_id": 0})
    observation, reward, *_ = env.step("DELETE FROM Schools")
    assert (observation, reward) == ("not authorized", 0.0)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["schools.sqlite"]


def test_what_is_missing_is_named(tmp_path: Path, folder: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match="neither train/train.json nor dev/dev.json"):
        made(empty)
    database = folder / "dev" / "dev_databases" / "schools" / "schools.sqlite"
    database.unlink()
    env = made(folder)
    with pytest.raises(EnvFailure, match=r"unpack BIRD's dev_databases\.zip there"):
        env.reset(options={"task_id": 9428})
    other = bird_folder(tmp_path / "other", parts=("dev",))
    (other / "dev" / "dev.json").write_text(json.dumps([{"db_id": "schools"}]), "utf-8")
    with pytest.raises(ValueError, match="is not in BIRD's form"):
        made(other)
