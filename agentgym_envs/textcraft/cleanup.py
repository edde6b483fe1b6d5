"""Turns Minecraft's recipes into an acyclic graph, by the rules of AgentGym's TextCraft."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from agentgym_envs.textcraft.recipes import Recipe


def clean(
    recipes: Iterable[Recipe], generics: Mapping[str, Sequence[str]]
) -> tuple[list[Recipe], list[str]]:
    """Drop the recipes that the original drops.

    Args:
        recipes: all recipes, in the order in which the original would meet them: when two make a
            circle, the later one goes.
        generics: the members of each generic name.

    Returns:
        The recipes that stay, and the items that only dropped recipes name; those can be fetched.
    """
    recipes = list(recipes)
    graph = without_circles((r for r in recipes if not _unpacks_block(r)), generics)
    named = {name for recipe in graph for name in _names(recipe)}
    dropped = {name for recipe in recipes for name in _names(recipe)}
    return graph, sorted(dropped - named - set(generics))


def without_circles(
    recipes: Iterable[Recipe], generics: Mapping[str, Sequence[str]]
) -> list[Recipe]:
    """Keep each recipe unless, by those taken so far, an ingredient depends on its output."""
    needs: dict[str, set[str]] = {}
    graph = []
    for recipe in dict.fromkeys(recipes):
        below = {m for _, n in recipe.ingredients for m in generics.get(n) or (n,)}
        if recipe.output not in _reach(below, needs):
            needs.setdefault(recipe.output, set()).update(below)
            graph.append(recipe)
    return graph


def _unpacks_block(recipe: Recipe) -> bool:
    return len(recipe.ingredients) == 1 and recipe.ingredients[0][1].endswith(" block")


def _names(recipe: Recipe) -> list[str]:
    return [recipe.output, *(name for _, name in recipe.ingredients)]


def _reach(start: Iterable[str], needs: Mapping[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += needs.get(name, ())
    return seen
