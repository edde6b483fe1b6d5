"""Counts the reward of blind policies on the embedded tasks.

Run it by `python -m worlds.tasks.baselines`.

A baseline is the share of a split's tasks that one rule solves without reading a page: for each
template the answer that is right for most of its instances. A task that cannot be done is none of
them, as its reason rests on pages (`one_reason` searches what one sentence earns there). Beside it
stands how many different goals the possible tasks have, a goal being what decides whether a task is
done.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentgym_envs.sites.content import open_content
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.task_set import EmbeddedTasks


@dataclass(frozen=True)
class Baselines:
    """The baselines of some tasks.

    Attributes:
        tasks: how many there are.
        impossible: share that cannot be done.
        fixed_answer: share that one answer for each template solves.
        possible: how many can be done.
        goals: how many different goals these have.
    """

    tasks: int
    impossible: float
    fixed_answer: float
    possible: int
    goals: int


def baselines(tasks: Sequence[WebTask], siblings: Iterable[WebTask]) -> Baselines:
    """Compute the baselines of tasks.

    Args:
        tasks: those that are counted.
        siblings: all tasks of their templates, which decide what answer is the usual one.
    """
    usual = usual_answers(siblings)
    answers = [(answer_of(task), usual[task.intent_template_id]) for task in tasks]
    guessed = sum(right == guess is not None for right, guess in answers)
    possible = [task for task in tasks if not is_impossible(task)]
    return Baselines(
        len(tasks),
        (len(tasks) - len(possible)) / len(tasks),
        guessed / len(tasks),
        len(possible),
        len({(task.intent_template_id, goal_of(task)) for task in possible}),
    )


def answer_of(task: WebTask) -> str | None:
    """Return the answer that alone solves a task as JSON, or None if it takes more."""
    if task.eval["state_change"] != [{}] or "page_shown" in task.eval or is_impossible(task):
        return None
    return json.dumps(task.eval["typed_answer"], sort_keys=True)


def is_impossible(task: WebTask) -> bool:
    """Return whether the task is impossible."""
    return bool(task.eval.get("typed_answer", {}).get("type") == "impossible")


def usual_answers(tasks: Iterable[WebTask]) -> dict[int, str | None]:
    """Return each template's most frequent answer, or None if its tasks take more."""
    answers: dict[int, Counter[str | None]] = {}
    for task in tasks:
        answers.setdefault(task.intent_template_id, Counter())[answer_of(task)] += 1
    return {
        template: max(counts, key=lambda answer: (counts[answer], answer or ""))
        for template, counts in answers.items()
    }


def goal_of(task: WebTask) -> str:
    """Return a task's evaluation as JSON."""
    return json.dumps(task.eval, sort_keys=True)


def main() -> None:
    """Print the baselines of every split of the shipped tasks."""
    tasks = EmbeddedTasks(open_content())
    everything = [tasks.task(number) for split in tasks.splits for number in tasks.numbers(split)]
    print("| split | tasks | cannot be done | one answer a template | different goals |")
    print("|---|---|---|---|---|")
    for split in (*tasks.splits, *tasks.panels):
        result = baselines([tasks.task(number) for number in tasks.numbers(split)], everything)
        print(
            f"| {split} | {result.tasks:,} | {result.impossible:.1%} | {result.fixed_answer:.1%} "
            f"| {result.goals:,} of {result.possible:,} |"
        )


if __name__ == "__main__":
    main()
