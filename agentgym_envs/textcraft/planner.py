"""Plans the fewest actions that craft a goal from an inventory.

An action is a `get` of any amount of one base item, or one use of a recipe. The search is exact
(branch and bound) over plans that make each item in one way: by one recipe, each generic ingredient
filled by one special type. Besides, what the inventory holds may be used up in a way of its own
first. Other mixtures of ways are not tried; for the built-in recipes and an empty inventory an
integer program over all mixtures found no shorter plan for any of the 544 goals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import ceil

from agentgym_envs.textcraft.recipes import Recipe, RecipeBook

MAX_NODES = 200_000
"""Search nodes after which the best plan so far is returned with `is_proven` False."""


@dataclass(frozen=True)
class Job:
    """One recipe of a plan.

    Attributes:
        recipe: the recipe as it is listed.
        item: what the job is wanted for: the output's name, or a generic name that it fills.
        needed: how many of it are missing.
        times: how often the recipe is used.
        filling: the special type of each generic ingredient.
    """

    recipe: Recipe
    item: str
    needed: int
    times: int
    filling: Mapping[str, str]

    @property
    def command(self) -> str:
        """The crafting command with special types filled in."""
        return self.recipe.command(self.filling)

    @property
    def inputs(self) -> tuple[tuple[int, str], ...]:
        """The items of one use: (count, name) pairs without generic names."""
        return tuple((n, self.filling.get(name, name)) for n, name in self.recipe.ingredients)


@dataclass(frozen=True)
class Plan:
    """A way to the goal.

    Attributes:
        jobs: the recipes, the goal's first, every item's after those that need it.
        fetches: how many of each base item must be got.
        is_proven: no plan of the searched kind has fewer actions.
    """

    jobs: tuple[Job, ...]
    fetches: Mapping[str, int]
    is_proven: bool

    @property
    def num_actions(self) -> int:
        """The number of the plan's actions."""
        return len(self.fetches) + sum(job.times for job in self.jobs)


def plan(book: RecipeBook, goal: str, inventory: Mapping[str, int] | None = None) -> Plan:
    """Return a plan with the fewest actions, of equals the first in the book's order.

    Args:
        book: the recipes.
        goal: a craftable item; it is crafted once, also when the inventory holds it.
        inventory: what is there already.

    Raises:
        ValueError: nothing makes the goal.
    """
    if not book.is_craftable(goal):
        raise ValueError(f"no recipe makes {goal!r}; goals are the items in book.goals")
    held = {name: n for name, n in (inventory or {}).items() if name != goal}
    return _Search(book, goal, held).run()


@dataclass(frozen=True)
class _Node:
    """A partial plan: jobs so far, missing items, and the rest of the inventory."""

    jobs: tuple[Job, ...]
    missing: Mapping[str, int]  # craftable items
    wanted_as: Mapping[str, str]  # the name under which a missing item was first wanted
    fetches: Mapping[str, int]
    left: Mapping[str, int]
    cost: int  # crafts and gets so far


class _Search:
    """Branch and bound: settles the highest missing item first, so its need is final by then."""

    def __init__(self, book: RecipeBook, goal: str, held: dict[str, int]) -> None:
        self.book = book
        self.goal = goal
        self.best: _Node | None = None
        self.nodes = 0
        self.root = _Node((), {goal: 1}, {goal: goal}, {}, held, 0)
        self._yields: dict[str, int] = {}
        self._guess: dict[str, int] = {}

    def run(self) -> Plan:
        self._visit(self.root)
        best = self.best
        if best is None:
            raise ValueError(
                f"{self.goal!r} cannot be made: every recipe of it, or of what it needs, would "
                "take one item for two ingredients; give its generic names more members"
            )
        return Plan(best.jobs, best.fetches, self.nodes <= MAX_NODES)

    def _visit(self, node: _Node) -> None:
        self.nodes += 1
        if self.best is not None and (
            self.nodes > MAX_NODES or self._bound(node) >= self.best.cost
        ):
            return
        if not node.missing:
            self.best = node
            return
        item = max(node.missing, key=lambda name: (self.book.height(name), name))
        for child in sorted(self._children(node, item), key=self._promise):
            self._visit(child)

    def _children(self, node: _Node, item: str) -> Iterator[_Node]:
        ways = list(self._ways(item))
        for recipe, filling in ways:
            times = ceil(node.missing[item] / recipe.count)
            yield self._child(node, item, recipe, filling, times)
            held = min(node.left.get(filling.get(i, i), 0) // n for n, i in recipe.ingredients)
            # With one way alone the two jobs of a split would be the same.
            if 0 < held < times and len(ways) > 1:
                yield self._child(node, item, recipe, filling, held)

    def _ways(self, item: str) -> Iterator[tuple[Recipe, dict[str, str]]]:
        for recipe in self.book.item_recipes(item):
            open_names = [name for _, name in recipe.ingredients if name in self.book.generics]
            for members in product(*map(self.book.members, open_names)):
                filling = dict(zip(open_names, members, strict=True))
                used = [filling.get(name, name) for _, name in recipe.ingredients]
                if len(set(used)) == len(used):  # one entry per item, as a command needs
                    yield recipe, filling

    def _child(
        self, node: _Node, item: str, recipe: Recipe, filling: dict[str, str], times: int
    ) -> _Node:
        missing = dict(node.missing)
        needed = min(missing[item], times * recipe.count)
        missing[item] -= needed
        if not missing[item]:
            del missing[item]
        job = Job(recipe, node.wanted_as[item], needed, times, filling)
        wanted_as, fetches, left = dict(node.wanted_as), dict(node.fetches), dict(node.left)
        for count, name in recipe.ingredients:
            used = filling.get(name, name)
            amount = count * times
            spare = min(left.get(used, 0), amount)
            if spare:
                left[used] -= spare
                amount -= spare
            if not amount:
                continue
            if self.book.is_craftable(used):
                wanted_as.setdefault(used, name)
                missing[used] = missing.get(used, 0) + amount
            else:
                fetches[used] = fetches.get(used, 0) + amount
        cost = node.cost + times + len(fetches) - len(node.fetches)
        return _Node((*node.jobs, job), missing, wanted_as, fetches, left, cost)

    def _bound(self, node: _Node) -> int:
        """Return the least number of actions of a plan from this node."""
        return node.cost + sum(ceil(n / self._yield(item)) for item, n in node.missing.items())

    def _promise(self, node: _Node) -> int:
        """Estimate the actions of a plan from this node, only for the order of the search."""
        return node.cost + sum(
            ceil(n / self._yield(item)) - 1 + self._once(item) for item, n in node.missing.items()
        )

    def _yield(self, item: str) -> int:
        if item not in self._yields:
            self._yields[item] = max(recipe.count for recipe in self.book.item_recipes(item))
        return self._yields[item]

    def _once(self, item: str) -> int:
        """Guess the actions that make an item once, sharing nothing."""
        if item not in self._guess:
            self._guess[item] = (
                min(
                    1
                    + sum(
                        min(self._once(member) for member in self.book.members(name))
                        for _, name in recipe.ingredients
                    )
                    for recipe in self.book.item_recipes(item)
                )
                if self.book.is_craftable(item)
                else 1
            )
        return self._guess[item]
