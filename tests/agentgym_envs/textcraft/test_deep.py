from __future__ import annotations

import copy
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_envs import check_text_env
from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.textcraft.deep import BANDS, MAX_NEEDED, deep_task
from agentgym_envs.textcraft.deep_names import deep_names
from agentgym_envs.textcraft.deep_tasks import SPLITS, SUBTASKS
from agentgym_envs.textcraft.env import TextCraftEnv
from agentgym_envs.textcraft.planner import plan
from tests.agentgym_envs.fuzzing import any_text, play

SAMPLE = [number for numbers in SPLITS.values() for number in numbers[:40]]

DIGEST = """
import hashlib
from agentgym_envs.textcraft.env import TextCraftEnv
env = TextCraftEnv(book="deep")
digest = hashlib.sha256()
for split in ("train", "validation", "test"):
    for task_id in env.task_ids(split)[:40]:
        observation, info = env.reset(options={"task_id": task_id})
        digest.update(f"{task_id}/{info['split']}/{info['subtask']}/{observation}".encode())
print(env.source, digest.hexdigest()[:16])
"""


@pytest.fixture(scope="module")
def env() -> TextCraftEnv:
    return TextCraftEnv(book="deep")


def test_the_contract_is_kept() -> None:
    check_text_env("TextCraft", book="deep")


@pytest.mark.parametrize("hash_seed", ["1", "77"])
def test_a_number_holds_the_same_book_for_ever(hash_seed: str) -> None:
    """Fails when ids, books, goals or splits change: raise the version in `SOURCE` then."""
    told = subprocess.run(
        [sys.executable, "-c", DIGEST],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told.split() == ["textcraft-deep/v1", "466eb258e3f42cdd"]


def test_splits_share_no_number_and_no_book(env: TextCraftEnv) -> None:
    sizes = {split: len(env.task_ids(split)) for split in env.task_set.splits}
    assert sizes == {"train": 4000, "validation": 200, "test": 200}
    numbers = [n for split in env.task_set.splits for n in env.task_set.numbers(split)]
    assert len(set(numbers)) == 4400
    books = {frozenset(recipe.text for recipe in deep_task(n).book.recipes) for n in SAMPLE}
    assert len(books) == len(SAMPLE)


@pytest.mark.parametrize("number", SAMPLE)
def test_the_subtask_says_how_many_crafts_the_goal_takes(number: int, env: TextCraftEnv) -> None:
    task = deep_task(number)
    way = plan(task.book, task.goal)
    subtask = env.task_set.spec(number).subtask
    fewest, most = map(int, subtask.removesuffix(" crafts").split("-"))
    assert way.is_proven
    assert fewest <= task.num_crafts <= most
    assert task.num_crafts == sum(job.times for job in way.jobs)
    assert way.num_actions < 75


@pytest.mark.parametrize("number", SAMPLE)
def test_a_book_has_levels_numbers_and_distractors_and_can_be_read(number: int) -> None:
    task = deep_task(number)
    way = plan(task.book, task.goal)
    needed = {job.recipe for job in way.jobs}
    others = set(task.book.recipes) - needed
    assert task.book.height(task.goal) >= 2
    assert len(others) >= 3
    items = {name for recipe in others for _, name in recipe.ingredients}
    assert {name for name in items if task.book.is_base(name)} - set(way.fetches)
    assert max(job.needed for job in way.jobs) > 1
    assert max(*(job.needed for job in way.jobs), *way.fetches.values()) <= MAX_NEEDED
    assert len({recipe.output for recipe in task.book.recipes}) == len(task.book.recipes) <= 40
    assert max(len(recipe.ingredients) for recipe in task.book.recipes) <= 4


def test_items_of_a_book_share_words() -> None:
    for number in SAMPLE:
        items = deep_task(number).book.items
        assert items <= set(deep_names())
        assert len({name.split()[0] for name in items}) <= len(items) / 2


def test_names_are_not_minecrafts() -> None:
    assert len(deep_names()) == len(set(deep_names()))
    assert not set(deep_names()) & TextCraftEnv().book.items


@pytest.mark.parametrize("compat", [None, "agentgym"])
@pytest.mark.parametrize("action_format", ACTION_FORMATS)
def test_the_expert_solves_them_within_the_turns(action_format: str, compat: str | None) -> None:
    env = TextCraftEnv(book="deep", action_format=action_format, compat=compat)
    assert env.max_turns == 100
    for number in SPLITS["test"][:24]:
        _, info = env.reset(options={"task_id": number})
        expected = info["expert_turns"]
        for action in env.expert():
            observation, reward, terminated, truncated, info = env.step(action)
            assert info["is_valid_action"], (action, observation)
        assert (reward, terminated, truncated) == (1.0, True, False)
        assert info["turn"] == expected


def test_the_expert_goes_on_from_the_middle_and_copies_do_too(env: TextCraftEnv) -> None:
    for number in SPLITS["test"][3::40]:
        _, info = env.reset(options={"task_id": number})
        expected = info["expert_turns"]
        for action in list(env.expert())[: expected // 2]:
            env.step(action)
        other = copy.deepcopy(env)
        rest = list(env.expert())
        assert list(other.expert()) == rest
        told = [env.step(action) for action in rest]
        assert [other.step(action) for action in rest] == told
        assert told[-1][4]["success"]
        assert len(rest) <= expected - expected // 2 + 10  # what was begun is used


def test_filters_take_subtasks(env: TextCraftEnv) -> None:
    chosen = TextCraftEnv(book="deep", tasks=["41-60 crafts"], split="test")
    assert {chosen.reset()[1]["subtask"] for _ in range(5)} == {"41-60 crafts"}
    assert len(SUBTASKS) == len(BANDS) == 4
    with pytest.raises(ValueError, match="6-10 crafts"):
        TextCraftEnv(book="deep", tasks=["depth 1"])


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(ValueError, match="unknown book 'bible'; allowed: 'minecraft', 'deep'"):
        TextCraftEnv(book="bible")
    with pytest.raises(ValueError, match="recipes_dir='packs' and book='deep'"):
        TextCraftEnv(book="deep", recipes_dir="packs")
    with pytest.raises(ValueError, match="a book of its own; give options"):
        TextCraftEnv(book="deep").reset(options={"goal": "stick"})
    with pytest.raises(ValueError, match="textcraft_20199"):
        TextCraftEnv(book="deep").reset(options={"task_id": 4000})


def test_the_example_in_an_answer_is_an_item_of_the_book(env: TextCraftEnv) -> None:
    env.reset(options={"task_id": 20000})
    observation = env.step("get silver")[0]
    assert observation.rpartition("such as 2 ")[2].rstrip(".") in env.book.items


WORDS = st.sampled_from(
    [*deep_names()[::37], "get", "craft", "using", "inventory", "1", "2", "999999999", ",", "-1"]
)


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
def test_any_text_is_answered(action_format: str) -> None:
    env = TextCraftEnv(book="deep", action_format=action_format)

    @settings(max_examples=40)
    @given(
        st.integers(0, 50),
        st.lists(any_text() | st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=5),
    )
    def answers(seed: int, completions: list[str]) -> None:
        play(env, completions, seed=seed)

    answers()
