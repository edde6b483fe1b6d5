"""AgentGym's protocol: what is known of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentgym_envs.webarena.env import WebArenaEnv
from tests.agentgym_envs.webarena import small_tasks


@pytest.fixture
def env(tmp_path: Path) -> WebArenaEnv:
    env = small_tasks.make(tmp_path, compat="agentgym", action_format="react")
    env.reset(options={"task_id": 1})
    return env


def link(env: WebArenaEnv, name: str) -> int:
    (node,) = [n for n in env.browser.page().nodes if (n.role, n.name) == ("link", name)]
    return node.element


def test_an_observation_has_four_parts(env: WebArenaEnv) -> None:
    lines = env.reset(options={"task_id": 1})[0].splitlines()
    assert lines[:4] == [
        "OBSERVATION:",
        "Tab 0 (current): Homepage",
        "",
        "[1] RootWebArea 'Homepage'",
    ]
    assert lines[-3:] == [
        "URL: http://homepage.test/",
        "OBJECTIVE: Open the map.",
        "PREVIOUS ACTION: None",
    ]


def test_the_previous_action_names_its_element(env: WebArenaEnv) -> None:
    element = link(env, "Wayfinder")
    observation, *_ = env.step(f"In summary, I go there: ```click [{element}]```")
    last = observation.splitlines()[-1]
    assert last.startswith(
        f"PREVIOUS ACTION: click [{element}] where [{element}] is link 'Wayfinder'"
    )
    observation, *_ = env.step("```go_back```")
    assert observation.endswith("PREVIOUS ACTION: go_back")


def test_a_missing_element_is_told_in_the_original_s_words(env: WebArenaEnv) -> None:
    observation, reward, *_, info = env.step("```click [999]```")
    assert observation.startswith("OBSERVATION:\n")
    assert observation.endswith(
        'PREVIOUS ACTION: Attempt to perfom "click" on element "[999]" but no matching element '
        "found. Please check the observation more carefully."
    )
    assert (reward, info["is_valid_action"]) == (0.0, False)


def test_an_answer_without_backticks_is_told_back(env: WebArenaEnv) -> None:
    observation, reward, terminated, _, info = env.step("click [3]")
    assert observation == "Cannot parse action from response click [3]"
    assert (reward, terminated, info["is_valid_action"]) == (0.0, False, False)


def test_stop_pays_and_ends(env: WebArenaEnv) -> None:
    env.step(f"```click [{link(env, 'Wayfinder')}]```")
    _, reward, terminated, _, info = env.step("```stop []``` and ```click [1]```")
    assert (reward, terminated, info["success"]) == (1.0, True, True)


def test_the_instructions_are_its_own(env: WebArenaEnv) -> None:
    assert "objective" in env.system_prompt and "triple backticks" in env.system_prompt
