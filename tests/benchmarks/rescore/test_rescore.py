from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from operator import methodcaller
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs.registration import registry
from agentgym_envs.trajectories.trajectory import ModelCall, read_jsonl, write_jsonl
from benchmarks.rescore import replays
from benchmarks.rescore.command import main
from benchmarks.rescore.origins import Origins
from benchmarks.rescore.replays import Replayer
from tests.helpers import (
    COUNTING_ID,
    EMBEDDED,
    FORMATS_AND_COMPATS,
    register_helpers,
    unless_missing,
)
from trainers.evaluate import main as eval_main
from trainers.history.notes import Notes
from trainers.policies.scripted import play, scripted_policy
from trainers.rollout.policy import Episode, Policy, Reply, Stop
from trainers.rollout.rollout import Rollout
from wrappers import FixedHorizon, RecordTrajectories, TextVectorEnv

TEXTCRAFT = "agentgym/TextCraft-v0"
Told = Callable[..., tuple[int, str]]


@pytest.fixture
def rescored(capsys: pytest.CaptureFixture[str]) -> Told:
    """Return a function that runs the command, and returns its status and what it prints."""

    def run(*argv: str | Path) -> tuple[int, str]:
        capsys.readouterr()
        status = main([str(word) for word in argv])
        return status, capsys.readouterr().out

    return run


def recorded(
    path: Path,
    env_id: str = TEXTCRAFT,
    policy: Any = "expert",
    count: int = 2,
    tasks: Sequence[str] = (),
    **kwargs: Any,
) -> Path:
    """Play the tasks, or some of the test split, and keep the episodes."""
    kwargs = {"action_format": "react", **kwargs}
    with TextVectorEnv(env_id, 2, **kwargs) as envs:
        (task_ids, *_) = envs.call("task_ids", "test")
        step = len(task_ids) // count
        write_jsonl(path, play(envs, tasks or task_ids[::step][:count], policy))
    return path


@pytest.fixture(scope="module")
def genuine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a success, and with an episode that the turn limit ended."""
    folder = tmp_path_factory.mktemp("genuine")
    episodes = [
        next(read_jsonl(recorded(folder / f"{policy}.jsonl", policy=policy, count=1)))
        for policy in ("expert", "random")
    ]
    assert [episode.success for episode in episodes] == [True, False]
    write_jsonl(folder / "both.jsonl", episodes)
    return folder / "both.jsonl"


# -- Genuine files ---------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", map(unless_missing, EMBEDDED))
@pytest.mark.parametrize("policy", ["expert", "random"])
def test_what_was_played_comes_back_equal(
    env_id: str, policy: str, tmp_path: Path, rescored: Told
) -> None:
    status, printed = rescored(recorded(tmp_path / "e.jsonl.gz", env_id, policy))
    assert printed.startswith("2 episodes: 2 equal, 0 different, 0 not replayable\nsuccess:")
    assert status == 0


@pytest.mark.science
@pytest.mark.parametrize("policy", ["expert", "random"])
def test_so_does_a_simulators_episode(policy: str, tmp_path: Path, rescored: Told) -> None:
    tasks = ["sciworld_2111", "sciworld_3813"]
    file = recorded(tmp_path / "e.jsonl", "agentgym/SciWorld-v0", policy, tasks=tasks)
    status, printed = rescored(file)
    assert (status, printed.splitlines()[0].partition(",")[0]) == (0, "2 episodes: 2 equal")


@pytest.mark.parametrize("env_id", [TEXTCRAFT, "agentgym/BabyAI-v0", "agentgym/Wordle-v0"])
@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
def test_formats_and_the_originals_mode_are_in_the_episodes(
    env_id: str, action_format: str, compat: str | None, tmp_path: Path, rescored: Told
) -> None:
    file = recorded(tmp_path / "e.jsonl", env_id, action_format=action_format, compat=compat)
    assert rescored(file)[0] == 0


@pytest.mark.parametrize("policy", ["expert", "random"])
@pytest.mark.parametrize("max_turns", [1, 2, 5, 33])
def test_a_turn_limit_is_in_the_episodes(
    policy: str, max_turns: int, tmp_path: Path, rescored: Told
) -> None:
    file = recorded(tmp_path / "e.jsonl", policy=policy, count=6, max_turns=max_turns)
    assert rescored(file)[0] == 0


def test_a_horizon_and_an_experts_first_turns_are_played_again(
    tmp_path: Path, rescored: Told
) -> None:
    with TextVectorEnv(TEXTCRAFT, 2, action_format="react") as envs:
        tasks = envs.call("task_ids", "train")[0][:40:4]
        options = {"schedule": FixedHorizon(3), "starts": FixedHorizon(2)}
        for name, policy in (("random", "random"), ("expert", "expert")):
            rollout = Rollout(envs, scripted_policy(policy), **options)
            write_jsonl(tmp_path / f"{name}.jsonl", rollout.run(tasks))
    file = tmp_path / "random.jsonl"
    episodes = list(read_jsonl(file))
    assert {episode.truncated_by for episode in episodes} == {"horizon"}
    assert any(not turn.trained for episode in episodes for turn in episode.turns)
    assert rescored(file, tmp_path / "expert.jsonl")[0] == 0


class Spent(Policy):
    """Has no tokens left after some turns."""

    name = "spent"

    def act(self, episodes: list[Episode]) -> list[Reply | Stop]:
        return [
            Stop("token_budget") if len(one.trajectory.turns) == one.index else Reply("inventory")
            for one in episodes
        ]


def test_an_episode_that_the_policy_ended_is_replayed_to_there(
    tmp_path: Path, rescored: Told
) -> None:
    file = recorded(tmp_path / "e.jsonl", policy=Spent(), count=9)
    assert [len(episode.turns) for episode in read_jsonl(file)] == [*range(9)]
    status, printed = rescored(file)
    assert (status, printed.partition(",")[0]) == (0, "9 episodes: 9 equal")
    for cause, end in ((None, "truncated"), ("goes_on", "truncated by goes_on")):
        change = {"truncated_by": cause}
        edited = edit(file, tmp_path / "edited.jsonl", methodcaller("update", change))
        status, printed = rescored(edited)
        assert (status, f"end: stored '{end}', replayed 'goes on'" in printed) == (1, True)


def test_several_actions_a_turn_are_played_again(tmp_path: Path, rescored: Told) -> None:
    def twice(_observations: Any) -> str:
        return "move forward; turn left; inventory"

    env_id = "agentgym/BabyAI-v0"
    file = recorded(tmp_path / "e.jsonl", env_id, twice, action_format="plain", actions_per_turn=3)
    assert rescored(file)[0] == 0


def test_notes_are_no_part_of_the_action(tmp_path: Path, rescored: Told) -> None:
    notes = Notes()

    class Noting(Policy):
        name = "noting"

        def instruction(self, env_id: str, system_prompt: str) -> str:
            return notes.instruction(system_prompt)

        def act(self, episodes: list[Episode]) -> list[Reply]:
            text = "<think>So.</think>Memory: I hold nothing.\nThought: .\nAction: inventory"
            return [Reply(text, action=notes.action(text)) for _ in episodes]

    file = recorded(tmp_path / "e.jsonl", policy=Noting())
    assert rescored(file)[0] == 0
    assert "Memory" not in next(read_jsonl(file)).turns[0].action


def test_an_episode_of_a_wrapper_that_records_is_replayed(tmp_path: Path, rescored: Told) -> None:
    file = tmp_path / "e.jsonl"
    for limit in ({}, {"max_episode_steps": 2}):
        with RecordTrajectories(gym.make(TEXTCRAFT, **limit), file) as env:
            env.reset(options={"task_id": 3})
            is_over = False
            while not is_over:
                *_, terminated, truncated, _ = env.step("<think>...</think>inventory")
                is_over = terminated or truncated
    assert [episode.truncated_by for episode in read_jsonl(file)] == ["max_turns", "time_limit"]
    assert rescored(file)[0] == 0


def test_an_environment_of_ones_own_is_imported_by_the_caller_alone(
    tmp_path: Path, rescored: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    register_helpers()
    env_id = "mine/Rescored-v0"
    file = edit(
        recorded(tmp_path / "e.jsonl", COUNTING_ID),
        tmp_path / "mine.jsonl",
        lambda one: one.update(env_id=env_id),
    )
    (tmp_path / "rescored_game.py").write_text(
        "from agentgym_envs import register_env\n"
        f"register_env({env_id!r}, 'tests.helpers:CountingEnv')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "REGISTERED", [*registry.REGISTERED])
    status, printed = rescored(file)
    assert (status, f"--env module:{env_id}" in printed) == (1, True)
    try:
        assert rescored(file, "--env", f"rescored_game:{env_id}")[0] == 0
    finally:
        gym.registry.pop(env_id, None)
    named = edit(file, tmp_path / "o.jsonl", lambda one: one.update(env_id=f"rescored:{env_id}"))
    assert "there is no rescored:mine/Rescored-v0 here" in rescored(named)[1]


# -- What an enemy edits ---------------------------------------------------------------------------


def edit(file: Path, to: Path, change: Callable[[dict[str, Any]], Any]) -> Path:
    """Write a file again, changed by hand."""
    records = [episode.to_json() for episode in read_jsonl(file)]
    for record in records:
        change(record)
    to.write_text("".join(json.dumps(record) + "\n" for record in records))
    return to


def of_turn(name: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Return the edit of one value in the last turn but one, given the old one."""

    def change(record: dict[str, Any]) -> None:
        turn = record["turns"][-2]
        turn[name] = value(turn.get(name))

    return change


EDITS: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "reward": (of_turn("reward", lambda old: old + 1e-3), ", reward: "),
    "validity": (of_turn("is_valid_action", lambda old: not old), ", is_valid_action: "),
    "score of a turn": (of_turn("score", lambda old: old + 0.5), ", score: "),
    "word": (of_turn("observation", lambda old: old.replace(" ", " a ", 1) + "."), "observation: "),
    "action": (of_turn("completion", lambda _: "Thought: .\nAction: craft 2 x"), "observation: "),
    "action beside": (of_turn("action", lambda _: "Action: inventory"), ", action: stored 'Action"),
    "no last turn": (lambda one: one["turns"].pop(), ": stored "),
    "no first turn": (lambda one: one["turns"].pop(0), ", observation: "),
    "no turns": (lambda one: one.update(turns=[]), "end: stored 't"),
    "twice a turn": (lambda one: one["turns"].append(one["turns"][-1]), ": stored "),
    "success": (lambda one: one.update(success=not one["success"]), "success: stored "),
    "score": (lambda one: one.update(score=0.9), "score: stored 0.9, "),
    "end": (lambda one: one.update(status="truncated", truncated_by="env_limit"), "end: stored "),
    "end that stands for none": (
        lambda one: one.update(status="truncated", truncated_by="goes_on"),
        "end: stored 'truncated by goes_on', replayed 't",
    ),
    "last words": (lambda one: one.update(final_observation="Well done"), "final_observation: "),
    "goal": (lambda one: one.update(goal="craft nothing"), "goal: stored 'craft nothing'"),
    "subtask": (lambda one: one.update(subtask="depth 9"), "subtask: stored 'depth 9'"),
    "split": (lambda one: one.update(split="train"), "split: stored 'train', replayed 'test'"),
    "verdict": (lambda one: one.update(verdict="It is."), "verdict: stored 'It is.'"),
    "another task": (lambda one: one.update(task_id="textcraft_5"), "turn 1, observation: "),
    "given turns": (
        lambda one: [turn.update(trained=False, reward=0.5) for turn in one["turns"]],
        "turn 1, reward: stored 0.5, replayed 0.0",
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_an_edit_by_hand_is_listed(
    name: str, genuine: Path, tmp_path: Path, rescored: Told
) -> None:
    change, shown = EDITS[name]
    status, printed = rescored(edit(genuine, tmp_path / "edited.jsonl", change))
    assert status == 1
    assert "2 episodes: 0 equal, 2 different, 0 not replayable" in printed
    for episode in (1, 2):
        lines = [
            line for line in printed.splitlines() if f"edited.jsonl, episode {episode} (" in line
        ]
        assert any(shown in line for line in lines), printed


def test_a_claimed_success_is_shown_beside_the_replayed_one(
    genuine: Path, tmp_path: Path, rescored: Told
) -> None:
    edited = edit(genuine, tmp_path / "edited.jsonl", lambda one: one.update(success=True))
    status, printed = rescored(edited, "--out", tmp_path / "out.json")
    assert printed.endswith("success: claimed 2 of 2 (100.0%), replayed 1 of 2 (50.0%)\n")
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["success"] == {"claimed": [2, 2], "replayed": [1, 2]}
    (difference,) = written["differences"]
    assert (difference["episode"], difference["field"]) == (2, "success")
    assert (difference["stored"], difference["replayed"], status) == (True, False, 1)


def test_only_a_few_differences_are_printed_and_all_are_written(
    genuine: Path, tmp_path: Path, rescored: Told
) -> None:
    episodes = list(read_jsonl(genuine)) * 15
    write_jsonl(tmp_path / "many.jsonl", episodes)
    edited = edit(tmp_path / "many.jsonl", tmp_path / "e.jsonl", lambda one: one["turns"].pop(0))
    _, printed = rescored(edited, "--out", tmp_path / "out.json")
    assert "10 further episodes differ; --out FILE lists all" in printed
    assert "further differences" in printed
    written = json.loads((tmp_path / "out.json").read_text())
    assert written["different"] == len({one["episode"] for one in written["differences"]}) == 30


# -- What cannot be replayed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"source": "minecraft-1.12/v1"}, "it was played on 'minecraft-1.12/v1', and here is"),
        (
            {"system_prompt": "Do as you like."},
            "the environment made here has another system prompt",
        ),
        ({"task_id": "textcraft_99999"}, "unknown task_id"),
        ({"env_id": ""}, "it names no environment"),
        ({"env_id": "mine/Game-v0"}, "--env module:mine/Game-v0"),
        ({"judgements": '{"answer": "yes"}'}, "a judge has scored it"),
    ],
)
def test_why_an_episode_cannot_be_replayed_is_told(
    change: dict[str, Any], reason: str, genuine: Path, tmp_path: Path, rescored: Told
) -> None:
    edited = edit(genuine, tmp_path / "edited.jsonl", lambda one: one.update(change))
    status, printed = rescored(edited)
    assert status == 1  # nobody can take what was not checked for equal
    assert "2 episodes: 0 equal, 0 different, 2 not replayable\nnot replayable, 2: " in printed
    assert reason in printed
    assert "success: claimed 1 of 2 (50.0%), replayed 0 of 0" in printed


def test_a_failed_episode_counts_for_nothing(genuine: Path, tmp_path: Path, rescored: Told) -> None:
    def fail(one: dict[str, Any]) -> None:
        if not one["success"]:
            one.update(status="failed", error="the server has gone")

    status, printed = rescored(edit(genuine, tmp_path / "edited.jsonl", fail))
    assert status == 0
    assert "not replayable, 1: it failed: the server has gone" in printed
    assert "success: claimed 1 of 1 (100.0%), replayed 1 of 1 (100.0%)" in printed


def test_an_episode_without_completions_is_counted_apart(
    genuine: Path, tmp_path: Path, rescored: Told
) -> None:
    def strip(one: dict[str, Any]) -> None:
        for turn in one["turns"]:
            turn["completion"] = ""

    status, printed = rescored(edit(genuine, tmp_path / "edited.jsonl", strip))
    assert (status, "its completions are not recorded" in printed) == (1, True)


def test_what_a_server_noted_of_an_answer_is_not_compared(
    genuine: Path, tmp_path: Path, rescored: Told
) -> None:
    episodes = list(read_jsonl(genuine))
    for episode in episodes:
        episode.turns[0].call = ModelCall(seconds=3.0, prompt_tokens=9)
        episode.turns[0].num_tokens = 7
    write_jsonl(tmp_path / "e.jsonl", episodes)
    assert rescored(tmp_path / "e.jsonl")[0] == 0


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("nowhere.jsonl", None, "there is no file or folder"),
        ("e.jsonl", "{}\n", "line 1: not a trajectory"),
        ("e.txt", "", "is no .jsonl, .jsonl.gz or .json file"),
        ("e.json", "{}", "it is no result of agentgym eval --out"),
        ("e.json", '{"run": {"A": {"trajectories": 5}}}', "it is no result of agentgym eval"),
        ("e.json", '{"run": [5]}', "it is no result of agentgym eval"),
        (".", None, "holds no .jsonl or .jsonl.gz files of episodes"),
    ],
)
def test_a_path_without_episodes_is_refused(
    name: str,
    text: str | None,
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    with pytest.raises(SystemExit) as stop:
        main([str(tmp_path / name)])
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


# -- Records beside the files ----------------------------------------------------------------------


@pytest.fixture
def evaluated(tmp_path: Path) -> Path:
    """Return the result of an evaluation whose environment has arguments of its own."""
    words = ["--env", "BabyAI", "--policy", "random", "--num_tasks", "4", "--samples", "2"]
    words += ["--seeds", "0,1", "--max_turns", "6", "--env_kwargs", '{"list_actions": false}']
    result, episodes = tmp_path / "result.json", tmp_path / "episodes.jsonl"
    assert eval_main([*words, "--out", str(result), "--trajectories", str(episodes)]) == 0
    return result


def test_an_evaluation_is_checked_with_its_episodes(evaluated: Path, rescored: Told) -> None:
    for path in (evaluated, evaluated.with_name("episodes.jsonl")):
        status, printed = rescored(path)
        assert (status, printed.partition(",")[0]) == (0, "16 episodes: 16 equal")


def test_arguments_that_are_nowhere_are_the_callers_to_give(
    evaluated: Path, tmp_path: Path, rescored: Told
) -> None:
    episodes = evaluated.with_name("episodes.jsonl")
    own = {"list_actions": False, "action_format": "react", "max_turns": 6}
    assert {json.dumps(one.env_kwargs, sort_keys=True) for one in read_jsonl(episodes)} == {
        json.dumps(own, sort_keys=True)
    }
    file = edit(episodes, tmp_path / "e.jsonl", lambda one: one.update(env_kwargs=None))
    file = file.rename(tmp_path.joinpath("elsewhere").with_suffix(".jsonl"))
    evaluated.unlink()
    status, printed = rescored(file)
    assert (status, "pass the arguments that it was made with by --env-kwargs" in printed) == (
        1,
        True,
    )
    words = json.dumps(own)
    assert rescored(file, "--env-kwargs", f"BabyAI={words}")[0] == 0


@pytest.mark.parametrize("name", ["success", "score", "mean_turns", "ci95", "tasks", "seeds"])
def test_a_number_of_a_result_that_its_episodes_do_not_give_is_listed(
    name: str, evaluated: Path, rescored: Told
) -> None:
    record = json.loads(evaluated.read_text())
    value = record[name]
    if isinstance(value, dict):
        value[next(iter(value))] = 0.9
    other = [0.1, 0.9] if name == "ci95" else 10**400 if name == "score" else 0.9
    record[name] = value if isinstance(value, dict) else other
    evaluated.write_text(json.dumps(record))
    status, printed = rescored(evaluated)
    assert (status, f"result.json, {name}" in printed) == (1, True)
    assert "16 episodes: 16 equal" in printed


def test_episodes_that_were_left_out_are_missed_in_the_result(
    evaluated: Path, rescored: Told
) -> None:
    file = evaluated.with_name("episodes.jsonl")
    write_jsonl(file, [*read_jsonl(file)][:-1])
    status, printed = rescored(file)
    assert (status, "result.json, episodes babyai_" in printed) == (1, True)


def test_a_shorter_limit_than_the_records_is_no_end(evaluated: Path, rescored: Told) -> None:
    file = evaluated.with_name("episodes.jsonl")

    def shorten(one: dict[str, Any]) -> None:
        if one["truncated_by"] == "max_turns":
            last = one["turns"].pop()
            one.update(final_observation=last["observation"], score=one["turns"][-1]["score"])

    edit(file, file, shorten)
    status, printed = rescored(file)
    assert (status, "end: stored 'truncated by max_turns', replayed 'goes on'" in printed) == (
        1,
        True,
    )


def test_a_recorded_wrapper_is_not_imported_unasked(tmp_path: Path, rescored: Told) -> None:
    words = ["--env", "TextCraft", "--policy", "expert", "--num_tasks", "2"]
    words += ["--wrapper", "wrappers:SuccessReward", "--out", str(tmp_path / "r.json")]
    assert eval_main([*words, "--trajectories", str(tmp_path / "e.jsonl")]) == 0
    status, printed = rescored(tmp_path / "e.jsonl")
    assert (status, "pass --wrapper wrappers:SuccessReward" in printed) == (1, True)
    assert rescored(tmp_path / "e.jsonl", "--wrapper", "wrappers:SuccessReward")[0] == 0


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("cell.json", {}),
        ("cell.json", {"settings": 5}),
        ("run.json", {"EnvArguments": None, "EpisodeArguments": [5]}),
        ("result.json", {"run": {"MeasureArguments": {"trajectories": 5}}}),
    ],
)
def test_a_record_of_another_form_is_passed_over(
    name: str, record: dict[str, Any], genuine: Path, tmp_path: Path, rescored: Told
) -> None:
    write_jsonl(tmp_path / "e.jsonl", read_jsonl(genuine))
    (tmp_path / name).write_text(json.dumps(record))
    assert rescored(tmp_path / "e.jsonl")[0] == 0


def test_a_recorded_wrapper_that_is_no_list_is_asked_for(
    genuine: Path, tmp_path: Path, rescored: Told
) -> None:
    write_jsonl(tmp_path / "e.jsonl", read_jsonl(genuine))
    (tmp_path / "run.json").write_text('{"EnvArguments": {"wrapper": "mine:Wrapper"}}')
    status, printed = rescored(tmp_path / "e.jsonl")
    assert (status, "pass --wrapper mine:Wrapper\n" in printed) == (1, True)


def test_a_folders_runs_and_cells_are_rescored_by_their_records(
    tmp_path: Path, rescored: Told
) -> None:
    run, cell = tmp_path / "run" / "trajectories", tmp_path / "cells" / "random"
    recorded(run / "train_000001.jsonl", policy="random", max_turns=5)
    recorded(run.parent / "previous-1" / "trajectories" / "train_000001.jsonl", policy="random")
    recorded(cell / "batch_0000.jsonl", "agentgym/BabyAI-v0", "random", list_actions=False)
    options = {"action_format": "react", "max_turns": 5, "env_kwargs": None, "env": [TEXTCRAFT]}
    (run.parent / "run.json").write_text(json.dumps({"EnvArguments": options}))
    settings = {"action_format": "react", "env_kwargs": '{"list_actions": false}'}
    record = {"env_id": "agentgym/BabyAI-v0", "max_turns": None, "settings": settings}
    (cell / "cell.json").write_text(json.dumps(record))
    status, printed = rescored(tmp_path)
    assert (status, printed.partition(",")[0]) == (0, "4 episodes: 4 equal")


def test_a_small_file_does_not_slow_a_later_one(
    genuine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def vector(factories: Sequence[Any], **options: Any) -> TextVectorEnv:
        made.append(len(factories))
        return TextVectorEnv(factories, **options)

    monkeypatch.setattr(replays, "TextVectorEnv", vector)
    episodes = list(read_jsonl(genuine)) * 4
    replayer = Replayer(Origins({}), num_envs=4)
    for count in (1, 8, 2):
        assert all(one.is_equal for one in replayer.replay(episodes[:count], {}))
    replayer.close()
    assert made == [1, 4]


@pytest.mark.full
def test_processes_replay_the_same(genuine: Path, rescored: Told) -> None:
    assert rescored(genuine, "--env-backend", "process", "--num-envs", "2")[0] == 0
