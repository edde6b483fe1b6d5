"""Plays lines of text on an inventory, by the rules of a book of recipes."""

from __future__ import annotations

import re

from agentgym_envs.textcraft.recipes import RecipeBook

MAX_COUNT = 1_000_000
"""The most that one action may name of an item."""

_CRAFT = re.compile(r"craft (?:([0-9]+) )?(.+?) using (.+)")
_AMOUNT = re.compile(r"([0-9]+) (.+)")
_EDGES = " .,;:!?\"'`*"
_HELP = (
    "The actions are: get <count> <item>, craft <count> <item> using <count> <item>, ..., "
    "inventory."
)


class _Impossible(Exception):
    """An action that cannot be played, whose message is the observation."""


class CraftingState:
    """An inventory under the rules of a book.

    Letter case, repeated spaces, underscores for spaces and punctuation at the ends do not matter.
    A written output count other than the recipe's is taken, as in the original: one action is one
    use of a recipe.

    Args:
        book: the recipes; all of them may be used, also those that the task does not list.
        goal: the item that wins when it is crafted.
    """

    def __init__(self, book: RecipeBook, goal: str) -> None:
        self.book = book
        self.goal = goal
        self.inventory: dict[str, int] = {}
        self.success = False
        """The goal has been crafted."""
        named = (n for recipe in book.recipes for _, n in recipe.ingredients if n in book.items)
        self._example = "stick" if "stick" in book.items else next(named, "stick")

    def act(self, text: str) -> tuple[str, bool]:
        """Play one action.

        Returns:
            The observation, and whether the action could be played.
        """
        words = " ".join(text.lower().replace("_", " ").split()).strip(_EDGES)
        try:
            if words == "inventory":
                return self._list(), True
            if words.startswith("get "):
                return self._get(words[4:]), True
            if words.startswith("craft "):
                return self._craft(words), True
        except _Impossible as problem:
            return str(problem), False
        return f"Could not execute {_quoted(words)}. {_HELP}", False

    def _list(self) -> str:
        if not self.inventory:
            return "Inventory: empty"
        return "Inventory: " + ", ".join(f"{n} {item}" for item, n in self.inventory.items())

    def _get(self, words: str) -> str:
        count, item = self._amount(words)
        self._check_known(item)
        if self.book.is_craftable(item):
            raise _Impossible(f"Could not get {item}: it can be crafted, not found.")
        self.inventory[item] = self.inventory.get(item, 0) + count
        return f"Got {count} {item}" + ("" if self.book.is_used(item) else "; no recipe uses it.")

    def _craft(self, words: str) -> str:
        match = _CRAFT.fullmatch(words)
        if match is None:
            raise _Impossible(
                f"Could not execute {_quoted(words)}: write "
                "craft <count> <item> using <count> <item>, <count> <item>, ..."
            )
        output = match[2]
        if match[1] is not None:
            _count(match[1])
        amounts: dict[str, int] = {}
        for part in match[3].split(","):
            count, item = self._amount(part.strip(_EDGES))
            amounts[item] = amounts.get(item, 0) + count
        self._check_known(output)
        for item in amounts:
            self._check_known(item)
        if not self.book.is_craftable(output):
            raise _Impossible(f"No recipe crafts {output}: it can only be got.")
        recipe = self.book.match(output, amounts)
        if recipe is None:
            right = " or ".join(
                r.text.partition(" using ")[2] for r in self.book.item_recipes(output)
            )
            raise _Impossible(
                f"No recipe crafts {output} from {_listed(amounts)}; it is crafted from {right}."
            )
        self._spend(output, amounts)
        self.inventory[output] = self.inventory.get(output, 0) + recipe.count
        self.success = self.success or output == self.goal
        return f"Crafted {recipe.count} {output}"

    def _amount(self, words: str) -> tuple[int, str]:
        match = _AMOUNT.fullmatch(words)
        if match is None:
            raise _Impossible(
                f"Wrong amount {_quoted(words)}: write <count> <item>, such as 2 {self._example}."
            )
        return _count(match[1]), match[2]

    def _check_known(self, item: str) -> None:
        if item in self.book.generics:
            examples = ", ".join(self.book.members(item)[:3])
            raise _Impossible(f"{item} is a generic name; name a special type such as {examples}.")
        if item not in self.book.items:
            raise _Impossible(
                f"There is no item called {_quoted(item)}; write names as the commands do."
            )

    def _spend(self, output: str, amounts: dict[str, int]) -> None:
        for item, count in amounts.items():
            held = self.inventory.get(item, 0)
            if held < count:
                raise _Impossible(
                    f"Could not find enough items to craft {output}: "
                    f"you have {held} {item}, {count} are needed."
                )
        for item, count in amounts.items():
            left = self.inventory[item] - count
            if left:
                self.inventory[item] = left
            else:
                del self.inventory[item]


def _count(digits: str) -> int:
    digits = digits.lstrip("0")
    if not digits or len(digits) > len(str(MAX_COUNT)) or int(digits) > MAX_COUNT:
        raise _Impossible(f"A count must be a whole number from 1 to {MAX_COUNT}.")
    return int(digits)


def _listed(amounts: dict[str, int]) -> str:
    return ", ".join(f"{count} {item}" for item, count in amounts.items())


def _quoted(words: str) -> str:
    return f"'{words[:60]}...'" if len(words) > 60 else f"'{words}'"
