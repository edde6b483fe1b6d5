"""How Wordle's words are chosen."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentgym_envs.wordle.lists import shipped_lists
from worlds.wordle.make import common_words, is_form, is_playable, main

SMALL = "boat boats Boston bride walks walk civic xviii large larger dress cried cry can't slang"
LARGE = f"{SMALL} bulla"


def test_forms_of_shorter_words_are_told() -> None:
    words = {"walk", "dress", "cry", "go"}
    forms = [word for word in ("walks", "cried", "dress", "going", "slang") if is_form(word, words)]
    assert forms == ["walks", "cried", "going"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [("bride", True), ("civic", True), ("xviii", False), ("Bride", False), ("boat", False)],
)
def test_roman_numerals_and_names_are_left_out(word: str, expected: bool) -> None:
    assert is_playable(word) is expected


def test_the_order_is_drawn_and_stays() -> None:
    words = {"bride", "civic", "dress", "large", "slang"}
    assert common_words(words) == common_words(set(sorted(words)))
    assert common_words(words) != sorted(words)


def test_both_lists_are_written(tmp_path: Path) -> None:
    for name, text in {"small": SMALL, "large": LARGE}.items():
        (tmp_path / name).write_text("\n".join(text.split()))
    main([str(tmp_path / "small"), str(tmp_path / "large"), "--out", str(tmp_path)])
    common, further = (
        (tmp_path / f"{name}.txt").read_text().split() for name in ("common", "further")
    )
    assert sorted(common) == ["bride", "civic", "dress", "large", "slang"]
    assert further == ["boats", "bulla", "cried", "walks"]


def test_the_shipped_words_are_of_five_letters_and_fit_to_be_played() -> None:
    lists = shipped_lists()
    assert lists.common is not None
    assert all(map(is_playable, lists.common.allowed))
