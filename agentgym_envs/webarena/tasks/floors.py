"""Counts what the embedded tasks pay to a blind policy: `python -m ...webarena.tasks.floors`.

A floor is the share of a split's tasks that one rule solves without reading a page: `stop [N/A]` at
once, or for each template the answer that is right for most of its instances. Beside it stands how
many different goals the possible tasks have, a goal being what decides whether a task is done.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from agentgym_envs.webarena.tasks import catalogue
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.task_set import EmbeddedTasks
from agentgym_envs.webarena.tasks.template import IMPOSSIBLE


@dataclass(frozen=True)
class Floors:
    """The floors of some tasks.

    Attributes:
        tasks: how many there are.
        impossible: share that `stop [N/A]` solves.
        fixed_answer: share that one answer for each template solves, N/A among them.
        possible: how many can be done.
        goals: how many different goals these have.
    """

    tasks: int
    impossible: float
    fixed_answer: float
    possible: int
    goals: int


def floors(numbers: Iterable[int]) -> Floors:
    """Compute the floors of tasks by their numbers."""
    tasks = [catalogue.task_of(number) for number in numbers]
    answers = [(answer_of(task), usual_answer(task.intent_template_id)) for task in tasks]
    guessed = sum(right == guess is not None for right, guess in answers)
    possible = [task for task in tasks if answer_of(task) != IMPOSSIBLE]
    return Floors(
        len(tasks),
        (len(tasks) - len(possible)) / len(tasks),
        guessed / len(tasks),
        len(possible),
        len({(task.intent_template_id, goal_of(task)) for task in possible}),
    )


def answer_of(task: WebTask) -> str | None:
    """Return the answer that alone solves a task, or None where it takes more than an answer."""
    if task.eval["eval_types"] != ["string_match"]:
        return None
    answer: str | None = task.eval["reference_answers"].get("exact_match")
    return answer


@cache
def usual_answer(template: int) -> str | None:
    """Return the answer that is right for most instances of a template; None for no answer."""
    numbers = range(template * catalogue.STRIDE, template * catalogue.STRIDE + catalogue.INSTANCES)
    answers = Counter(answer_of(catalogue.task_of(number)) for number in numbers)
    return max(answers, key=lambda answer: (answers[answer], answer or ""))


def goal_of(task: WebTask) -> str:
    """Write down what decides whether a task is done."""
    return json.dumps(task.eval, sort_keys=True)


def main() -> None:
    """Print the floors of every split."""
    tasks = EmbeddedTasks()
    print("| split | tasks | `stop [N/A]` | one answer a template | different goals |")
    print("|---|---|---|---|---|")
    for split in (*tasks.splits, *tasks.panels):
        result = floors(tasks.numbers(split))
        print(
            f"| {split} | {result.tasks:,} | {result.impossible:.1%} | {result.fixed_answer:.1%} "
            f"| {result.goals:,} of {result.possible:,} |"
        )


if __name__ == "__main__":
    main()
