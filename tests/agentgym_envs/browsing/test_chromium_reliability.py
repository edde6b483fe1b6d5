"""Hundreds of episodes with a browser that is killed again and again."""

from __future__ import annotations

import os
import signal

import pytest

from agentgym_envs import EnvFailure
from agentgym_envs.browsing.chromium.pool import shared_chromium
from agentgym_envs.sites.content import open_content
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks.task_set import EmbeddedTasks

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

EPISODES = int(os.environ.get("AGENTGYM_EPISODES", "500"))
KILL_EVERY = EPISODES // 10


@pytest.mark.timeout(3600)
def test_every_episode_is_played_or_fails_by_its_own_kill_alone() -> None:
    numbers = EmbeddedTasks(open_content()).numbers("train")[::50]
    env = WebArenaEnv(backend="chromium", tasks=numbers)
    env.reset(seed=0)
    num_played, failed = 0, []
    for episode in range(1, EPISODES + 1):
        try:
            env.reset()
            if episode % KILL_EVERY == 0:
                os.kill(shared_chromium().pid, signal.SIGKILL)
            env.step(f"click [{_first_link(env)}]")
            _, reward, terminated, _, info = env.step("stop [surely wrong]")
        except EnvFailure:
            failed.append(episode)
            continue
        assert (reward, terminated, info["success"]) == (0.0, True, False)
        num_played += 1
    env.close()
    assert failed == list(range(KILL_EVERY, EPISODES + 1, KILL_EVERY))
    assert num_played == EPISODES - len(failed)


def _first_link(env: WebArenaEnv) -> int:
    return next(node.element for node in env.browser.page().nodes if node.role == "link")
