from __future__ import annotations

import copy
import pickle
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.spaces import Text
from gymnasium.vector.utils import (
    batch_differing_spaces,
    batch_space,
    concatenate,
    create_empty_array,
    create_shared_memory,
    read_from_shared_memory,
    write_to_shared_memory,
)

from agentgym_envs import FreeText
from agentgym_envs.checking.checks import slot_info
from agentgym_envs.core.spaces import SHARED_BYTES


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
    assert concatenate(space, ["a b", "é"], out) == ("a b", "é")  # type: ignore[arg-type]


def test_it_claims_no_alphabet_and_no_length() -> None:
    assert not isinstance(FreeText(), Text)
    with pytest.raises(ValueError, match="leave them out"):
        FreeText().sample(mask=())  # type: ignore[arg-type]


def test_spaces_of_several_environments_batch() -> None:
    assert batch_differing_spaces([FreeText(3), FreeText()]).contains(("a", "b" * 99))


@pytest.mark.parametrize("text", ["", "Ünïcode ☃", "\ud800", "x" * SHARED_BYTES, "two\nlines"])
def test_strings_go_through_shared_memory_whole(text: str) -> None:
    space = FreeText()
    memory = create_shared_memory(space, n=2)
    view = read_from_shared_memory(space, memory, n=2)
    for index, value in enumerate((text, "other")):
        write_to_shared_memory(space, index, value, memory)  # type: ignore[arg-type]
    taken = copy.deepcopy(view)
    assert taken == (text, "other") == tuple(view) == view[:]
    write_to_shared_memory(space, 1, "new", memory)  # type: ignore[arg-type]
    assert (taken[1], view[1]) == ("other", "new")


def test_a_string_that_does_not_fit_is_refused_with_the_remedy() -> None:
    memory = create_shared_memory(FreeText(), n=1)
    with pytest.raises(ValueError, match="vector_kwargs={'shared_memory': False}"):
        write_to_shared_memory(FreeText(), 0, "é" * SHARED_BYTES, memory)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_make_vec_gives_what_single_environments_give(mode: Any) -> None:
    envs = gym.make_vec("agentgym/TextCraft-v0", num_envs=2, vectorization_mode=mode)
    single = [gym.make("agentgym/TextCraft-v0") for _ in range(2)]
    observations, infos = envs.reset(seed=5)
    expected = [env.reset(seed=5 + index) for index, env in enumerate(single)]
    for action in ("inventory", "get 1 nothing"):
        assert tuple(observations) == tuple(observation for observation, *_ in expected)
        for index, (_, *_, info) in enumerate(expected):
            assert slot_info(infos, index) == info
        observations, *_, infos = envs.step((action, action))
        expected = [env.step(action) for env in single]
    envs.close()


def test_gymnasium_s_time_limit_is_named() -> None:
    env = gym.make("agentgym/TextCraft-v0", max_episode_steps=2)
    env.reset(seed=0)
    assert env.step("inventory")[4]["truncated_by"] is None
    *_, truncated, info = env.step("inventory")
    assert truncated and info["truncated_by"] == "time_limit"
    env = gym.make("agentgym/TextCraft-v0", max_episode_steps=2, max_turns=2)
    env.reset(seed=0)
    env.step("inventory")
    assert env.step("inventory")[4]["truncated_by"] == "max_turns"
    assert env.spec is not None
    gym.make(env.spec).close()
