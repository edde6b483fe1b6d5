"""Numbers SQL's tasks: a task's number is its question's."""

from __future__ import annotations

from agentgym_envs.core.tasks import ListedTasks
from agentgym_envs.sql.questions import Questions


class SQLTasks(ListedTasks):
    """Questions by split, in which a subtask is their level.

    Args:
        questions: all of them.
    """

    def __init__(self, questions: Questions) -> None:
        table: dict[str, dict[str, list[int]]] = {"train": {}, "validation": {}, "test": {}}
        for number, question in questions.by_number.items():
            table[question.split].setdefault(question.level, []).append(number)
        super().__init__("sql", table)
