"""Baselines beside scores: shipped measurements, and which of them stands beside which result."""

from __future__ import annotations

from importlib.util import find_spec

import gymnasium as gym
import pytest

from agentgym_envs import resolve_env_id
from lab.baselines import PANELS, measure
from trainers.evaluate import main
from trainers.evaluation import baselines
from trainers.evaluation.baselines import Measured, measured, strongest

NEEDED = {
    "WebShop": "rapidfuzz",
    "SearchQA": "bm25s",
    "WebArena": "lxml",
    "SciWorld": "scienceworld",
    "MiniWoB": "playwright",
}
MARKS = {
    "SearchQA": [pytest.mark.slow],
    "WebArena": [pytest.mark.slow],
    "SciWorld": [pytest.mark.slow],
    "MiniWoB": [pytest.mark.slow, pytest.mark.browser],
}


@pytest.mark.parametrize(
    ("name", "split", "max_turns"),
    [pytest.param(*panel, marks=MARKS.get(panel[0], [])) for panel in PANELS],
)
def test_what_is_shipped_is_what_the_baselines_reach(
    name: str, split: str, max_turns: int | None
) -> None:
    """Fails when data or rules changed: `python -m lab.baselines` writes it."""
    if name in NEEDED and find_spec(NEEDED[name]) is None:
        pytest.skip(f"{name} needs {NEEDED[name]}")
    env_id = resolve_env_id(name)
    env = gym.make(env_id, max_turns=max_turns, disable_env_checker=True).unwrapped
    every = max(1, len(env.task_ids(split)) // 12)
    numbers = {int(task_id.rpartition("_")[2]) for task_id in env.task_ids(split)[::every]}
    shipped = {
        row.policy: row
        for row in measured()
        if (row.env_id, row.split, row.max_turns) == (env_id, split, env.max_turns)
    }
    again = {row.policy: row for row in measure(env_id, split, max_turns, every=every)}
    assert shipped.keys() == again.keys()
    for policy, row in again.items():
        assert (row.source, row.is_default) == (shipped[policy].source, shipped[policy].is_default)
        assert set(row.solved) == numbers.intersection(shipped[policy].solved), policy
        assert shipped[policy].num_tasks == len(env.task_ids(split))


ROWS = tuple(
    Measured("agentgym/Maze-v0", "maze v1", "test", 15, True, policy, 4, solved, "2026-11-28")
    for policy, solved in (("baseline:one", (1, 2)), ("baseline:other", (3,)))
)


def test_the_strongest_baseline_is_that_on_the_tasks_that_were_played(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(baselines, "measured", lambda: ROWS)

    def best(task_ids: list[str], source: str = "maze v1", **kwargs: int | None) -> str:
        kwargs = {"max_turns": None, **kwargs}
        baseline = strongest("agentgym/Maze-v0", source, "test", task_ids, **kwargs)
        return "" if baseline is None else f"{baseline.policy} {baseline.success.value}"

    assert best(["maze_1", "maze_2", "maze_3", "maze_4"]) == "baseline:one 0.5"
    assert best(["maze_3", "maze_4"], max_turns=15) == "baseline:other 0.5"
    assert best(["maze_1"], max_turns=50) == ""
    assert best(["maze_1"], source="maze v2") == ""


def test_eval_prints_the_strongest_baseline_beside_the_score(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["--env", "Maze", "--policy", "expert", "--split", "test"]) == 0
    *_, last = capsys.readouterr().out.strip().splitlines()
    assert last.startswith(
        "strongest baseline, baseline:best_first: success 89.1% (95% interval 83."
    )
    arguments = ["--env", "Maze", "--policy", "expert", "--split", "test", "--num_tasks", "3"]
    assert main([*arguments, "--env_kwargs", '{"compat": "agentgym"}']) == 0
    assert "baseline" not in capsys.readouterr().out
