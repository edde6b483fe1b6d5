"""Several batches that are played at once share a capacity for episodes."""

from __future__ import annotations

from functools import partial

import gymnasium as gym

from tests.helpers import COUNTING_ID, register_helpers
from trainers.policies.scripted import ExpertPolicy
from trainers.rollout.env_slots import Capacity, wait_for
from trainers.rollout.rollout import Batch, Rollout
from wrappers import TextVectorEnv

register_helpers()
TASKS = [f"counting_{number}" for number in (20, 4, 30, 8, 15, 2, 9)]


def vector() -> TextVectorEnv:
    return TextVectorEnv([partial(gym.make, COUNTING_ID, disable_env_checker=True)] * 4)


def play_together(batches: list[Batch], most: int) -> None:
    under_way = list(batches)
    while under_way:
        for batch in list(under_way):
            turns = batch.next_turns()
            for group, actions in turns or ():
                batch.record_turns(group, group.env.step(actions))
            if turns is None:
                under_way.remove(batch)
            assert sum(len(batch.live) for batch in batches) <= most
        wait_for([batch.pause for batch in under_way])


def test_no_more_episodes_are_under_way_than_the_capacity_and_they_are_the_same() -> None:
    capacity = Capacity(3)
    with vector() as one, vector() as other, vector() as alone:
        batches = [
            Batch(Rollout(env, ExpertPolicy()), TASKS, capacity=capacity) for env in (one, other)
        ]
        assert [batch.num_waiting for batch in batches] == [7, 7]
        play_together(batches, most=3)
        assert [batch.num_waiting for batch in batches] == [0, 0]
        expected = [t.to_json() for t in Rollout(alone, ExpertPolicy()).run(TASKS)]
        for batch in batches:
            assert [t.to_json() for t in batch.finish()] == expected
    assert capacity.free == 3


def test_a_batch_that_is_given_up_gives_its_capacity_back() -> None:
    capacity = Capacity(3)
    with vector() as env:
        batch = Batch(Rollout(env, ExpertPolicy()), TASKS, capacity=capacity)
        turns = batch.next_turns()
        assert turns and (len(batch.live), capacity.free) == (3, 0)
        batch.abandon()
    assert capacity.free == 3
