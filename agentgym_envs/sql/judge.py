"""Compares the result of an answer with the result that is expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from agentgym_envs.sql.values import Row, Value

TOLERANCE = 0.01 + 1e-6
"""Largest difference of a number from an expected one that is not whole.

It is one in the second decimal, since programs round halves up, down or to even.
"""


def difference(expected: Sequence[Row], actual: Sequence[Row], *, is_ordered: bool) -> str:
    """Return why a result is not the expected one, or an empty text where it is.

    Rows count in any order, unless the question asks for one; columns count in theirs.

    Args:
        expected: the right rows; there is at least one.
        actual: the rows of the answer.
        is_ordered: rows count in their order.
    """
    width = len(expected[0])
    if actual and len(actual[0]) != width:
        return f"{_counted(width, 'column')} asked for, and the answer has {len(actual[0])}"
    if len(actual) != len(expected):
        return f"{_counted(len(expected), 'row')} expected, and the answer has {len(actual)}"
    pairs = zip(expected, actual, strict=True)
    wrong = [number for number, pair in enumerate(pairs, 1) if not _are_equal(*pair)]
    if not wrong or not is_ordered and _is_rearranged(expected, actual):
        return ""
    if _is_rearranged(expected, actual):
        return "the rows are right, but in another order than is asked for"
    if width > 1 and _is_rearranged(*map(_without_order, (expected, actual))):
        return "the columns are right, but in another order than is asked for"
    if len(expected) == 1:
        return "the row differs"
    return f"{len(wrong) if is_ordered else 'some'} of the {len(expected)} rows differ"


def have_equal_sets(expected: Sequence[Row], actual: Sequence[Row]) -> bool:
    """Return whether two results hold the same rows, whatever their order and number.

    The rule of BIRD (arXiv 2305.03111) and of AgentGym's server.
    """
    return set(expected) == set(actual)


def _is_rearranged(expected: Sequence[Row], actual: Sequence[Row]) -> bool:
    """Return whether each row finds one of its own that is equal to it."""
    if Counter(expected) == Counter(actual):
        return True
    left = list(actual)
    for row in expected:
        place = next((n for n, other in enumerate(left) if _are_equal(row, other)), None)
        if place is None:
            return False
        del left[place]
    return True


def _are_equal(expected: Row, actual: Row) -> bool:
    return len(expected) == len(actual) and all(map(_is_value, expected, actual))


def _is_value(expected: Value, actual: Value) -> bool:
    if isinstance(expected, float) and isinstance(actual, (int, float)):
        return abs(expected - actual) <= TOLERANCE
    return expected == actual


def _without_order(rows: Sequence[Row]) -> list[Row]:
    return [tuple(sorted(row, key=lambda value: (str(type(value)), str(value)))) for row in rows]


def _counted(count: int, noun: str) -> str:
    return f"1 {noun} is" if count == 1 else f"{count} {noun}s are"
