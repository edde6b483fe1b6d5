from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectory import Trajectory
from lab.studies.credit import (
    METHODS,
    PLACES,
    credit_table,
    differences,
    main,
    run_of,
)
from lab.studies.grounds import GROUNDS
from lab.studies.learning import EPISODES_PER_BATCH
from lab.studies.runs import start_of
from lab.studies.table import results_by_seed
from trainers.command import parse_training
from trainers.evaluation.summary import summarize
from trainers.options.algorithms import ALGORITHMS
from trainers.options.configs import AgentGRPOConfig
from trainers.options.errors import UsageError
from trainers.ppo import AgentPPOConfig


def read(ground: str, name: str, folder: Path) -> dict[str, Any]:
    """Read the options of a run as its command does."""
    _, algorithm, *words = run_of(ground, name, 3, folder).commands[0]
    parsed = parse_training(
        words,
        algorithm=algorithm,
        config={"grpo": AgentGRPOConfig, "ppo": AgentPPOConfig}[algorithm],
        description="Train.",
        further=ALGORITHMS[algorithm].further,
    )
    return {key: value for part in parsed for key, value in vars(part).items()}


@pytest.mark.parametrize("ground", PLACES)
def test_the_methods_play_equally_many_episodes_from_one_start(ground: str, tmp_path: Path) -> None:
    alike = (
        "model_name_or_path",
        "env",
        "env_kwargs",
        "tasks",
        "horizon",
        "max_turns",
        "learning_rate",
        "seed",
    )
    runs = {name: read(ground, name, tmp_path) for name in METHODS}
    assert len({str([options[key] for key in alike]) for options in runs.values()}) == 1
    for options in runs.values():
        assert options["model_name_or_path"] == start_of(GROUNDS[ground].start, tmp_path)
        assert options["resume"]
        assert options["max_turns"] == PLACES[ground].max_turns
        assert options["horizon"] == f"fixed:{PLACES[ground].max_turns}"
        batch = options["per_device_train_batch_size"] * options["steps_per_generation"]
        uses = options["steps_per_generation"] / options["gradient_accumulation_steps"]
        assert batch == EPISODES_PER_BATCH
        assert options["max_steps"] == PLACES[ground].batches * uses * options["num_iterations"]


def test_each_method_is_what_its_row_says(tmp_path: Path) -> None:
    credits = {name: read("ALFWorld", name, tmp_path).get("turn_credit") for name in METHODS}
    assert credits.pop("grpo") == "none"
    assert credits.pop("ppo") is None
    assert all(name == credit for name, credit in credits.items())


@pytest.mark.parametrize("name", METHODS)
def test_a_run_ends_with_the_measurement_of_its_model(name: str, tmp_path: Path) -> None:
    run = run_of("BabyAI", name, 1, tmp_path)
    training, words = run.commands
    model = training[training.index("--output_dir") + 1]
    assert words[words.index("--model") + 1] == model
    assert {Path(model).parent, Path(words[words.index("--out") + 1]).parent} == {run.folder}


def write(folder: Path, name: str, seed: int, won: int) -> None:
    """Write the result of a run on four goals."""
    own = folder / name / f"seed_{seed}"
    own.mkdir(parents=True)
    played = [Trajectory("e", f"a_{i}", status="terminated", success=i < won) for i in range(4)]
    summarize(played).save(own / "after.json")


def test_methods_are_compared_with_grpo_seed_by_seed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no measurement of the start yet"):
        credit_table(tmp_path)
    for seed, start, grpo, ppo in ((0, 0, 1, 2), (1, 1, 3, 3), (2, 0, 2, 4)):
        for name, won in (("start", start), ("grpo", grpo), ("ppo", ppo)):
            write(tmp_path, name, seed, won)
    write(tmp_path, "empg", 1, 2)
    results = {name: results_by_seed(tmp_path / name) for name in ("grpo", "ppo")}
    assert differences(results["ppo"], results["grpo"]) == {0: 0.25, 1: 0.0, 2: 0.5}
    header, _, *rows = (
        [cell.strip() for cell in row.strip("|").split("|")]
        for row in credit_table(tmp_path).splitlines()
    )
    assert header[3:6] == ["seed 0 - grpo", "seed 1 - grpo", "seed 2 - grpo"]
    cells = {row[0]: row[1:] for row in rows}
    assert list(cells) == ["(the start)", "grpo", "empg", "ppo"]
    assert cells["(the start)"][0].startswith("8.3% (")
    assert cells["ppo"][0].startswith("75.0% (")
    # 2 of 4 tasks more than the start with seeds 0 and 1, and 4 with seed 2.
    assert cells["ppo"][1].startswith("+66.7 (")
    # 25 points, with a deviation of 25 and t = 4.303 for three seeds.
    assert cells["ppo"][2:] == ["+25.0", "+0.0", "+50.0", "+25.0 (-37.1 to +87.1)"]
    assert cells["grpo"][2:] == [""] * 4
    assert cells["empg"][2:] == ["", "-25.0", "", ""]


def test_what_is_left_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--out", str(tmp_path), "--env", "ALFWorld", "--seeds", "0", "--table_only"]
    done = run_of("ALFWorld", "gagpo", 0, tmp_path / "ALFWorld")
    done.folder.mkdir(parents=True)
    (done.folder / "done").touch()
    assert main(argv) == 0
    assert capsys.readouterr().out.strip() == (
        "ALFWorld: 1 of 6 runs are done; left: grpo/seed_0, gigpo/seed_0, hgpo/seed_0, "
        "empg/seed_0, ppo/seed_0"
    )
