"""Every template keeps the rules."""

from __future__ import annotations

import re
from collections import Counter
from statistics import median

import pytest

from agentgym_envs.sites.content import open_content
from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from agentgym_envs.webarena.tasks.task_set import SPLITS
from tests.worlds.tasks.arriving import everything, task_of
from worlds.tasks.baselines import is_impossible
from worlds.tasks.drawing import STRIDE, TEMPLATES
from worlds.tasks.panel import draw_panel
from worlds.tasks.playing import play_solution

NUMBERS = sorted(TEMPLATES)


def test_no_two_templates_have_a_number_and_each_is_shipped() -> None:
    assert list(TEMPLATES) == [each.template for each in open_content().templates]
    assert len(TEMPLATES) == 160


def test_what_is_shipped_is_what_the_templates_are() -> None:
    for each in open_content().templates:
        template = TEMPLATES[each.template]
        assert (each.split, each.sites) == (template.split, template.sites)
        first = template.number * STRIDE
        assert each.task_ids == range(first, first + template.instances)


@pytest.mark.parametrize("number", NUMBERS)
def test_its_intents_are_distinct_and_filled(number: int) -> None:
    tasks = [task_of(number * STRIDE + i) for i in range(TEMPLATES[number].instances)]
    assert len({task.intent for task in tasks}) == len(tasks)
    for task in tasks:
        assert "{" not in task.intent and task.intent == task.intent.strip()
        assert len(task.intent.splitlines()) == 1
        assert set(task.eval["eval_types"]) <= {"typed_answer", "state_change", "page_shown"}
        assert "state_change" in task.eval["eval_types"]


@pytest.mark.parametrize("number", NUMBERS)
def test_its_wordings_say_the_same_at_two_lengths(number: int) -> None:
    template = TEMPLATES[number]
    short, *others = template.intents
    assert others and all(len(short.split()) < len(other.split()) for other in others)
    slots = [set(re.findall(r"{(\w+)}", intent)) for intent in template.intents]
    assert slots.count(slots[0]) == len(slots)


def test_goals_are_about_as_long_as_webarena_s() -> None:
    """Half of WebArena's 812 have at most 14 words."""
    short = [len(task_of(number * STRIDE).intent.split()) for number in NUMBERS]
    assert 10 <= median(short) <= 14
    assert 14 <= median(len(task.intent.split()) for task in everything()) <= 17


@pytest.mark.parametrize("number", NUMBERS)
def test_an_impossible_template_wants_na_and_no_other_does(number: int) -> None:
    template = TEMPLATES[number]
    tasks = [task_of(number * STRIDE + i) for i in range(template.instances)]
    assert {is_impossible(task) for task in tasks} == {template.is_impossible}


def test_there_are_enough_tasks_of_every_kind() -> None:
    templates = TEMPLATES.values()
    assert len(templates) >= 60
    assert sum(template.instances for template in templates) >= 6000
    impossible = [template for template in templates if template.is_impossible]
    assert len(impossible) >= 20
    assert len({intent for template in impossible for intent in template.intents}) >= 25
    for site in ("shopping", "shopping_admin", "map", "reddit", "gitlab"):
        splits = Counter(t.split for t in templates if t.sites[0] == site)
        assert splits["train"] > splits["test"] >= 3 and splits["validation"] >= 1
    assert sum(len(t.sites) > 1 for t in templates) >= 5
    assert {t.split for t in templates} == set(SPLITS)
    assert {t.split for t in templates if t.is_impossible} >= {"train", "test"}


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_asks_changes_and_navigates(split: str) -> None:
    tasks = [task_of(n * STRIDE) for n, template in TEMPLATES.items() if template.split == split]
    assert {kind for task in tasks for kind in task.eval["eval_types"]} == {
        *("typed_answer", "state_change", "page_shown")
    }
    assert {task.require_reset for task in tasks} == {False, True}


def test_some_templates_begin_signed_out() -> None:
    signed_out = [number for number in NUMBERS if not TEMPLATES[number].signed_in]
    assert len({TEMPLATES[number].sites[0] for number in signed_out}) >= 3
    assert not any(task_of(number * STRIDE).require_login for number in signed_out)


def test_the_panel_is_drawn_from_the_tasks() -> None:
    assert draw_panel(everything()) == open_content().paper_test


def test_a_maker_sees_what_the_expert_changes_and_answers() -> None:
    changing, asking = task_of(13 * STRIDE), task_of(0)
    cancelled = "SELECT count(*) FROM orders WHERE status = 'cancelled'"
    with play_solution(asking, open_content(), TEMPLATES[0].solve) as ending:
        assert is_answer(asking.eval["typed_answer"], ending.answer, task=asking.intent)
        assert ending.state is not None
        before = ending.state.database("shopping").execute(cancelled).fetchone()[0]
    with play_solution(changing, open_content(), TEMPLATES[13].solve) as ending:
        assert ending.state is not None
        after = ending.state.database("shopping").execute(cancelled).fetchone()[0]
    assert after == before + 1
