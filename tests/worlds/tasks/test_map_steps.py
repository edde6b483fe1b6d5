from __future__ import annotations

import pytest

from agentgym_envs.sites.map.routes import duration, kilometres
from worlds.tasks.map import steps


@pytest.mark.parametrize("number", [1, 45, 59, 60, 61, 125, 3768])
def test_times_are_read_as_they_are_written(number: int) -> None:
    assert steps.minutes(duration(number)) == number


@pytest.mark.parametrize("number", [1, 9, 10, 843, 10840])
def test_lengths_are_read_as_they_are_written(number: int) -> None:
    assert steps.kilometres(kilometres(number)) == number / 10
