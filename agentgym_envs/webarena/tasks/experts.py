"""Finds the expert of a task by the number of its template."""

from __future__ import annotations

from agentgym_envs.webarena.tasks import across, gitlab, reddit, shopping, shopping_admin
from agentgym_envs.webarena.tasks import map as map_tasks
from agentgym_envs.webarena.tasks.solution import Solution

EXPERTS: dict[int, Solution] = {
    number: solution
    for package in (shopping, shopping_admin, map_tasks, reddit, gitlab, across)
    for number, solution in package.EXPERTS.items()
}
