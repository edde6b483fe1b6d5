from __future__ import annotations

import pytest

from agentgym_envs.sql.judge import difference, have_equal_sets
from agentgym_envs.sql.values import Row

PAIRS: list[Row] = [("a", 1), ("b", 2), ("c", 3)]


def test_rows_count_in_any_order_unless_one_is_asked_for() -> None:
    other = [PAIRS[2], PAIRS[0], PAIRS[1]]
    assert difference(PAIRS, other, is_ordered=False) == ""
    assert difference(PAIRS, PAIRS, is_ordered=True) == ""
    why = difference(PAIRS, other, is_ordered=True)
    assert why == "the rows are right, but in another order than is asked for"


@pytest.mark.parametrize(
    ("actual", "why"),
    [
        ([], "3 rows are expected, and the answer has 0"),
        (PAIRS[:2], "3 rows are expected, and the answer has 2"),
        ([*PAIRS, ("c", 3)], "3 rows are expected, and the answer has 4"),
        ([("a",), ("b",), ("c",)], "2 columns are asked for, and the answer has 1"),
        ([(*row, 0) for row in PAIRS], "2 columns are asked for, and the answer has 3"),
        ([row[::-1] for row in PAIRS], "the columns are right, but in another order"),
        ([("a", 1), ("b", 2), ("b", 2)], "some of the 3 rows differ"),
        ([("a", 1), ("b", 2), ("C", 3)], "some of the 3 rows differ"),
    ],
)
def test_other_rows_are_wrong(actual: list[Row], why: str) -> None:
    assert difference(PAIRS, actual, is_ordered=False).startswith(why)


@pytest.mark.parametrize("is_ordered", [False, True])
def test_one_row_is_not_counted(is_ordered: bool) -> None:
    assert difference([(41,)], [(42,)], is_ordered=is_ordered) == "the row differs"


@pytest.mark.parametrize(
    ("expected", "actual", "is_right"),
    [
        (4.13, 4.125, True),
        (4.13, 4.12, True),  # halves are rounded up, down or to even
        (4.13, 4.11, False),
        (4.0, 4, True),
        (4, 4.0, True),
        (4, 4.001, False),
        (4, "4", False),
        (4.5, "4.5", False),
        (4.5, None, False),
        ("4", "4", True),
        ("a", "A", False),
        ("a", "a ", False),
        (33.33, 100 / 3, True),
        (33.33, 1 / 3, False),
    ],
)
def test_numbers_may_be_rounded_and_words_are_exact(
    expected: float | str, actual: float | str | None, is_right: bool
) -> None:
    assert (difference([(expected,)], [(actual,)], is_ordered=False) == "") == is_right


def test_rows_with_numbers_are_told_apart_in_any_order() -> None:
    expected: list[Row] = [("a", 1.5), ("b", 2.25)]
    assert difference(expected, [("b", 2.2499), ("a", 1.5)], is_ordered=False) == ""
    assert difference(expected, [("b", 1.5), ("a", 2.25)], is_ordered=False)


def test_the_originals_rule_is_that_of_sets() -> None:
    assert have_equal_sets([(1,), (2,)], [(2,), (1,), (1,)])
    assert not have_equal_sets([(1.5,)], [(1.5001,)])
    assert have_equal_sets([], [])
