"""Whether the options that make a batch of episodes fit each other.

TRL checks the same, in words of fields that it derives and nobody has typed.
"""

from __future__ import annotations

import os
from typing import Any


def check_batch(args: Any, *, least: int) -> None:
    """Check that a batch holds whole groups of episodes.

    Args:
        args: an `AgentOnlineConfig`, before TRL has derived anything.
        least: the smallest `num_generations` that the algorithm takes.

    Raises:
        ValueError: it does not; the message names the options that were given and values that fit.
    """
    group = args.num_generations
    if group < least:
        raise ValueError(
            f"num_generations must be >= {least}, since episodes of one task are compared, got "
            f"{group}; ppo compares none"
        )
    for name in ("per_device_train_batch_size", "gradient_accumulation_steps"):
        if getattr(args, name) < 1:
            raise ValueError(f"{name} must be >= 1, got {getattr(args, name)}")
    if args.generation_batch_size is not None and args.steps_per_generation is not None:
        raise ValueError(
            f"generation_batch_size={args.generation_batch_size} and steps_per_generation="
            f"{args.steps_per_generation} name the same batch; leave one of them out"
        )
    processes = int(os.environ.get("WORLD_SIZE", "1"))
    micro = args.per_device_train_batch_size * processes
    of_micro = f"per_device_train_batch_size={args.per_device_train_batch_size}"
    if processes > 1:
        of_micro += f" x {processes} processes"
    if args.generation_batch_size is not None:
        batch, made_of = args.generation_batch_size, "generation_batch_size"
        if batch % micro:
            raise ValueError(
                f"generation_batch_size={batch} must be a multiple of {of_micro}; "
                f"{_near(batch, micro)} would do"
            )
    else:
        name = "steps_per_generation"
        if args.steps_per_generation is None:
            name = "gradient_accumulation_steps"
        batch, made_of = micro * getattr(args, name), f"{of_micro} x {name}={getattr(args, name)}"
    if batch % group:
        fitting = [n for n in range(max(least, 1), batch + 1) if batch % n == 0]
        hint = f"num_generations {_listed(fitting)} would fit" if fitting else "make it larger"
        raise ValueError(
            f"a batch holds whole groups: {made_of} makes {batch} episodes, no multiple of "
            f"num_generations={group}; {hint}"
        )


def check_checkpoints(args: Any) -> None:
    """Check that the best checkpoint can be found, where one is looked for.

    Args:
        args: an `AgentDefaults` config, after `derive_evaluation`.

    Raises:
        ValueError: checkpoints are saved where nothing is measured.
    """
    if not args.load_best_model_at_end or args.metric_for_best_model is None:
        return
    remedy = "make them fit, or pass --load_best_model_at_end false to end with the last weights"
    if args.save_strategy not in (args.eval_strategy, "best"):
        raise ValueError(
            f"the best checkpoint is loaded at the end, so it is saved where success is measured, "
            f"got save_strategy={args.save_strategy} with eval_strategy={args.eval_strategy}; "
            f"{remedy}"
        )
    if args.eval_strategy == args.save_strategy == "steps" and _is_between(args):
        raise ValueError(
            f"the best checkpoint is loaded at the end, so it is saved where success is measured, "
            f"got save_steps={args.save_steps:g}, no multiple of eval_steps={args.eval_steps:g}; "
            f"{remedy}"
        )


def _is_between(args: Any) -> bool:
    """Return whether some checkpoint comes between two evaluations; shares of a run are TRL's."""
    every, saved = args.eval_steps, args.save_steps
    return bool(every and saved and every >= 1 and saved >= 1 and saved % every)


def _near(value: int, of: int) -> str:
    below = value - value % of
    return f"{below} or {below + of}" if below else str(of)


def _listed(values: list[int]) -> str:
    """Return the first values in words: `2, 4 or 8`."""
    *most, last = map(str, values[:4])
    return f"{', '.join(most)} or {last}" if most else last
