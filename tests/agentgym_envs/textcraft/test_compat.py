"""`compat="agentgym"` against recordings of the original, where they are at hand."""

import json
from typing import Any

import pytest

from agentgym_envs.textcraft.env import TextCraftEnv
from agentgym_envs.textcraft.tasks import first_observation
from tests.helpers import GOLDEN


def records() -> list[dict[str, Any]]:
    path = GOLDEN / "textcraft_a.jsonl"
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.skipif(not records(), reason=f"no recordings of the original under {GOLDEN}")
def test_recordings_reproduce_up_to_the_first_done() -> None:
    env = TextCraftEnv(compat="agentgym", max_turns=1000)
    for record in records():
        _, info = env.reset(options={"goal": record["goal"]})
        shown = first_observation(record["commands"].split("\n"), info["goal"])
        assert shown == record["reset_observation"]
        assert record["kind"] == "tag" or info["subtask"] == f"depth {record['depth']}"
        for step in record["steps"]:
            observation, reward, terminated, _, info = env.step(step["action"])
            answer = (observation, reward, terminated)
            assert answer == (step["observation"], step["reward"], step["done"]), step
            held = {f"minecraft:{i.replace(' ', '_')}": n for i, n in info["inventory"].items()}
            assert held == step["inventory"]
            if terminated:
                break


@pytest.mark.skipif(not records(), reason=f"no recordings of the original under {GOLDEN}")
def test_command_lists_hold_the_originals_closure() -> None:
    env = TextCraftEnv(compat="agentgym")
    for record in records():
        if record["kind"] == "plan":
            observation, _ = env.reset(options={"goal": record["goal"]})
            shown = {_unordered(line) for line in observation.split("\n")}
            assert {_unordered(line) for line in record["commands"].split("\n")} <= shown


def _unordered(command: str) -> tuple[str, ...]:
    head, _, ingredients = command.partition(" using ")
    return (head, *sorted(ingredients.split(", ")))


@pytest.fixture
def env() -> TextCraftEnv:
    env = TextCraftEnv(compat="agentgym")
    env.reset(options={"goal": "end stone bricks"})
    return env


@pytest.mark.parametrize(
    ("action", "observation"),
    [
        ("inventory", "Inventory: You are not carrying anything."),
        ("inventory now", "Inventory: You are not carrying anything."),
        ("Inventory", "Could not execute Inventory"),
        ("get 1 oak logs ", "Could not find oak logs "),
        ("get 1 planks", "Could not find planks"),
        ("get 1 minecraft:stick", "Could not find minecraft:stick"),
        ("craft 4 stick using 2 oak planks,", "Wrong item format: "),
        ("craft 1 boat using 1 stick", "Could not find enough items to craft None"),
        (
            "craft 3 end stone using 0 stick",
            "Could not find enough items to craft minecraft:end_stone",
        ),
        (
            "get " + "1" * 5000 + " stick",
            "Could not execute get " + "1" * 978 + "... (5028 characters)",
        ),
    ],
)
def test_messages_are_the_originals(env: TextCraftEnv, action: str, observation: str) -> None:
    assert env.step(action)[0] == observation


def test_failed_recipes_show_the_originals_data_structure(env: TextCraftEnv) -> None:
    env.step("get 4 end stone")
    assert env.step("craft 2 boat using 1 end stone")[0] == (
        "Could not find a valid recipe for ItemTagWithCount("
        "item_tag=ItemTag(tag='minecraft:boat', item_id=None), count=2)"
    )
    assert env.step("inventory")[0] == "Inventory: [end stone] (4) "


def test_react_reads_the_action_as_the_originals_client() -> None:
    env = TextCraftEnv(compat="agentgym", action_format="react")
    env.reset(options={"goal": "end stone bricks"})
    observation, *_, info = env.step("Action: get 1 clay\nAction: inventory")
    assert observation.startswith("Error: Only one 'Action' is allowed")
    assert not info["is_valid_action"]
    assert env.step("no action at all")[0] == "Could not execute "
    assert env.step("Thought: x\nAction:\n  **get 4  end_stone!**")[0] == "Could not find endstone"
    assert env.step("Thought: x\nAction: 'get 4  end stone.'")[0] == "Got 4 end stone"
