from __future__ import annotations

from pathlib import Path

import pytest

from agentgym_envs import Outcome
from agentgym_envs.core.text import append_turn_notice, counted, remove_turn_notice, truncate
from tests.helpers import CountingEnv


class LongEnv(CountingEnv):
    """Answers with 10,000 characters; `say x` is no valid action."""

    def apply(self, action: str) -> Outcome:
        return Outcome("a" * 10_000, info={"is_valid_action": action != "say x"})


def test_the_last_three_turns_are_told() -> None:
    env = CountingEnv(max_turns=5)
    texts = [env.reset(options={"task_id": 30})[0]]
    texts += [env.step("add 1")[0] for _ in range(5)]
    told = [text.partition("\n\n(")[2] for text in texts]
    assert told == [
        "",
        "",
        "This is turn 3 of 5.)",
        "This is turn 4 of 5.)",
        "This is turn 5 of 5.)",
        "",
    ]


def test_a_horizon_is_the_limit_that_is_told() -> None:
    env = CountingEnv(max_turns=20)
    observation, _ = env.reset(options={"task_id": 30, "horizon": 2})
    assert observation.endswith("(This is turn 1 of 2.)")


def test_nothing_is_told_after_the_end_or_where_it_is_switched_off() -> None:
    env = CountingEnv(max_turns=2)
    env.reset(options={"task_id": 4})
    assert env.step("add 5")[0] == "The counter is 5."
    silent = CountingEnv(max_turns=2, turns_left=False)
    assert "This is turn" not in silent.reset(options={"task_id": 4})[0]
    assert "This is turn" not in CountingEnv(max_turns=2, compat="agentgym").reset(seed=0)[0]


@pytest.mark.parametrize("observation", ["", "You see a door.", "(This is turn 1 of 2.)"])
def test_without_its_line_an_observation_is_the_same_in_every_turn(observation: str) -> None:
    for turn in range(1, 6):
        assert (
            remove_turn_notice(append_turn_notice(observation, turn=turn, limit=5)) == observation
        )


@pytest.mark.parametrize(
    ("kwargs", "action", "length"),
    [
        ({}, "add 1", 8_000),
        ({}, "say x", 2_000),
        ({"max_observation": 500}, "add 1", 500),
        ({"max_observation": 500}, "say x", 500),
        ({"max_error": 300}, "say x", 300),
        ({"max_observation": 9_999, "max_error": 9_999}, "say x", 9_999),
    ],
)
def test_observations_have_a_budget(kwargs: dict[str, int], action: str, length: int) -> None:
    env = LongEnv(**kwargs)
    env.reset(seed=0)
    observation = env.step(action)[0]
    shown, _, rest = observation.partition("...")
    assert (shown, rest) == ("a" * length, f" ({10_000 - length:,} more characters are left out)")


def test_the_original_has_no_budget() -> None:
    env = LongEnv(compat="agentgym")
    env.reset(seed=0)
    assert env.step("add 1")[0] == "a" * 10_000
    assert truncate("abc", 3) == "abc"


@pytest.mark.parametrize("name", ["max_observation", "max_error"])
def test_a_budget_below_what_a_message_needs_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be >= 100, got 5"):
        CountingEnv(**{name: 5})


def test_a_given_system_prompt_stands_for_the_environment_s_own(tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text("Count upwards.\n", encoding="utf-8")
    for given in (file, str(file), "Count upwards.\n"):
        assert CountingEnv(system_prompt=given).system_prompt == "Count upwards.\n"


def test_a_system_prompt_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'nowhere\.txt' cannot be read: .* or the text itself"):
        CountingEnv(system_prompt="nowhere.txt")
    with pytest.raises(TypeError, match="must be a text or a path, got int"):
        CountingEnv(system_prompt=3)  # type: ignore[arg-type]


def test_one_thing_is_singular() -> None:
    counts = [counted(number, "entry", "entries") for number in (0, 1, 1200)]
    assert counts == ["0 entries", "1 entry", "1,200 entries"]
    assert counted(2, "task") == "2 tasks"
