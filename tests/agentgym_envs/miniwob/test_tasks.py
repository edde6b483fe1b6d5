"""The numbers of the tasks, and that they are the package's."""

from __future__ import annotations

import hashlib
import re
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest

from agentgym_envs.miniwob.tasks import (
    BY_CLOSENESS,
    HELD_OUT,
    NAMES,
    SEEDS,
    MiniWoBTasks,
    success_threshold,
    task_seed,
)

TASKS = MiniWoBTasks()


def package() -> Path:
    """The package's folder; nothing of it is imported."""
    spec = find_spec("miniwob")
    if spec is None:
        pytest.skip("the miniwob extra is not installed")
    if version("miniwob") != "1.1.0":
        pytest.skip(f"the pages are pinned for miniwob 1.1.0, this is {version('miniwob')}")
    return Path((spec.submodule_search_locations or [""])[0])


def test_the_names_and_their_order_never_change() -> None:
    digest = hashlib.sha256("\n".join(NAMES).encode()).hexdigest()
    assert (len(NAMES), digest[:16]) == (125, "211bd77babbc63a7")
    assert sorted(set(NAMES)) == list(NAMES)


def test_the_tasks_are_those_that_the_package_registers() -> None:
    text = (package() / "registration.py").read_text("utf-8")
    registered = set(re.findall(r'id="miniwob/([a-z0-9-]+)-v1"', text))
    assert registered == set(NAMES)
    pages = {file.stem for file in (package() / "html" / "miniwob").glob("*.html")}
    left_out = {"button-delay", "chase-circle", "hover-shape", "moving-items", "simon-says"}
    assert pages - set(NAMES) == left_out


def test_the_pages_are_the_pinned_ones() -> None:
    html = package() / "html"
    digest = hashlib.sha256()
    for part in ("common", "core", "miniwob"):
        for file in sorted((html / part).rglob("*")):
            if file.is_file():
                digest.update(file.relative_to(html).as_posix().encode() + file.read_bytes())
    assert digest.hexdigest()[:16] == "d226451330be62ae"


def test_a_number_is_a_task_and_a_seed() -> None:
    number = NAMES.index("click-test") * SEEDS + 86
    spec = TASKS.spec(f"miniwob_{number}")
    assert (spec.subtask, spec.split, task_seed(number)) == ("click-test", "test", 86)
    assert TASKS.spec(0).subtask == NAMES[0]
    assert TASKS.spec(SEEDS - 1).split == "unlisted"
    assert TASKS.spec(len(NAMES) * SEEDS - 1).subtask == NAMES[-1]


@pytest.mark.parametrize("number", [-1, len(NAMES) * SEEDS])
def test_other_numbers_are_refused_with_those_there_are(number: int) -> None:
    with pytest.raises(ValueError, match=f"miniwob_{number}.*'miniwob_124999999'"):
        TASKS.spec(number)


def test_every_split_has_every_task_and_none_overlap() -> None:
    numbers = {split: TASKS.numbers(split) for split in TASKS.splits}
    assert {split: len(each) for split, each in numbers.items()} == {
        "train": 10_000,
        "validation": 625,
        "test": 625,
    }
    assert len(set().union(*numbers.values())) == 11_250
    for split, each in numbers.items():
        assert {TASKS.spec(number).subtask for number in each} == set(NAMES)
        assert {TASKS.spec(number).split for number in each} == {split}


def test_the_panels_share_no_task() -> None:
    assert set(HELD_OUT) <= set(NAMES)
    names = {
        panel: {TASKS.spec(number).subtask for number in TASKS.numbers(panel)}
        for panel in TASKS.panels
    }
    assert names["holdout"] == set(HELD_OUT)
    assert names["others"] == set(NAMES) - set(HELD_OUT)
    assert set(TASKS.numbers("holdout")) < set(TASKS.numbers("test"))
    assert set(TASKS.numbers("others")) < set(TASKS.numbers("train"))


def test_a_line_beside_the_dot_is_no_success() -> None:
    page = (package() / "html" / "miniwob" / "draw-line.html").read_text("utf-8")
    assert "else if(shortestDistance < 10.0) return 0.75" in page
    assert "arrayPoints, markedPoint)*0.2" in page
    assert success_threshold("draw-line") > 0.8 + 0.75 * 0.2


def test_the_tasks_that_reward_closeness_are_tasks() -> None:
    assert set(NAMES) >= BY_CLOSENESS
    assert {success_threshold(name) for name in BY_CLOSENESS} == {0.9}
