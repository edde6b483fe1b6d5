from __future__ import annotations

from pathlib import Path

import pytest

from agentgym_envs import Trajectory
from trainers.evaluation.intervals import wilson
from trainers.evaluation.results import EvalResult, paired_gain, summarize


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
