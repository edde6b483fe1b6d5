"""Names the items of a drawn book: a material, then a form, as in "willow plank".

A book has few materials, so its items share words, as Minecraft's do. What is made is called after
the material of something that it is made of: the one that has given fewest names so far.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from agentgym_envs.content.dice import Dice


class Names:
    """Draws names, each once.

    Args:
        dice: the only source of chance.
        num_materials: how many materials the book has.
    """

    def __init__(self, dice: Dice, *, num_materials: int) -> None:
        families = _words()["families"]
        pairs = [(word, name) for name in families for word in families[name]["materials"]]
        self._dice = dice
        self._family_of = dict(dice.sample(pairs, num_materials))
        self._uses = dict.fromkeys(self._family_of, 0)
        self._taken: set[str] = set()

    def raw(self) -> str:
        """Return the name of something that no recipe makes."""
        return self._fresh([], "raw")

    def made(self, within: Sequence[str], height: int, *, is_goal: bool) -> str:
        """Return the name of something that is made.

        Args:
            within: what it is made of.
            height: how many recipes deep it is; 1 where it is made of raw things alone.
            is_goal: name it as a goal is named.
        """
        kind = "plain" if height == 1 else "part" if height <= 3 else "assembly"
        materials = [name.partition(" ")[0] for name in within]
        return self._fresh(materials, "goal" if is_goal else kind)

    def _fresh(self, preferred: Sequence[str], kind: str) -> str:
        """Return a free name of a kind, of a preferred material where there is one."""
        others = self._dice.shuffled(list(self._family_of))
        first, last = (sorted(names, key=self._uses.__getitem__) for names in (preferred, others))
        for material in (*first, *last):
            family = _words()["families"][self._family_of[material]]
            forms = _words()["forms"].get(kind) or family[kind]
            free = [name for form in forms if (name := f"{material} {form}") not in self._taken]
            if free:
                name = self._dice.pick(free)
                self._taken.add(name)
                self._uses[material] += 1
                return name
        raise AssertionError(f"a book of {len(self._family_of)} materials has no name left: {kind}")


def drawn_names() -> list[str]:
    """List every name that an item of a drawn book may have."""
    words = _words()
    names = []
    for family in words["families"].values():
        forms = [*family["raw"], *family["plain"]]
        for kind in words["forms"].values():
            forms += kind
        names += [f"{material} {form}" for material in family["materials"] for form in forms]
    return names


@cache
def _words() -> dict[str, Any]:
    text = files("agentgym_envs.textcraft").joinpath("drawn_words.toml").read_text("utf-8")
    return tomllib.loads(text)
