from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import Trajectory
from trainers.evaluation.intervals import mean_gain, mean_of, wilson
from trainers.evaluation.results import EvalResult, paired_gain
from trainers.evaluation.summary import summarize


def result(*successes: bool, samples: int = 1) -> EvalResult:
    """Return the result of an evaluation in which task n succeeded as `successes[n]` says."""
    return summarize(
        [
            Trajectory("toy/Letters-v0", f"a_{n}", status="terminated", success=won)
            for n, won in enumerate(successes)
            for _ in range(samples)
        ]
    )


@pytest.mark.parametrize("won", [False, True])
@pytest.mark.parametrize("samples", [1, 3])
def test_an_evaluation_does_not_claim_certainty_from_five_tasks(won: bool, samples: int) -> None:
    found = result(*[won] * 5, samples=samples)
    expected = wilson(5 * won, 5)
    assert found.ci95 == (expected.low, expected.high)
    assert found.success == won
    shown = "56.6% to 100.0%" if won else "0.0% to 43.4%"
    assert f"(95% interval {shown})" in str(found)


def test_where_each_task_is_played_once_the_interval_is_wilsons() -> None:
    expected = wilson(2, 3)
    assert result(True, False, True).ci95 == (expected.low, expected.high)


def test_one_id_in_two_environments_is_two_tasks() -> None:
    names = ("mine/Game-v0", "yours/Game-v0")
    episodes = [Trajectory(name, "game_1", status="terminated") for name in names]
    assert summarize(episodes).n_tasks == 2


def test_a_result_replaces_the_one_that_was_there_or_leaves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "deep" / "result.json"
    result(True).save(path)
    assert EvalResult.load(path) == result(True)

    def killed(self: Path, content: bytes) -> int:
        with self.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "write_bytes", killed)
    with pytest.raises(KeyboardInterrupt):
        result(False).save(path)
    assert EvalResult.load(path) == result(True)


def test_a_gain_on_all_tasks_does_not_claim_certainty() -> None:
    lost, won = result(False, False), result(True, True)
    width = wilson(0, 2).high
    assert paired_gain(lost, won).ci95 == (1 - width, 1.0)
    assert paired_gain(won, lost).ci95 == (-1.0, width - 1)
    assert paired_gain(won, won).ci95 == (-width, width)


def test_tasks_of_other_data_are_not_compared() -> None:
    one, other = (
        summarize([Trajectory("toy/QA-v0", "qa_1", source=name, status="terminated")])
        for name in ("wiki/1", "wiki/2")
    )
    assert paired_gain(one, one).gain == 0
    with pytest.raises(ValueError, match="qa_1 is of 'wiki/1' .* and of 'wiki/2'"):
        paired_gain(one, other)


def of(env: str, successes: list[bool], first: int = 0, **changes: Any) -> list[Trajectory]:
    name = env.lower()
    return [
        Trajectory(
            f"toy/{env}-v0", f"{name}_{first + n}", subtask="all", success=won,
            **{"status": "terminated", **changes},
        )
        for n, won in enumerate(successes)
    ]  # fmt: skip


def test_several_environments_are_never_pooled() -> None:
    found = summarize([*of("Easy", [True] * 8), *of("Hard", [False, True])])
    assert found.success == 0.75
    expected = mean_of([wilson(8, 8), wilson(1, 2)])
    assert found.ci95 == (expected.low, expected.high)
    assert (found.n_tasks, found.subtasks) == (10, {})
    easy, hard = found.environments["Easy"], found.environments["Hard"]
    assert (easy.success, easy.n_tasks, hard.success, hard.n_tasks) == (1.0, 8, 0.5, 2)
    assert hard.ci95 == (wilson(1, 2).low, wilson(1, 2).high)
    assert EvalResult.from_json(json.loads(json.dumps(found.to_json()))) == found
    shown = str(found).splitlines()
    assert "on 10 tasks x 1, the mean over 2 environments" in shown[0]
    assert [line.split()[0] for line in shown[2:]] == ["Easy", "all", "Hard", "all"]


def test_an_environment_without_a_score_has_a_row_and_is_in_no_mean() -> None:
    failed = of("Hard", [False], status="failed")
    found = summarize([*of("Easy", [True, False]), *failed])
    assert (found.success, found.failures) == (0.5, 1)
    assert found.environments["Hard"].success is None
    assert "Hard" in str(found) and "no episode with a score; failed episodes 1" in str(found)
    assert EvalResult.from_json(json.loads(json.dumps(found.to_json()))) == found


def test_one_environment_has_no_row_of_its_own() -> None:
    assert result(True, False).environments == {}
    assert "environments" not in str(result(True, False))


def test_a_gain_is_the_mean_over_environments() -> None:
    before = summarize([*of("Easy", [False] * 8), *of("Hard", [False, False])])
    after = summarize([*of("Easy", [False] * 8), *of("Hard", [True, True, True])])
    gain = paired_gain(before, after)
    assert (gain.gain, gain.n_tasks) == (0.5, 10)
    expected = mean_of([mean_gain([0.0] * 8), mean_gain([1.0] * 2)])
    assert gain.ci95 == (expected.low, expected.high)
