"""What the tests of the code host's templates share."""

from __future__ import annotations

from agentgym_envs.sites.names import fill_placeholders
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks.files import WebTask
from tests.worlds.tasks.arriving import ends_at, task_of
from worlds.tasks.drawing import STRIDE, TEMPLATES
from worlds.tasks.template import World

FEW = (0, 17, 33)
"""Instances that are looked at one by one."""


def tasks(template: int) -> list[WebTask]:
    first = template * STRIDE
    return [task_of(first + instance) for instance in range(TEMPLATES[template].instances)]


def gold(task: WebTask) -> str:
    (url,) = task.eval["page_shown"]
    return fill_placeholders(url)


def values(task: WebTask) -> dict[str, str]:
    return {name: str(value) for name, value in (task.instantiation_dict or {}).items()}


def project_of(world: World, task: WebTask) -> tuple[int, str]:
    """The project that a goal names: its id and the beginning of its addresses."""
    (row,) = world.rows(
        "gitlab",
        "SELECT p.id, 'http://gitlab.test/~' || u.username || '/' || p.slug "
        "FROM projects p, users u WHERE u.id = p.owner_id AND p.name = ?",
        values(task)["project"],
    )
    return row[0], row[1]


def score(env: WebArenaEnv, task: WebTask, *addresses: str) -> float:
    """What ending on the last of these addresses is worth."""
    return ends_at(env, *divmod(task.task_id, STRIDE), *addresses)
