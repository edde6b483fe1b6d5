from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.babyai.levels import AGENTGYM_LEVELS, make_level
from agentgym_envs.babyai.repairs import repair
from tests.helpers import FORMATS_AND_COMPATS
from tests.quick import examples

KEY_IN_BOX = AGENTGYM_LEVELS.index("BabyAI-KeyInBox-v0")
OPEN_RED_DOOR = AGENTGYM_LEVELS.index("BabyAI-OpenRedDoor-v0")
OPEN_IN_ORDER = AGENTGYM_LEVELS.index("BabyAI-OpenDoorsOrderN4Debug-v0")


def test_expert_and_possible_actions_need_a_reset():
    for compat in (None, "agentgym"):
        env = make(compat=compat)
        for call in (env.expert, env.available_actions):
            with pytest.raises(ResetNeeded, match="call reset"):
                call()


def make(**kwargs: Any):
    return gym.make("agentgym/BabyAI-v0", **kwargs).unwrapped


def started(task_id: int, **kwargs: Any):
    env = make(max_turns=400, **kwargs)
    _, info = env.reset(options={"task_id": task_id})
    return env, info


def first_listed(info: dict[str, Any], start: str) -> str:
    return next(action for action in info["available_actions"] if action.startswith(start))


def test_gymnasiums_own_checker_passes():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gym.make("agentgym/BabyAI-v0", render_mode="rgb_array").unwrapped)


def test_goals_keep_their_order_words():
    goals = []
    for seed in range(12):
        _, info = started(AGENTGYM_LEVELS.index("BabyAI-GoToSeqS5R2-v0") + 40 * seed)
        level, _ = make_level("BabyAI-GoToSeqS5R2-v0", seed)
        assert info["goal"] == level.mission
        goals.append(info["goal"])
    assert any(", then " in goal for goal in goals) and any(" after you " in g for g in goals)


def test_every_listed_action_is_valid_and_has_a_verb():
    env = make(max_turns=400)
    chance = random.Random(3)
    for task_id in range(0, 400, 7):
        _, info = env.reset(options={"task_id": task_id})
        for _ in range(10):
            action = chance.choice(info["available_actions"])
            assert any(verb.match(action) is not None for verb in env.verbs)
            observation, _, terminated, truncated, info = env.step(action)
            assert info["is_valid_action"], (task_id, action, observation)
            if terminated or truncated:
                break


def test_success_pays_one_once_and_ends_the_episode():
    env, info = started(0)
    rewards = []
    for action in env.expert():
        _, reward, terminated, truncated, info = env.step(action)
        rewards.append(reward)
        if terminated:
            break
    assert rewards[-1] == 1.0 and sum(rewards) == 1.0
    assert (terminated, truncated, info["success"], info["score"]) == (True, False, True, 1.0)
    with pytest.raises(ResetNeeded):
        env.step("turn left")


def test_a_loss_ends_the_episode_without_reward():
    env, info = started(OPEN_IN_ORDER + 40)
    colour = env.level.instrs.instr_a.desc.color
    for _ in range(8):
        doors = [a for a in info["available_actions"] if a.startswith("open ")]
        wrong = [a for a in doors if colour not in a]
        action = wrong[0] if wrong else "turn left"
        observation, reward, terminated, _, info = env.step(action)
        if wrong:
            break
    assert terminated and reward == 0.0 and not info["success"]
    assert "missed" in observation


def test_boxes_open_and_show_what_they_hold():
    env, info = started(KEY_IN_BOX)
    for move in env.privileged_expert_moves():
        assert " key " not in " ".join(info["available_actions"])
        observation, *_, info = env.step(move.action)
        if move.action.startswith("open"):
            break
    told = r"You opened \w+ box 1: it held a \w+ key, and it is gone\. You see "
    assert re.match(told, observation)
    assert " key 1 (1 ahead)" in observation
    observation, *_, info = env.step(first_listed(info, "pick up"))
    assert "You carry" in observation and "key 1." in observation


def test_toggle_opens_a_box_in_front():
    env, info = started(KEY_IN_BOX)
    while not any(" box " in action for action in info["available_actions"]):
        *_, info = env.step("turn left")
    box = next(s.name for s in env.game.view.things if s.thing.type == "box")
    *_, info = env.step(f"go to {box}")
    observation, *_, info = env.step("toggle")
    assert info["is_valid_action"] and " key 1 (1 ahead)" in observation


@pytest.mark.parametrize("primitive", [False, True])
def test_a_box_that_is_opened_is_told_to_be_gone(primitive: bool):
    env = gym.make("agentgym/BabyAI-v0", primitive=primitive).unwrapped
    env.reset(options={"task_id": "babyai_1157"})  # "... pick up the grey box ..."
    for action in ("turn left", "move forward", "turn right"):
        env.step(action)
    observation, *_ = env.step("toggle")
    assert observation.startswith("You opened grey box 1: it held nothing, and it is gone. You see")
    observation, *_ = env.step("turn left")
    assert observation.startswith("You see ")


def test_doors_open_and_close():
    env, info = started(AGENTGYM_LEVELS.index("BabyAI-PickupAbove-v0"))
    while not any(action.startswith("open ") for action in info["available_actions"]):
        *_, info = env.step("turn left")
    action = first_listed(info, "open ")
    observation, *_, info = env.step(action)
    assert "open door 1 (1 ahead)" in observation
    observation, *_, info = env.step("toggle")
    assert "closed door 1 (1 ahead)" in observation
    observation, *_, info = env.step("toggle")
    *_, info = env.step("turn left")
    *_, info = env.step("turn right")
    name = action.removeprefix("open ").replace("closed", "open")
    observation, *_, info = env.step(f"close {name}")
    assert info["is_valid_action"] and "closed door 1 (1 ahead)" in observation


def test_closed_doors_block_paths_and_sight():
    env, info = started(OPEN_RED_DOOR)
    while not any(action.startswith("go to") for action in info["available_actions"]):
        *_, info = env.step("turn left")
    *_, info = env.step(first_listed(info, "go to"))
    assert "move forward" not in info["available_actions"]
    observation, *_, info = env.step("move forward")
    assert "red closed door 1 is in the way" in observation and not info["is_valid_action"]
    observation, *_, info = env.step("go through red closed door 1")
    assert "closed; toggle and go through" in observation and not info["is_valid_action"]


def test_going_through_a_door_ends_behind_it():
    env, info = started(AGENTGYM_LEVELS.index("BabyAI-GoToObjMazeS7-v0"))
    for move in env.expert_moves():
        _, _, terminated, _, info = env.step(move.action)
        if "go through" in move.action:
            break
        assert not terminated
    assert env.level.grid.get(*env.level.agent_pos) is None


@pytest.mark.parametrize("verb", ["pickup", "pick up", "PICKUP", "  Pick   Up"])
def test_both_spellings_of_pick_up_are_taken(verb: str):
    env, info = started(0)
    thing = first_listed(info, "pick up").removeprefix("pick up")
    observation, *_, info = env.step(verb + thing)
    assert info["is_valid_action"] and f"You carry{thing}." in observation


def test_single_moves_take_both_spellings_too():
    env, _ = started(0, primitive=True)
    assert env.step("pickup")[0] == env.step("pick up")[0]


def test_drop_is_offered_while_carrying_and_puts_the_thing_ahead():
    env, info = started(0)
    assert "drop" not in info["available_actions"]
    observation, *_, info = env.step("drop")
    assert "carry nothing" in observation and not info["is_valid_action"]
    action = first_listed(info, "pick up")
    *_, info = env.step(action)
    assert "drop" in info["available_actions"]
    assert not any(a.startswith("pick up") for a in info["available_actions"])
    observation, *_, info = env.step("drop")
    assert action.removeprefix("pick up ") + " (1 ahead)" in observation


def test_a_things_name_stays_the_same():
    env, info = started(0)
    numbers = {}
    chance = random.Random(5)
    for _ in range(60):
        for sighting in env.game.view.things:
            assert numbers.setdefault(id(sighting.thing), sighting.name) == sighting.name
        _, _, terminated, truncated, info = env.step(chance.choice(info["available_actions"][:3]))
        if terminated or truncated:
            break


def test_a_locked_door_needs_its_key():
    env, info = started(AGENTGYM_LEVELS.index("BabyAI-UnlockLocalDist-v0"))
    is_locked = "locked door"
    for move in env.expert_moves():
        if any(is_locked in a for a in info["available_actions"]) and env.level.carrying is None:
            name = next(
                a.removeprefix("go to ")
                for a in info["available_actions"]
                if a.startswith("go to ") and is_locked in a
            )
            observation, *_, info = env.step(f"open {name}")
            assert "needs a" in observation and not info["is_valid_action"]
            break
        *_, info = env.step(move.action)
    for action in env.expert():
        _, _, terminated, _, info = env.step(action)
        if terminated:
            break
    assert info["success"]


def test_the_simulators_time_limit_truncates():
    env, _ = started(3)
    limit = env.level.max_steps
    for _ in range(limit):
        observation, reward, terminated, truncated, info = env.step("turn left")
        if terminated or truncated:
            break
    assert (info["turn"], truncated, terminated, reward) == (limit, True, False, 0.0)
    assert info["truncated_by"] == "env_limit" and "time" in observation


def test_max_turns_truncates_at_twenty_by_default():
    env = make()
    env.reset(options={"task_id": 5})
    for _ in range(20):
        _, _, _, truncated, info = env.step("dance")
    assert truncated and (info["turn"], info["truncated_by"]) == (20, "max_turns")


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("dance", "no such action"),
        ("", "no such action"),
        ("go to", "no such action"),
        ("go to the moon now please", "nothing called"),
        ("go to purple door 3", "do not see"),
        ("go to grey key 1 and 2", "nothing called"),
        ("toggle", "no door or box"),
        ("close grey key 1", "cannot be closed"),
        ("open grey key 1", "cannot be opened"),
        ("go through grey key 1", "not a door"),
    ],
)
def test_impossible_actions_are_answered_with_the_reason_and_what_is_possible(action, reason):
    env, info = started(0)
    listed = info["available_actions"]
    observation, reward, terminated, truncated, info = env.step(action)
    assert reason in observation and "Available actions: [" in observation
    assert (reward, terminated, truncated, info["is_valid_action"]) == (0.0, False, False, False)
    assert info["available_actions"] == listed


def test_check_available_actions_lists_them():
    env, info = started(0)
    observation, *_, after = env.step("check available actions")
    assert after["is_valid_action"] and after["available_actions"] == info["available_actions"]
    assert all(f'"{action}"' in observation for action in info["available_actions"])


def test_pictures_and_text_renderings():
    env, _ = started(0, render_mode="rgb_array")
    picture = env.render()
    assert picture.dtype == np.uint8 and picture.shape == (8 * 32, 8 * 32, 3)
    before = picture.copy()
    env.step("turn left")
    assert (env.render() != before).any()
    text, _ = started(0, render_mode="ansi")
    text.step("turn left")
    assert text.render().startswith("> turn left\nYou see")


def test_repairs_leave_every_other_layout_and_the_missions_alone():
    moved = set()
    for index, name in enumerate(AGENTGYM_LEVELS):
        for seed in (0, 1, 6, 14) if index % 3 == 0 else (6,):
            level, _ = make_level(name, seed)
            before, mission = level.pprint_grid(), level.mission
            repair(level)
            assert level.mission == mission
            if level.pprint_grid() != before:
                moved.add((name, seed))
    assert moved == {("BabyAI-GoToImpUnlock-v0", 6), ("BabyAI-GoToImpUnlock-v0", 14)}


def transcript(task_ids: list[int]) -> str:
    env = make()
    lines = []
    for task_id in task_ids:
        observation, info = env.reset(options={"task_id": task_id})
        chance = random.Random(task_id)
        lines.append(observation)
        for _ in range(12):
            observation, reward, terminated, truncated, info = env.step(
                chance.choice(info["available_actions"])
            )
            lines.append(f"{observation} {reward} {terminated} {truncated}")
            if terminated or truncated:
                break
        env.reset(options={"task_id": task_id})
        for move in env.expert_moves():
            observation, _, terminated, truncated, _ = env.step(move.action)
            lines.append(f"{move} {observation}")
            if terminated or truncated:
                break
    return "\n".join(lines)


@pytest.mark.full
def test_a_task_is_the_same_under_any_hash_seed_and_whatever_was_played_before():
    ids = [0, 38, 27, 4_000_001]
    here = transcript([15, 22, *ids])
    program = f"from {__name__} import transcript; print(transcript({ids}), end='')"
    for hash_seed in ("0", "12345"):
        out = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert here.endswith(out) and len(out) > 1000


def test_building_levels_prints_nothing_in_threads(capsys):
    envs = [make() for _ in range(4)]
    threads = [
        threading.Thread(target=env.reset, kwargs={"options": {"task_id": 37 + 40 * seed}})
        for seed, env in enumerate(envs)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("number", [0, 15, 22, 25, 31])
def test_the_seed_never_changes_what_a_task_holds(number: int):
    env = make()
    first, _ = env.reset(seed=1, options={"task_id": f"babyai_{number}"})
    second, _ = env.reset(seed=2, options={"task_id": number})
    assert first == second


@settings(max_examples=examples(150))
@given(data=st.data())
def test_no_string_breaks_the_environment(data: st.DataObject):
    action_format, compat = data.draw(st.sampled_from(FORMATS_AND_COMPATS))
    env, info = started(data.draw(st.integers(0, 399)), action_format=action_format, compat=compat)
    words = st.sampled_from(
        (
            "go to",
            "open",
            "pick up",
            "red",
            "ball",
            "door",
            "1",
            "closed",
            "\u0130",
            "\ud800",
            "Action:",
        )
    )
    text = st.one_of(st.text(), st.lists(words).map(" ".join), st.just("9" * 10_000))
    for completion in data.draw(st.lists(text, max_size=6)):
        observation, reward, terminated, truncated, info = env.step(completion)
        assert isinstance(observation, str) and len(observation) < 10_000
        if terminated or truncated:
            return
    x, y = env.level.agent_pos
    assert env.level.grid.get(x, y) is None or env.level.grid.get(x, y).can_overlap()


def test_the_place_where_a_thing_stood_before_it_was_picked_up_is_not_the_thing():
    env, info = started(7927)
    assert env.goal == "go to the red key after you go to a yellow door"
    back = ["turn right", "pick up red key 1", "turn right", "move forward", "turn left"]
    for action in [*back, "move forward", "turn left"]:
        _, reward, terminated, *_ = env.step(action)
        assert (reward, terminated) == (0.0, False)
    _, reward, terminated, _, info = env.step("drop")
    assert (reward, terminated, info["success"]) == (1.0, True, True)
