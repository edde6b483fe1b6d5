"""Where horizons and methods of credit are compared: tasks, turns, starts and measurements."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from agentgym_envs.babyai.levels import AGENTGYM_LEVELS
from lab.studies.runs import (
    AS_TINY_LEARNT,
    Run,
    left_of,
    making_of,
    play_study,
    start_of,
)

LONG_LEVELS = tuple(
    f"BabyAI-{name}-v0"
    for name in (
        *("Open", "Pickup", "SynthSeq"),
        *("MiniBossLevel", "BossLevel", "BossLevelNoUnlock"),
    )
)
"""Levels of nine rooms, some of four: what is asked for is mostly out of sight.

Of the suite `long`'s six levels the start solves three never: groups of it have nothing to compare.
"""

ITEMS = "training_tasks.json"
TRAINING_SEEDS = range(100, 300)  # beyond those of BabyAI's splits


@dataclass(frozen=True)
class Ground:
    """Where training runs are compared.

    Attributes:
        env: options that name the scenario and an episode's budgets.
        tasks: options that choose the training tasks.
        held_out: options that choose the tasks that are measured.
        horizons: the short, the middle and the long one, in turns; none where they are not
            compared.
        start: what the runs begin with; see `runs.start_of`.
        learning_rate: of the policy.
    """

    env: tuple[str, ...]
    tasks: tuple[str, ...]
    held_out: tuple[str, ...]
    horizons: tuple[int, ...] = ()
    start: str = ""
    learning_rate: str = "4e-4"

    def training(self, folder: Path) -> tuple[str, ...]:
        """Return the options of training; `folder` is the study's on this ground."""
        tasks = (word.format(items=folder / ITEMS) for word in self.tasks)
        learning = ("--model", start_of(self.start, folder), "--learning_rate", self.learning_rate)
        return (*self.env, *tasks, *learning)


_DEPTHS = ("--tasks", "depth 2", "depth 3", "depth 4")
_CRAFTS = ("--tasks", "6-10 crafts")

GROUNDS = {
    "TextCraft": Ground(
        ("--env", "TextCraft", "--max_tokens_per_turn", "128", *AS_TINY_LEARNT),
        _DEPTHS,
        (*_DEPTHS, "--split", "test", "--samples", "2"),
        (6, 12, 20),
    ),
    "TextCraft-deep": Ground(
        (
            *("--env", "TextCraft", "--max_tokens_per_turn", "128"),
            *("--env_kwargs", '{"book": "deep", "turns_left": false}'),
        ),
        _CRAFTS,
        (*_CRAFTS, "--split", "test", "--samples", "2"),
        (10, 14, 24),
        "books",
        "2e-4",
    ),
    "ALFWorld": Ground(
        (
            *("--env", "ALFWorld", "--max_tokens_per_turn", "64"),
            *("--env_kwargs", '{"turns_left": false}'),
        ),
        (),
        ("--split", "test", "--samples", "1"),
        (5, 12, 30),
        "houses",
        "1e-4",
    ),
    "BabyAI-long": Ground(
        (
            *("--env", "BabyAI", "--max_tokens_per_turn", "16"),
            *("--env_kwargs", '{"turns_left": false}'),
        ),
        ("--tasks", "{items}"),
        (
            *("--split", "other_levels", "--tasks", *LONG_LEVELS),
            *("--num_tasks", "150", "--samples", "1"),
        ),
        (10, 20, 40),
        "rooms",
    ),
    "BabyAI": Ground(
        ("--env", "BabyAI", "--max_tokens_per_turn", "16"),
        (),
        ("--split", "test", "--samples", "4"),
        start="rooms",
    ),
}
"""Scenario -> how it is played. The plans of longer deep goals are more than `tiny` can write."""


def write_items(ground: str, folder: Path) -> None:
    """Write the file of training tasks that a ground's options name, if they name one."""
    if "{items}" not in GROUNDS[ground].tasks:
        return
    stride = len(AGENTGYM_LEVELS)
    places = [AGENTGYM_LEVELS.index(level) for level in LONG_LEVELS]
    numbers = [place + stride * seed for seed in TRAINING_SEEDS for place in places]
    folder.mkdir(parents=True, exist_ok=True)
    items = [{"item_id": f"babyai_{number}"} for number in numbers]
    (folder / ITEMS).write_text(json.dumps(items), encoding="utf-8")


def measurement(
    ground: str, model: str, out: Path, seed: int, *, max_turns: int
) -> tuple[str, ...]:
    """Return the command that plays the held-out tasks."""
    where = GROUNDS[ground]
    return (
        *("eval", *where.env, *where.held_out, "--max_turns", str(max_turns), "--model", model),
        *("--seed", str(seed), "--out", str(out), "--num_envs", "100"),
    )


def play_ground(
    options: argparse.Namespace,
    ground: str,
    names: Sequence[str],
    run_of: Callable[[str, str, int, Path], Run],
    measurement: Callable[[str, str, Path, int], tuple[str, ...]],
) -> Path:
    """Play a study's runs on one ground, and say what is left; return the study's folder there.

    Args:
        options: as `study_parser` reads them.
        ground: an entry of `GROUNDS`.
        names: of what is compared.
        run_of: ground, name, seed and folder -> the run.
        measurement: ground, model, result file and seed -> the command that measures the start.
    """
    folder = Path(options.out) / ground
    write_items(ground, folder)
    runs = [run_of(ground, name, seed, folder) for seed in options.seeds for name in names]
    play_study(
        options,
        folder,
        runs,
        partial(measurement, ground),
        start=start_of(GROUNDS[ground].start, folder),
        making=making_of(GROUNDS[ground].start, folder),
    )
    print(f"{ground}: {left_of(runs)}\n")
    return folder
