"""`lab.studies rl_alone`: an instruct model on BabyAI by GRPO alone, without imitation.

The paper's headline (arXiv 2509.08755) is reinforcement learning without imitation. Here a model
plays the test tasks as it is; GRPO trains an adapter of it under a growing and under a fixed
horizon, and where no action is listed; and each plays the test tasks again, at temperature 1. Where
a machine is lent for a while, `--minutes` ends the trainings, and what they came to is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from lab.studies.runs import RESULT, START, Run, play_all, study_parser
from lab.studies.table import language_model_table
from trainers.options.parser import OptionParser
from trainers.runs.checkpoints import last_checkpoint

UNLISTED = ("--env_kwargs", '{"list_actions": false}')


@dataclass(frozen=True)
class Variant:
    """One way to train.

    Attributes:
        name: in the table.
        horizon: of training; tests have all turns.
        playing: further options of the environment, in training and in tests.
    """

    name: str
    horizon: str
    playing: tuple[str, ...] = ()


VARIANTS = {
    "growing": Variant("GRPO, horizons of 4, 6 and 8 turns", "scaling:4,6,8@10"),
    "fixed": Variant("GRPO, fixed horizon", "fixed:8"),
    "unlisted": Variant("GRPO, no action listed", "fixed:8", UNLISTED),
}
"""Folder of a variant's runs -> the variant."""


def playing_options(variant: Variant) -> tuple[str, ...]:
    """Return the options of the episodes, whose actions stand alone."""
    return (
        *("--env", "BabyAI", "--action_format", "plain", "--max_turns", "8"),
        *("--max_tokens_per_turn", "24", *variant.playing),
    )


def measurement(variant: Variant, small: bool, model: str, out: Path, seed: int) -> tuple[str, ...]:
    """Return the command that plays the test tasks."""
    size = ("--num_tasks", "4") if small else ("--num_tasks", "90", "--samples", "4")
    return (
        *("eval", *playing_options(variant), "--split", "test", "--model", model, *size),
        *("--num_envs", "360", "--seed", str(seed), "--out", str(out)),
        *("--trajectories", str(out.with_suffix(".jsonl")), "--resume"),
    )


def training(variant: Variant, model: str, seed: int, folder: Path, *, small: bool) -> Run:
    """Return a training: of 128 episodes a step, 16 tasks by 8."""
    batch, accumulated, group = ("4", "2", "4") if small else ("4", "32", "8")
    episodes = int(batch) * int(accumulated)
    words = (
        *("train", "grpo", *playing_options(variant), "--model", model, "--seed", str(seed)),
        *("--use_peft", "--lora_r", "16", "--lora_alpha", "32"),
        *("--lora_target_modules", "all-linear", "--learning_rate", "2e-4"),
        *("--lr_scheduler_type", "constant", "--gradient_checkpointing", "false"),
        *("--num_generations", group, "--per_device_train_batch_size", batch),
        *("--gradient_accumulation_steps", accumulated, "--num_envs", str(episodes)),
        *("--horizon", variant.horizon, "--max_steps", "2" if small else "40"),
        *("--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", "10"),
        *("--save_total_limit", "2", "--report_to", "none", "--resume"),
        *("--output_dir", str(folder / "model")),
    )
    return Run(folder, (words,))


def trained_model(folder: Path) -> str | None:
    """Return a training's model or last checkpoint, or None before that."""
    model = folder / "model"
    if (model / "adapter_config.json").is_file():
        return str(model)
    checkpoint = last_checkpoint(model) if model.is_dir() else None
    return None if checkpoint is None else str(checkpoint)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or go on with it, and print its tables."""
    parser = _parser()
    options = parser.parse_args(argv)
    out = Path(options.out)
    play = partial(play_all, workers=options.workers, threads=options.threads)
    chosen = {name: VARIANTS[name] for name in options.variants}
    if not options.table_only:
        measure = partial(measurement, small=options.small)
        starts = [
            Run(own, (measure(variant, model=options.model, out=own / RESULT, seed=seed),))
            for name, variant in chosen.items()
            for seed in options.seeds
            for own in [out / name / START / f"seed_{seed}"]
        ]
        trainings = [
            training(
                variant,
                options.model,
                seed,
                out / name / "grpo" / f"seed_{seed}",
                small=options.small,
            )
            for name, variant in chosen.items()
            for seed in options.seeds
        ]
        play(starts)
        play(trainings, seconds=None if options.minutes is None else 60 * options.minutes)
        play(
            [
                Run(own, (measure(variant, model=model, out=own / RESULT, seed=seed),))
                for name, variant in chosen.items()
                for seed in options.seeds
                for own in [out / name / "after" / f"seed_{seed}"]
                if (model := trained_model(out / name / "grpo" / f"seed_{seed}"))
            ]
        )
    for name, variant in chosen.items():
        rows = {"as it is": START, variant.name: "after"}
        print(f"{name}\n\n{language_model_table(out / name, rows)}\n")
    return 0


def _parser() -> OptionParser:
    parser = study_parser("rl_alone", __doc__, seeds=(0, 1), workers=1, threads=2)
    parser.add_argument("--model", required=True, help="the instruct model")
    parser.add_argument("--variants", nargs="+", choices=VARIANTS, default=list(VARIANTS))
    parser.add_argument("--minutes", type=float, help="end the trainings after so many")
    parser.add_argument("--small", action="store_true", help="a rehearsal")
    return parser
