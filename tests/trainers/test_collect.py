from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import EnvFailure, Trajectory, read_jsonl
from tests.faults.wrappers import Breaks
from tests.trainers.toys import EASY_ID, ENV_ID, FAILED, make_folder
from trainers.collect import collect, expert_episodes, main
from trainers.options.arguments import EnvArguments
from trainers.options.errors import UsageError, run_command
from trainers.policies.scripted import RandomPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from wrappers import FailureRules


@pytest.fixture
def letters() -> Environments:
    return Environments(EnvArguments(env=[ENV_ID]), episodes=3)


def test_episodes_go_round_the_tasks_in_order(letters: Environments) -> None:
    played = expert_episodes(letters, ["letters_0", "letters_1"], num_episodes=3)
    assert [t.task_id for t in played] == ["letters_0", "letters_1", "letters_0"]
    assert all(t.success and t.policy == "expert" for t in played)


def test_fewer_episodes_than_tasks_are_of_every_difficulty() -> None:
    environments = Environments(EnvArguments(env=["TextCraft"]))
    ids = environments.task_ids("train")
    depths = {t.subtask for t in expert_episodes(environments, ids, num_episodes=40)}
    assert depths >= {"depth 1", "depth 2", "depth 3"}
    rest = [t.task_id for t in expert_episodes(environments, ids[:3], num_episodes=4)]
    assert rest == [*ids[:3], ids[0]]


def test_each_task_is_played_once_by_default(letters: Environments) -> None:
    ids = letters.task_ids("train")
    assert [t.task_id for t in expert_episodes(letters, ids)] == ids


def test_random_actions_follow_from_the_seed(letters: Environments) -> None:
    ids = letters.task_ids("train")

    def said(seed: int) -> list[str]:
        played = collect(letters.rollout(RandomPolicy()), ids, seed=seed)
        return [turn.completion for t in played for turn in t.turns]

    assert said(1) == said(1)
    assert said(1) != said(2)


@pytest.mark.parametrize("is_bearable", [False, True])
def test_an_expert_on_broken_machinery_follows_the_rules_that_are_given(
    *, is_bearable: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Environments(
        EnvArguments(env=[ENV_ID], wrapper=["tests.faults.wrappers:Breaks"]), episodes=1
    )
    turns = iter([True, *[False] * 20])
    monkeypatch.setattr(Breaks, "is_broken", lambda: next(turns))
    rules = FailureRules(retries=0, max_failed_share=0.5 if is_bearable else 0.1, min_failed=1)
    if is_bearable:
        first, second = expert_episodes(broken, ["letters_0", "letters_1"], failure_rules=rules)
        assert (first.status, second.success) == ("failed", True)
    else:
        with pytest.raises(EnvFailure):
            expert_episodes(broken, ["letters_0", "letters_1"], failure_rules=rules)


def test_nothing_to_collect_is_refused(letters: Environments) -> None:
    with pytest.raises(ValueError, match="no tasks"):
        expert_episodes(letters, [])
    with pytest.raises(ValueError, match="num_episodes must be >= 1, got 0"):
        expert_episodes(letters, ["letters_0"], num_episodes=0)


def test_the_command_writes_and_appends_episodes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "episodes.jsonl"
    options = f"--env {ENV_ID} --out {out} --num-episodes".split()
    assert main([*options, "3"]) == 0
    told = capsys.readouterr().out
    assert "wrote 3 episodes" in told and re.search(r"sampled tokens, .* \d+\.\d s", told)
    assert main([*options, "2", "--append", "--policy", "random"]) == 0
    assert [t.policy for t in read_jsonl(out)] == ["expert"] * 3 + ["random"] * 2


def test_a_models_episodes_hold_its_tokens(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    model = make_folder(tmp_path / "model")
    options = f"--env {ENV_ID} --policy {model} --num_episodes 2 --max-tokens-per-turn 4".split()
    assert main([*options, "--output", str(out)]) == 0
    assert all(t.trace.action_mask.count(1) > 0 for t in read_jsonl(out))


def test_only_the_named_tasks_are_played(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    assert main(f"--env {ENV_ID} --out {out} --tasks letters_3 5".split()) == 0
    assert [t.task_id for t in read_jsonl(out)] == ["letters_3", "letters_5"]


def test_fewer_tasks_are_spread_over_the_split_and_played_more_often(tmp_path: Path) -> None:
    out = tmp_path / "episodes.jsonl"
    assert main(f"--env {ENV_ID} --out {out} --num_tasks 2 --num_episodes 4".split()) == 0
    first, second, *again = [t.task_id for t in read_jsonl(out)]
    assert again == [first, second] and int(second.removeprefix("letters_")) > 1
    with pytest.raises(SystemExit, match="2"):
        main(f"--env {ENV_ID} --out {out} --num_tasks -1".split())


def test_weights_of_environments_that_are_played_whole_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"--env {ENV_ID} --env TextCraft --mix 1,9 --out {tmp_path / 'episodes.jsonl'}"
    assert run_command(lambda: main(words.split())) == 2
    assert "say how many by --num_tasks or --num_episodes" in capsys.readouterr().err


def test_episodes_are_written_where_none_has_a_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Rollout, "run", lambda *args, **kwargs: [FAILED, FAILED])
    out = tmp_path / "episodes.jsonl"
    assert main(f"--env {ENV_ID} --out {out} --policy random".split()) == 0
    assert list(read_jsonl(out)) == [FAILED, FAILED]
    told = capsys.readouterr().out
    assert told.startswith("wrote 2 episodes")
    assert "no success rate: no episode" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("--num-episodes 0", "num_episodes must be >= 1, got 0"),
        ("--seed -1", "seed must be >= 0, got -1"),
        ("--temperature -1", "temperature must be >= 0, got -1.0"),
        ("--out .", "out must name a file, got the folder ."),
        ("--data nosuch.jsonl", "there is no file nosuch.jsonl"),
    ],
)
def test_a_mistake_is_told_before_anything_is_played(
    words: str,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(Rollout, "run", lambda *args, **kwargs: pytest.fail("it plays"))
    with pytest.raises(SystemExit, match="2"):
        main(f"--env {ENV_ID} --out {tmp_path / 'episodes.jsonl'} {words}".split())
    assert told in capsys.readouterr().err


def test_what_was_played_before_ctrl_c_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Rollout.run

    def play_two(self: Rollout, task_ids: Sequence[str], **kwargs: Any) -> list[Trajectory]:
        run(self, task_ids[:2], **kwargs)
        raise KeyboardInterrupt

    monkeypatch.setattr(Rollout, "run", play_two)
    out = tmp_path / "episodes.jsonl"
    with pytest.raises(KeyboardInterrupt):
        main(f"--env {ENV_ID} --out {out} --num_episodes 5".split())
    assert "2 episodes had ended" in capsys.readouterr().err
    assert not out.exists()
    assert main(f"--data {tmp_path / 'episodes.unfinished.jsonl'} --out {out}".split()) == 0
    assert [t.success for t in read_jsonl(out)] == [True, True]


@pytest.mark.parametrize(
    ("form", "there", "told"),
    [
        ("agenttraj", "something else", "cannot append --format agenttraj.*not JSON"),
        ("jsonl", "[]", "cannot append --format jsonl.*line 1: not a trajectory"),
    ],
)
def test_episodes_are_not_added_to_a_file_of_another_form(
    form: str, there: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rollout, "run", lambda *args, **kwargs: pytest.fail("it plays"))
    out = tmp_path / "episodes"
    out.write_text(there)
    with pytest.raises(UsageError, match=told):
        main(f"--env {ENV_ID} --out {out} --append --format {form}".split())
    assert out.read_text() == there


def test_a_file_of_something_else_cannot_be_converted(tmp_path: Path) -> None:
    (tmp_path / "other").write_text("something else")
    with pytest.raises(UsageError, match="other, line 1: not a trajectory"):
        main(f"--data {tmp_path / 'other'} --out {tmp_path / 'episodes.jsonl'}".split())


def test_several_environments_have_their_shares_of_the_episodes(tmp_path: Path) -> None:
    out = tmp_path / "e.jsonl"
    both = f"--env {ENV_ID} --env {EASY_ID} --action_format plain --policy expert --out {out}"
    for further, expected in (("", (6, 6)), ("--mix 1,3", (3, 9))):
        assert main(f"{both} --num_episodes 12 {further}".split()) == 0
        played = [trajectory.env_id for trajectory in read_jsonl(out)]
        assert (played.count(ENV_ID), played.count(EASY_ID)) == expected
