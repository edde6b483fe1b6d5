from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from lab.studies import command, language_model
from lab.studies.language_model import (
    CPU,
    CUDA,
    FETCHED,
    GROUNDS,
    IMITATED,
    ROWS,
    TRAINED,
    TRAINED_FIXED,
    Device,
    draw_curves,
    making_of,
    run_of,
    runs_of,
)
from lab.studies.runs import RESULT, START
from lab.studies.table import language_model_table
from tests.lab.studies.test_table import result
from trainers.command import parse_training
from trainers.options.algorithms import ALGORITHMS
from trainers.options.configs import AgentGRPOConfig, AgentSFTConfig
from trainers.options.errors import UsageError
from trainers.runs.folder import METRICS_FILE

CONFIGS: dict[str, type[Any]] = {"sft": AgentSFTConfig, "grpo": AgentGRPOConfig}


def trained_by(words: tuple[str, ...]) -> dict[str, Any]:
    """Parse a training command of the study; return its options."""
    assert words[0] == "train"
    parsed = parse_training(
        list(words[2:]),
        algorithm=words[1],
        config=CONFIGS[words[1]],
        description="Train.",
        further=ALGORITHMS[words[1]].further,
    )
    return {name: value for part in parsed for name, value in vars(part).items()}


@pytest.fixture(params=[CPU, CUDA], ids=["cpu", "cuda"])
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Device:
    """Let the study believe that it runs on a kind of device."""
    monkeypatch.setattr(language_model, "device", lambda: request.param)
    found: Device = request.param
    return found


def step_of(options: dict[str, Any]) -> int:
    rows: int = options["per_device_train_batch_size"] * options["gradient_accumulation_steps"]
    return rows


@pytest.mark.parametrize("ground", GROUNDS)
def test_the_start_imitates_what_the_expert_was_collected_for(
    ground: str, device: Device, tmp_path: Path
) -> None:
    collect, train = making_of(ground, tmp_path).commands
    options = trained_by(train)
    assert options["data"] == [collect[collect.index("--out") + 1]]
    assert options["action_format"] == "plain"
    assert options["output_dir"] == language_model.start_of(tmp_path)
    assert options["model_name_or_path"] == "smollm2"
    assert collect[1 : 1 + len(GROUNDS[ground].env)] == GROUNDS[ground].env
    assert step_of(options) == IMITATED
    assert bool(options["use_peft"]) == (device is CPU and not GROUNDS[ground].all_weights)
    assert options["learning_rate"] == (5e-4 if options["use_peft"] else 1e-4)


@pytest.mark.parametrize("ground", GROUNDS)
def test_each_seed_trains_the_start_under_a_growing_horizon(
    ground: str, device: Device, tmp_path: Path
) -> None:
    where, runs = GROUNDS[ground], [run_of(ground, seed, tmp_path) for seed in (0, 1)]
    trained = [trained_by(run.commands[0]) for run in runs]
    assert [options["seed"] for options in trained] == [0, 1]
    for options, run in zip(trained, runs, strict=True):
        assert options["model_name_or_path"] == language_model.start_of(tmp_path)
        assert bool(options["use_peft"]) == (device is CPU)
        assert options["resume"]
        assert str(options["horizon"]).startswith("scaling:")
        assert step_of(options) == options["num_envs"] == where.episodes * device.times
        measured = run.commands[-1]
        assert measured[measured.index("--model") + 1] == options["output_dir"]
        assert measured[measured.index("--samples") + 1] == str(device.samples)


def test_the_longest_episodes_are_also_trained_under_a_fixed_horizon(tmp_path: Path) -> None:
    (ground,) = (name for name, where in GROUNDS.items() if where.fixed is not None)
    staged, fixed = (run.commands[0] for run in runs_of(ground, [3], tmp_path))
    differing = [pair for pair in zip(staged, fixed, strict=True) if pair[0] != pair[1]]
    (horizon, all_turns), (_, folder) = differing
    assert all_turns == f"fixed:{horizon.partition('@')[0].rpartition(',')[2]}"
    assert TRAINED_FIXED in folder


def test_together_each_environment_has_its_own_scale() -> None:
    (together,) = (where for name, where in GROUNDS.items() if name == language_model.TOGETHER)
    assert together.env.count("--env") >= 3
    assert together.further == ("--scale_rewards", "environment")


def test_the_table_says_what_is_measured_and_what_is_not(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no measurement yet"):
        language_model_table(tmp_path, ROWS)
    for name, seeds, won in ((FETCHED, [0], False), (START, [0, 1], False), (TRAINED, [1], True)):
        for seed in seeds:
            folder = tmp_path / name / f"seed_{seed}"
            folder.mkdir(parents=True)
            result({"a_1": [won], "a_2": [won]}).save(folder / RESULT)
    text = language_model_table(tmp_path, ROWS)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    assert rows[2:] == [
        ["as it was fetched", "0.0%", "", "0.0%", "", ""],
        ["after SFT", "0.0%", "0.0%", "0.0%", "", ""],
        ["after GRPO", "", "100.0%", "100.0%", "+100.0 points", "+34.2 to +100.0"],
    ]


def test_the_curves_are_of_the_seeds_that_have_begun(tmp_path: Path) -> None:
    for seed, ground in ((0, "BabyAI"), (1, "BabyAI"), (0, "TextCraft")):
        model = tmp_path / ground / TRAINED / f"seed_{seed}" / "model"
        model.mkdir(parents=True)
        entries = [{"global_step": 1, "horizon": 4, "episodes/success": 0.25}]
        entries += [{"global_step": 2, "horizon": 8, "episodes/success": 0.5}]
        for entry in entries:
            with (model / METRICS_FILE).open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
    own = tmp_path / "BabyAI" / START / "seed_0"
    own.mkdir(parents=True)
    result({"a_1": [True]}).save(own / RESULT)
    seed_0, seed_1 = (31, 119, 180), (255, 127, 14)
    widths = []
    for grounds, drawn in ((["BabyAI"], {seed_0, seed_1}), (["TextCraft"], {seed_0})):
        with Image.open(draw_curves(tmp_path, grounds)) as picture:
            widths.append(picture.width)
            colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 24) or ()}
        assert colours & {seed_0, seed_1} == drawn
    with Image.open(draw_curves(tmp_path, ["BabyAI", "TextCraft"])) as picture:
        assert picture.width == sum(widths)


def test_the_curve_under_the_fixed_horizon_is_drawn_too(tmp_path: Path) -> None:
    painted = []
    for place in (TRAINED, TRAINED_FIXED):
        model = tmp_path / "SciWorld" / place / "seed_0" / "model"
        model.mkdir(parents=True)
        success = 0.25 if place == TRAINED else 0.75
        entries = [{"global_step": n, "horizon": 6, "episodes/success": success} for n in (1, 2)]
        text = "".join(f"{json.dumps(entry)}\n" for entry in entries)
        (model / METRICS_FILE).write_text(text, encoding="utf-8")
        with Image.open(draw_curves(tmp_path, ["SciWorld"])) as picture:
            rows = {y for y in range(picture.height) if _is_painted(picture.convert("RGB"), y)}
        painted.append(rows)
    assert painted[0] < painted[1]
    assert min(painted[1]) < min(painted[0]) - 50  # a line further up


def _is_painted(picture: Image.Image, row: int) -> bool:
    middle = picture.width // 2
    return any(
        picture.getpixel((x, row)) == (31, 119, 180) for x in range(middle - 60, middle + 60)
    )


def test_it_is_a_study_of_its_name() -> None:
    assert "language_model" in command.STUDIES
