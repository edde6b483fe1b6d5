from __future__ import annotations

import pickle

import pytest
from gymnasium.vector.utils import batch_space, concatenate, create_empty_array

from agentgym_envs import FreeText


@pytest.mark.parametrize("text", ["", " ", "Ünïcode ☃", "\ud800", "x" * 100_000, "two\nlines"])
def test_every_string_is_contained(text: str) -> None:
    assert text in FreeText()


@pytest.mark.parametrize("value", [None, 1, b"bytes", ["a"]])
def test_nothing_else_is_contained(value: object) -> None:
    assert value not in FreeText()


def test_equal_seeds_sample_equal_strings_of_the_length_asked_for() -> None:
    samples = [FreeText(8, seed=3).sample() for _ in range(2)]
    assert samples[0] == samples[1]
    assert len(samples[0]) <= 8


def test_all_free_text_spaces_are_equal() -> None:
    assert FreeText(8) == FreeText(64)
    assert FreeText() != "FreeText"


def test_a_sample_length_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="sample_length must be >= 1, got 0"):
        FreeText(0)


def test_it_batches_and_pickles() -> None:
    space = FreeText(8)
    assert pickle.loads(pickle.dumps(space)) == space
    batched = batch_space(space, 2)
    assert batched.contains(("a b", "é"))
    out = create_empty_array(space, 2)
    assert out is not None
    assert concatenate(space, ["a b", "é"], out) == ("a b", "é")
