"""The choice of evaluation, and the tasks as `webarena-verified` words them."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from agentgym_envs.webarena import official
from agentgym_envs.webarena.official.dataset import official_tasks, source_name, verified_tasks
from agentgym_envs.webarena.official.deployment import SITES, may_change
from agentgym_envs.webarena.official.env import WebArenaOfficialEnv

ADDRESSES = {site: f"http://host:{7770 + index}" for index, site in enumerate(SITES)}
needs_tasks = pytest.mark.skipif(
    find_spec("webarena_verified") is None,
    reason="make test-partner NAME=official",
)


@needs_tasks
def test_the_tasks_keep_their_numbers_and_take_the_package_s_words() -> None:
    original, verified = official_tasks(), verified_tasks()
    assert [task.task_id for task in verified] == list(range(812))
    assert [task.sites for task in verified] == [task.sites for task in original]
    assert original[11].intent != verified[11].intent.startswith("Get the total number of reviews")
    pairs = zip(original, verified, strict=True)
    assert sum(one.intent != two.intent for one, two in pairs) > 600
    assert sum(" |AND| " in task.start_url for task in verified) > 40
    assert source_name() != source_name(is_verified=True)


@needs_tasks
def test_every_task_that_changes_a_site_asks_for_a_reset() -> None:
    pairs = zip(official_tasks(), verified_tasks(), strict=True)
    assert all(may_change(two) for one, two in pairs if may_change(one))
    assert sum(map(may_change, verified_tasks())) > sum(map(may_change, official_tasks()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"evaluation": "strict"}, "unknown evaluation 'strict'; allowed: original, verified"),
        ({"evaluation": "verified", "tasks_file": Path("tasks.json")}, "give no tasks_file="),
    ],
)
def test_other_evaluations_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WebArenaOfficialEnv(sites=ADDRESSES, **arguments)


def test_without_the_package_the_error_names_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "webarena_verified.api", None)
    monkeypatch.delattr(official, "verified", raising=False)
    monkeypatch.delitem(sys.modules, "agentgym_envs.webarena.official.verified", raising=False)
    with pytest.raises(ImportError, match=r'pip install "agentgym-envs\[official\]"'):
        WebArenaOfficialEnv(sites=ADDRESSES, evaluation="verified", split="test")
