"""Units of the `tiny` tokenizer: item names, numbers and words of the scenarios."""

from __future__ import annotations

import re
from typing import Any

import gymnasium as gym

from agentgym_envs.textcraft.source import builtin_book

# Words of BabyAI's and TextCraft's observations and prompts; anything else is spelt in bytes.
_WORDS = """
a actions already an and any anything are as at available away back ball barrier be behind blue
box by can cannot carrying check closed color colour command commands count door drop empty
facing find first following forward from front go goal green grey have held hold in is it items
key left line list locked move need next no not nothing now object objects of on one open or
pick pickup purple put reached red right room see several step steps take task that the then
there this through to toggle top turn up use valid view wall walls with yellow you your
"""
_MARKS = (
    "\ncraft", " craft", "craft", " get", "get", " using", "inventory", " inventory", "Got",
    "Crafted", "Crafting commands:", "\n\nGoal: craft", "Goal:", "Thought:", "\nAction:", "Action:",
    " Plan:", "\nNow", " Now", ": get", ": craft", "Inventory:", "Could not", "No recipe crafts",
    "Could not find enough items to craft", "Could not get", "; it is crafted from",
    ": it can be crafted, not found.", " are needed.", ": you have", "Available actions:", '", "',
    '["', '"]', "Your goal:", ". ",
)  # fmt: skip
_COLOURS = ("red", "green", "blue", "purple", "yellow", "grey")
_THINGS = ("key", "ball", "box", "door", "closed door", "locked door", "open door")
_MOVES = (
    "turn left", "turn right", "move forward", "go to", "pick up", "open", "drop", "toggle",
    "toggle and go through",
)  # fmt: skip
_SIGHTS = (
    "You see", "You see no objects.", " You carry nothing.", " You carry", " A wall is",
    " step ahead.", " steps ahead.", " ahead", " ahead,", ' ["', "),", ").", "You do not see",
    " from here.",
)  # fmt: skip


def tiny_units() -> list[str]:
    """List the units, in a fixed order.

    TextCraft's item names and generic names; numbers to 99; plan numbers and multipliers; BabyAI's
    things, moves and sights; the lines of both scenarios' prompts, which are the same in every
    episode; words of both.
    """
    book = builtin_book()
    names = sorted({*book.items, *book.generics})
    words = _WORDS.split()
    lines = [line for name in ("TextCraft", "BabyAI") for line in _prompt_lines(name)]
    return [
        *(f" {name}" for name in names),
        *(f" {number}" for number in range(100)),
        *(f"\n{number}." for number in range(1, 31)),
        *(f" {number}." for number in range(1, 31)),
        *(f" x{number}" for number in range(1, 31)),
        *_MARKS,
        *(f" {word}" for word in words),
        *(word.capitalize() for word in words),
        *(f" {colour} {thing}" for colour in _COLOURS for thing in _THINGS),
        *(move for name in _MOVES for move in (name, f" {name}")),
        *(f" ({number}" for number in range(10)),
        *_SIGHTS,
        *lines,
    ]


def _prompt_lines(name: str) -> list[str]:
    env: Any = gym.make(f"agentgym/{name}-v0", action_format="react")
    return [line for line in re.split(r"(?<=\n)", env.unwrapped.system_prompt) if line.strip()]
