"""The expert finds the answers of the embedded world through the real retriever."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from agentgym_envs.searchqa.env import SearchQAEnv
from agentgym_envs.searchqa.questions import FAMILIES


@cache
def env() -> SearchQAEnv:
    return SearchQAEnv()


def solved_share(family: str, split: str, most: int) -> float:
    """Play at most so many questions of a family, spread over a split."""
    tasks = env().task_set
    numbers = [n for n in tasks.numbers(split) if tasks.describe(n)[0] == family]
    numbers = numbers[:: max(1, len(numbers) // most)][:most]
    solved = Counter(_plays(number) for number in numbers)
    return solved[True] / len(numbers)


def _plays(number: int) -> bool:
    _, info = env().reset(options={"task_id": number})
    for action in env().expert():
        *_, terminated, truncated, info = env().step(action)
        if terminated or truncated:
            break
    return bool(info["success"])


@pytest.mark.parametrize("split", ["train", "validation", "paper_test"])
@pytest.mark.parametrize("family", FAMILIES)
def test_it_answers_nearly_every_question(family: str, split: str) -> None:
    assert solved_share(family, split, 100) >= 0.95
