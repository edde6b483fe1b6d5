"""Nothing in a goal tells that it cannot be reached: the site alone does."""

from __future__ import annotations

import pytest

from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from tests.worlds.tasks import arriving
from tests.worlds.tasks.arriving import TASKS, baselines_of, task_of
from worlds.tasks.drawing import STRIDE, TEMPLATES
from worlds.tasks.template import Template

IMPOSSIBLE = [number for number, template in TEMPLATES.items() if template.is_impossible]
FEW = 12


def cases(number: int) -> list[dict[str, str]]:
    return [dict(case.values) for case in arriving.cases(number)]


def masked(number: int) -> set[str]:
    """The goals of a template, with a blank in place of every name and number that was drawn."""
    result = set()
    for instance in range(TEMPLATES[number].instances):
        task = task_of(number * STRIDE + instance)
        text = task.intent
        values = (task.instantiation_dict or {}).values()
        for value in sorted(map(str, values), key=len, reverse=True):
            text = text.replace(value, "_")
        result.add(text)
    return result


def twin(template: Template) -> Template:
    """The feasible template that has the same wording and is learnt or tested beside it."""
    (match,) = [
        other
        for other in TEMPLATES.values()
        if not other.is_impossible
        and (other.intents, other.split, other.sites)
        == (template.intents, template.split, template.sites)
    ]
    return match


@pytest.mark.parametrize("number", IMPOSSIBLE)
def test_a_feasible_template_is_worded_alike(number: int) -> None:
    other = twin(TEMPLATES[number])
    assert masked(number) <= masked(other.number)


@pytest.mark.parametrize("number", IMPOSSIBLE)
def test_a_word_out_of_few_is_one_that_feasible_goals_have_too(number: int) -> None:
    mine, others = cases(number), cases(twin(TEMPLATES[number]).number)
    for slot in mine[0]:
        known = {case[slot] for case in others}
        assert len(known) > FEW or {case[slot] for case in mine} <= known, slot


@pytest.mark.parametrize("split", ["train", "validation", "test", "paper_test"])
def test_few_tasks_cannot_be_done(split: str) -> None:
    result = baselines_of(TASKS.numbers(split))
    assert 0.02 <= result.impossible <= 0.05


@pytest.mark.parametrize("number", IMPOSSIBLE)
def test_giving_up_needs_a_reason_of_this_task(number: int) -> None:
    task = task_of(number * STRIDE)
    for answer in ("N/A", "N/A - it cannot be done", "N/A - the page did not load", "done"):
        assert not is_answer(task.eval["typed_answer"], answer, task=task.intent), answer


def test_baselines_are_counted_by_template() -> None:
    number = IMPOSSIBLE[0] * STRIDE
    other = twin(TEMPLATES[IMPOSSIBLE[0]]).number * STRIDE
    result = baselines_of([number, number + 1, other, other + 1])
    assert (result.tasks, result.possible, result.goals) == (4, 2, 2)
    assert result.impossible == 0.5 and result.fixed_answer < 0.5
