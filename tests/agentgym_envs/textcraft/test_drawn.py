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
from agentgym_envs.textcraft.drawn import KINDS, MAX_NEEDED, drawn_task
from agentgym_envs.textcraft.drawn_names import drawn_names
from agentgym_envs.textcraft.drawn_tasks import SPLITS
from agentgym_envs.textcraft.env import TextCraftEnv
from agentgym_envs.textcraft.planner import plan
from tests.agentgym_envs.fuzzing import any_text, play
from tests.helpers import FORMATS_AND_COMPATS
from tests.quick import examples

SAMPLE = [number for numbers in SPLITS.values() for number in numbers[:40]]

DIGEST = """
import hashlib
import sys
from agentgym_envs.textcraft.env import TextCraftEnv
env = TextCraftEnv(book=sys.argv[1])
digest = hashlib.sha256()
for split in ("train", "validation", "test"):
    for task_id in env.task_ids(split)[:40]:
        observation, info = env.reset(options={"task_id": task_id})
        digest.update(f"{task_id}/{info['split']}/{info['subtask']}/{observation}".encode())
print(env.source, digest.hexdigest()[:16])
"""


@pytest.fixture(scope="module", params=KINDS)
def env(request: pytest.FixtureRequest) -> TextCraftEnv:
    return TextCraftEnv(book=request.param)


@pytest.mark.parametrize("book", KINDS)
def test_the_contract_is_kept(book: str) -> None:
    check_text_env("TextCraft", book=book)


@pytest.mark.parametrize("hash_seed", ["1", "77"])
@pytest.mark.parametrize(
    ("book", "pinned"),
    [
        ("shallow", ["textcraft-shallow/v1", "672f329b326e858e"]),
        ("deep", ["textcraft-deep/v1", "466eb258e3f42cdd"]),
    ],
)
def test_a_number_holds_the_same_book_for_ever(
    book: str, pinned: list[str], hash_seed: str
) -> None:
    """Fails when ids, books, goals or splits change: raise the version in `KINDS` then."""
    told = subprocess.run(
        [sys.executable, "-c", DIGEST, book],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert told.split() == pinned


def test_splits_share_no_number_and_no_book(env: TextCraftEnv) -> None:
    sizes = {split: len(env.task_ids(split)) for split in env.task_set.splits}
    assert sizes == {"train": 4000, "validation": 200, "test": 200}
    numbers = [n for split in env.task_set.splits for n in env.task_set.numbers(split)]
    assert len(set(numbers)) == 4400
    numbers = numbers if env.source.startswith("textcraft-shallow") else SAMPLE  # few recipes
    books = {
        frozenset(recipe.text for recipe in env.task_set.task_book(n).recipes) for n in numbers
    }
    assert len(books) == len(numbers)


@pytest.mark.parametrize("number", SAMPLE)
@pytest.mark.parametrize("book", KINDS)
def test_the_subtask_says_how_many_crafts_the_goal_takes(book: str, number: int) -> None:
    task = drawn_task(book, number)
    way = plan(task.book, task.goal)
    subtask = TextCraftEnv(book=book).task_set.spec(number).subtask
    fewest, _, most = subtask.partition(" ")[0].partition("-")
    assert way.is_proven
    assert int(fewest) <= task.num_crafts <= int(most or fewest)
    assert task.num_crafts == sum(job.times for job in way.jobs)
    assert way.num_actions < 0.75 * KINDS[book].max_turns


@pytest.mark.parametrize("number", SAMPLE)
@pytest.mark.parametrize("book", KINDS)
def test_a_book_has_numbers_and_distractors_and_can_be_read(book: str, number: int) -> None:
    task = drawn_task(book, number)
    way = plan(task.book, task.goal)
    needed = {job.recipe for job in way.jobs}
    others = set(task.book.recipes) - needed
    assert task.book.height(task.goal) >= min(2, task.num_crafts)
    assert len(others) >= 3
    items = {name for recipe in others for _, name in recipe.ingredients}
    assert {name for name in items if task.book.is_base(name)} - set(way.fetches)
    assert book == "shallow" or max(job.needed for job in way.jobs) > 1
    assert max(*(job.needed for job in way.jobs), *way.fetches.values()) <= MAX_NEEDED
    assert len({recipe.output for recipe in task.book.recipes}) == len(task.book.recipes) <= 40
    assert max(len(recipe.ingredients) for recipe in task.book.recipes) <= 4


@pytest.mark.parametrize("book", KINDS)
def test_items_of_a_book_share_words(book: str) -> None:
    for number in SAMPLE:
        items = drawn_task(book, number).book.items
        assert items <= set(drawn_names())
        assert len({name.split()[0] for name in items}) <= len(items) / 2


def test_names_are_not_minecrafts() -> None:
    assert len(drawn_names()) == len(set(drawn_names()))
    assert not set(drawn_names()) & TextCraftEnv().book.items


@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
@pytest.mark.parametrize(("book", "max_turns"), [("shallow", 30), ("deep", 100)])
def test_the_expert_solves_them_within_the_turns(
    book: str, max_turns: int, action_format: str, compat: str | None
) -> None:
    env = TextCraftEnv(book=book, action_format=action_format, compat=compat)
    assert env.max_turns == max_turns
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


@pytest.mark.parametrize(
    ("book", "subtasks"),
    [
        ("shallow", ["1 craft", "2 crafts", "3 crafts", "4-5 crafts"]),
        ("deep", ["6-10 crafts", "11-20 crafts", "21-40 crafts", "41-60 crafts"]),
    ],
)
def test_filters_take_subtasks(book: str, subtasks: list[str]) -> None:
    for subtask in subtasks:
        chosen = TextCraftEnv(book=book, tasks=[subtask], split="test")
        assert {chosen.reset()[1]["subtask"] for _ in range(5)} == {subtask}
    with pytest.raises(ValueError, match=subtasks[0]):
        TextCraftEnv(book=book, tasks=["depth 1"])


def test_wrong_arguments_are_told() -> None:
    with pytest.raises(
        ValueError, match="unknown book 'bible'; allowed: 'minecraft', 'shallow', 'deep'"
    ):
        TextCraftEnv(book="bible")
    with pytest.raises(ValueError, match="recipes_dir='packs' and book='deep'"):
        TextCraftEnv(book="deep", recipes_dir="packs")
    with pytest.raises(ValueError, match="a book of its own; give options"):
        TextCraftEnv(book="deep").reset(options={"goal": "stick"})
    with pytest.raises(ValueError, match="textcraft_20199"):
        TextCraftEnv(book="deep").reset(options={"task_id": 4000})


def test_the_example_in_an_answer_is_an_item_of_the_book(env: TextCraftEnv) -> None:
    env.reset(options={"task_id": 20000})
    observation = env.step("get gold")[0]
    assert observation.rpartition("such as 2 ")[2].rstrip(".") in env.book.items


WORDS = st.sampled_from(
    [*drawn_names()[::37], "get", "craft", "using", "inventory", "1", "2", "999999999", ",", "-1"]
)


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
@pytest.mark.parametrize("book", KINDS)
def test_any_text_is_answered(book: str, action_format: str) -> None:
    env = TextCraftEnv(book=book, action_format=action_format)

    @settings(max_examples=examples(40))
    @given(
        st.integers(0, 50),
        st.lists(any_text() | st.lists(WORDS, max_size=12).map(" ".join), min_size=1, max_size=5),
    )
    def answers(seed: int, completions: list[str]) -> None:
        play(env, completions, seed=seed)

    answers()
