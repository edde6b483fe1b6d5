"""Tasks that begin deep inside a site, and with several tabs: embedded, given and official."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.people import AGENT, PASSWORD
from agentgym_envs.sites.state import SiteState
from agentgym_envs.webarena.browser_task import BrowserTaskEnv
from agentgym_envs.webarena.deployments import BACKENDS
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks.files import write_tasks
from agentgym_envs.webarena.tasks.task_set import EmbeddedTasks
from tests.agentgym_envs.webarena import small_tasks

DEEP = "__SHOPPING__/search?q=lamp&sort=price#results"
SEVERAL = "__SHOPPING__/account/orders |AND| __GITLAB__/profile |AND| http://map.test/search?q=inn"
TABS = "Tabs: [0] 'My orders - Larder & Loom' (current), [1] 'Edit your profile - Forgeyard', [2] "

backends = pytest.mark.parametrize(
    "backend",
    [pytest.param(b, marks=pytest.mark.browser) if b == "chromium" else b for b in BACKENDS],
)


@pytest.fixture
def chromium_ends() -> Iterator[None]:
    yield
    if find_spec("playwright") is not None:
        from agentgym_envs.browsing.chromium.pool import close_chromium

        close_chromium()


def begin(
    folder: Path, start: str, make: Callable[..., BrowserTaskEnv] = WebArenaEnv, **kwargs: Any
) -> tuple[BrowserTaskEnv, str, dict[str, Any]]:
    task = small_tasks.string_task(sites=["shopping", "gitlab"], start_url=start)
    file = small_tasks.write(folder / "task.json", [task])
    env = make(tasks_file=file, split="test", **kwargs)
    observation, info = env.reset(options={"task_id": 0})
    return env, observation, info


def look_through(env: BrowserTaskEnv, observation: str) -> None:
    """See that the first of several tabs is shown, and that the others hold their pages."""
    assert TABS in observation and "URL: http://shopping.test/account/orders\n" in observation
    second, *_ = env.step("tab_focus [1]")
    assert "URL: http://gitlab.test/profile\n" in second
    assert f"value: '{AGENT.name}'" in second
    third, *_, info = env.step("tab_focus [2]")
    assert info["url"] == "http://map.test/search?q=inn" and "(current)" in third
    refused, *_, info = env.step("go_back")
    assert "There is no page to go back to in this tab" in refused
    env.step("close_tab")
    _, reward, _, _, info = env.step("stop [42]")
    assert info["success"] and reward == 1.0


@backends
@pytest.mark.usefixtures("chromium_ends")
def test_a_given_task_begins_deep_inside_a_site(tmp_path: Path, backend: str) -> None:
    env, observation, info = begin(tmp_path, DEEP, backend=backend)
    assert info["url"] == "http://shopping.test/search?q=lamp&sort=price#results"
    assert "Lamp" in observation
    env.close()


@backends
@pytest.mark.usefixtures("chromium_ends")
def test_a_given_task_begins_with_several_tabs(tmp_path: Path, backend: str) -> None:
    env, observation, _ = begin(tmp_path, SEVERAL, backend=backend)
    look_through(env, observation)
    env.close()


@pytest.mark.browser
@pytest.mark.usefixtures("chromium_ends")
def test_both_backends_begin_with_the_same_observation(tmp_path: Path) -> None:
    for start in (DEEP, SEVERAL):
        texts = []
        for backend in BACKENDS:
            env, observation, _ = begin(tmp_path, start, backend=backend)
            texts.append(observation)
            env.close()
        assert texts[0] == texts[1]


@backends
@pytest.mark.usefixtures("chromium_ends")
def test_an_embedded_task_may_begin_so_too(tmp_path: Path, backend: str) -> None:
    tasks = EmbeddedTasks(open_content())
    task = tasks.task(tasks.numbers("test")[0])
    start = f"__REDDIT__/communities |AND| {task.start_url}"
    write_tasks(tmp_path / "tasks.json", [replace(task, start_url=start)])
    env = WebArenaEnv(tasks_file=tmp_path / "tasks.json", backend=backend, split="test")
    _, info = env.reset(options={"task_id": task.task_id})
    assert info["url"] == "http://reddit.test/communities"
    env.step("tab_focus [1]")
    for action in env.expert():
        *_, info = env.step(action)
    assert info["success"]
    env.close()


@pytest.mark.browser
@pytest.mark.usefixtures("chromium_ends")
def test_an_official_task_begins_with_several_tabs_signed_in(tmp_path: Path) -> None:
    from agentgym_envs.browsing.chromium.server import shared_server
    from agentgym_envs.webarena.official.accounts import Account
    from agentgym_envs.webarena.official.env import WebArenaOfficialEnv

    state = SiteState()
    episode = shared_server().open(state)
    account = Account(AGENT.username, PASSWORD, "/login")
    env, observation, _ = begin(
        tmp_path,
        SEVERAL,
        WebArenaOfficialEnv,
        sites=dict(episode.origins),
        accounts={"shopping": account, "gitlab": account},
    )
    look_through(env, observation)
    env.close()
    shared_server().forget(episode)
    state.close()


@backends
@pytest.mark.parametrize("start", ["", "shopping", "__NOPE__/x", "javascript:x", DEEP + " |AND| "])
@pytest.mark.usefixtures("chromium_ends")
def test_a_task_that_begins_nowhere_is_refused(tmp_path: Path, backend: str, start: str) -> None:
    env, *_ = begin(tmp_path, "__MAP__", backend=backend)
    env.close()
    with pytest.raises(ValueError, match="webarena_0 begins at .* no address; start_url is"):
        begin(tmp_path, start, backend=backend)
