"""What the sites share: ids, patterns, forms and lists."""

from __future__ import annotations

import sqlite3

import pytest

from agentgym_envs.sites.forms import read_day, write_amount
from agentgym_envs.sites.listing import like
from agentgym_envs.sites.web import NotFound, read_id


@pytest.mark.parametrize("text", ["", "-1", "-0", "+1", "1.0", " 1", "\uff11", "1234567890", "x"])
def test_what_is_no_id_is_not_found(text: str) -> None:
    with pytest.raises(NotFound, match="no such thing"):
        read_id(text, "There is no such thing.")
    assert read_id("007") == 7


@pytest.mark.parametrize("text", ["100%", "a_b", "wow!", "!%_", "x" * 300])
def test_a_pattern_matches_the_text_and_no_wildcard(text: str) -> None:
    matches = sqlite3.connect(":memory:").execute
    sql = "SELECT ? LIKE ? ESCAPE '!'"
    assert matches(sql, (f"It says {text}.", like(text))).fetchone() == (1,)
    assert matches(sql, ("It says 100 axb wow.", like(text))).fetchone() == (0,)


@pytest.mark.parametrize("text", ["2026-02-30", "2026-3-1", "20260315", "", "0000-01-01"])
def test_there_is_no_such_day(text: str) -> None:
    assert read_day(text) is None
    assert read_day("2026-02-28") == "2026-02-28"


def test_an_amount_is_written_as_it_is_typed() -> None:
    assert [write_amount(cents) for cents in (123450, 5, None)] == ["1234.50", "0.05", ""]
