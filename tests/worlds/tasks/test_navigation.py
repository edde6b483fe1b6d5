"""Tasks that end on a page: each has a page of its own, on which it must end."""

from __future__ import annotations

import pytest

from agentgym_envs.sites.names import fill_placeholders
from agentgym_envs.webarena.env import WebArenaEnv
from tests.worlds.tasks.arriving import case_of, cases, ends_at, reference, task_of
from worlds.tasks.drawing import STRIDE, TEMPLATES

PAGES = [number for number in TEMPLATES if "page_shown" in case_of(number, 0).evaluation]


@pytest.mark.parametrize("template", PAGES)
def test_every_task_ends_on_a_page_of_its_own(template: int) -> None:
    assert len({reference(case) for case in cases(template)}) == TEMPLATES[template].instances
    kinds = {tuple(case.evaluation["eval_types"]) for case in cases(template)}
    assert kinds == {("state_change", "page_shown")}


@pytest.mark.parametrize("template", PAGES)
@pytest.mark.parametrize("instance", [0, 17, 33])
def test_the_right_page_passes_and_the_start_does_not(
    env: WebArenaEnv, template: int, instance: int
) -> None:
    right = reference(case_of(template, instance))
    start = fill_placeholders(task_of(template * STRIDE + instance).start_url)
    assert ends_at(env, template, instance, right) == 1.0
    assert ends_at(env, template, instance) == 0.0
    assert ends_at(env, template, instance, right, start) == 0.0
