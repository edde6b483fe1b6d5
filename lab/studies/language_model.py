"""`lab.studies language_model`: SmolLM2 from its chat training to SFT to GRPO, by scenario.

In each scenario the model imitates some of the expert's episodes; each seed's GRPO then trains what
came of it under a turn horizon that grows, and in the scenario of the longest texts under a
fixed one, too. The test tasks are played by the model as it was fetched, by the start, and after
each seed. `all` is one policy for several scenarios. On a GPU all weights are trained, with more
episodes to a step; on a CPU an adapter is, but for the imitation of grounds that need more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from lab.studies.pictures import CURVES, drawing
from lab.studies.runs import RESULT, START, Run, play_study, study_parser
from lab.studies.table import language_model_table, results_by_seed
from trainers.options.model_names import SMOLLM2
from trainers.runs.curve import series, shade_horizons, smoothed
from trainers.runs.folder import read_metrics

FETCHED, TRAINED, TRAINED_FIXED = "fetched", "grpo", "grpo_fixed"
TOGETHER = "all"
GROUP = 8
IMITATED = 8
"""Sequences of a step of imitation: episodes, or their windows where old turns are left out."""

_TRAINING = (
    *("--report_to", "none", "--resume", "--lr_scheduler_type", "linear", "--eval_strategy", "no"),
    *("--save_strategy", "steps", "--save_total_limit", "1"),
)


@dataclass(frozen=True)
class Device:
    """How a kind of device is used.

    Attributes:
        training: options of imitation and of GRPO: which weights, and when they are saved.
        imitation: options of imitation alone.
        grpo: options of GRPO alone.
        rows: episodes of a pass, at most.
        times: GRPO's steps have so many times the episodes that a CPU's have.
        samples: episodes of a test task.
        playing: of them at once.
    """

    training: tuple[str, ...]
    imitation: tuple[str, ...]
    grpo: tuple[str, ...]
    rows: int
    times: int
    samples: int
    playing: int


CPU = Device(
    training=(
        *("--use_peft", "--lora_r", "8", "--lora_alpha", "16"),
        *("--lora_target_modules", "all-linear"),
    ),
    imitation=("--learning_rate", "5e-4", "--save_steps", "10"),
    grpo=("--learning_rate", "4e-4", "--scale_rewards", "batch", "--save_steps", "4"),
    rows=1,  # small enough for the caches, without padding, and kept in place of computed again
    times=1,
    samples=2,
    playing=100,
)
CUDA = Device(
    # All weights: memory is not short, and an adapter is two more products in each linear layer.
    training=("--save_steps", "20"),
    imitation=("--learning_rate", "1e-4"),
    grpo=("--learning_rate", "4e-5"),
    rows=16,
    times=4,
    samples=4,
    playing=400,
)


@cache
def device() -> Device:
    """Return how the device here is used."""
    import torch  # slow, and `--help` does without

    return CUDA if torch.cuda.is_available() else CPU


@dataclass(frozen=True)
class Ground:
    """How SmolLM2 is trained in a scenario, or in several together.

    Attributes:
        env: options that name the scenarios and an episode's budgets. Actions stand alone: thoughts
            would be four fifths of the tokens.
        expert: episodes that are imitated.
        imitation: optimizer steps of 8 sequences each.
        all_weights: a CPU trains them all in imitation, too.
        steps: of GRPO.
        episodes: of a step on a CPU.
        horizon: the turn horizon; `{stage}` stands for a third of the steps.
        tasks: test tasks.
        fixed: GRPO is also run with a fixed horizon of so many turns.
        further: other options of GRPO.
    """

    env: tuple[str, ...]
    expert: int
    imitation: int
    horizon: str
    all_weights: bool = False
    steps: int = 40
    episodes: int = 64
    tasks: int = 100
    fixed: int | None = None
    further: tuple[str, ...] = ()


def _playing(name: str, turns: int, tokens: int, *further: str) -> tuple[str, ...]:
    return (
        *("--env", name, "--action_format", "plain", "--max_turns", str(turns)),
        *("--max_tokens_per_turn", str(tokens), *further),
    )


GROUNDS: dict[str, Ground] = {
    "BabyAI": Ground(_playing("BabyAI", 12, 12), 200, 60, "scaling:4,8,12@{stage}", steps=60),
    "TextCraft": Ground(
        _playing("TextCraft", 12, 32),
        300,
        32,  # each episode once: with a start that had seen them thrice GRPO moved nothing
        "scaling:4,8,12@{stage}",
        further=("--tasks", "depth 1"),  # the start reaches no deeper one
    ),
    "TextCraft-shallow": Ground(
        _playing(
            *("TextCraft", 10, 32, "--env_kwargs", '{"book": "shallow"}'),
            *("--tasks", "1 craft", "2 crafts"),
        ),
        200,
        24,
        # Four turns leave no time to try the goal's command and get what is said to be missing.
        "scaling:6,8,10@{stage}",
        steps=42,
        further=("--tasks", "1 craft"),  # the start solves none of two
    ),
    "SearchQA": Ground(
        _playing("SearchQA", 6, 32, "--max_tokens_per_episode", "2048"),
        200,
        40,
        "scaling:2,4,6@{stage}",
    ),
    "SciWorld": Ground(
        _playing(
            *("SciWorld", 10, 16, "--max_tokens_per_episode", "2048"),
            # The shortest tasks: the expert ends them within 9 turns.
            *("--tasks", "Lifespan"),
            # A Java holds 24 simulators and runs one at a time: threads keep several Javas busy.
            *("--env_backend", "thread"),
        ),
        186,  # all of them
        60,
        "scaling:6,8,10@{stage}",
        all_weights=True,  # an adapter came to a third of the success in as many steps
        episodes=32,
        fixed=10,
        # A wrong focus takes the score back: paid by it, the policy learns never to focus.
        further=("--wrapper", "wrappers:SuccessReward"),
    ),
    "WebArena": Ground(
        _playing(
            *("WebArena", 8, 128, "--keep_last_turns", "1"),
            *("--env_kwargs", '{"max_observation": 3000}'),
        ),
        1500,  # the expert ends 779 of them within so many turns
        400,
        "scaling:6,7,8@{stage}",
        steps=30,
        episodes=32,
        tasks=60,
    ),
    TOGETHER: Ground(
        (
            *("--env", "BabyAI", "--env", "TextCraft", "--env", "SearchQA"),
            *("--action_format", "plain", "--max_turns", "BabyAI=12", "TextCraft=12", "SearchQA=6"),
            *("--max_tokens_per_turn", "BabyAI=12", "TextCraft=32", "SearchQA=32"),
            *("--max_tokens_per_episode", "2048"),
        ),
        600,
        80,
        "scaling:4,8,12@{stage}",
        episodes=96,
        tasks=300,
        further=("--scale_rewards", "environment"),
    ),
}
"""Scenario -> how it is played and trained."""


ROWS = {
    "as it was fetched": FETCHED,
    "after SFT": START,
    "after GRPO": TRAINED,
    "after GRPO, fixed horizon": TRAINED_FIXED,
}
"""Row of a ground's table -> the folder that holds its seeds' measurements."""


def start_of(folder: Path) -> str:
    """Return the model that a ground's GRPO begins with."""
    return str(folder / "start_model")


def making_of(ground: str, folder: Path) -> Run:
    """Return what makes the start: the expert's episodes, and their imitation."""
    where, use = GROUNDS[ground], device()
    weights = CUDA if where.all_weights else use  # a GPU's options are those of all weights
    own = folder / "start_made"
    episodes = str(own / "expert.jsonl")
    count = str(where.expert)
    return Run(
        own,
        (
            (
                *("collect", *where.env, "--policy", "expert"),
                *("--num_tasks", count, "--out", episodes, "--resume"),
            ),
            (
                *("train", "sft", *where.env, *_TRAINING, *weights.training),
                *(*weights.imitation, *_batch(IMITATED, use)),
                *("--model", SMOLLM2, "--data", episodes, "--max_steps", str(where.imitation)),
                *("--output_dir", start_of(folder)),
            ),
        ),
    )


def run_of(ground: str, seed: int, folder: Path, *, staged: bool = True) -> Run:
    """Return the GRPO run of one seed, and the measurement after it.

    Args:
        ground: its name.
        seed: of the run.
        folder: the ground's.
        staged: the horizon grows; else it is the ground's fixed one.
    """
    where, use = GROUNDS[ground], device()
    own = folder / (TRAINED if staged else TRAINED_FIXED) / f"seed_{seed}"
    model = str(own / "model")
    stage = max(1, where.steps // 3)
    horizon = where.horizon.format(stage=stage) if staged else f"fixed:{where.fixed}"
    episodes = where.episodes * use.times
    training = (
        *("train", "grpo", *where.env, *_TRAINING, *use.training, *use.grpo, *where.further),
        *("--num_generations", str(GROUP), *_batch(episodes, use)),
        *("--num_envs", str(episodes), "--max_steps", str(where.steps), "--horizon", horizon),
        *("--model", start_of(folder), "--seed", str(seed), "--output_dir", model),
    )
    return Run(own, (training, measurement(ground, model, own / RESULT, seed)))


def runs_of(ground: str, seeds: Sequence[int], folder: Path) -> list[Run]:
    """Return all GRPO runs of a ground."""
    runs = [run_of(ground, seed, folder) for seed in seeds]
    if GROUNDS[ground].fixed is not None:
        runs += [run_of(ground, seed, folder, staged=False) for seed in seeds]
    return runs


def _batch(episodes: int, use: Device) -> tuple[str, ...]:
    rows = min(use.rows, episodes)
    return (
        *("--per_device_train_batch_size", str(rows)),
        *("--gradient_accumulation_steps", str(episodes // rows)),
    )


def measurement(ground: str, model: str, out: Path, seed: int) -> tuple[str, ...]:
    """Return the command that plays the test tasks."""
    where, use = GROUNDS[ground], device()
    return (
        *("eval", *where.env, "--split", "test", "--model", model),
        *("--num_tasks", str(where.tasks), "--samples", str(use.samples)),
        *("--num_envs", str(use.playing), "--seed", str(seed)),
        *("--out", str(out), "--trajectories", str(out.with_suffix(".jsonl")), "--resume"),
    )


def draw_curves(folder: Path, grounds: Sequence[str]) -> Path:
    """Draw success in training by optimizer step, and on test tasks before and after it.

    Each line is a moving average of a seed's run under the growing horizon; a dashed one is of its
    run under the fixed horizon.

    Args:
        folder: the study's.
        grounds: those of which something has been trained, one panel each.

    Returns:
        the picture's path.
    """
    path = folder / CURVES
    with drawing(path, len(grounds), width=3.6) as panels:
        for axes, ground in zip(panels, grounds, strict=True):
            runs = _curves_of(folder / ground)
            longest = max(runs.values(), key=len)
            shade_horizons(axes, *series(longest, "horizon"))
            for colour, (seed, entries) in enumerate(runs.items()):
                steps, success = series(entries, "episodes/success")
                axes.plot(steps, smoothed(success), color=f"C{colour}", label=f"seed {seed}")
                tested = {0: START, steps[-1]: TRAINED}
                for step, place in tested.items():
                    result = results_by_seed(folder / ground / place).get(seed)
                    if result is not None:
                        axes.plot(step, result.success, "o", color=f"C{colour}", zorder=5)
                fixed = _curves_of(folder / ground, TRAINED_FIXED).get(seed)
                if fixed is not None:
                    steps, success = series(fixed, "episodes/success")
                    axes.plot(steps, smoothed(success), "--", color=f"C{colour}")
            axes.set_xlabel("optimizer steps")
            axes.set_title(ground, pad=20)
        panels[0].set(ylabel="success (dots: test tasks)", ylim=(0, 1))
        panels[0].legend(frameon=False, loc="lower right")
    return path


def _curves_of(folder: Path, place: str = TRAINED) -> dict[int, list[dict[str, Any]]]:
    """Return what each seed's run has logged, by default those under the growing horizon."""
    runs = {
        int(path.name.removeprefix("seed_")): read_metrics(path / "model")
        for path in sorted((folder / place).glob("seed_*"))
    }
    return {seed: entries for seed, entries in runs.items() if entries}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or go on with it; print what there is and what is left, draw its curves."""
    parser = study_parser("language_model", __doc__, seeds=(0, 1), workers=1, threads=2)
    parser.add_argument("--env", nargs="+", choices=GROUNDS, default=list(GROUNDS))
    options = parser.parse_args(argv)
    left = total = 0
    for ground in options.env:
        folder = Path(options.out) / ground
        fetched = folder / FETCHED / "seed_0"
        runs = runs_of(ground, options.seeds, folder)
        asked = (measurement(ground, SMOLLM2, fetched / RESULT, 0),)
        play_study(
            options,
            folder,
            [Run(fetched, asked), *runs],
            partial(measurement, ground),
            start=start_of(folder),
            making=making_of(ground, folder),
        )
        left, total = left + sum(not run.is_done for run in runs), total + len(runs)
        print(f"{ground}\n\n{language_model_table(folder, ROWS)}\n")
    trained = [ground for ground in options.env if _curves_of(Path(options.out) / ground)]
    if trained:
        print(f"curves: {draw_curves(Path(options.out), trained)}")
    print(f"{left} of {total} runs of GRPO are left")
    return 0
