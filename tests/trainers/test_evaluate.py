from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentgym_envs import Trajectory, Turn, read_jsonl
from agentgym_envs.core import UNSCORED
from tests.trainers.toys import EASY_ID, ENV_ID, make_folder, model_rollout
from trainers.evaluate import EvalResult, evaluate, main, paired_gain
from trainers.evaluation.intervals import bootstrap_mean
from trainers.evaluation.summary import summarize
from trainers.options.arguments import EnvArguments
from trainers.options.errors import UsageError
from trainers.policies.scripted import ExpertPolicy, FunctionPolicy, RandomPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.mixtures import spread


def played(task: str, success: bool, *, status: str = "terminated") -> Trajectory:
    turns = [Turn("o", "a", 0.0, True, 0.0, 3), Turn("o", "b", float(success), success, 1.0, 2)]
    return Trajectory(
        "toy/Letters-v0", task, subtask=task[0], turns=turns, status=status, success=success,
        score=float(success), truncated_by="max_turns" if status == "truncated" else None,
    )  # type: ignore[arg-type]  # fmt: skip


def test_success_is_a_mean_over_tasks_of_means_over_samples() -> None:
    result = summarize(
        [played("a1", True), played("a1", False), played("b1", True), played("b1", True)]
    )
    assert result.success == 0.75
    assert result.tasks == {"a1": 0.5, "b1": 1.0}
    assert (result.n_tasks, result.samples_per_task) == (2, 2)
    assert result.subtasks["a"].success == 0.5
    assert result.invalid_rate == 1 / 8
    assert result.mean_turns == 2
    assert result.sampled_tokens == 20


def test_failed_episodes_are_counted_apart() -> None:
    result = summarize([played("a1", True), played("a1", False, status="failed")])
    assert (result.success, result.failures) == (1.0, 1)
    with pytest.raises(ValueError, match="of 1, 0 need a judge"):
        summarize([played("a1", False, status="failed")])


def test_episodes_that_need_a_judge_are_unscored_and_not_failed() -> None:
    unscored = played("a1", False, status="failed")
    unscored.error = UNSCORED
    result = summarize([played("a1", True), unscored])
    assert (result.success, result.failures, result.unscored) == (1.0, 0, 1)
    assert "failed episodes 0, unscored 1," in str(result)
    assert EvalResult.from_json(result.to_json()) == result
    with pytest.raises(ValueError, match="of 1, 1 need a judge"):
        summarize([unscored])


def test_truncations_are_counted_by_cause() -> None:
    assert summarize([played("a1", False, status="truncated")]).truncated == {"max_turns": 1}


def test_a_bootstrap_interval_covers_the_mean_and_is_the_same_each_time() -> None:
    values = np.random.default_rng(1).random(50).tolist()
    low, high = bootstrap_mean(values)
    assert low < np.mean(values) < high
    # Normal theory for comparison: 1.96 standard errors.
    assert high - low == pytest.approx(2 * 1.96 * np.std(values) / 50**0.5, rel=0.1)
    assert bootstrap_mean(values) == (low, high)
    assert bootstrap_mean([0.5] * 9) == (0.5, 0.5)


def test_a_gain_is_paired_over_tasks() -> None:
    before = summarize([played("a1", False), played("b1", True), played("c1", True)])
    after = summarize([played("a1", True), played("b1", True), played("d1", False)])
    gain = paired_gain(before, after)
    assert (gain.gain, gain.n_tasks) == (0.5, 2)
    assert gain.ci95 == (0.0, 1.0)
    with pytest.raises(ValueError, match="share no task"):
        paired_gain(before, summarize([played("z1", True)]))


def test_a_result_survives_its_file(tmp_path: Path) -> None:
    result = summarize([played("a1", True), played("b1", False)], policy="expert", temperature=0.5)
    result.save(tmp_path / "deep" / "result.json")
    assert EvalResult.load(tmp_path / "deep" / "result.json") == result
    assert "success 50.0%" in str(result)


def test_tasks_are_spread_evenly() -> None:
    assert spread("abcdefgh", 4) == ["a", "c", "e", "g"]
    assert spread("abc", 0) == spread("abc", 5) == ["a", "b", "c"]


def test_the_same_seed_plays_the_same_episodes_whatever_came_before() -> None:
    letters = Environments(EnvArguments(env=[ENV_ID], action_format="plain"), episodes=4)
    player = model_rollout(letters)
    ids = letters.task_ids("test")
    first = evaluate(player, ids, samples=4, seed=1)
    other = evaluate(player, ids, samples=4, seed=2)
    again = evaluate(player, ids, samples=4, seed=1)
    assert first.tasks == again.tasks
    assert first.sampled_tokens == again.sampled_tokens
    assert (first.tasks, first.sampled_tokens) != (other.tasks, other.sampled_tokens)
    assert (first.seed, first.temperature) == (1, 1.0)


def test_every_seed_plays_as_it_does_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def completions(*options: str) -> list[list[str]]:
        path = tmp_path / "t.jsonl"
        words = f"--env {ENV_ID} --policy random --samples 3 --trajectories {path}".split()
        assert main([*words, "--action_format", "plain", *options]) == 0
        return [[turn.completion for turn in episode.turns] for episode in read_jsonl(path)]

    result = tmp_path / "r.json"
    together = completions("--seeds", "5,6,9,6", "--out", str(result))
    alone = [completions("--seed", str(seed)) for seed in (5, 6, 9)]
    assert together == sum(alone, [])
    assert alone[0] != alone[1]
    read = EvalResult.load(result)
    assert (read.seed, list(read.seeds), read.samples_per_task) == (5, [5, 6, 9], 9)
    assert read.success == pytest.approx(np.mean(list(read.seeds.values())))
    assert f"by seed: 5 {read.seeds[5]:.1%}, 6 {read.seeds[6]:.1%}, 9" in capsys.readouterr().out


def test_the_interval_over_seeds_needs_three_that_differ() -> None:
    def result(*successes: bool) -> EvalResult:
        episodes = [played(task, won) for won in successes for task in ("a1", "b1")]
        episodes[0] = played("a1", True)
        return summarize(episodes, seeds=range(len(successes)))

    assert result(False).seeds == {}
    assert result(False, True).ci95_seeds is None
    assert result(True, True, True).ci95_seeds is None
    three = result(False, True, True)
    assert three.seeds == {0: 0.5, 1: 1.0, 2: 1.0}
    half = 4.303 * (1 / 12 / 3) ** 0.5  # Student's t with 2 degrees, the variance being 1/12
    assert three.ci95_seeds == pytest.approx((5 / 6 - half, 1.0))
    assert EvalResult.from_json(three.to_json()) == three
    assert "by seed: 0 50.0%, 1 100.0%, 2 100.0% (95% interval over seeds 11.6% to" in str(three)


def test_an_evaluation_of_several_seeds_goes_on_where_it_ended() -> None:
    letters = Environments(EnvArguments(env=[ENV_ID], action_format="plain"), episodes=4)
    player = letters.rollout(RandomPolicy())
    ids = letters.task_ids("test")
    all_of_them: dict[int, Trajectory] = {}
    whole = evaluate(player, ids, samples=2, seed=[1, 2], finished=all_of_them)
    assert sorted(all_of_them) == list(range(2 * 2 * len(ids)))
    kept = {place: one for place, one in all_of_them.items() if place % 3}
    again: list[Trajectory] = []
    resumed = evaluate(
        player, ids, samples=2, seed=[1, 2], finished=kept, on_trajectory=again.append
    )
    assert len(again) == len([place for place in all_of_them if place % 3 == 0])
    assert (resumed.seeds, resumed.tasks) == (whole.seeds, whole.tasks)
    assert len(kept) == len(all_of_them)
    with pytest.raises(ValueError, match="there are no seeds"):
        evaluate(player, ids, seed=[])
    with pytest.raises(ValueError, match=r"seeds must differ, .* got \[1, 2, 1\]"):
        evaluate(player, ids, seed=[1, 2, 1])


def test_the_expert_solves_every_task_and_has_no_temperature() -> None:
    letters = Environments(EnvArguments(env=[ENV_ID]), episodes=2)
    result = evaluate(letters.rollout(ExpertPolicy()), letters.task_ids("test"), samples=2)
    assert (result.success, result.temperature, result.policy) == (1.0, None, "expert")


def test_nothing_to_evaluate_is_refused() -> None:
    letters = Environments(EnvArguments(env=[ENV_ID]), episodes=2)
    with pytest.raises(ValueError, match="no tasks"):
        evaluate(letters.rollout(ExpertPolicy()), [])
    with pytest.raises(ValueError, match="samples must be >= 1, got 0"):
        evaluate(letters.rollout(ExpertPolicy()), ["letters_0"], samples=0)


def test_a_policys_name_is_not_what_plays() -> None:
    with pytest.raises(TypeError, match="got the name 'tiny'; make it by trainers.open_rollout"):
        evaluate("tiny", ["textcraft_0"])  # type: ignore[arg-type]


class Unscored:
    """Plays what only a judge could score."""

    policy = FunctionPolicy(str, name="unscored")

    def run(self, task_ids: Sequence[str], **_options: Any) -> list[Trajectory]:
        return [Trajectory("e", task, status="failed", error=UNSCORED) for task in task_ids]


def test_episodes_are_kept_where_none_has_a_score() -> None:
    kept: list[Trajectory] = []
    with pytest.raises(UsageError, match="of 2, 2 need a judge"):
        evaluate(Unscored(), ["a", "b"], on_trajectories=kept.extend)
    assert len(kept) == 2


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [
        ("samples", "0", "samples must be >= 1, got 0"),
        ("num-tasks", "-1", "num_tasks must be >= 0, got -1"),
        ("seed", "-1", "seeds: '-1' is no whole number from 0; write them as 5,10,20"),
        ("temperature", "-1", "temperature must be >= 0, got -1.0"),
        ("out", ".", "out must name a file, got the folder ."),
        ("out", "runs/a.json.gz", "out is written as plain JSON, got runs/a.json.gz"),
        ("trajectories", ".", "trajectories must name a file, got the folder ."),
    ],
)
def test_a_mistake_on_the_command_line_is_told(
    option: str, value: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--env", ENV_ID, "--policy", "random", f"--{option}", value])
    assert told in capsys.readouterr().err


def test_there_is_nothing_to_resume_where_nothing_is_kept() -> None:
    with pytest.raises(UsageError, match="--resume needs --out or --trajectories"):
        main(["--env", ENV_ID, "--policy", "random", "--resume"])


def test_two_results_in_one_file_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match="2"):
        main(f"--env {ENV_ID} --policy random --out x.json --trajectories ./x.json".split())
    assert "out and trajectories must name different files, got x.json" in capsys.readouterr().err


def test_the_command_measures_a_model_and_writes_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = make_folder(tmp_path / "model")
    status = main(
        f"--env {ENV_ID} --model {model} --samples 2 --max-tokens-per-turn 4 --action_format plain "
        f"--top_k 1 --out {tmp_path / 'r.json'} --trajectories {tmp_path / 't.jsonl'}".split()
    )
    assert status == 0
    assert "95% interval" in capsys.readouterr().out
    assert EvalResult.load(tmp_path / "r.json").n_tasks == 2
    episodes = list(read_jsonl(tmp_path / "t.jsonl"))
    assert [t.split for t in episodes] == ["test"] * 4
    assert all(len(t.traces) == 1 for t in episodes)
    assert not any(any(t.trace.logprobs) for t in episodes)  # one token alone was left


def test_a_reader_that_stops_early_leaves_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(*_words: Any, **_options: Any) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("trainers.evaluate.print", closed, raising=False)
    words = f"--env {ENV_ID} --policy expert --out {tmp_path / 'r.json'}"
    with pytest.raises(BrokenPipeError):
        main(words.split())
    assert EvalResult.load(tmp_path / "r.json").n_tasks == 2


def test_the_command_tells_what_was_run_and_which_step_a_checkpoint_is_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "checkpoint-7"
    make_folder(model)
    (model / "trainer_state.json").write_text('{"global_step": 7}')
    words = (
        f"--env {ENV_ID} --model {model} --num_tasks 1 --max_turns 3 --max-tokens-per-turn 4 "
        f"--action_format plain --seed 5 --out {tmp_path / 'r.json'} "
        f"--trajectories {tmp_path / 't.jsonl'}"
    ).split()
    monkeypatch.setattr("sys.argv", ["agentgym", "eval", *words])
    assert main(words) == 0
    result = EvalResult.load(tmp_path / "r.json")
    assert result.global_step == 7
    assert [t.global_step for t in read_jsonl(tmp_path / "t.jsonl")] == [7]
    run = result.run
    assert (run["command"], run["seed"]) == ("eval", 5)
    assert run["command_line"].startswith("agentgym eval --env")
    assert {"agentgym-envs", "torch", "python"} <= set(run["versions"])
    told = {**run["EnvArguments"], **run["EpisodeArguments"], **run["PolicyArguments"]}
    expected = {
        "env": [ENV_ID],
        "split": "test",
        "max_turns": 3,
        "action_format": "plain",
        "max_tokens_per_turn": 4,
        "policy": str(model),
    }
    assert {name: told[name] for name in expected} == expected


def test_the_command_takes_the_expert_and_a_wrapper(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = f"--env {ENV_ID} --policy expert --wrapper tests.trainers.toys:NeverPays".split()
    assert main([*options, "--out", str(tmp_path / "r.json")]) == 0
    assert json.loads((tmp_path / "r.json").read_text())["success"] == 1.0
    with pytest.raises(ValueError, match="expected module:Class, such as .*, got 'nonsense'"):
        main(["--env", ENV_ID, "--wrapper", "nonsense"])


def test_several_environments_have_a_row_each_and_a_mean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = f"--env {ENV_ID} --env {EASY_ID} --action_format plain --policy random"
    assert main(f"{both} --num_tasks 6 --out {tmp_path / 'r.json'}".split()) == 0
    result = EvalResult.load(tmp_path / "r.json")
    rows = result.environments
    assert (rows["Letters"].n_tasks, rows["Easy"].n_tasks) == (2, 4)  # Letters has no more
    assert result.success == (rows["Letters"].success + rows["Easy"].success) / 2
    told = capsys.readouterr().out
    assert "the mean over 2 environments" in told
    assert [line.split()[0] for line in told.splitlines() if line[0] in "LE"] == ["Letters", "Easy"]


def test_weights_are_refused_by_an_evaluation() -> None:
    with pytest.raises(UsageError, match="--mix 2,1 weighs training tasks"):
        main(f"--env {ENV_ID} --env {EASY_ID} --mix 2,1 --policy random".split())
