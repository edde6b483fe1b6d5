"""Lists what a task shows: the crafting commands of its goal, and some that only distract."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from agentgym_envs.textcraft.recipes import RecipeBook

MAX_DISTRACTORS = 10
"""Distractors of a task at most, and uses of one ingredient that may become distractors."""


def command_list(book: RecipeBook, goal: str, seed: int | str) -> tuple[str, ...]:
    """List the commands of every recipe on any way to the goal, among distractors, shuffled.

    A distractor is a recipe that uses an ingredient of those recipes. As in the original, up to
    `MAX_DISTRACTORS` uses of each ingredient are candidates, and as many of all candidates enter.

    Args:
        book: the recipes.
        goal: a craftable item.
        seed: chooses distractors and order; the same on every machine and Python.
    """
    closure = dict.fromkeys(recipe.text for recipe in book.closure(goal))
    ingredients = {name for recipe in book.closure(goal) for _, name in recipe.ingredients}
    candidates: set[str] = set()
    for name in ingredients:
        uses = (recipe.text for recipe in book.uses[name])
        candidates.update(_shuffled(uses, f"{seed}/{name}")[:MAX_DISTRACTORS])
    distractors = _shuffled(candidates.difference(closure), f"{seed}/distractors")
    return tuple(_shuffled([*closure, *distractors[:MAX_DISTRACTORS]], f"{seed}/order"))


def first_observation(commands: Iterable[str], goal: str) -> str:
    """Write what a task begins with."""
    return "Crafting commands:\n" + "\n".join(commands) + f"\n\nGoal: craft {goal}."


def _shuffled(texts: Iterable[str], seed: str) -> list[str]:
    # A hash order: library generators promise no stream that outlives their next version.
    return sorted(texts, key=lambda text: hashlib.sha256(f"{seed}/{text}".encode()).digest())
