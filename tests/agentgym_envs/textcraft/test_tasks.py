import hashlib
import os
import subprocess
import sys
from collections import Counter

import pytest

from agentgym_envs.textcraft.env import TextCraftEnv
from agentgym_envs.textcraft.recipes import Recipe, RecipeBook
from agentgym_envs.textcraft.source import builtin_book
from agentgym_envs.textcraft.tasks import (
    MAX_DISTRACTORS,
    TextCraftTasks,
    command_list,
    first_observation,
)

BOOK = builtin_book()

DIGEST = """
import hashlib
from agentgym_envs.textcraft.env import TextCraftEnv
env = TextCraftEnv()
digest = hashlib.sha256()
for number in range(544):
    observation, info = env.reset(options={"task_id": number})
    digest.update(f"{info['task_id']}/{info['split']}/{info['goal']}/{observation}".encode())
print(digest.hexdigest())
"""


@pytest.fixture(scope="module")
def env() -> TextCraftEnv:
    return TextCraftEnv()


def test_splits_have_the_papers_sizes_and_never_overlap(env: TextCraftEnv) -> None:
    splits = {split: env.task_ids(split) for split in ("train", "validation", "test")}
    assert {split: len(ids) for split, ids in splits.items()} == {
        "train": 374,
        "validation": 70,
        "test": 100,
    }
    assert len({task_id for ids in splits.values() for task_id in ids}) == 544
    depths = Counter(env.task_set.spec(task_id).subtask for task_id in splits["test"])
    assert depths == {"depth 1": 31, "depth 2": 41, "depth 3": 25, "depth 4": 3}


def test_ids_number_goals_by_depth_then_name(env: TextCraftEnv) -> None:
    rows = []
    for number in range(544):
        _, info = env.reset(options={"task_id": number})
        rows.append((int(info["subtask"].removeprefix("depth ")), info["goal"]))
    assert rows == sorted(rows)


def test_filter_takes_depths_subtasks_and_ids() -> None:
    for entry in (4, "depth 4"):
        env = TextCraftEnv(tasks=[entry], split="test")
        assert {env.reset()[1]["subtask"] for _ in range(20)} == {"depth 4"}
    chosen = TextCraftEnv().task_ids()[5]
    assert TextCraftEnv(tasks=[chosen]).reset(seed=3)[1]["task_id"] == chosen
    with pytest.raises(ValueError, match="depth 1"):
        TextCraftEnv(tasks=["depth 9"])


def test_a_filter_that_matches_nothing_tells_that_an_int_is_a_depth() -> None:
    with pytest.raises(ValueError, match="an int is a depth here, 1 to 4"):
        TextCraftEnv(tasks=[99])


@pytest.mark.full
def test_ids_hold_the_same_tasks_under_every_hash_seed() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "77")
    }
    assert len(digests) == 1


def test_the_tables_tasks_are_pinned(env: TextCraftEnv) -> None:
    """Fails when ids, goals, splits or command lists change: raise the table's version then."""
    digest = hashlib.sha256()
    for number in range(544):
        observation, info = env.reset(options={"task_id": number})
        digest.update(f"{info['task_id']}/{info['split']}/{info['goal']}/{observation}".encode())
    assert (env.source, digest.hexdigest()[:16]) == ("minecraft-1.16.2/v1", "a3a9383f30f90f06")


def test_small_books_keep_every_goal_for_training() -> None:
    book = RecipeBook(map(Recipe.parse, ["1 b using 1 a", "1 c using 2 b"]))
    tasks = TextCraftTasks(book)
    assert tasks.goals == ("b", "c")
    assert [len(tasks.task_ids(split)) for split in tasks.splits] == [2, 0, 0]
    with pytest.raises(ValueError, match="no recipe"):
        TextCraftTasks(RecipeBook([]))


def test_commands_are_the_closure_and_distractors_that_share_ingredients() -> None:
    for number, goal in enumerate(BOOK.goals):
        commands = command_list(BOOK, goal, number)
        closure = {recipe.text for recipe in BOOK.closure(goal)}
        distractors = set(commands) - closure
        assert closure <= set(commands)
        assert len(commands) == len(set(commands))
        assert len(distractors) <= MAX_DISTRACTORS
        shared = {name for recipe in BOOK.closure(goal) for _, name in recipe.ingredients}
        uses = {recipe.text for name in shared for recipe in BOOK.uses[name]}
        assert distractors <= uses


def test_seed_alone_chooses_distractors_and_order() -> None:
    assert command_list(BOOK, "torch", 1) == command_list(BOOK, "torch", 1)
    assert command_list(BOOK, "torch", 1) != command_list(BOOK, "torch", 2)


def test_first_observation_has_the_originals_form() -> None:
    assert first_observation(["craft 1 a using 1 b", "craft 1 c using 1 d"], "a") == (
        "Crafting commands:\ncraft 1 a using 1 b\ncraft 1 c using 1 d\n\nGoal: craft a."
    )
