"""`Distractors`: facts that are the same for all episodes of a task, and of no use."""

import re
from typing import Any

import gymnasium as gym
import pytest

import agentgym_envs
from wrappers import Distractors, TextVectorEnv
from wrappers.distractors import FACTS

NAME = "agentgym/TextCraft-v0"


def opened(task_id: str, **options: Any) -> tuple[Distractors, str]:
    env = Distractors(gym.make(NAME, action_format="plain"), **options)
    return env, env.reset(options={"task_id": task_id})[0]


def facts_of(observation: str) -> list[str]:
    first, _, _ = observation.partition("\n\n")
    return [fact for fact in FACTS if fact in first]


def test_the_facts_stand_before_the_observation_and_leave_it_as_it_is() -> None:
    own, _ = gym.make(NAME, action_format="plain").reset(options={"task_id": "textcraft_7"})
    _, observation = opened("textcraft_7", count=3)
    facts, _, rest = observation.partition("\n\n")
    assert rest == own
    assert len(facts_of(observation)) == 3 == facts.count(".")


def test_a_task_has_the_same_facts_in_every_episode_and_another_task_others() -> None:
    (one, first), (other, again) = opened("textcraft_7"), opened("textcraft_7")
    assert first == again
    assert one.step("inventory")[0] == other.step("inventory")[0]
    seen = {tuple(facts_of(opened(f"textcraft_{n}")[1])) for n in range(12)}
    assert len(seen) > 6
    assert facts_of(opened("textcraft_7", seed=1)[1]) != facts_of(first)


def test_a_state_that_is_met_again_reads_as_it_did() -> None:
    env, _ = opened("textcraft_7")
    assert env.step("inventory")[0] == env.step("inventory")[0]


def test_a_copy_of_an_episode_goes_on_with_its_facts() -> None:
    env, _ = opened("textcraft_7")
    env.step("inventory")
    twin, _ = opened("textcraft_9")
    agentgym_envs.restore(twin, env.unwrapped.snapshot())
    assert env.step("get 1 oak log")[0] == twin.step("get 1 oak log")[0]


def test_no_fact_shares_a_word_with_the_goal() -> None:
    class Asks(gym.Wrapper[str, str, str, str]):
        def reset(self, **options: Any) -> Any:
            observation, info = self.env.reset(**options)
            return observation, {**info, "goal": "Find the train, the moon and the rain."}

    env = Distractors(Asks(gym.make(NAME)), count=8)
    for number in range(20):
        observation, _ = env.reset(options={"task_id": f"textcraft_{number}"})
        assert len(facts_of(observation)) == 8
        assert not re.search(r"\b(train|moon|rain)\b", observation.partition("\n\n")[0])


def test_it_wraps_the_environments_of_a_vector() -> None:
    vector = TextVectorEnv([lambda: Distractors(gym.make(NAME))] * 2)
    observations, _ = vector.reset(options={"task_id": "textcraft_7"})
    vector.close()
    assert observations[0] == observations[1] and facts_of(observations[0])


@pytest.mark.parametrize("count", [0, 9, 1.5])
def test_another_number_of_facts_is_refused(count: Any) -> None:
    with pytest.raises(ValueError, match=r"count must be in 1\.\.8, got"):
        Distractors(gym.make(NAME), count=count)
