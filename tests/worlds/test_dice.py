from __future__ import annotations

from itertools import accumulate

import pytest

from worlds.dice import Dice


def rolls(dice: Dice) -> list[object]:
    return [
        *(dice.below(6), dice.between(3, 9), dice.chance(0.5), round(dice.uniform(2.0, 4.0), 6)),
        *(round(dice.tail(10.0), 6), dice.pick("abc"), dice.early("abcdefgh")),
        *(dice.weighted("abc", [1.0, 2.0, 10.0]), dice.sample("abcdef", 3), dice.shuffled("abcd")),
    ]


def test_the_rolls_of_a_key_are_these_for_ever() -> None:
    assert rolls(Dice("a test", 1)) == [
        1,
        9,
        False,
        2.836116,
        0.424999,
        "b",
        "b",
        "c",
        ["f", "b", "d"],
        ["b", "d", "a", "c"],
    ]


def test_streams_differ_by_key() -> None:
    assert rolls(Dice("a", 1)) != rolls(Dice("a", 2))


def test_every_draw_stays_within_its_bounds() -> None:
    dice = Dice("bounds")
    assert {dice.below(3) for _ in range(200)} == {0, 1, 2}
    assert {dice.between(2, 4) for _ in range(200)} == {2, 3, 4}
    assert all(2.0 <= dice.uniform(2.0, 3.0) < 3.0 for _ in range(200))
    assert {dice.early("ab") for _ in range(200)} == {"a", "b"}


def test_a_weight_of_nothing_is_never_drawn() -> None:
    dice = Dice("weights")
    sums = list(accumulate([1.0, 0.0, 3.0]))
    drawn = [dice.weighted("abc", sums) for _ in range(400)]
    assert drawn.count("b") == 0
    assert drawn.count("c") / len(drawn) == pytest.approx(0.75, abs=0.07)


def test_a_sample_has_different_items_and_no_more_than_there_are() -> None:
    assert sorted(Dice("sample").sample("abc", 9)) == ["a", "b", "c"]
