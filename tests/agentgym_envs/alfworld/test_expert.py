"""The expert solves tasks by what the episode has shown."""

from __future__ import annotations

import random

import pytest

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.tasks import alfworld_tasks
from agentgym_envs.checking.checks import ShownText

NUMBERS = sorted(alfworld_tasks().games)


def solves(env: ALFWorldEnv) -> bool:
    for action in env.expert():
        *_, terminated, truncated, info = env.step(action)
        assert info["is_valid_action"]
        if terminated or truncated:
            return bool(info["success"])
    return False


@pytest.mark.full
def test_the_expert_solves_every_task_when_it_has_the_turns() -> None:
    env = ALFWorldEnv(max_turns=100)
    unsolved = []
    for number in NUMBERS:
        env.reset(options={"task_id": number})
        assert not env.house.is_won
        if not solves(env):
            unsolved.append(number)
    assert unsolved == []


def test_the_expert_solves_nearly_all_tests_in_the_default_turns() -> None:
    env = ALFWorldEnv()
    solved = 0
    for task_id in env.task_ids("test"):
        env.reset(options={"task_id": task_id})
        solved += solves(env)
    assert solved >= 190


@pytest.mark.parametrize("compat", [None, "agentgym"])
def test_the_expert_goes_on_from_any_state(compat: str | None) -> None:
    env = ALFWorldEnv(max_turns=300, compat=compat)
    for number in NUMBERS[::40]:
        rng = random.Random(number)
        _, info = env.reset(options={"task_id": number})
        for _ in range(40):
            *_, terminated, _, info = env.step(rng.choice(info["available_actions"]))
            if terminated:
                break
        else:
            assert solves(env), number


@pytest.mark.parametrize(("baseline", "first"), [("listed_order", 0), ("reverse_order", -1)])
def test_a_sweep_goes_through_the_places_in_their_order(baseline: str, first: int) -> None:
    env = ALFWorldEnv(split="test", max_turns=200)
    solved = 0
    for task_id in env.task_ids()[::10]:
        env.reset(options={"task_id": task_id})
        assert next(env.baseline(baseline)) == f"go to {env.house.places[first].name}"
        for action in env.baseline(baseline):
            *_, info = env.step(action)
            assert info["is_valid_action"]
        solved += info["success"] and info["turn"] <= 30
        assert info["success"]
    assert 10 <= solved <= 18  # of 20: what the listing alone gives


def test_the_hard_suite_s_turns_are_too_few_for_a_sweep() -> None:
    solved = {}
    for policy in ("expert", "listed_order", "reverse_order"):
        env = ALFWorldEnv(max_turns=12)
        solved[policy] = 0
        for task_id in env.task_ids("test")[::4]:
            env.reset(options={"task_id": task_id})
            for action in env.expert() if policy == "expert" else env.baseline(policy):
                *_, terminated, truncated, info = env.step(action)
                if terminated or truncated:
                    break
            solved[policy] += info["success"]
    assert solved["expert"] >= 42  # of 50
    assert max(solved["listed_order"], solved["reverse_order"]) <= 22


def test_an_expert_whose_moves_are_not_played_ends() -> None:
    env = ALFWorldEnv()
    env.reset(options={"task_id": 0})
    assert len(set(env.expert())) == 1


def test_thoughts_name_only_what_was_shown() -> None:
    env = ALFWorldEnv(action_format="react", max_turns=100)
    for number in NUMBERS[::15]:
        observation, _ = env.reset(options={"task_id": number})
        shown = ShownText(env, observation)
        for move in env.expert_moves():
            assert move.thought
            shown.check(move.thought)
            observation, *_ = env.step(env.parser.format(move.action, move.thought))
            shown.add(observation)
            if env.is_over:
                break


def test_a_lamp_is_looked_for_where_lamps_stand_first() -> None:
    """In this room no desk: a side table comes before the eight shelves."""
    env = ALFWorldEnv()
    env.reset(options={"task_id": "alfworld_20032"})
    kinds = []
    for move in env.expert_moves():
        env.step(move.action)
        if move.thought.startswith("I look for a desklamp"):
            assert env.house.at is not None
            kinds.append(env.house.at.kind)
        if env.is_over:
            break
    assert set(kinds) == {"sidetable"}


def test_the_expert_does_not_know_what_it_has_not_seen() -> None:
    """Two houses that look alike so far get the same move, wherever the thing is."""
    env = ALFWorldEnv()
    for number in NUMBERS[::100]:
        env.reset(options={"task_id": number})
        first = next(env.expert())
        task = env.house.task
        things = [t for place in env.house.places for t in place.contents if t.kind == task.thing]
        for place in env.house.places:
            place.contents = [thing for thing in place.contents if thing not in things]
        env.house.places[-1].contents += things
        assert next(env.expert()) == first
