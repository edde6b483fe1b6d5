"""Episodes that start some turns before their expert's end."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import EnvFailure, ExpertMove, NoExpert, Trajectory, read_jsonl
from agentgym_envs.core.text import remove_turn_notice
from tests.helpers import EMBEDDED, CountingEnv, FragileEnv, register_helpers, unless_missing
from wrappers import HorizonCurriculum, RecordTrajectories, TextVectorEnv, parse_start
from wrappers.schedules import (
    TASK_START,
    AdaptiveHorizon,
    FixedHorizon,
    MixedStarts,
    ScalingInter,
    start_at,
)
from wrappers.starts import ExpertStarts

register_helpers()


@pytest.mark.parametrize("env_id", [*map(unless_missing, EMBEDDED)])
@pytest.mark.parametrize("turns", [1, 3])
def test_a_start_is_the_state_after_the_expert_s_first_turns(env_id: str, turns: int) -> None:
    env = gym.make(env_id, disable_env_checker=True)
    inner: Any = env.unwrapped
    by_hand: list[Any] = []
    for task_id in inner.task_ids("train")[::7]:
        by_hand, actions = [env.reset(options={"task_id": task_id})], []
        for action in inner.expert():
            actions.append(action)
            by_hand.append(env.step(action))
        if by_hand[-1][-1]["success"] and len(actions) > turns:
            break
    first = len(actions) - turns

    observation, info = ExpertStarts().reset(env, turns, options={"task_id": task_id})
    assert observation == by_hand[first][0]
    assert {**by_hand[first][-1], "prefix": info["prefix"]} == info
    assert info["turn"] == len(info["prefix"]) == first
    assert [turn.action for turn in info["prefix"]] == actions[:first]
    assert [turn.observation for turn in info["prefix"]] == [o[0] for o in by_hand[:first]]
    assert [env.step(action) for action in actions[first:]] == by_hand[first + 1 :]
    env.close()


@pytest.mark.science
def test_a_simulator_in_another_process_starts_late_too() -> None:
    with TextVectorEnv("agentgym/SciWorld-v0", max_turns=200) as env:
        (task_id, *_) = env.get("task_ids")[0]("train")
        _, (info,) = env.reset(options={"task_id": task_id, "start": 2})
        assert info["turn"] == len(info["prefix"]) > 0
        for _ in range(2):
            _, _, (terminated,), _, (info,) = env.step(env.expert_actions())
        assert terminated
        assert info["success"]


def test_a_start_is_drawn_by_its_seed_and_its_expert_is_asked_once_a_task() -> None:
    class Counted(CountingEnv):
        asked = 0

        def expert_moves(self) -> Iterator[ExpertMove]:
            Counted.asked += 1
            return super().expert_moves()

    env, starts = Counted(), ExpertStarts()
    task_id = env.reset(seed=5)[1]["task_id"]
    results = [starts.reset(env, 2, seed=5) for _ in range(2)]
    assert results[0] == results[1]
    assert results[0][1]["task_id"] == task_id
    results += [starts.reset(env, 2, options={"task_id": task_id})]
    assert results[2] == results[0]
    assert Counted.asked == 1


def test_few_turns_and_a_failing_expert_have_the_task_s_own_start() -> None:
    # 18 is 9 + 9, and 30 is 9 + 9 + 9 + 3.
    own = {n: CountingEnv().reset(options={"task_id": n}) for n in (17, 29)}
    for number, turns, kwargs in ((17, 2, {}), (17, 9, {}), (29, 1, {"max_turns": 2})):
        env = CountingEnv(turns_left=False, **kwargs)
        observation, info = ExpertStarts().reset(env, turns, options={"task_id": number})
        assert (observation, info["prefix"]) == (own[number][0], [])
        assert info["turn"] == 0

    class Silent(CountingEnv):
        def expert_moves(self) -> Any:
            raise NoExpert("for this task there is none")

    assert ExpertStarts().reset(Silent(), 1, options={"task_id": 17})[1]["prefix"] == []


def test_a_horizon_counts_the_turns_after_the_start() -> None:
    env = HorizonCurriculum(CountingEnv(), 2, start=1)
    observation, info = env.reset(options={"task_id": 29})
    assert observation.startswith("The counter is 27.")
    assert "(This is turn 4 of 5.)" in observation
    assert not env.step("say a")[3]
    *_, truncated, info = env.step("say a")
    assert (truncated, info["truncated_by"], info["turn"]) == (True, "horizon", 5)


def test_the_start_follows_the_step_and_ends_at_the_task_s_own() -> None:
    env = HorizonCurriculum(CountingEnv(), start="backward:1,2@10")
    given = [
        env.reset(options={"task_id": 29, "global_step": step})[1]["turn"]
        for step in (0, 9, 10, 19, 20, 100)
    ]
    assert given == [3, 3, 2, 2, 0, 0]
    assert "prefix" not in env.reset(options={"global_step": 20})[1]
    assert "horizon" not in env.reset()[1]


def test_a_copy_of_an_episode_that_started_late_goes_on_from_there() -> None:
    env = HorizonCurriculum(CountingEnv(), 3, start=2)
    env.reset(options={"task_id": 29})
    copied = copy.deepcopy(env)
    for _ in range(2):
        action = next(env.unwrapped.expert())
        assert env.step(action) == copied.step(action)
    assert env.unwrapped.is_over


def test_slots_start_where_each_is_told(tmp_path: Path) -> None:
    with TextVectorEnv([CountingEnv] * 3) as vector:
        curriculum = HorizonCurriculum(vector, start="backward:1@5")
        _, infos = curriculum.reset(options={"task_id": [29, 17, 29]})
        assert [info["turn"] for info in infos] == [3, 1, 3]
        _, infos = curriculum.reset(options={"task_id": [29, None, None], "global_step": 5})
        assert [info["turn"] for info in infos] == [0, 1, 3]
        _, infos = vector.reset(options={"task_id": [29] * 3, "start": [1, 2, None]})
        assert [info["turn"] for info in infos] == [3, 2, 0]
    with TextVectorEnv([FragileEnv], backend="process") as vector:
        _, infos = vector.reset(options={"task_id": [29], "start": 1})
        assert [turn.completion for turn in infos[0]["prefix"]] == ["add 9"] * 3


def test_a_record_has_the_expert_s_turns_before_those_of_the_player(tmp_path: Path) -> None:
    records: list[Trajectory] = []
    inner = RecordTrajectories(CountingEnv(), records.append)
    for sink in (tmp_path / "episodes.jsonl", records.append):
        env = RecordTrajectories(HorizonCurriculum(inner, start=1), sink)
        env.reset(options={"task_id": 29})
        env.step("add 3")
    inside, again, outside = records  # the wrapped one saw the replay, and no play of the expert
    assert len(inside.turns) == len(again.turns) == 4
    assert [turn.action for turn in outside.turns] == ["add 3"]
    assert [turn.action for turn in outside.prefix] == ["add 9"] * 3
    assert outside.episode_return == 1.0
    (read,) = read_jsonl(tmp_path / "episodes.jsonl")
    assert read == outside.whole()
    assert [turn.trained for turn in read.turns] == [False] * 3 + [True]
    assert (read.messages(), read.episode_return) == (outside.messages(), 1.0)


def test_a_wrapper_that_ends_the_expert_s_turns_is_a_failure_with_a_cause() -> None:
    env = gym.wrappers.TimeLimit(CountingEnv(), 2)  # type: ignore[arg-type]
    with pytest.raises(EnvFailure, match="turn 2 ended counting_29 before turn 3, at which"):
        ExpertStarts().reset(env, 1, options={"task_id": 29})


@pytest.mark.parametrize("start", [0, -1, 1.5, "2", True])
def test_a_start_that_is_no_number_of_turns_is_refused(start: object) -> None:
    with (
        TextVectorEnv([CountingEnv]) as env,
        pytest.raises(ValueError, match=r"options\['start'\] must be >= 1 or None"),
    ):
        env.reset(options={"start": start})
    with pytest.raises(TypeError, match="start must be a function of the step, .*backward:2,4,8"):
        HorizonCurriculum(CountingEnv(), start=[2])  # type: ignore[call-overload]


def test_starts_are_read_from_text() -> None:
    assert parse_start("4") == FixedHorizon(4)
    staged = parse_start("backward:2,4,8@100")
    assert staged == ScalingInter((2, 4, 8, TASK_START), 100)
    assert [start_at(staged, step) for step in (0, 99, 100, 200, 299, 300, 10**9)] == [
        *(2, 2, 4, 8, 8, None, None)
    ]
    adaptive = parse_start("adaptive:2,4@3")
    assert adaptive == AdaptiveHorizon((2, 4, TASK_START), 3)
    assert parse_start("mixed:2,4") == MixedStarts((2, 4))


def test_a_mixed_start_is_drawn_evenly_by_task_and_step() -> None:
    mixed = MixedStarts((2, 4, 8))
    tasks = [f"textcraft_{number}" for number in range(3000)]
    drawn = {step: [start_at(mixed, step, task) for task in tasks] for step in (0, 1)}
    for starts in drawn.values():
        assert all(650 < starts.count(turns) < 850 for turns in (2, 4, 8, None))
    both = Counter(zip(*drawn.values(), strict=True))
    assert len(both) == 16 and all(120 < count < 260 for count in both.values())


def test_episodes_of_one_task_and_step_have_one_mixed_start() -> None:
    with TextVectorEnv([CountingEnv] * 2) as vector:
        curriculum = HorizonCurriculum(vector, start="mixed:1,2")
        turns = set()
        for step in range(20):
            options = {"task_id": ["counting_29"] * 2, "global_step": step}
            one, other = (info["turn"] for info in curriculum.reset(options=options)[1])
            again = HorizonCurriculum(CountingEnv(), start="mixed:1,2")
            options["task_id"] = "counting_29"  # type: ignore[assignment]
            assert one == other == again.reset(options=options)[1]["turn"]
            turns.add(one)
    assert turns == {0, 2, 3}
    env = HorizonCurriculum(CountingEnv(), start="mixed:1,2")
    env.reset(seed=3)
    assert len({len(env.reset()[1].get("prefix", ())) for _ in range(20)}) > 1


@pytest.mark.parametrize(
    ("text", "mistake"),
    [
        ("backward:2,4", "the optimizer steps of a stage are missing, such as backward:2,4@100"),
        ("backward:4,2@9", r"starts must not fall from stage to stage, got \(4, 2\)"),
        ("backward:0,2@9", r"starts must hold numbers >= 1, got \(0, 2\)"),
        ("scaling:2,4@9", "'scaling' is no kind of schedule"),
        ("adaptive:2,x@9", "'x' is no whole number"),
        ("mixed:2,4@9", "'4@9' is no whole number"),
        ("mixed:", "'' is no whole number"),
        ("mixed:0", r"starts must hold numbers >= 1, got \(0,\)"),
    ],
)
def test_what_is_wrong_with_a_start_is_named(text: str, mistake: str) -> None:
    with pytest.raises(ValueError, match=f"cannot read the start '{text}': {mistake}; write turns"):
        parse_start(text)


def test_an_observation_has_no_notice_of_turns_where_many_are_left() -> None:
    observation, _ = ExpertStarts().reset(CountingEnv(), 1, options={"task_id": 29})
    assert observation == remove_turn_notice(observation)
