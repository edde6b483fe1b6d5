"""TextCraft's scene: the inventory, and how much of the goal's recipe tree is there already.

The tree is that of a plan with the fewest actions from nothing. What a policy makes in another way
than the plan's counts where it fills the same place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from agentgym_envs.textcraft.planner import plan
from agentgym_envs.textcraft.recipes import RecipeBook
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.scenes.replay import replay


def scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about` and `turns` of an episode."""
    env, states = replay(
        trajectory, folder, lambda _, info: (dict(info["inventory"]), info["success"])
    )
    book: RecipeBook = env.book  # type: ignore[attr-defined]
    tree = recipe_tree(book, env.goal)
    turns = [
        {
            "inventory": [[item, count] for item, count in inventory.items()],
            "tree": progress(tree, inventory, is_done=is_done),
        }
        for inventory, is_done in states
    ]
    about = {
        "goal": env.goal,
        "tree": [{"item": n.item, "depth": n.depth, "recipe": n.recipe} for n in tree],
    }
    return {"about": about, "turns": turns}


@dataclass(frozen=True)
class Node:
    """One item of the tree.

    Attributes:
        item: its name; a generic name where any of its members will do.
        members: the names that fill the place.
        depth: how far below the goal; children follow their parent, one deeper.
        recipe: the crafting command, or None where it is fetched.
        makes: how many one use of the recipe makes.
        per_use: how many of it one use of the parent's recipe takes.
    """

    item: str
    members: tuple[str, ...]
    depth: int
    recipe: str | None
    makes: int
    per_use: int


def recipe_tree(book: RecipeBook, goal: str) -> list[Node]:
    """Return the goal's tree, each item before its ingredients.

    An item that several others need is in several places, each with what it needs by itself.
    """
    jobs = {job.recipe.output: job for job in plan(book, goal).jobs}
    nodes: list[Node] = []

    def add(name: str, filled: str, per_use: int, depth: int) -> None:
        job = jobs.get(filled)
        recipe, makes = (None, 1) if job is None else (job.command, job.recipe.count)
        nodes.append(Node(name, book.members(name), depth, recipe, makes, per_use))
        if job is not None:
            for count, ingredient in job.recipe.ingredients:
                add(ingredient, job.filling.get(ingredient, ingredient), count, depth + 1)

    add(goal, goal, 1, 0)
    return nodes


def progress(
    tree: list[Node], inventory: Mapping[str, int], *, is_done: bool
) -> list[list[int | str]]:
    """Return [held, needed, state] for each node.

    Held items serve the nodes in their order, and reduce the needs of the nodes below.
    """
    left = dict(inventory)
    uses = [1]  # by depth: how often the recipe of the node above is still to be used
    states: list[list[int | str]] = []
    for node in tree:
        del uses[node.depth + 1 :]
        needed = node.per_use * uses[node.depth]
        held = _take(left, node, needed)
        if node.depth == 0:
            held = min(held, 1) if is_done else 0
        uses.append(ceil((needed - held) / node.makes))
        if needed == 0:
            state = "covered"
        elif held >= needed:
            state = "there"
        else:
            state = "partly" if held else "missing"
        states.append([held, needed, state])
    return states


def _take(left: dict[str, int], node: Node, needed: int) -> int:
    """Take a node's items out of `left`, of one kind as recipes do."""
    best = max(node.members, key=lambda member: left.get(member, 0))
    held = min(left.get(best, 0), needed)
    if held:
        left[best] -= held
    return held
