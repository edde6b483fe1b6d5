"""BabyAI without lists of actions, and with single moves."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import check_text_env
from agentgym_envs.babyai.baselines import word_overlap
from agentgym_envs.babyai.levels import AGENTGYM_LEVELS

SINGLE = {"turn left", "turn right", "move forward", "pick up", "drop", "toggle"}
KINDS: list[dict[str, bool]] = [
    {"list_actions": False},
    {"primitive": True},
    {"primitive": True, "list_actions": False},
]


def make(**kwargs: Any):
    return gym.make("agentgym/BabyAI-v0", **kwargs).unwrapped


@pytest.mark.parametrize(
    "kwargs", [*(pytest.param(one, marks=pytest.mark.slow) for one in KINDS[:2]), KINDS[2]], ids=str
)
def test_the_contract_is_kept(kwargs: dict[str, bool]):
    check_text_env("agentgym/BabyAI-v0", num_tasks=1, **kwargs)


@pytest.mark.parametrize("privileged", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("level", "kwargs"),
    [
        # Each level in one kind; in the others it is slow.
        pytest.param(
            level, kwargs, id=f"{name}-{kwargs}",
            marks=() if level % len(KINDS) == place else pytest.mark.slow,
        )
        for level, name in enumerate(AGENTGYM_LEVELS)
        for place, kwargs in enumerate(KINDS)
    ],
)  # fmt: skip
def test_the_expert_plays_it(level: int, privileged: bool, kwargs: dict[str, bool]):
    env = make(max_turns=400, **kwargs)
    env.reset(options={"task_id": level})
    for move in env.privileged_expert_moves() if privileged else env.expert_moves():
        assert move.action in env.game.actions
        *_, terminated, _, info = env.step(move.action)
        if terminated:
            break
    assert info["success"]


def test_unlisted_actions_are_in_no_observation():
    env = make(list_actions=False)
    observation, info = env.reset(options={"task_id": 1})
    shown = [observation]
    for action in ("turn left", "fly", "check available actions", "go to purple box 9", "drop"):
        observation, _, _, _, info = env.step(action)
        assert info["available_actions"] is None
        shown.append(observation)
    refused = shown.pop(3)
    assert "vailable" not in " ".join(shown)
    forms = "is no action; write one of: turn left, turn right, "
    assert shown[2].startswith(f"'fly' {forms}")
    assert refused.startswith(f"'check available actions' {forms}") and "check" not in refused[25:]
    assert "check_available_actions" not in [verb.name for verb in env.verbs]
    assert "toggle and go through <door>" in env.instructions


def test_single_moves_are_all_that_is_listed_and_done():
    env = make(primitive=True)
    _, info = env.reset(options={"task_id": 1})
    assert set(info["available_actions"]) <= SINGLE
    for action in ("go to red ball 1", "pick up red ball", "open red door 1"):
        observation, _, _, _, info = env.step(action)
        assert observation.startswith("There is no such action.") and not info["is_valid_action"]
    before = env.level.agent_pos
    assert env.step("go forward")[4]["is_valid_action"]
    assert tuple(before) != tuple(env.level.agent_pos)


def test_single_moves_pick_up_what_is_in_front():
    env = make(primitive=True)
    env.reset(options={"task_id": 18})
    observation, *_, info = env.step("pick up")
    assert observation.startswith("There is nothing right in front") and not info["is_valid_action"]
    for move in env.expert_moves():
        assert ("pick up" in info["available_actions"]) is (env.game.view.facing is not None)
        observation, *_, info = env.step(move.action)
    assert move.action == "pick up" and "You carry" in observation and info["success"]


def test_single_moves_have_more_turns():
    assert (make().max_turns, make(primitive=True).max_turns) == (20, 80)
    assert make(primitive=True, max_turns=7).max_turns == 7


@pytest.mark.parametrize("kwargs", KINDS, ids=str)
def test_the_originals_actions_stay_as_they_are(kwargs: dict[str, bool]):
    with pytest.raises(ValueError, match="compat='agentgym' lists its own actions.*leave compat"):
        make(compat="agentgym", **kwargs)


@pytest.mark.parametrize("kwargs", [{}, *KINDS], ids=str)
def test_word_overlap_plays_the_words_of_the_goal(kwargs: dict[str, bool]):
    env = make(**kwargs)
    env.reset(options={"task_id": 18})
    goal = set(env.goal.split())
    for _, move in zip(range(5), word_overlap(env.game, seed=18), strict=False):
        actions = env.available_actions() or ["turn left"]
        shared = len(goal & set(move.action.split()))
        assert shared == max(shared, *(len(goal & set(action.split())) for action in actions))
        if env.step(move.action)[2]:
            break
