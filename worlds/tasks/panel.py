"""Draws the panel `paper_test`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, zip_longest

from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.task_set import subtask_name
from worlds.tasks.baselines import is_impossible

PAPER_SIZES = {"Shopping": 15, "CMS": 15, "Maps": 10, "GitLab": 5, "Reddit": 5}
"""The panel of the paper (arXiv 2509.08755), which counts GitLab and Reddit as one."""


def draw_panel(tasks: Iterable[WebTask]) -> list[int]:
    """Draw the test panel, with the paper's number for each subtask, template by template.

    The two largest subtasks hold one task each that cannot be done, 4% of the panel.
    """
    by_template: dict[str, dict[int, list[int]]] = {subtask: {} for subtask in PAPER_SIZES}
    impossible: dict[str, list[int]] = {}
    for task in tasks:
        if task.split == "test":
            subtask = subtask_name(task.sites)
            if is_impossible(task):
                impossible.setdefault(subtask, []).append(task.task_id)
            else:
                mine = by_template[subtask].setdefault(task.intent_template_id, [])
                mine.append(task.task_id)
    panel: list[int] = []
    for subtask, size in PAPER_SIZES.items():
        rows = zip_longest(*by_template[subtask].values())
        possible = (number for row in rows for number in row if number is not None)
        first = impossible.get(subtask, [])[: size // 15]
        panel += [*first, *islice(possible, size - len(first))]
    return sorted(panel)
