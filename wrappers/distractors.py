"""Facts in observations that have nothing to do with the goal, for policies that transfer."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym

from agentgym_envs.arguments import whole_number
from agentgym_envs.content.dice import Dice
from agentgym_envs.core.text import remove_turn_notice

FACTS = (
    "Something ticks in the distance.",
    "It rained before dawn.",
    "Far away somebody whistles twice.",
    "The air smells of pine.",
    "Somebody hums an old song nearby.",
    "A moth circles and is gone.",
    "The wind has turned to the north.",
    "The afternoon is bright and still.",
    "Two voices argue about football.",
    "A train whistles and fades.",
    "It is a little colder than yesterday.",
    "A pigeon coos above.",
    "Someone has carved initials here.",
    "A siren passes and dies down.",
    "The moon was full last Tuesday.",
    "A draught comes in from somewhere.",
    "Footsteps come nearer, then stop.",
    "Church bells strike four.",
    "A dog barks at nothing.",
    "Thunder rolls beyond the hills.",
    "There was a festival last weekend.",
    "It is unusually quiet today.",
    "An engine coughs and starts.",
    "The neighbours are moving out.",
    "Snow is forecast for the weekend.",
    "A radio plays a tango, softly.",
    "A cricket chirps without a pause.",
    "Children laugh in the distance.",
    "A poster announces a circus.",
    "Swallows are gathering to leave.",
    "The ceiling creaks a little.",
    "Somebody left in a hurry this morning.",
)
"""Sentences of no use."""
_WORD = re.compile(r"[a-z]{4,}")


class Distractors(gym.Wrapper[str, str, str, str], gym.utils.RecordConstructorArgs):
    """Puts goal-irrelevant facts before each observation, after arXiv 2601.18217.

    A policy that was trained among them is led less by details that a new environment happens to
    have. The facts follow from the task and the observation, so all episodes of a group read the
    same ones, and a state that is met again reads as it did. None shares a word of four letters
    with the task's goal.

    Args:
        env: the environment.
        count: facts per observation.
        seed: draws other facts for the same tasks.

    Raises:
        ValueError: `count` is not in 1..8.
    """

    def __init__(self, env: gym.Env[str, str], *, count: int = 2, seed: int = 0) -> None:
        gym.utils.RecordConstructorArgs.__init__(self, count=count, seed=seed)
        gym.Wrapper.__init__(self, env)
        self._count = whole_number("count", count, least=1, most=8)
        self._seed = seed
        self._task_id = ""
        self._facts: list[str] = []

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode."""
        observation, info = self.env.reset(seed=seed, options=options)
        self._task_id = str(info["task_id"])
        known = set(_WORD.findall(str(info.get("goal", "")).lower()))
        self._facts = [fact for fact in FACTS if not known & set(_WORD.findall(fact.lower()))]
        return self._distracting(observation), info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        return self._distracting(observation), float(reward), terminated, truncated, info

    def _distracting(self, observation: str) -> str:
        dice = Dice(self._seed, self._task_id, remove_turn_notice(observation))
        return f"{' '.join(dice.sample(self._facts, self._count))}\n\n{observation}"
