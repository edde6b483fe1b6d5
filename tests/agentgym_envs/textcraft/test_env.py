import warnings
from collections import Counter

import gymnasium as gym
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import agentgym_envs  # noqa: F401 - registers the ids
from agentgym_envs.textcraft.env import TextCraftEnv
from tests.helpers import FORMATS_AND_COMPATS

TOO_LONG = {"anvil", "netherite block"}
"""Goals whose shortest plans take 36 and 48 actions."""


@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
def test_expert_solves_every_goal_through_step(action_format: str, compat: str | None) -> None:
    env = TextCraftEnv(action_format=action_format, compat=compat, max_turns=48)
    for number in range(544):
        env.reset(options={"task_id": number})
        for action in env.expert():
            observation, reward, terminated, truncated, info = env.step(action)
            assert info["is_valid_action"], (action, observation)
        assert (reward, terminated, truncated) == (1.0, True, False)
        assert info["success"] and info["score"] == 1.0
        assert info["turn"] <= 30 or info["goal"] in TOO_LONG


def test_goal_option_plays_the_task_of_that_goal() -> None:
    env = TextCraftEnv()
    observation, info = env.reset(options={"goal": "end stone bricks"})
    assert observation.endswith("Goal: craft end stone bricks.")
    assert env.reset(options={"task_id": info["task_id"]})[0] == observation
    for spelling in ("minecraft:end_stone_bricks", "End Stone  Bricks"):
        assert env.reset(options={"goal": spelling})[1]["task_id"] == info["task_id"]


def test_goal_option_says_what_is_wrong() -> None:
    env = TextCraftEnv()
    with pytest.raises(ValueError, match="one of them"):
        env.reset(options={"goal": "stick", "task_id": 3})
    with pytest.raises(ValueError, match="544 craftable items"):
        env.reset(options={"goal": "bamboo"})
    with pytest.raises(ValueError, match="str"):
        env.reset(options={"goal": 3})
    with pytest.raises(ValueError, match="textcraft_543"):
        env.reset(options={"task_id": "textcraft_544"})


def test_expert_is_valid_from_the_middle_of_an_episode() -> None:
    env = TextCraftEnv()
    env.reset(options={"goal": "crafting table"})
    env.step("get 1 warped stems")
    env.step("craft 4 warped planks using 1 warped stems")
    assert list(env.expert()) == ["craft 1 crafting table using 4 warped planks"]


def test_episode_pays_once_and_then_needs_a_reset() -> None:
    env = TextCraftEnv()
    env.reset(options={"goal": "end stone bricks"})
    assert env.step("get 4 end stone")[1:4] == (0.0, False, False)
    *_, info = env.step("get 1 end stone bricks")
    assert info["inventory"] == {"end stone": 4} and not info["is_valid_action"]
    assert env.step("craft end stone bricks using 4 end stone")[1:4] == (1.0, True, False)
    with pytest.raises(ResetNeeded):
        env.step("inventory")


def test_expert_needs_a_reset() -> None:
    with pytest.raises(ResetNeeded):
        next(TextCraftEnv().expert())


def test_gymnasium_vectors_batch_the_inventories() -> None:
    envs = gym.make_vec("agentgym/TextCraft-v0", num_envs=2, vectorization_mode="sync")
    envs.reset(seed=0)
    *_, infos = envs.step(("get 2 bamboo", "get 3 coal"))
    assert list(infos["inventory"]["bamboo"]) == [2, 0]
    envs.close()


def test_info_marks_the_goals_that_take_more_turns_than_there_are() -> None:
    env = TextCraftEnv()
    marked = {}
    for split in env.task_set.splits:
        for task_id in env.task_ids(split):
            _, info = env.reset(options={"task_id": task_id})
            if info["expert_turns"] > env.max_turns:
                marked[info["goal"]] = (split, info["expert_turns"])
    assert marked == {"netherite block": ("train", 48), "anvil": ("validation", 36)}


def test_the_mark_is_what_the_expert_takes() -> None:
    env = TextCraftEnv(max_turns=100)
    _, info = env.reset(options={"goal": "netherite block"})
    for action in env.expert():
        *_, info = env.step(action)
    assert info["success"] and info["turn"] == info["expert_turns"] == 48


def test_info_inventory_is_the_callers_own() -> None:
    env = TextCraftEnv()
    env.reset(options={"goal": "stick"})
    _, _, _, _, info = env.step("get 2 bamboo")
    info["inventory"]["stick"] = 64
    assert env.step("inventory")[0] == "Inventory: 2 bamboo"


def test_gymnasium_check_env_passes_without_warnings() -> None:
    env = gym.make("agentgym/TextCraft-v0", render_mode="ansi")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=False)


def test_system_prompt_is_short_and_names_the_actions() -> None:
    env = TextCraftEnv()
    assert len(env.instructions.split()) <= 90
    assert all(word in env.instructions for word in ("get", "craft", "inventory", "planks"))


@pytest.mark.parametrize(("book", "one_craft"), [("minecraft", "depth 1"), ("shallow", "1 craft")])
def test_the_goals_own_recipe_is_enough_for_goals_of_one_craft(book: str, one_craft: str) -> None:
    env = TextCraftEnv(book=book)
    solved = Counter[str]()
    for task_id in env.task_ids("test")[:100]:
        env.reset(options={"task_id": task_id})
        for action in env.baseline("goal_recipe"):
            *_, info = env.step(action)
        solved[info["subtask"]] += info["success"]
    assert 15 <= solved.total() <= 35
    assert {subtask for subtask, count in solved.items() if count} == {one_craft}
