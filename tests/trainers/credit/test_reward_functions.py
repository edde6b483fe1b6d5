"""Reward functions of one's own: taken in all their forms, and refused by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch

from trainers.credit.reward_functions import COLUMNS, reward_list
from trainers.credit.rewards import agent_reward

TWO = {"prompts": ["textcraft_0", "textcraft_1"], "trajectories": [object(), object()]}


def ones(trajectories: list[Any], value: float = 1.0, **_columns: Any) -> list[float]:
    return [value for _ in trajectories]


class Ones:
    def __call__(self, **columns: Any) -> list[float]:
        return ones(**columns)


async def ones_later(**columns: Any) -> list[float]:
    return ones(**columns)


def returns(value: Any) -> Callable[..., Any]:
    def function(**_columns: Any) -> Any:
        return value

    return function


def test_without_one_the_environment_pays() -> None:
    assert reward_list(None) == [agent_reward]
    fined = reward_list(None, penalty=0.5)
    assert fined[0] is agent_reward
    assert fined[1](num_invalid=[0, 3]) == [0.0, -1.5]


@pytest.mark.parametrize(
    ("function", "name"),
    [(ones, "ones"), (Ones(), "Ones"), (partial(ones, value=1), "ones"), (returns((1, 1)), "func")],
    ids=["function", "object", "partial", "closure"],
)
def test_functions_objects_and_partials_are_taken_under_their_names(
    function: Any, name: str
) -> None:
    (taken,) = reward_list(function)
    assert taken(**TWO) == [1.0, 1.0]
    assert taken.__name__.startswith(name)


def test_an_async_function_stays_one() -> None:
    (taken,) = reward_list([ones_later])
    assert asyncio.run(taken(**TWO)) == [1.0, 1.0]  # type: ignore[arg-type]


@pytest.mark.parametrize("paid", [[None, 2], np.array([np.nan, 2]), torch.tensor([torch.nan, 2])])
def test_numbers_come_in_all_forms_and_none_trains_nothing(paid: Any) -> None:
    first, second = reward_list(returns(paid))[0](**TWO)
    assert first is None or first != first
    assert second == 2.0


@pytest.mark.parametrize(
    "paid", [None, 1.0, "12", [1.0], [1.0, 2.0, 3.0], ["1", "2"], [[1.0], [2.0]], {"a": 1, "b": 2}]
)
def test_what_is_no_list_of_numbers_is_refused_with_the_functions_name(paid: Any) -> None:
    with pytest.raises(ValueError, match="'function' must return a list of 2 numbers, .*; got "):
        reward_list(returns(paid))[0](**TWO)


def test_what_a_function_raises_is_its_own() -> None:
    def broken(trajectories: list[Any], **_columns: Any) -> list[float]:
        return [episode.turn for episode in trajectories]

    with pytest.raises(AttributeError, match="no attribute 'turn'"):
        reward_list(broken)[0](**TWO)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (3, "reward_funcs must be a function or several, got 3"),
        ([ones, 3], "reward_funcs must hold functions, got 3"),
        (lambda: [], "'<lambda>' is given more than it asks for; end its parameters with "),
        (lambda trajectory, **columns: [], "'<lambda>' asks for 'trajectory'; did you mean traj"),
        (lambda qqqq, **columns: [], "asks for 'qqqq'; given are prompts, completions, "),
    ],
)
def test_what_cannot_be_called_is_refused_before_anything_is_played(given: Any, told: str) -> None:
    with pytest.raises(TypeError, match=told):
        reward_list(given)


def test_columns_of_the_data_set_may_be_asked_for() -> None:
    def by_length(answer: list[str], **_columns: Any) -> list[float]:
        return [float(len(text)) for text in answer]

    with pytest.raises(TypeError, match="asks for 'answer'"):
        reward_list(by_length)
    (taken,) = reward_list(by_length, columns=["prompt", "answer"])
    assert taken(**TWO, answer=["a", "bb"]) == [1.0, 2.0]


def test_none_at_all_is_refused() -> None:
    with pytest.raises(ValueError, match="reward_funcs is empty; leave it out"):
        reward_list([])


def test_the_columns_are_those_that_the_page_lists() -> None:
    assert {"trajectories", "success", "num_turns", "log_metric", "completion_ids"} <= set(COLUMNS)
