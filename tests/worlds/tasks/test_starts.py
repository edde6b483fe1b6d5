"""Some tasks begin on a page deep inside a site, which is there and is not where they shall end."""

from __future__ import annotations

import pytest

from agentgym_envs.webarena.deployments import AND
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks.files import WebTask
from tests.worlds.tasks.arriving import everything
from worlds.tasks.drawing import STRIDE, TEMPLATES


def deep_tasks() -> list[WebTask]:
    """Return those whose start is theirs alone, neither a home page nor their template's."""
    of_their_own = {f"__{site.upper()}__" for task in everything() for site in task.sites}
    return [
        task
        for task in everything()
        if task.start_url not in of_their_own and task.task_id % STRIDE % 11 == 7
    ]


@pytest.mark.full
def test_one_task_in_twelve_begins_deep_inside_its_first_site() -> None:
    tasks = deep_tasks()
    assert 0.07 < len(tasks) / len(everything()) < 0.1
    assert len({task.intent_template_id for task in tasks}) > 140
    for task in tasks:
        assert task.start_url.split(AND)[0].startswith(f"__{task.sites[0].upper()}__/")
        assert TEMPLATES[task.intent_template_id].signed_in
        assert task.start_url not in task.eval.get("page_shown", [])


def test_the_pages_are_there(env: WebArenaEnv) -> None:
    sites = set()
    for task in deep_tasks()[::9]:
        observation, _ = env.reset(options={"task_id": task.task_id})
        assert "Something is missing" not in observation and "not found" not in observation
        sites.add(task.sites[0])
    assert len(sites) == 5
