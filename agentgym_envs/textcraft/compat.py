"""Plays by AgentGym's own TextCraft rules and messages, for `compat="agentgym"`.

The wire format is AgentGym's at commit 3ef9235d: item ids instead of names in some messages, and
prefix matching of actions. It differs in two things: a count too long for Python to read is
answered as an action that cannot be executed, and a message that repeats a very long action is cut.
"""

from __future__ import annotations

import re

from agentgym_envs.actions.verbs import clipped
from agentgym_envs.textcraft.recipes import RecipeBook

_PREFIX = "minecraft:"
_CRAFT = re.compile(r"craft (.*) using (.*)")
_GET = re.compile(r"get ([0-9]+) (.*)")
_AMOUNT = re.compile(r"([0-9]+) (.*)")
_MAX_DIGITS = 4000

_RECIPE_GROUPS = frozenset(
    f"minecraft:{group}"
    for group in (
        *("banner", "bark", "bed", "boat", "bonemeal", "carpet", "concrete_powder", "dyed_bed"),
        *("planks", "sign", "stained_glass", "stained_glass_pane", "stained_terracotta", "sticks"),
        *("wooden_button", "wooden_door", "wooden_fence", "wooden_fence_gate"),
        *("wooden_pressure_plate", "wooden_slab", "wooden_stairs", "wooden_trapdoor", "wool"),
    )
)
"""Names that the original takes for kinds of items, whether or not a recipe asks for one."""


class _ActionFailed(Exception):
    """The original's answer with its message."""


class OriginalState:
    """An inventory under the original's rules, with the attributes of `CraftingState`.

    Args:
        book: the recipes.
        goal: the item that wins when it is crafted.
    """

    def __init__(self, book: RecipeBook, goal: str) -> None:
        self.book = book
        self.goal = goal
        self.success = False
        self._held: dict[str, int] = {}
        self._kinds = _RECIPE_GROUPS | {_identifier(name) for name in book.generics}

    @property
    def inventory(self) -> dict[str, int]:
        """The amounts held, by name."""
        return {_name(identifier): count for identifier, count in self._held.items()}

    def act(self, text: str) -> tuple[str, bool]:
        """Play one action.

        Returns:
            The original's observation, and whether the action could be played.
        """
        self.success = False  # of this action alone: what is done can be played on
        try:
            if craft := _CRAFT.match(text):
                return self._craft(craft[1], craft[2], text), True
            if get := _GET.match(text):
                return self._get(_number(get[1], text), get[2]), True
            if text.startswith("inventory"):
                return self._list(), True
        except _ActionFailed as failure:
            return clipped(str(failure)), False
        return clipped(f"Could not execute {text}"), False

    def _list(self) -> str:
        if not self._held:
            return "Inventory: You are not carrying anything."
        entries = (f"[{_name(identifier)}] ({n}) " for identifier, n in self._held.items())
        return "Inventory: " + "".join(entries)

    def _get(self, count: int, item: str) -> str:
        identifier = _identifier(item)
        name = _known_name(identifier)
        if identifier in self._kinds or name not in self.book.items or self.book.is_craftable(name):
            raise _ActionFailed(f"Could not find {item}")
        self._held[identifier] = self._held.get(identifier, 0) + count
        return f"Got {count} {item}"

    def _craft(self, output_text: str, inputs_text: str, text: str) -> str:
        counted = _AMOUNT.match(output_text)
        count = _number(counted[1], text) if counted else 1
        output = _identifier(counted[2] if counted else output_text)
        is_kind = output in self._kinds
        inputs = [self._input(part.strip(), text) for part in inputs_text.split(",")]
        if any(i in self._kinds or self._held.get(i, -1) < n for n, i in inputs):
            raise _ActionFailed(
                f"Could not find enough items to craft {None if is_kind else output}"
            )
        amounts = {_known_name(identifier): n for n, identifier in inputs}
        recipe = None
        if not is_kind and len(amounts) == len(inputs):
            recipe = self.book.match(_known_name(output), amounts)
        if recipe is None:
            tag, item_id = (output, None) if is_kind else (None, output)
            raise _ActionFailed(
                "Could not find a valid recipe for ItemTagWithCount("
                f"item_tag=ItemTag(tag={tag!r}, item_id={item_id!r}), count={count})"
            )
        for n, identifier in inputs:
            self._held[identifier] -= n
            if not self._held[identifier]:
                del self._held[identifier]
        self._held[output] = self._held.get(output, 0) + recipe.count
        self.success = recipe.output == self.goal
        return f"Crafted {recipe.count} {output}"

    def _input(self, part: str, text: str) -> tuple[int, str]:
        counted = _AMOUNT.match(part)
        if counted is None:
            raise _ActionFailed(f"Wrong item format: {part}")
        return _number(counted[1], text), _identifier(counted[2])


def _identifier(item: str) -> str:
    return _PREFIX + item.replace(" ", "_")


def _name(identifier: str) -> str:
    return identifier.replace(_PREFIX, "").replace("_", " ")


def _known_name(identifier: str) -> str:
    # Unlike `_name`: "minecraft:minecraft:stick" is no stick, and "minecraft:Oak_Logs" no log.
    return identifier.removeprefix(_PREFIX).replace("_", " ")


def _number(digits: str, text: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise _ActionFailed(f"Could not execute {text}")
    return int(digits)
