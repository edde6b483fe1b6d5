from __future__ import annotations

import json
from pathlib import Path

import pytest
from PIL import Image

from lab.studies.pictures import DRAWINGS
from lab.studies.results import Results
from lab.studies.study import load_study
from tests.lab.studies.test_table import write, write_horizon
from trainers.runs.folder import METRICS_FILE

SEED_0, SEED_1 = (31, 119, 180), (255, 127, 14)
"""The first colours of matplotlib's cycle."""


def log(model: Path, success: float, steps: int = 2, **further: float) -> None:
    """Write the log of a training."""
    model.mkdir(parents=True)
    entries = [
        {"global_step": n, "horizon": 4 * n, "episodes/success": success, **further}
        for n in range(1, steps + 1)
    ]
    text = "".join(f"{json.dumps(entry)}\n" for entry in entries)
    (model / METRICS_FILE).write_text(text, encoding="utf-8")


def draw(name: str, out: Path, grounds: list[str]) -> list[Path]:
    study = load_study(name)
    return list(DRAWINGS[study.curves](out, [Results(study, out / each) for each in grounds]))


@pytest.mark.full
def test_each_ground_has_a_panel_of_the_seeds_that_have_begun(tmp_path: Path) -> None:
    for seed, ground in ((0, "BabyAI"), (1, "BabyAI"), (0, "TextCraft")):
        log(tmp_path / ground / "grpo" / f"seed_{seed}" / "model", 0.25)
    write(tmp_path / "BabyAI" / "start" / "seed_0", 1, of=1)
    widths = []
    for grounds, drawn in ((["BabyAI"], {SEED_0, SEED_1}), (["TextCraft"], {SEED_0})):
        (path,) = draw("language_model", tmp_path, grounds)
        with Image.open(path) as picture:
            widths.append(picture.width)
            colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 24) or ()}
        assert colours & {SEED_0, SEED_1} == drawn
    (path,) = draw("language_model", tmp_path, ["BabyAI", "TextCraft"])
    with Image.open(path) as picture:
        assert picture.width == sum(widths)
    assert not draw("language_model", tmp_path, ["WebArena"])


@pytest.mark.full
def test_the_curve_under_the_fixed_horizon_is_drawn_too(tmp_path: Path) -> None:
    painted = []
    for place, success in (("grpo", 0.25), ("grpo_fixed", 0.75)):
        log(tmp_path / "SciWorld" / place / "seed_0" / "model", success)
        (path,) = draw("language_model", tmp_path, ["SciWorld"])
        with Image.open(path) as picture:
            rows = {y for y in range(picture.height) if _is_painted(picture.convert("RGB"), y)}
        painted.append(rows)
    assert painted[0] < painted[1]
    assert min(painted[1]) < min(painted[0]) - 50  # a line further up


def _is_painted(picture: Image.Image, row: int) -> bool:
    middle = picture.width // 2
    return any(picture.getpixel((x, row)) == SEED_0 for x in range(middle - 60, middle + 60))


def test_schedules_are_drawn_by_tokens_on_each_ground(tmp_path: Path) -> None:
    for name, tokens in (("start", 1.0), ("staged", 200.0)):
        write_horizon(tmp_path / "ALFWorld", name, 1, between=0, tokens=tokens)
    (path,) = draw("horizons", tmp_path, ["ALFWorld"])
    assert path == tmp_path / "ALFWorld" / "curves.png"
    with Image.open(path) as picture:
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 24) or ()}
    assert SEED_0 in colours and SEED_1 not in colours


def test_staleness_is_drawn_by_step_and_by_time(tmp_path: Path) -> None:
    assert not draw("staleness", tmp_path, [""]), "nothing is trained"
    write(tmp_path / "K0" / "seed_0", 1, of=2)
    log(tmp_path / "K0" / "seed_0" / "model", 0.5, 8, step_time=3)
    (path,) = draw("staleness", tmp_path, [""])
    with Image.open(path) as picture:
        assert picture.width > 1000
        colours = {colour for _, colour in picture.convert("RGB").getcolors(1 << 24) or ()}
    assert SEED_0 in colours
