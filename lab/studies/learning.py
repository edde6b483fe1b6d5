"""`python -m lab.studies learning`: every algorithm from the same start, on as many episodes each.

Each run trains the shipped `tiny` policy on a scenario's training tasks and plays the held-out test
tasks afterwards; the start plays them once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.studies.runs import (
    AS_TINY_LEARNT,
    RESULT,
    Run,
    making_of,
    play_study,
    start_of,
    study_parser,
)
from lab.studies.table import learning_table

PPO_STEPS = 2  # on each batch
DPO_SAMPLES = 8  # episodes of a task, so that some succeed and some do not
EPISODES_PER_BATCH = 64

QUIET = ("--report_to", "none", "--resume")
PLAYING = (
    *("--lr_scheduler_type", "linear"),
    *("--num_envs", str(EPISODES_PER_BATCH), "--per_device_train_batch_size", "8"),
    *("--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", "8"),
    *("--save_trajectories_every", "8"),
)
GROUPS = ("--num_generations", "8", "--gradient_accumulation_steps", "8")

ONLINE: dict[str, tuple[str, tuple[str, ...]]] = {
    "grpo": ("grpo", GROUPS),
    "gigpo": (
        "grpo",
        (*GROUPS, "--turn_advantage_weight", "1", "--turn_anchor", "history"),
    ),
    "rloo": ("rloo", GROUPS),
    "reinforce_pp": ("reinforce_pp", GROUPS),
    "reinforce_pp, group baseline": ("reinforce_pp", (*GROUPS, "--baseline", "group")),
    "ppo": (
        "ppo",
        (
            *("--steps_per_generation", "8", "--gradient_accumulation_steps", "4"),
            *("--num_iterations", "1", "--critic_learning_rate", "1e-3"),
        ),
    ),
}
"""Algorithms that play while they train: name in the table -> command and its own options."""

ALGORITHMS = (*ONLINE, "agentevol", "dpo")


@dataclass(frozen=True)
class Ground:
    """Where the algorithms are compared.

    Attributes:
        env: options that name the scenario and an episode's budgets.
        batches: of `EPISODES_PER_BATCH` episodes, for each algorithm.
        horizon: the turn horizon of those that play while they train; `{stage}` stands for a third
            of the optimizer steps.
        training: their further options.
        samples: episodes of each test task.
        algorithms: which are compared there by default.
        start: what the algorithms begin with; see `runs.start_of`.
    """

    env: tuple[str, ...]
    batches: int
    horizon: str
    training: tuple[str, ...]
    samples: int
    algorithms: tuple[str, ...]
    start: str = ""


GROUNDS: dict[str, Ground] = {
    "TextCraft": Ground(
        (
            *("--env", "TextCraft", "--max_turns", "16", "--max_tokens_per_turn", "96"),
            *AS_TINY_LEARNT,
        ),
        16,
        "scaling:6,10,14@{stage}",
        ("--learning_rate", "4e-4"),
        2,
        ALGORITHMS,
    ),
    "BabyAI": Ground(
        ("--env", "BabyAI", "--max_turns", "8", "--max_tokens_per_turn", "16"),
        24,
        "fixed:8",
        ("--learning_rate", "4e-4"),
        4,
        ("grpo", "ppo"),
        "rooms",
    ),
}
"""Scenario -> how it is played."""


def run_of(ground: str, name: str, seed: int, folder: Path) -> Run:
    """Return the run of one algorithm and seed.

    Args:
        ground: an entry of `GROUNDS`.
        name: an entry of `ALGORITHMS`.
        seed: of the training, and of the measurement after it.
        folder: the study's on this ground.
    """
    where = GROUNDS[ground]
    env = where.env
    own = folder / name.replace(", ", "_").replace(" ", "_") / f"seed_{seed}"
    model = own / "model"
    start = start_of(where.start, folder)
    common = (*QUIET, "--seed", str(seed), "--model", start, "--output_dir", str(model))
    if name in ONLINE:
        command, options = ONLINE[name]
        steps = where.batches * (PPO_STEPS if name == "ppo" else 1)
        schedule = ("--max_steps", str(steps), "--horizon", where.horizon.format(stage=steps // 3))
        training: list[tuple[str, ...]] = [
            ("train", command, *env, *PLAYING, *where.training, *schedule, *options, *common),
        ]
    elif name == "agentevol":
        training = [
            (
                *("train", "agentevol", *env, *common),
                *("--num_rounds", "3", "--num_samples", "1", "--merge", "all"),
                *("--learning_rate", "2e-4", "--num_envs", "64", "--eval_strategy", "no"),
            )
        ]
    else:
        episodes = own / "episodes.jsonl"
        number = where.batches * EPISODES_PER_BATCH
        training = [
            (
                *("collect", *env, "--policy", start, "--num_episodes", str(number)),
                *("--num_tasks", str(number // DPO_SAMPLES)),
                *("--out", str(episodes), "--seed", str(seed)),
            ),
            (
                *("train", "dpo", *env, *common, "--data", str(episodes)),
                *("--eval_strategy", "no", "--num_train_epochs", "2", "--learning_rate", "2e-4"),
                *("--lr_scheduler_type", "linear", "--max_pairs_per_task", "6"),
                *("--compared_turns", "1"),
            ),
        ]
    return Run(own, (*training, measurement(ground, str(model), own / RESULT, seed)))


def measurement(ground: str, model: str, out: Path, seed: int) -> tuple[str, ...]:
    """Return the command that plays the test tasks."""
    where = GROUNDS[ground]
    return (
        *("eval", *where.env, "--split", "test", "--model", model),
        *("--samples", str(where.samples), "--num_envs", "100"),
        *("--seed", str(seed), "--out", str(out)),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or go on with it, and print its tables."""
    parser = study_parser("learning", __doc__, seeds=(0, 1, 2))
    parser.add_argument("--env", nargs="+", choices=GROUNDS, default=list(GROUNDS))
    parser.add_argument(
        "--algorithms", nargs="+", choices=ALGORITHMS, help="by default each scenario's own"
    )
    options = parser.parse_args(argv)
    for ground in options.env:
        folder = Path(options.out) / ground
        names = options.algorithms or GROUNDS[ground].algorithms
        runs = [run_of(ground, name, seed, folder) for seed in options.seeds for name in names]
        play_study(
            options,
            folder,
            runs,
            partial(measurement, ground),
            start=start_of(GROUNDS[ground].start, folder),
            making=making_of(GROUNDS[ground].start, folder),
        )
        text = learning_table(folder)
        (folder / "table.md").write_text(text + "\n", encoding="utf-8")
        print(f"{ground}\n\n{text}\n")
    return 0
