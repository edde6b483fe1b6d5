from pathlib import Path

from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.report.evaluations import result_episodes
from trainers.evaluation.results import EvalResult
from trainers.evaluation.summary import summarize


def test_a_result_gives_back_the_episodes_that_had_an_outcome(tmp_path: Path) -> None:
    outcomes = {"game_0": [True, False, None, None], "game_1": [True, True, False, None]}
    summarize(
        [
            Trajectory(
                *("mine/Game-v0", task), subtask="easy", split="test", success=bool(won),
                status="failed" if won is None else "terminated",
            )
            for task, of_task in outcomes.items()
            for won in of_task
        ]
    ).save(tmp_path / "result.json")  # fmt: skip
    result = EvalResult.load(tmp_path / "result.json")
    assert (result.samples_per_task, result.failures) == (4, 3)
    told = [(e.task_id, e.success) for e in result_episodes(result)]
    assert sorted(told) == [
        *(("game_0", False), ("game_0", True)),
        *(("game_1", False), ("game_1", True), ("game_1", True)),
    ]
