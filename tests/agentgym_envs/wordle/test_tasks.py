"""The numbers of Wordle's tasks, and the words behind them."""

from __future__ import annotations

from agentgym_envs.wordle.lists import NUM_LISTED, read_lists, shipped_lists
from agentgym_envs.wordle.tasks import LISTED, OPEN, WordleTasks


def test_the_listed_tasks_are_as_many_as_agentgym_s() -> None:
    tasks = WordleTasks(shipped_lists())
    listed = {
        split: [n for n in tasks.numbers(split) if tasks.describe(n)[0] == LISTED]
        for split in tasks.splits
    }
    assert listed["test"] == list(range(25))
    assert (len(listed["train"]), len(listed["validation"])) == (955, 50)


def test_no_word_of_the_open_tests_is_hidden_anywhere_else() -> None:
    lists = shipped_lists()
    tasks = WordleTasks(lists)
    assert lists.common is not None
    assert list(lists.common.words) == sorted(lists.hidden)
    words = {
        split: [lists.hidden[n - 10_000] for n in tasks.numbers(split) if n >= 10_000]
        for split in tasks.splits
    }
    assert {split: len(hidden) for split, hidden in words.items()} == {
        **{"train": 1629, "validation": 100, "test": 200},
    }
    everywhere = [*lists.listed.words, *(word for hidden in words.values() for word in hidden)]
    assert len(set(everywhere)) == len(everywhere) == 1969
    assert tasks.describe(10_000) == (OPEN, "test")


def test_the_list_that_is_shown_is_as_long_as_the_originals() -> None:
    assert len(shipped_lists().listed.words) == NUM_LISTED == 40


def test_a_files_words_are_its_own_source(tmp_path) -> None:
    sources = set()
    for number, text in enumerate(("felon\n", "frown\n")):
        path = tmp_path / f"{number}.txt"
        path.write_text(text)
        sources.add(read_lists(path).source)
    assert len(sources) == 2
