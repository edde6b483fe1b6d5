import json

import pytest

from agentgym_envs import read_jsonl
from benchmarks.cli import quickstart

SMALL = [
    *("--batches", "1", "--episodes", "4", "--num_generations", "2"),
    *("--num_tasks", "2", "--samples", "1", "--max_turns", "2", "--horizon", "fixed:2"),
]


@pytest.mark.full
@pytest.mark.parametrize("algorithm", ["grpo", "sft", pytest.param("ppo", marks=pytest.mark.slow)])
def test_the_quickstart_leaves_a_summary_a_picture_and_every_trajectory(
    tmp_path, algorithm, capsys
):
    out = ["--output_dir", str(tmp_path), "--algorithm", algorithm, "--greedy", "true"]
    assert quickstart.main([*SMALL, *out, "--train_tasks", "1"]) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    for key in ("success_before", "success_after", "wall_s"):
        assert isinstance(summary[key], float)
    for key in ("ci95_before", "ci95_after", "ci95_gain"):
        low, high = summary[key]
        assert low <= high
    assert (summary["n_tasks"], summary["samples_per_task"], summary["seed"]) == (2, 1, 0)
    assert (summary["env_id"], summary["algorithm"]) == ("agentgym/TextCraft-v0", algorithm)
    assert set(summary["panels"]) == {"test", "test_greedy", "train", "train_greedy"}
    record = json.loads((tmp_path / "run.json").read_text())
    assert record["command"] == "quickstart" and "QuickstartArguments" in record
    assert (tmp_path / "learning_curve.png").read_bytes().startswith(b"\x89PNG")
    for name in ("before_test", "after_test", "after_train_greedy"):
        for trajectory in read_jsonl(tmp_path / "trajectories" / f"{name}.jsonl"):
            assert trajectory.split == name.split("_")[1]
            assert len(trajectory.turns) <= 2
            assert all("turn" not in turn.observation for turn in trajectory.turns)  # see run()
    assert (tmp_path / "model" / "model.safetensors").exists()
    assert "held-out goals" in capsys.readouterr().out


def test_a_number_that_is_not_allowed_is_refused(tmp_path, capsys):
    with pytest.raises(SystemExit):
        quickstart.main(["--seed", "-1", "--output_dir", str(tmp_path)])
    assert "seed must be >= 0, got -1" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("algorithm", "episodes"), [("grpo", "7"), ("ppo", "6"), ("grpo", "0")])
def test_a_batch_that_does_not_divide_is_refused(tmp_path, algorithm, episodes, capsys):
    options = ["--algorithm", algorithm, "--episodes", episodes, "--num_generations", "2"]
    with pytest.raises(SystemExit):
        quickstart.main([*options, "--output_dir", str(tmp_path)])
    assert "episodes must be a multiple of" in capsys.readouterr().err
