"""What the tests of templates share: the shipped cases, and what ending on a page earns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.names import fill_placeholders
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.task_set import EmbeddedTasks
from worlds.sites.setting import Setting
from worlds.tasks.baselines import Baselines, baselines
from worlds.tasks.drawing import STRIDE, TEMPLATES
from worlds.tasks.template import World

TASKS = EmbeddedTasks(open_content())
WORLD = World(open_content(), Setting().people)


@dataclass(frozen=True)
class Drawn:
    """A task as the tests look at it."""

    values: Mapping[str, str]
    evaluation: Mapping[str, Any]
    notes: Mapping[str, Any]


def task_of(number: int) -> WebTask:
    return TASKS.task(number)


def everything() -> list[WebTask]:
    return [task_of(number) for split in TASKS.splits for number in TASKS.numbers(split)]


def baselines_of(numbers: Iterable[int]) -> Baselines:
    return baselines([task_of(number) for number in numbers], everything())


def case_at(number: int) -> Drawn:
    task = task_of(number)
    return Drawn(task.instantiation_dict or {}, task.eval, task.notes or {})


def case_of(template: int, instance: int) -> Drawn:
    return case_at(template * STRIDE + instance)


def cases(template: int) -> list[Drawn]:
    return [case_of(template, instance) for instance in range(TEMPLATES[template].instances)]


def reference(case: Drawn) -> str:
    """Return the address that is wanted."""
    (url,) = case.evaluation["page_shown"]
    return fill_placeholders(url)


def ends_at(env: WebArenaEnv, template: int, instance: int, *urls: str) -> float:
    """Open addresses, stop at the last one, and return the reward."""
    env.reset(options={"task_id": template * STRIDE + instance})
    for url in urls:
        *_, info = env.step(f"goto [{url}]")
        assert info["is_valid_action"], url
    _, reward, terminated, _, info = env.step("stop []")
    assert terminated and info["success"] == bool(reward)
    return reward
