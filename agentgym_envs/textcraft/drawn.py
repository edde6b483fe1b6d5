"""Draws made-up books: one book of recipes and one goal for each number of a kind.

A number's band says how many crafts its goal takes. Every made thing goes into one or two of those
before it, in numbers, down to raw things; the draw is repeated until the goal takes about as many
crafts as were drawn for it. Other recipes are added that use the same things, and raw things that
only those use. Every item has one recipe, so no way to the goal takes fewer crafts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil
from typing import NamedTuple

from agentgym_envs.content.dice import Dice
from agentgym_envs.textcraft.drawn_names import Names
from agentgym_envs.textcraft.recipes import Recipe, RecipeBook


class Kind(NamedTuple):
    """A kind of drawn books.

    Attributes:
        source: names its draws; its version goes up when a number comes to hold another book.
        bands: fewest and most crafts of a goal; a number's remainder by how many there are says
            which.
        max_turns: of an episode.
    """

    source: str
    bands: tuple[tuple[int, int], ...]
    max_turns: int


KINDS = {
    "shallow": Kind("textcraft-shallow/v1", ((1, 1), (2, 2), (3, 3), (4, 5)), 30),
    "deep": Kind("textcraft-deep/v1", ((6, 10), (11, 20), (21, 40), (41, 60)), 100),
}
"""Name -> kind. The longest plans take fewer actions than three quarters of the turns."""

MAX_NEEDED = 60
"""The most of one item that a goal takes."""

_OUTPUT_COUNTS = (1, 1, 1, 2, 2, 3, 4)
_MADE_COUNTS = (1, 1, 2, 2, 3)
_RAW_COUNTS = (1, 1, 2, 2, 3, 4)
_REACH = 4  # a made thing goes into one of so many before it
_SHARED = 0.3  # of the made things go into a second one too
_MAX_INGREDIENTS = 4
_FEW = 6  # crafts; fewer may be of as many things


class DrawnTask(NamedTuple):
    """A book and its goal.

    Attributes:
        book: all recipes of the task, in the order in which they are shown.
        goal: what is to be crafted.
        num_crafts: how many crafts it takes.
    """

    book: RecipeBook
    goal: str
    num_crafts: int


@lru_cache(maxsize=256)
def drawn_task(name: str, number: int) -> DrawnTask:
    """Return the task of a number, the same on every machine.

    Args:
        name: one of `KINDS`.
        number: any from 0 on.
    """
    kind = KINDS[name]
    dice = Dice(kind.source, number)
    tree = _fitting_tree(dice, kind.bands[number % len(kind.bands)])
    names = Names(dice, num_materials=3 + len(tree.things) // 4)
    recipes = _named(names, tree)
    goal = recipes[-1].output
    recipes += _distractors(dice, names, recipes)
    return DrawnTask(RecipeBook(dice.shuffled(recipes), source=kind.source), goal, tree.num_crafts)


@dataclass
class _Thing:
    """A made thing before it has a name: the costs and the yield of one use of its recipe.

    Attributes:
        count: how many are made at once.
        made: places of made ingredients in the tree, and how many are taken.
        raw: likewise for raw ingredients.
    """

    count: int
    made: dict[int, int]
    raw: dict[int, int]


@dataclass
class _Tree:
    """The recipes and ingredients of a goal.

    Attributes:
        things: the goal first, every other after those that it goes into.
        num_crafts: how many crafts the goal takes.
        most_needed: how many it takes of the item of which it takes most.
    """

    things: list[_Thing]

    def __post_init__(self) -> None:
        needed = [1] + [0] * (len(self.things) - 1)
        raw: dict[int, int] = {}
        self.num_crafts = 0
        for place, thing in enumerate(self.things):
            times = ceil(needed[place] / thing.count)
            self.num_crafts += times
            for below, count in thing.made.items():
                needed[below] += times * count
            for below, count in thing.raw.items():
                raw[below] = raw.get(below, 0) + times * count
        self.most_needed = max(*needed, *raw.values())


def _fitting_tree(dice: Dice, band: tuple[int, int]) -> _Tree:
    target = dice.between(*band)
    low, high = max(band[0], target - target // 10), min(band[1], target + target // 10)
    while True:
        tree = _drawn(dice, target)
        widest = max(len(thing.made) + len(thing.raw) for thing in tree.things)
        if low <= tree.num_crafts <= high and tree.most_needed <= MAX_NEEDED:
            if widest <= _MAX_INGREDIENTS:
                return tree


def _drawn(dice: Dice, num_crafts: int) -> _Tree:
    if num_crafts < _FEW:
        num_things = dice.between(ceil(num_crafts / 2), num_crafts)
    else:
        num_things = dice.between(max(3, num_crafts // 4), min(22, max(4, num_crafts * 2 // 3)))
    things = [_Thing(dice.pick(_OUTPUT_COUNTS), {}, {}) for _ in range(num_things)]
    things[0].count = 1
    for place in range(1, num_things):
        for _ in range(1 + dice.chance(_SHARED)):
            user = things[dice.between(max(0, place - _REACH), place - 1)]
            user.made[place] = dice.pick(_MADE_COUNTS)
    num_raw = 2 + num_things // 3
    for thing in things:
        least = 0 if thing.made else 1
        for _ in range(dice.between(least, 2 if len(thing.made) < 2 else least)):
            thing.raw[dice.below(num_raw)] = dice.pick(_RAW_COUNTS)
    return _Tree(things)


def _named(names: Names, tree: _Tree) -> list[Recipe]:
    """Return the recipes of a tree, the goal's last."""
    raw: dict[int, str] = {}
    made: dict[int, str] = {}
    heights: dict[int, int] = {}
    recipes = []
    for place, thing in reversed([*enumerate(tree.things)]):
        for below in thing.raw:
            if below not in raw:
                raw[below] = names.raw()
        within = [(count, made[below]) for below, count in thing.made.items()]
        within += [(count, raw[below]) for below, count in thing.raw.items()]
        heights[place] = 1 + max((heights[below] for below in thing.made), default=0)
        made[place] = names.made([n for _, n in within], heights[place], is_goal=place == 0)
        recipes.append(Recipe(made[place], thing.count, tuple(within)))
    return recipes


def _distractors(dice: Dice, names: Names, recipes: list[Recipe]) -> list[Recipe]:
    """Return recipes of things that the goal does not need, made of its things and others."""
    pool = list(dict.fromkeys(name for recipe in recipes for _, name in recipe.ingredients))
    heights = {recipe.output: 2 for recipe in recipes}
    unneeded = [names.raw() for _ in range(1 + len(recipes) // 6)]
    distractors = []
    for _ in range(3 + len(recipes) // 2):
        within = dice.sample(pool, dice.between(1, 3))
        if unneeded:
            pool.append(unneeded.pop())
            within[-1] = pool[-1]
        height = 1 + max(heights.get(name, 0) for name in within) + dice.chance(0.3)
        name = names.made(within, height, is_goal=dice.chance(0.15))
        counts = [dice.pick(_RAW_COUNTS) for _ in within]
        ingredients = tuple(zip(counts, within, strict=True))
        distractors.append(Recipe(name, dice.pick(_OUTPUT_COUNTS), ingredients))
        heights[name] = height
        pool.append(name)
    return distractors
