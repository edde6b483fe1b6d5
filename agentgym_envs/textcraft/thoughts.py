"""Puts an expert's plan into short lines that a small language model can imitate.

The first thought writes the whole plan, top down, one item a line, with the command that makes it
and how often, or `get`. The moves then go through the lines from the last to the first, and every
thought ends in the line that is worked on now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from agentgym_envs.core import ExpertMove
from agentgym_envs.textcraft.planner import Job, Plan


def goal_recipe(first_observation: str, goal: str) -> Iterator[ExpertMove]:
    """Get the ingredients of the goal's first command, word by word, and craft it.

    Args:
        first_observation: the commands.
        goal: the item.
    """
    command = re.search(rf"^craft \d+ {re.escape(goal)} using (.+)$", first_observation, re.M)
    assert command is not None, f"no command crafts {goal}"
    for ingredient in command[1].split(", "):
        yield ExpertMove(f"get {ingredient}")
    yield ExpertMove(command[0])


@dataclass(frozen=True)
class PlanLine:
    """One item of a plan: `job` makes it, or it is got where that is None."""

    item: str
    needed: int
    job: Job | None

    @property
    def times(self) -> int:
        """The number of the line's actions."""
        return self.job.times if self.job else 1

    @property
    def action(self) -> str:
        """The action, the same each time."""
        return self.job.command if self.job else f"get {self.needed} {self.item}"

    @property
    def text(self) -> str:
        """The line without its number."""
        how = f"{self.job.command} x{self.job.times}" if self.job else "get"
        return f"{self.item} {self.needed}: {how}"


def plan_lines(plan: Plan) -> tuple[PlanLine, ...]:
    """List a plan's items, each after everything that it goes into, else in reading order."""
    jobs: dict[str, list[Job]] = {}  # more than one where what is held is used up first
    for job in plan.jobs:
        jobs.setdefault(job.recipe.output, []).append(job)
    parents = {name: 0 for name in (*jobs, *plan.fetches)}
    for job in plan.jobs:
        for _, name in job.inputs:
            if name in parents:
                parents[name] += 1
    waiting = [plan.jobs[0].recipe.output]
    lines: list[PlanLine] = []
    while waiting:
        name = waiting.pop(0)
        made_by = jobs.get(name, [])
        lines += [PlanLine(name, job.needed, job) for job in made_by]
        if not made_by:
            lines.append(PlanLine(name, plan.fetches[name], None))
        for below in (below for job in made_by for _, below in job.inputs):
            if below in parents:
                parents[below] -= 1
                if parents[below] == 0:
                    waiting.append(below)
    return tuple(lines)


def plan_moves(plan: Plan) -> Iterator[ExpertMove]:
    """Yield a plan's moves, with the plan in the first one's thought."""
    lines = plan_lines(plan)
    head = "".join(f"\n{number}. {line.text}" for number, line in enumerate(lines, 1))
    thought = f"Plan:{head}\n"
    for number in range(len(lines), 0, -1):
        line = lines[number - 1]
        for time in range(1, line.times + 1):
            now = f"Now {number}. {line.item} {time} of {line.times}"
            yield ExpertMove(line.action, thought + now)
            thought = ""
