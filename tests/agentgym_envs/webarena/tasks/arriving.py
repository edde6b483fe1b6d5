"""What the tests of navigation share: the cases of a template, and what ending on a page earns."""

from __future__ import annotations

from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.sites.names import fill_placeholders
from agentgym_envs.webarena.tasks import catalogue
from agentgym_envs.webarena.tasks.template import Case


def case_of(template: int, instance: int) -> Case:
    return catalogue.case_of(template * catalogue.STRIDE + instance)


def cases(template: int) -> list[Case]:
    return [case_of(template, instance) for instance in range(catalogue.INSTANCES)]


def reference(case: Case) -> str:
    """Return the address that is wanted."""
    assert case.evaluation["eval_types"] == ["url_match"]
    return fill_placeholders(case.evaluation["reference_url"])


def ends_at(env: WebArenaEnv, template: int, instance: int, *urls: str) -> float:
    """Open addresses, stop at the last one, and return the reward."""
    env.reset(options={"task_id": template * catalogue.STRIDE + instance})
    for url in urls:
        *_, info = env.step(f"goto [{url}]")
        assert info["is_valid_action"], url
    _, reward, terminated, _, info = env.step("stop []")
    assert terminated and info["success"] == bool(reward)
    return reward
