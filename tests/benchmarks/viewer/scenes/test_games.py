"""The scenes that are replayed: BabyAI, TextCraft, ALFWorld, WebShop, Maze and Wordle."""

from __future__ import annotations

import gymnasium as gym
import pytest

from agentgym_envs.textcraft.planner import plan
from agentgym_envs.textcraft.recipes import Recipe, RecipeBook
from agentgym_envs.textcraft.source import builtin_book
from benchmarks.viewer.scenes import scene
from benchmarks.viewer.scenes.babyai import look
from benchmarks.viewer.scenes.textcraft import progress, recipe_tree
from tests.benchmarks.viewer.scenes.episodes import expert_episode

RECIPES = (
    "4 stick using 2 planks",
    "3 ladder using 7 stick",
    "4 oak planks using 1 oak logs",
    "4 birch planks using 1 birch logs",
)
BOOK = RecipeBook(map(Recipe.parse, RECIPES), {"planks": ["oak planks", "birch planks"]})


def states(inventory, *, is_done=False):
    """Return item -> (held, needed, state) of the ladder's tree."""
    tree = recipe_tree(BOOK, "ladder")
    found = progress(tree, inventory, is_done=is_done)
    return {node.item: tuple(row) for node, row in zip(tree, found, strict=True)}


# TextCraft ----------------------------------------------------------------------------------------


def test_the_tree_goes_from_the_goal_to_what_is_fetched():
    tree = recipe_tree(BOOK, "ladder")
    assert [(node.item, node.depth) for node in tree] == [
        ("ladder", 0), ("stick", 1), ("planks", 2), ("oak logs", 3),
    ]  # fmt: skip
    assert tree[2].recipe == "craft 4 oak planks using 1 oak logs"
    assert tree[3].recipe is None


def test_from_nothing_everything_is_missing_in_the_numbers_that_are_needed():
    assert states({}) == {
        "ladder": (0, 1, "missing"),
        "stick": (0, 7, "missing"),
        "planks": (0, 4, "missing"),
        "oak logs": (0, 1, "missing"),
    }


def test_what_is_held_lessens_what_is_needed_below_it():
    assert states({"stick": 4}) == {
        "ladder": (0, 1, "missing"),
        "stick": (4, 7, "partly"),
        "planks": (0, 2, "missing"),
        "oak logs": (0, 1, "missing"),
    }
    assert states({"stick": 8})["planks"] == (0, 0, "covered")


def test_any_member_fills_a_generic_name():
    assert states({"birch planks": 4})["planks"] == (4, 4, "there")


def test_the_goal_is_there_once_it_has_been_crafted():
    done = states({"ladder": 3}, is_done=True)
    assert done["ladder"] == (1, 1, "there")
    assert {state for item, (_, _, state) in done.items() if item != "ladder"} == {"covered"}


@pytest.mark.parametrize("goal", builtin_book().goals[::40])
def test_the_tree_holds_every_recipe_of_the_plan(goal):
    tree = recipe_tree(builtin_book(), goal)
    assert {node.recipe for node in tree} - {None} == {
        job.command for job in plan(builtin_book(), goal).jobs
    }
    assert len(tree) < 200


def test_the_inventory_of_each_turn_is_the_environments():
    episode = expert_episode("agentgym/TextCraft-v0")
    shown = scene(episode)
    assert shown["reason"] is None
    assert shown["about"]["goal"] == episode.goal
    assert shown["turns"][0]["inventory"] == []
    env = gym.make("agentgym/TextCraft-v0", action_format="react")
    env.reset(options={"task_id": episode.task_id})
    for turn, after in zip(episode.turns, shown["turns"][1:], strict=True):
        info = env.step(turn.completion)[4]
        assert dict(after["inventory"]) == info["inventory"]
    assert shown["turns"][-1]["tree"][0] == [1, 1, "there"]


# BabyAI -------------------------------------------------------------------------------------------


def test_the_grid_has_an_agent_on_a_cell_without_wall_and_sees_that_cell():
    shown = scene(expert_episode("agentgym/BabyAI-v0"))
    walls = set(shown["about"]["walls"])
    cells = shown["about"]["width"] * shown["about"]["height"]
    for turn in shown["turns"]:
        assert turn["agent"] not in walls
        assert turn["agent"] in turn["seen"]
        assert all(0 <= cell < cells for cell in turn["seen"])
        assert not walls & {cell for cell, *_ in turn["things"]}


def test_what_is_seen_is_what_the_observation_names():
    env = gym.make("agentgym/BabyAI-v0").unwrapped
    for number in (0, 8, 25, 33):
        env.reset(options={"task_id": number})
        found = look(env)
        seen = {tuple(thing[:3]) for thing in found["things"] if thing[0] in found["seen"]}
        named = {
            (y * env.level.grid.width + x, sight.thing.type, sight.thing.color)
            for sight in env.game.view.things
            for x, y in [env.game.view.grid_map.position(sight.cell)]
        }
        assert seen == named


def test_what_is_picked_up_is_carried_and_no_longer_on_the_grid():
    env = gym.make("agentgym/BabyAI-v0").unwrapped
    env.reset(options={"task_id": 16})
    before = look(env)
    for action in env.expert():
        env.step(action)
    after = look(env)
    assert before["carrying"] is None
    assert after["carrying"] == ["ball", "blue"]
    assert len(after["things"]) == len(before["things"]) - 1


def test_a_door_tells_its_state():
    env = gym.make("agentgym/BabyAI-v0", max_turns=99).unwrapped
    env.reset(options={"task_id": 25})
    doors = [thing for thing in look(env)["things"] if thing[1] == "door"]
    assert doors
    assert {state for *_, state in doors} <= {"open", "closed", "locked"}


# ALFWorld -----------------------------------------------------------------------------------------


def test_the_house_of_each_turn_is_the_environments():
    episode = expert_episode("agentgym/ALFWorld-v0")
    shown = scene(episode)
    assert shown["reason"] is None
    assert shown["about"] == {"goal": episode.goal, "wanted": ["cup", "shelf"]}
    first, last = shown["turns"][0], shown["turns"][-1]
    assert (first["at"], first["held"]) == (None, None)
    assert not any(is_seen for _, _, is_seen, _ in first["places"])
    (shelf,) = [place for place in last["places"] if place[0] == last["at"]]
    assert shelf[0].startswith("shelf") and ["cup 1", "hot"] in shelf[3]
    doors = {name: door for name, door, _, _ in last["places"]}
    assert (doors["fridge 1"], doors["drawer 1"], doors["shelf 1"]) == ("open", "closed", "")
    held = [turn["held"] for turn in shown["turns"]]
    assert held.index(["cup 1"]) < held.index(["cup 1", "hot"])


# SQL ----------------------------------------------------------------------------------------------


def test_the_last_result_is_shown_from_the_first_statement_on():
    shown = scene(expert_episode("agentgym/SQL-v0"))
    assert shown["reason"] is None
    assert (shown["about"]["database"], shown["about"]["level"]) == ("gitlab", "challenging")
    first, *_, looked, tried, last = shown["turns"]
    assert (first["columns"], first["right"]) == ([], False)
    assert (looked["columns"], len(looked["rows"]), looked["right"]) == (["created_at"], 2, False)
    assert len(tried["rows"][0]) == 1 and tried["right"] and last == tried


# WebShop ------------------------------------------------------------------------------------------


def test_the_shop_shows_what_each_turn_s_product_meets_and_what_hits_could_score():
    pytest.importorskip("rapidfuzz")
    episode = expert_episode("agentgym/WebShop-v0")
    shown = scene(episode)
    assert shown["reason"] is None
    assert shown["about"]["asked"] == [
        "saucepan", "heavy lid", "fair trade certified",
        "color: ochre", "size: 2.5l", "up to $100.00",
    ]  # fmt: skip
    first, hits, wrong, *_, last = shown["turns"]
    assert (first["page"], first["met"], first["hits"]) == ("search", None, [])
    assert [len(hits["hits"]), hits["hits"][3][1], hits["hits"][4][1] < 1] == [10, 1.0, True]
    assert wrong["met"] == [True, True, True, False, False, True]  # no option is chosen
    assert (last["page"], last["met"]) == ("bought", [True] * 6)


# Maze ---------------------------------------------------------------------------------------------


def test_the_maze_of_each_turn_shows_where_the_agent_has_stood():
    episode = expert_episode("agentgym/Maze-v0")
    shown = scene(episode)
    assert (shown["kind"], shown["reason"]) == ("maze", None)
    width, goal = shown["about"]["width"], shown["about"]["goal"]
    assert len(shown["about"]["walls"]) == width * shown["about"]["height"] - 26
    first, last = shown["turns"][0], shown["turns"][-1]
    assert first == {"at": width + 5, "seen": [width + 5]}
    assert last["at"] == goal == 8 * width + 6
    assert not set(last["seen"]) & set(shown["about"]["walls"])


# Wordle -------------------------------------------------------------------------------------------


def test_the_guesses_of_each_turn_have_their_marks():
    episode = expert_episode("agentgym/Wordle-v0")
    shown = scene(episode)
    assert (shown["kind"], shown["reason"]) == ("wordle", None)
    assert shown["about"] == {"rows": 6, "columns": 5}
    assert [len(turn["guesses"]) for turn in shown["turns"]] == [*range(len(episode.turns) + 1)]
    fitting = [turn["fitting"] for turn in shown["turns"]]
    assert fitting == sorted(fitting, reverse=True)
    assert (fitting[0], fitting[-1]) == (shown["turns"][0]["words"], 1)
    assert shown["turns"][-1]["guesses"][-1][1] == "ggggg"
