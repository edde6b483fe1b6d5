"""However a value may be written in English, it is an accepted answer."""

import pytest

from agentgym_envs.searchqa.scoring import exact_match
from worlds.searchqa.values import Date, Quantity, Value, count, value_forms


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Date(1801, 1, 14), "14 January 1801"),
        (Date(1801, 1, 14), "January 14, 1801"),
        (Date(1801, 1, 14), "14th of January 1801"),
        (Date(1801, 1, 14), "the 14th of January, 1801"),
        (Date(1801, 1, 14), "Jan. 14th, 1801"),
        (Date(1801, 1, 14), "1801-01-14"),
        (Date(1801, 1, 11), "11th January 1801"),
        (Date(1801, 1, 22), "22nd January 1801"),
        (Date(1801, 1, 31), "Jan 31st 1801"),
        (Date(1801, 5, 3), "3rd of May 1801"),
        (Quantity(1795, "kilometres"), "1,795 kilometers"),
        (Quantity(1795, "kilometres"), "1795 km"),
        (Quantity(829, "metres"), "829 meters"),
        (Quantity(829, "metres"), "829m"),
        (Quantity(1402, "square kilometres"), "1,402km²"),
        (Quantity(1402, "square kilometres"), "1,402 square km"),
        (Quantity(85, "minutes"), "85 mins"),
        (Date(1831, 9, 27), "Sept. 27, 1831"),
        (Quantity(12, "millimetres"), "12 millimeters"),
        (Quantity(1234, "square kilometres"), "1,234 km²"),
        (Quantity(1234, "square kilometres"), "1,234 sq. km"),
        (Quantity(1234, "square kilometres"), "1234 square kilometers"),
        (Quantity(90, "minutes"), "90 min"),
        (Quantity(1795), "1795"),
        (count(15, "tracks"), "15 tracks"),
        (count(1795, "inhabitants"), "1,795 inhabitants."),
    ],
)
def test_a_right_value_is_accepted(value: Value, written: str) -> None:
    assert exact_match(written, value_forms(value))


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Date(1801, 1, 14), "14 June 1801"),
        (Date(1801, 1, 14), "January 1801"),
        (Date(1801, 1, 14), "1801"),
        (Date(1801, 1, 14), "1 April 1801"),
        (Quantity(829, "metres"), "829 kilometers"),
        (Quantity(829, "metres"), "82.9 metres"),
        (Quantity(829, "metres"), "829 km"),
        (Quantity(1234, "square kilometres"), "1234 km"),
        (count(15, "tracks"), "15 minutes"),
    ],
)
def test_another_value_is_not(value: Value, written: str) -> None:
    assert not exact_match(written, value_forms(value))
