"""WebArena's scene: address, tabs and tree of each turn's page, from the observations.

Where Chromium ran on the embedded sites, the episode is played again in it for the window's picture
at each turn; else no browser is opened.
"""

from __future__ import annotations

import ast
import base64
import re
from pathlib import Path
from typing import Any

from agentgym_envs.actions import ACTION_FORMATS, make_parser
from agentgym_envs.browsing.actions import VERBS, parse_action
from agentgym_envs.errors import InvalidAction
from agentgym_envs.trajectories.trajectory import Trajectory, Turn
from agentgym_envs.webarena.backticks import BacktickParser
from benchmarks.recorded import saved_env_kwargs
from benchmarks.viewer.scenes.replay import NotReplayed, replay

_NODE = re.compile(r"(\t*)\[([0-9]+)\] (\S+) ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(.*)")
_TABS = re.compile(r"^Tabs: (\[0\] .*)$", re.MULTILINE)
_TAB = re.compile(r"\[[0-9]+\] ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")( \(current\))?(?:, |$)")
_ORIGINAL_TABS = re.compile(r"\AOBSERVATION:\n(Tab 0.*)$", re.MULTILINE)
_ORIGINAL_TAB = re.compile(r"Tab [0-9]+( \(current\))?: (.*?)(?= \| Tab [0-9]|$)")
_URL = re.compile(r"^URL: (.*)$", re.MULTILINE)
_ABOVE = re.compile(r"^\(([0-9]+) lines above: scroll \[up\]\)$", re.MULTILINE)
_BELOW = re.compile(r"^\(([0-9]+) lines below: scroll \[down\]\)$", re.MULTILINE)
_ON_ELEMENTS = ("click", "hover", "type", "select")

# The one that an episode was played with is among them, and the others refuse what it takes.
_PARSERS = (BacktickParser(), *(make_parser(name, VERBS) for name in ACTION_FORMATS))


def scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about`, `turns` and, where pictures fail, the `reason`."""
    turns = [{**page(turn.observation), "target": target(turn)} for turn in trajectory.turns]
    turns.append({**page(trajectory.final_observation), "target": None})
    reason = None
    kwargs = saved_env_kwargs(folder, trajectory.env_id)
    if kwargs.get("backend") == "chromium":
        try:
            for turn, picture in zip(turns, _pictures(trajectory, folder), strict=True):
                turn["picture"] = picture
        except NotReplayed as error:
            reason = str(error)
    return {"about": {}, "turns": turns, "reason": reason}


def _pictures(trajectory: Trajectory, folder: str | Path | None) -> list[str]:
    """Return the window at each turn and at the end, as data URLs."""
    env, pictures = replay(trajectory, folder, lambda env, _: env.browser.screenshot())
    env.close()  # the browser is not kept for the next episode
    return [f"data:image/png;base64,{base64.b64encode(png).decode()}" for png in pictures]


def page(observation: str) -> dict[str, Any]:
    """Return the page of an observation, empty where it shows none."""
    tabs, current = _tabs(observation)
    url = _URL.search(observation)
    above, below = _ABOVE.search(observation), _BELOW.search(observation)
    nodes = [
        [len(match[1]), int(match[2]), match[3], _unquoted(match[4]), match[5].strip()]
        for match in map(_NODE.fullmatch, observation.split("\n"))
        if match
    ]
    return {
        "url": url[1] if url else "",
        "tabs": tabs,
        "tab": current,
        "above": int(above[1]) if above else 0,
        "below": int(below[1]) if below else 0,
        "nodes": nodes,
        "picture": None,
    }


def target(turn: Turn) -> int | None:
    """Return the id of the element that a turn's action names, or None."""
    for parser in _PARSERS:
        try:
            action = parse_action(parser.parse(turn.action))
        except InvalidAction:
            continue
        return action.element if action.kind in _ON_ELEMENTS else None
    return None


def _tabs(observation: str) -> tuple[list[str], int]:
    line = _TABS.search(observation)
    if line:
        labels = _TAB.findall(line[1])
        tabs = [_unquoted(title) for title, _ in labels]
        marks = [mark for _, mark in labels]
    else:
        original = _ORIGINAL_TABS.search(observation)
        both = _ORIGINAL_TAB.findall(original[1]) if original else []
        tabs, marks = [title for _, title in both], [mark for mark, _ in both]
    return tabs, next((index for index, mark in enumerate(marks) if mark), 0)


def _unquoted(literal: str) -> str:
    """Return the text of a name, which pages write as a Python literal."""
    if "\\" not in literal:
        return literal[1:-1]
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError):  # no page wrote that
        return literal
