"""`lab.studies credit`: GRPO, methods that credit single turns, and PPO, at equal episodes.

On each ground every run trains the same start on as many episodes, and plays the held-out tasks
afterwards. A method is compared with GRPO seed by seed. `lab.studies.grounds` says where.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.cli.listing import table
from lab.studies import grounds
from lab.studies.grounds import GROUNDS, play_ground
from lab.studies.learning import GROUPS, ONLINE, PLAYING, PPO_STEPS, QUIET
from lab.studies.runs import RESULT, START, Run, study_parser
from lab.studies.table import gain_over_seeds, in_points, results_by_seed
from trainers.evaluation.intervals import mean_over_seeds, mean_over_tasks
from trainers.evaluation.results import EvalResult
from trainers.options.errors import UsageError


class Size(NamedTuple):
    """How much is played on a ground.

    Attributes:
        max_turns: of an episode, in training and in the measurement.
        batches: of `EPISODES_PER_BATCH` episodes that each run trains on.
    """

    max_turns: int
    batches: int


PLACES = {"ALFWorld": Size(12, 16), "TextCraft-deep": Size(18, 12), "BabyAI": Size(8, 24)}
"""Ground, an entry of `GROUNDS` -> how much is played there."""

REFERENCE = "grpo"
METHODS: dict[str, tuple[str, tuple[str, ...]]] = {
    REFERENCE: ONLINE["grpo"],
    **{
        name: ("grpo", (*GROUPS, "--turn_credit", name))
        for name in ("gigpo", "hgpo", "gagpo", "empg")
    },
    "ppo": ONLINE["ppo"],
}
"""Name in the table -> command and its own options."""


def run_of(ground: str, name: str, seed: int, folder: Path) -> Run:
    """Return the run of one method and seed.

    Args:
        ground: an entry of `PLACES`.
        name: an entry of `METHODS`.
        seed: of the training and of the measurement after it.
        folder: the study's on this ground.
    """
    own = folder / name / f"seed_{seed}"
    model = own / "model"
    command, options = METHODS[name]
    max_turns, batches = PLACES[ground]
    steps = batches * (PPO_STEPS if name == "ppo" else 1)
    training = (
        *("train", command, *GROUNDS[ground].training(folder)),
        *("--max_turns", str(max_turns), "--horizon", f"fixed:{max_turns}"),
        *(*PLAYING, *options, "--max_steps", str(steps)),
        *(*QUIET, "--seed", str(seed), "--output_dir", str(model)),
    )
    return Run(own, (training, measurement(ground, str(model), own / RESULT, seed)))


def measurement(ground: str, model: str, out: Path, seed: int) -> tuple[str, ...]:
    """Return the command that plays the held-out tasks within the turns of training."""
    return grounds.measurement(ground, model, out, seed, max_turns=PLACES[ground].max_turns)


def credit_table(folder: Path) -> str:
    """Return the Markdown table: success, the gain over the start, the difference to GRPO by seed.

    Intervals of success and gain are over tasks, whose shares are means over the seeds; those of
    the differences are over the seeds that both have.

    Raises:
        UsageError: the start has not been measured.
    """
    before = results_by_seed(folder / START)
    if not before:
        raise UsageError(f"{folder / START} holds no measurement of the start yet")
    measured = {name: results_by_seed(folder / name) for name in METHODS}
    seeds = sorted(set(before).union(*measured.values()))
    rows: list[Sequence[str]] = [("(the start)", _success(before), *[""] * (len(seeds) + 2))]
    for name, results in measured.items():
        if not results:
            continue
        gains = {} if name == REFERENCE else differences(results, measured[REFERENCE])
        by_seed = [f"{100 * gains[seed]:+.1f}" if seed in gains else "" for seed in seeds]
        # The spread of two may be 0 by chance, and would claim certainty.
        mean = in_points(mean_over_seeds([*gains.values()])) if len(gains) > 2 else ""
        gain = in_points(gain_over_seeds(before, results))
        rows.append((name, _success(results), gain, *by_seed, mean))
    header = (
        "method",
        "success (95% over tasks)",
        "gain, points (95% over tasks)",
        *(f"seed {seed} - {REFERENCE}" for seed in seeds),
        "mean, points (95% over seeds)",
    )
    return table([header, *rows])


def differences(
    results: Mapping[int, EvalResult], reference: Mapping[int, EvalResult]
) -> dict[int, float]:
    """Return the difference in success for each seed that both have."""
    shared = sorted(set(results) & set(reference))
    return {seed: results[seed].success - reference[seed].success for seed in shared}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or go on with it; print its tables and what is left."""
    parser = study_parser("credit", __doc__, seeds=range(5))
    parser.add_argument("--env", nargs="+", choices=PLACES, default=list(PLACES))
    options = parser.parse_args(argv)
    for ground in options.env:
        folder = play_ground(options, ground, tuple(METHODS), run_of, measurement)
        if not results_by_seed(folder / START):
            continue
        text = credit_table(folder)
        (folder / "table.md").write_text(text + "\n", encoding="utf-8")
        print(f"{text}\n")
    return 0


def _success(results: Mapping[int, EvalResult]) -> str:
    """Write the mean over tasks of what the seeds' shares of success are on average."""
    tasks = set.intersection(*(set(result.tasks) for result in results.values()))
    shares = [
        float(np.mean([result.tasks[task] for result in results.values()]))
        for task in sorted(tasks)
    ]
    episodes = sum(result.n_tasks * result.samples_per_task for result in results.values())
    mean = mean_over_tasks(shares, episodes=episodes)
    return f"{mean.value:.1%} ({mean.low:.1%} to {mean.high:.1%})"
