"""What a run is about to do, in a few lines before its first step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from transformers import TrainerCallback

Plan = Mapping[str, str]
"""The lines of an announcement, by their labels: `{"policy": "tiny, 1.1M parameters"}`."""


class Announcement(TrainerCallback):  # type: ignore[misc]
    """Prints a run's plan where training begins or goes on. Add it before a progress bar.

    Args:
        title: the algorithm.
        plan: asked for when training begins.
    """

    def __init__(self, title: str, plan: Callable[[], Plan]) -> None:
        self._title = title
        self._plan = plan

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Print the plan."""
        if not state.is_world_process_zero:
            return
        steps = f"{state.max_steps} optimizer steps"
        if state.global_step:
            steps = f"optimizer steps {state.global_step} to {state.max_steps}"
        print_plan(f"{self._title}: {steps}, written to {args.output_dir}", self._plan())


def print_plan(title: str, plan: Plan) -> None:
    """Print a plan as a title and one indented line for each entry."""
    entries = {about: text for about, text in plan.items() if text}
    width = max(map(len, entries))
    lines = [f"  {about:<{width}}  {text}" for about, text in entries.items()]
    print("\n".join([title, *lines]), flush=True)


def evaluation_plan(args: Any, *, num_tasks: int, samples: int, split: str) -> str:
    """Return when success is measured and on what; empty where it is not.

    Args:
        args: the training config.
        num_tasks: the tasks that are played.
        samples: episodes per task.
        split: theirs.
    """
    if args.eval_strategy == "no":
        return ""
    when = "after every epoch"
    if args.eval_strategy == "steps":
        when = f"every {args.eval_steps:g} steps"
    each = "" if samples == 1 else f", {samples} episodes each"
    return f"{when} on {num_tasks} tasks of {split}{each}"


def title_of(trainer: Any) -> str:
    """Return a trainer's algorithm: `"GRPO"` of an `AgentGRPOTrainer`."""
    return type(trainer).__name__.removeprefix("Agent").removesuffix("Trainer")
