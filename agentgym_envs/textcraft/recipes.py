"""Holds recipes and answers questions about the graph that they make.

Names are lower-case words as players write them (`"oak planks"`). A *generic* name (`"planks"`)
stands for any of its members; only ingredients use generic names, nothing is crafted under one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

_RECIPE = re.compile(r"(?:craft )?([0-9]+) (.+?) using (.+)")
_AMOUNT = re.compile(r"([0-9]+) (.+)")


@dataclass(frozen=True)
class Recipe:
    """One crafting recipe.

    Attributes:
        output: what it makes.
        count: how many it makes at once.
        ingredients: (count, name) pairs; a name may be generic.
    """

    output: str
    count: int
    ingredients: tuple[tuple[int, str], ...]
    text: str = field(init=False, compare=False, repr=False)
    """The recipe as a crafting command."""

    def __post_init__(self) -> None:
        if self.count < 1 or not self.ingredients or any(n < 1 for n, _ in self.ingredients):
            raise ValueError(
                f"a recipe needs counts >= 1 and at least one ingredient, got {self.output!r} x "
                f"{self.count} from {list(self.ingredients)}"
            )
        if len({name for _, name in self.ingredients}) < len(self.ingredients):
            raise ValueError(
                f"a recipe names each ingredient once, with its whole count; {self.output!r} is "
                f"made from {list(self.ingredients)}"
            )
        object.__setattr__(self, "text", self.command({}))

    def command(self, filling: Mapping[str, str]) -> str:
        """Write the crafting command with generic ingredients replaced by `filling`'s values."""
        parts = ", ".join(f"{n} {filling.get(name, name)}" for n, name in self.ingredients)
        return f"craft {self.count} {self.output} using {parts}"

    @classmethod
    def parse(cls, text: str) -> Recipe:
        """Read `"4 stick using 2 planks"`, with or without a leading `"craft "`.

        Raises:
            ValueError: the text has another form.
        """
        match = _RECIPE.fullmatch(text)
        parts = [_AMOUNT.fullmatch(part.strip()) for part in match[3].split(",")] if match else []
        if match is None or None in parts:
            raise ValueError(
                f"not a recipe: {text!r}; expected '<count> <item> using <count> <item>, ...'"
            )
        return cls(match[2], int(match[1]), tuple((int(p[1]), p[2]) for p in parts if p))


class RecipeBook:
    """All recipes of a world, and the questions one asks of them.

    Args:
        recipes: the recipes, in the order in which they are listed and preferred.
        generics: the members of each generic name.
        extra_items: names that no recipe holds and that can be fetched all the same.
        source: names the data, with a version.

    Raises:
        ValueError: recipes depend on one another in a circle, a generic name is crafted, or has no
            members.
    """

    def __init__(
        self,
        recipes: Iterable[Recipe],
        generics: Mapping[str, Sequence[str]] | None = None,
        *,
        extra_items: Iterable[str] = (),
        source: str = "memory",
    ) -> None:
        self.generics = {name: tuple(members) for name, members in (generics or {}).items()}
        self.source = source
        self.recipes: tuple[Recipe, ...] = tuple(dict.fromkeys(recipes))
        self._of: dict[str, list[Recipe]] = {}
        for recipe in self.recipes:
            self._of.setdefault(recipe.output, []).append(recipe)
        wrong = [name for name, members in self.generics.items() if not members or name in self._of]
        if wrong:
            raise ValueError(f"generic names need members and no recipes of their own: {wrong}")
        self._extra_items = tuple(extra_items)
        self._depths: dict[str, int] = {}
        self._heights: dict[str, int] = {}
        self._makeable: dict[str, bool] = {}
        self._closures: dict[str, tuple[Recipe, ...]] = {}
        for name in self._of:
            self._height(name, ())

    def item_recipes(self, name: str) -> Sequence[Recipe]:
        """Return the recipes that make an item, in order, or none for base items."""
        return self._of.get(name, ())

    def is_craftable(self, name: str) -> bool:
        """Return whether a recipe makes this item."""
        return name in self._of

    def is_base(self, name: str) -> bool:
        """Return whether this is an item that can only be fetched."""
        return name in self.items and name not in self._of

    def members(self, name: str) -> tuple[str, ...]:
        """Return the items that fill an ingredient: a generic name's members, or the item."""
        return self.generics.get(name) or (name,)

    def is_used(self, name: str) -> bool:
        """Return whether a recipe takes this item, by its name or a generic one."""
        generics = (generic for generic, members in self.generics.items() if name in members)
        return any(each in self.uses for each in (name, *generics))

    @cached_property
    def items(self) -> frozenset[str]:
        """Every item there is, generic names left out."""
        named = {name for recipe in self.recipes for _, name in recipe.ingredients}
        members = {member for group in self.generics.values() for member in group}
        return frozenset(
            (named | members | set(self._extra_items) | set(self._of)) - set(self.generics)
        )

    @cached_property
    def item_names(self) -> re.Pattern[str]:
        """Matches the items' names, the longest where one holds another."""
        names = sorted(self.items, key=len, reverse=True)
        return re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")

    @cached_property
    def goals(self) -> tuple[str, ...]:
        """The items that can be made, by (depth, name).

        An item cannot whose every recipe would take one item for two of its ingredients.
        """
        made = (name for name in self._of if self._can_be_made(name))
        return tuple(sorted(made, key=lambda name: (self.depth(name), name)))

    def depth(self, name: str) -> int:
        """Return how many recipes deep an item is at least, 0 for base items."""
        known = self._depths.get(name)
        if known is None:
            known = min(
                (
                    1 + max(min(map(self.depth, self.members(n))) for _, n in recipe.ingredients)
                    for recipe in self.item_recipes(name)
                ),
                default=0,
            )
            self._depths[name] = known
        return known

    def height(self, name: str) -> int:
        """Return the longest chain of recipes below an item, plus one."""
        return self._heights.get(name, 0)

    def closure(self, name: str) -> tuple[Recipe, ...]:
        """Return every recipe on any way to an item, its own first."""
        if name not in self._closures:
            recipes: dict[Recipe, None] = {}
            waiting = [name]
            seen = {name}
            while waiting:
                for recipe in self.item_recipes(waiting.pop(0)):
                    recipes[recipe] = None
                    below = [m for _, n in recipe.ingredients for m in self.members(n)]
                    waiting += [m for m in dict.fromkeys(below) if m not in seen]
                    seen.update(below)
            self._closures[name] = tuple(recipes)
        return self._closures[name]

    @cached_property
    def uses(self) -> dict[str, tuple[Recipe, ...]]:
        """The recipes that name an ingredient, for each ingredient."""
        uses: dict[str, list[Recipe]] = {}
        for recipe in self.recipes:
            for _, name in recipe.ingredients:
                uses.setdefault(name, []).append(recipe)
        return {name: tuple(recipes) for name, recipes in uses.items()}

    def match(self, output: str, amounts: Mapping[str, int]) -> Recipe | None:
        """Find the recipe that makes `output` from exactly `amounts`, or None.

        A generic ingredient is filled by one of its members, in the ingredient's full count.
        """
        for recipe in self.item_recipes(output):
            if len(recipe.ingredients) == len(amounts) and self._fits(recipe.ingredients, amounts):
                return recipe
        return None

    def _fits(self, ingredients: tuple[tuple[int, str], ...], amounts: Mapping[str, int]) -> bool:
        if not ingredients:
            return not amounts
        (count, name), *rest = ingredients
        return any(
            self._fits(tuple(rest), {n: c for n, c in amounts.items() if n != member})
            for member in self.members(name)
            if amounts.get(member) == count
        )

    def _can_be_made(self, name: str) -> bool:
        if name not in self._makeable:
            recipes = self._of.get(name)
            self._makeable[name] = not recipes or any(
                self._can_be_filled(recipe.ingredients, frozenset()) for recipe in recipes
            )
        return self._makeable[name]

    def _can_be_filled(
        self, ingredients: tuple[tuple[int, str], ...], taken: frozenset[str]
    ) -> bool:
        if not ingredients:
            return True
        (_, name), *rest = ingredients
        return any(
            self._can_be_filled(tuple(rest), taken | {member})
            for member in self.members(name)
            if member not in taken and self._can_be_made(member)
        )

    def _height(self, name: str, path: tuple[str, ...]) -> int:
        if name not in self._of:
            return 0
        if name in path:
            circle = " -> ".join((*path[path.index(name) :], name))
            raise ValueError(
                f"recipes depend on one another in a circle: {circle}; leave one of them out, or "
                "clean the list with agentgym_envs.textcraft.cleanup.without_circles"
            )
        if name not in self._heights:
            below = {m for r in self._of[name] for _, n in r.ingredients for m in self.members(n)}
            path = (*path, name)
            self._heights[name] = 1 + max(self._height(m, path) for m in sorted(below))
        return self._heights[name]
