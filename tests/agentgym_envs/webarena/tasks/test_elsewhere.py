"""The expert asked again: on another page, in another tab, or halfway."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentgym_envs.sites.content import open_content
from agentgym_envs.webarena.env import WebArenaEnv

FIRST = {each.template: each.task_ids[0] for each in open_content().templates}
NUMBERS = sorted(FIRST)
INSTANCE = 3
# Two kinds of play by turns, each in every fourth template; in the others they are slow.
FROM_HOME, ASKED_AGAIN = (
    [
        pytest.param(number, marks=() if place % 4 == offset else pytest.mark.slow)
        for place, number in enumerate(NUMBERS)
    ]
    for offset in (0, 2)
)


@pytest.fixture(scope="module")
def env() -> Iterator[WebArenaEnv]:
    made = WebArenaEnv(viewport_lines=None, max_turns=100)
    yield made
    made.close()


def play(env: WebArenaEnv, *, at_most: int | None = None) -> tuple[bool, int]:
    """Let the expert play on; return whether the episode was a success, and the turns."""
    success, turns = False, 0
    for turns, action in enumerate(env.expert(), 1):
        *_, terminated, truncated, info = env.step(action)
        assert not truncated, "the expert does not end"
        success = info["success"]
        if terminated or turns == at_most:
            break
    return success, turns


def begin(env: WebArenaEnv, template: int) -> None:
    env.reset(options={"task_id": FIRST[template] + INSTANCE})


@pytest.mark.parametrize("template", FROM_HOME)
def test_the_expert_solves_from_the_home_page_of_all_sites(env: WebArenaEnv, template: int) -> None:
    begin(env, template)
    env.step("goto [http://homepage.test/]")
    assert play(env)[0]


@pytest.mark.parametrize("template", NUMBERS[::12])
def test_the_expert_solves_from_an_empty_tab(env: WebArenaEnv, template: int) -> None:
    begin(env, template)
    env.step("new_tab")
    assert play(env)[0]


def asked_again(env: WebArenaEnv, template: int, *, halfway: bool) -> bool:
    """Ask for the expert anew, halfway or before the last action; return whether it succeeds."""
    begin(env, template)
    _, turns = play(env)
    begin(env, template)
    play(env, at_most=max(1, turns // 2) if halfway else turns - 1)
    return play(env)[0]


@pytest.mark.parametrize("template", ASKED_AGAIN)
def test_an_expert_asked_again_ends_and_still_answers(env: WebArenaEnv, template: int) -> None:
    success = asked_again(env, template, halfway=False)
    assert success or env.web_task.require_reset


@pytest.mark.parametrize("template", [5, 6, 11, 12, 148])
def test_an_expert_asked_again_buys_nothing_twice(env: WebArenaEnv, template: int) -> None:
    assert asked_again(env, template, halfway=True)
