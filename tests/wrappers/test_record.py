from __future__ import annotations

from pathlib import Path

import gymnasium as gym
import pytest

from agentgym_envs import EnvFailure, Trajectory, read_jsonl
from tests.helpers import COUNTING_ID, CountingEnv, FragileEnv, register_helpers
from wrappers import FixedHorizon, HorizonCurriculum, RecordTrajectories, TrajectoryWriter

register_helpers()


def test_an_episode_that_ends_becomes_one_line(tmp_path: Path) -> None:
    path = tmp_path / "runs" / "episodes.jsonl"
    env = RecordTrajectories(gym.make(COUNTING_ID), path, policy="me")
    for _ in range(2):
        first, _ = env.reset(options={"task_id": "counting_4"})
        env.step("jump")
        last, *_ = env.step("add 5")
    one, two = read_jsonl(path)
    assert one == two
    assert (one.env_id, one.task_id, one.subtask) == (COUNTING_ID, "counting_4", "small")
    assert (one.status, one.success, one.score, one.policy) == ("terminated", True, 1.0, "me")
    assert [turn.completion for turn in one.turns] == ["jump", "add 5"]
    assert [turn.is_valid_action for turn in one.turns] == [False, True]
    assert [turn.reward for turn in one.turns] == [0.0, 1.0]
    assert one.turns[0].observation == first
    assert one.final_observation == last
    assert one.system_prompt == env.unwrapped.system_prompt  # type: ignore[attr-defined]
    assert one.traces == []


def test_truncation_by_the_horizon_inside_is_seen() -> None:
    kept: list[Trajectory] = []
    env = RecordTrajectories(HorizonCurriculum(CountingEnv(), FixedHorizon(1)), kept.append)
    env.reset(options={"task_id": 30, "global_step": 7})
    env.step("add 1")
    (record,) = kept
    assert (record.status, record.truncated_by, record.global_step) == ("truncated", "horizon", 7)
    assert record.env_id == "CountingEnv"


def test_the_step_is_the_schedules_or_the_one_that_is_told() -> None:
    kept: list[Trajectory] = []
    env = RecordTrajectories(HorizonCurriculum(CountingEnv(), FixedHorizon(1)), kept.append)
    for options in ({"global_step": 7}, None):  # the schedule goes on from there
        env.reset(options=options)
        env.step("add 1")
    env = RecordTrajectories(CountingEnv(max_turns=1), kept.append)
    env.reset(options={"global_step": 3})
    env.step("jump")
    assert [record.global_step for record in kept] == [7, 7, 3]


def test_a_refused_reset_leaves_the_record_of_the_episode() -> None:
    kept: list[Trajectory] = []
    env = RecordTrajectories(CountingEnv(max_turns=2), kept.append)
    env.reset(options={"task_id": 30})
    env.step("jump")
    with pytest.raises(ValueError, match="unknown task_id"):
        env.reset(options={"task_id": "nope_1"})
    env.step("jump")
    assert [len(record.turns) for record in kept] == [2]


def test_an_abandoned_episode_is_not_recorded() -> None:
    kept: list[Trajectory] = []
    env = RecordTrajectories(CountingEnv(), kept.append)
    env.reset()
    env.step("jump")
    env.reset()
    env.close()
    assert kept == []


def test_a_failure_is_recorded_as_failed_and_raised() -> None:
    kept: list[Trajectory] = []
    env = RecordTrajectories(FragileEnv(), kept.append)
    env.reset(options={"task_id": 30})
    env.step("add 1")
    with pytest.raises(EnvFailure):
        env.step("say break")
    env.reset(options={"task_id": 30})
    with pytest.raises(KeyError):
        env.step("say bug")
    record, other = kept
    assert (record.status, record.error, len(record.turns)) == ("failed", "the simulator broke", 1)
    assert record.final_observation == "The counter is 1."
    assert other.status == "failed"
    assert str(other.error).startswith("KeyError: 'a bug', at tests/helpers.py")


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_a_writer_appends_unless_told_to_begin_anew(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    for append, lines in ((True, 1), (True, 2), (False, 1)):
        TrajectoryWriter(path, append=append)(Trajectory("tests/Counting-v0", "counting_\ud800"))
        assert len(list(read_jsonl(path))) == lines
