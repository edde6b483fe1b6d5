"""Makes a set of questions a task set, in which a question's family is its subtask."""

from __future__ import annotations

from collections.abc import Sequence

from agentgym_envs.core.tasks import TaskSet, TaskSpec
from agentgym_envs.errors import UnknownTask
from agentgym_envs.searchqa.questions import QuestionSet


class SearchQATasks(TaskSet):
    """The questions of a set.

    Besides the splits there is `paper_test`, a pinned part of `test` with the sizes of the paper's
    panel where the set has one.

    Args:
        questions: the questions.
    """

    env_name = "searchqa"
    splits = ("train", "validation", "test")
    panels = {"paper_test": "test"}
    tasks_filter = "task ids, their numbers, subtasks or reasoning structures"

    def __init__(self, questions: QuestionSet) -> None:
        self.questions = questions

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split or panel, ascending."""
        return self.questions.numbers(split)

    def explain_empty(self, split: str) -> str:
        """Return the question set's reason."""
        return self.questions.explain_empty(split)

    def describe(self, number: int) -> tuple[str, str]:
        """Return (family, split) of a question."""
        try:
            question = self.questions.question(number)
        except ValueError as error:
            raise UnknownTask(
                f"unknown task_id 'searchqa_{number}': {error}; env.unwrapped.task_ids(split) "
                "lists a split"
            ) from None
        return question.family, question.split

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return the labels of a task: id, number, family or structure."""
        structure = self.questions.question(spec.number).structure
        return (*super().labels(spec), *([structure] if structure else []))
