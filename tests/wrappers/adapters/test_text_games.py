"""Other libraries' text environments as ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.spaces import Text

from agentgym_envs import check_text_env
from agentgym_envs.registration import registry
from wrappers import TextVectorEnv
from wrappers.adapters.text_games import register_gem, register_gymnasium

GUESS = "tests/Guess-v0"


class Guess(gym.Env[str, str]):
    """Guess a digit; Gymnasium's own spaces of text."""

    observation_space = Text(100)
    action_space = Text(20)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        super().reset(seed=seed)
        self.number, self.left = int(self.np_random.integers(10)), 5
        return "Which digit?", {"available_actions": [str(n) for n in range(10)]}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        self.left -= 1
        is_right = action == str(self.number)
        text = "Yes." if is_right else "Larger." if action < str(self.number) else "Smaller."
        return text, float(is_right), is_right, not is_right and self.left == 0, {}


class Numbers(Guess):
    """Observes what is no text."""

    def reset(self, **kwargs: Any) -> tuple[Any, dict[str, Any]]:  # type: ignore[override]
        _, info = super().reset(**kwargs)
        return 7, info


@pytest.fixture
def ours(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    before = dict(gym.registry)
    monkeypatch.setattr(registry, "REGISTERED", [*registry.REGISTERED])
    gym.register(GUESS, entry_point=Guess)
    register_gymnasium("tests/OurGuess-v0", GUESS, max_turns=9, instructions="Guess a digit.")
    yield "tests/OurGuess-v0"
    gym.registry.clear()
    gym.registry.update(before)


def test_a_gymnasium_game_keeps_the_contract(ours: str) -> None:
    check_text_env(ours, num_tasks=1)


def test_a_gymnasium_game_is_played_as_ours(ours: str) -> None:
    env: Any = gym.make(ours, action_format="react")
    assert "Guess a digit." in env.unwrapped.system_prompt
    observation, info = env.reset(options={"task_id": "guess_3"})
    assert (observation, info["available_actions"][0]) == ("Which digit?", "0")
    answers = [env.step(f"Thought: hm\nAction: {digit}") for digit in ("x", "y", "z", "a", "b")]
    _, reward, terminated, truncated, info = answers[-1]
    assert (reward, terminated, truncated, info["truncated_by"]) == (0, False, True, "env_limit")
    env.reset(options={"task_id": "guess_3"})
    number = env.unwrapped._game.unwrapped.number
    assert env.step(f"Action: {number}")[4]["success"]
    env.close()


def test_a_vector_plays_it_in_processes(ours: str) -> None:
    with TextVectorEnv(ours, 2, backend="process") as envs:
        observations, _ = envs.reset(options={"task_id": ["guess_1", "guess_2"]})
        assert observations == ["Which digit?"] * 2


def test_who_observes_no_text_is_told_how_to_write_it(ours: str) -> None:
    gym.register("tests/Numbers-v0", entry_point=Numbers)
    register_gymnasium("tests/OurNumbers-v0", "tests/Numbers-v0")
    with pytest.raises(TypeError, match="numbers: an observation must be a str, got int"):
        gym.make("tests/OurNumbers-v0").reset()


def test_a_gem_game_is_played_as_ours(ours: str) -> None:
    pytest.importorskip("gem", reason="gem-llm is missing: make test-partner NAME=adapters")
    register_gem("tests/OurGem-v0", "game:GuessTheNumber-v0-easy")
    env: Any = gym.make("tests/OurGem-v0")
    observation, info = env.reset(options={"task_id": "guessthenumber_5"})
    assert "guess" in observation.lower()
    number = env.unwrapped._game.game_number
    _, reward, terminated, _, info = env.step(f"\\boxed{{{number}}}")
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    first = number
    env.reset(options={"task_id": "guessthenumber_5"})
    assert env.unwrapped._game.game_number == first
    assert not env.step("I do not know")[4]["success"]
    env.close()
