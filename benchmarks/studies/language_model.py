"""`agentgym study language_model`: SmolLM2 from its chat training to SFT to GRPO, by scenario.

In each scenario the model imitates some of the expert's episodes; each seed's GRPO then trains an
adapter on what came of it, under a turn horizon that grows. The test tasks are played by the model
as it was fetched, by the start, and after each seed. `all` is one policy for several scenarios.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.studies.runs import RESULT, Run, play_study, study_parser
from benchmarks.studies.table import language_model_table
from trainers.options.model_names import SMOLLM2

FETCHED, TRAINED = "fetched", "grpo"
TOGETHER = "all"
GROUP = 8

_QUIET = ("--report_to", "none", "--resume")
_ADAPTER = (
    *("--use_peft", "--lora_r", "8", "--lora_alpha", "16"),
    *("--lora_target_modules", "all-linear"),
)
_TRAINING = ("--per_device_train_batch_size", "1", "--lr_scheduler_type", "linear")
_SFT = (
    *("--gradient_accumulation_steps", "8", "--learning_rate", "5e-4"),
    *("--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", "10"),
)
_GRPO = (
    *("--num_generations", str(GROUP), "--learning_rate", "1e-4"),
    *("--eval_strategy", "no", "--save_strategy", "steps", "--save_steps", "4"),
)


@dataclass(frozen=True)
class Ground:
    """How SmolLM2 is trained in a scenario, or in several together.

    Attributes:
        env: options that name the scenarios and an episode's budgets. Actions stand alone: thoughts
            would be four fifths of the tokens.
        expert: episodes that are imitated.
        imitation: optimizer steps of 8 episodes each.
        steps: of GRPO.
        episodes: of a step.
        horizon: the turn horizon; `{stage}` stands for a third of the steps.
        tasks: test tasks.
        further: other options of GRPO.
    """

    env: tuple[str, ...]
    expert: int
    imitation: int
    horizon: str
    steps: int = 40
    episodes: int = 32
    tasks: int = 100
    further: tuple[str, ...] = ()


def _playing(name: str, turns: int, tokens: int, *further: str) -> tuple[str, ...]:
    return (
        *("--env", name, "--action_format", "plain", "--max_turns", str(turns)),
        *("--max_tokens_per_turn", str(tokens), *further),
    )


GROUNDS: dict[str, Ground] = {
    "BabyAI": Ground(_playing("BabyAI", 12, 12), 200, 60, "scaling:4,8,12@{stage}"),
    "TextCraft": Ground(_playing("TextCraft", 12, 32), 200, 60, "scaling:4,8,12@{stage}"),
    "SearchQA": Ground(
        _playing("SearchQA", 6, 32, "--max_tokens_per_episode", "2048"),
        200,
        40,
        "scaling:2,4,6@{stage}",
    ),
    "SciWorld": Ground(
        _playing(
            *("SciWorld", 24, 16, "--max_tokens_per_episode", "3072"),
            # What the expert mostly ends within so many turns.
            *("--tasks", "Find", "Lifespan", "Chem-Mix", "use-thermometer"),
        ),
        120,
        40,
        "scaling:8,16,24@{stage}",
    ),
    "WebArena": Ground(
        _playing(
            *("WebArena", 8, 24, "--keep_last_turns", "1"),
            *("--env_kwargs", '{"max_observation": 3000}'),
        ),
        60,
        20,
        "scaling:4,6,8@{stage}",
        episodes=16,
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
        160,
        "scaling:4,8,12@{stage}",
        episodes=48,
        tasks=300,
        further=("--scale_rewards", "environment"),
    ),
}
"""Scenario -> how it is played and trained."""


def start_of(folder: Path) -> str:
    """Return the model that a ground's GRPO begins with."""
    return str(folder / "start_model")


def making_of(ground: str, folder: Path) -> Run:
    """Return what makes the start: the expert's episodes, and their imitation."""
    where = GROUNDS[ground]
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
                *("train", "sft", *where.env, *_QUIET, *_ADAPTER, *_TRAINING, *_SFT),
                *("--model", SMOLLM2, "--data", episodes, "--max_steps", str(where.imitation)),
                *("--output_dir", start_of(folder)),
            ),
        ),
    )


def run_of(ground: str, seed: int, folder: Path) -> Run:
    """Return the GRPO run of one seed, and the measurement after it."""
    where = GROUNDS[ground]
    own = folder / TRAINED / f"seed_{seed}"
    model = str(own / "model")
    training = (
        *("train", "grpo", *where.env, *_QUIET, *_ADAPTER, *_TRAINING, *_GRPO, *where.further),
        *("--gradient_accumulation_steps", str(where.episodes)),
        *("--num_envs", str(where.episodes), "--max_steps", str(where.steps)),
        *("--horizon", where.horizon.format(stage=max(1, where.steps // 3))),
        *("--model", start_of(folder), "--seed", str(seed), "--output_dir", model),
    )
    return Run(own, (training, measurement(ground, model, own / RESULT, seed)))


def measurement(ground: str, model: str, out: Path, seed: int) -> tuple[str, ...]:
    """Return the command that plays the test tasks."""
    where = GROUNDS[ground]
    return (
        *("eval", *where.env, "--split", "test", "--model", model, "--dtype", "bfloat16"),
        *("--num_tasks", str(where.tasks), "--num_envs", "64", "--seed", str(seed)),
        *("--out", str(out), "--trajectories", str(out.with_suffix(".jsonl")), "--resume"),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study, or go on with it, and print what there is and what is left."""
    parser = study_parser("language_model", __doc__, seeds=(0, 1), workers=1, threads=2)
    parser.add_argument("--env", nargs="+", choices=GROUNDS, default=list(GROUNDS))
    options = parser.parse_args(argv)
    left = 0
    for ground in options.env:
        folder = Path(options.out) / ground
        fetched = folder / FETCHED / "seed_0"
        runs = [run_of(ground, seed, folder) for seed in options.seeds]
        asked = (measurement(ground, SMOLLM2, fetched / RESULT, 0),)
        play_study(
            options,
            folder,
            [Run(fetched, asked), *runs],
            partial(measurement, ground),
            start=start_of(folder),
            making=making_of(ground, folder),
        )
        left += sum(not run.is_done for run in runs)
        print(f"{ground}\n\n{language_model_table(folder, fetched=FETCHED, trained=TRAINED)}\n")
    print(f"{left} of {len(options.seeds) * len(options.env)} runs of GRPO are left")
    return 0
