"""The setting of a world of sites: its seed, its size, and its people."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from agentgym_envs.sites.people import AGENT, Person
from worlds.dice import Dice
from worlds.words import read_words

_WORDS = read_words("sites/people.toml")

TOWNS: tuple[str, ...] = _WORDS["towns"]

FIRST_SEED = 2027
"""Seed of the shipped world, in which every template finds enough tasks."""

PEOPLE = 400
MAX_SCALE = 10


@dataclass(frozen=True)
class Setting:
    """The seed and the scale of a world.

    Attributes:
        seed: 0 is the world that is shipped; each has dice of its own.
        scale: how many times the people, goods, projects, places and posts of the shipped world
            it has. What belongs to the agent's user does not grow.

    Raises:
        ValueError: the scale is out of bounds.
    """

    seed: int = 0
    scale: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.scale <= MAX_SCALE:
            raise ValueError(
                f"scale must be from 1 to {MAX_SCALE}, got {self.scale}: the word lists make no "
                "more different names"
            )

    def dice(self, *key: object) -> Dice:
        """Return the dice of a part of the world, independent of all others."""
        return Dice(FIRST_SEED + self.seed, *key)

    @cached_property
    def people(self) -> tuple[Person, ...]:
        """The agent's person and others. All sites share them."""
        dice = self.dice("people")
        result = {AGENT.name: AGENT}
        while len(result) < PEOPLE * self.scale:
            first, last = dice.pick(_WORDS["first"]), dice.pick(_WORDS["last"])
            name, username = f"{first} {last}", f"{first}.{last}".lower()
            person = Person(name, username, f"{username}@post.test", dice.pick(TOWNS))
            result.setdefault(name, person)
        return tuple(result.values())
