"""A scripted agent plays every template in both backends, by role and name, to the same score."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from agentgym_envs.browsing.page import Page
from agentgym_envs.sites.content import TemplateTasks, open_content
from agentgym_envs.webarena.env import WebArenaEnv

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

_ON_ELEMENT = re.compile(r"(click|hover|select|type) \[(\d+)\](.*)", re.DOTALL)


class Move(NamedTuple):
    """An action without ids: on the nth element of a role and name, or on none."""

    verb: str
    rest: str
    role: str = ""
    name: str = ""
    nth: int = 0


def read(action: str, page: Page) -> Move:
    match = _ON_ELEMENT.fullmatch(action)
    if match is None:
        return Move("", action)
    node = page.node(int(match[2]))
    assert node is not None
    nth = [n for n in page.nodes if (n.role, n.name) == (node.role, node.name)].index(node)
    return Move(match[1], match[3], node.role, node.name, nth)


def write(move: Move, page: Page) -> str:
    if not move.verb:
        return move.rest
    same = [n for n in page.nodes if (n.role, n.name) == (move.role, move.name)]
    return f"{move.verb} [{same[move.nth].element}]{move.rest}"


@pytest.fixture(scope="module")
def envs(chromium: None) -> Iterator[tuple[WebArenaEnv, WebArenaEnv]]:
    both = WebArenaEnv(viewport_lines=None), WebArenaEnv(viewport_lines=None, backend="chromium")
    yield both
    for env in both:
        env.close()


@pytest.mark.parametrize("template", open_content().templates, ids=lambda each: each.template)
def test_the_same_moves_earn_the_same_in_both_backends(
    envs: tuple[WebArenaEnv, WebArenaEnv], template: TemplateTasks
) -> None:
    text, chromium = envs
    task = {"task_id": template.task_ids[0]}
    assert text.reset(options=task)[0] == chromium.reset(options=task)[0]
    for action in text.expert():
        move = read(action, text.browser.page())
        step = text.step(action)
        assert step[-1]["is_valid_action"], step[0]
        same = chromium.step(write(move, chromium.browser.page()))
        assert same[1:4] == step[1:4], move
        for key in ("url", "success", "score", "is_valid_action"):
            assert same[-1][key] == step[-1][key], move
    assert step[-1]["success"]
