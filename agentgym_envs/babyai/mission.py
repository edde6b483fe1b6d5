"""Reads a mission's remaining goals from minigrid's instruction tree, and their keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from minigrid.envs.babyai.core.verifier import (
    AfterInstr,
    AndInstr,
    BeforeInstr,
    OpenInstr,
    PutNextInstr,
)

from agentgym_envs.babyai.memory import Memory

_SIDES = {
    "left": ("to the left of where I began", 3),
    "right": ("to the right of where I began", 1),
    "front": ("ahead of where I began", 0),
    "behind": ("behind where I began", 2),
}
"""The goal's places, in the expert's words, and by how many right turns one faces them."""


def pending_clauses(instruction: Any) -> list[Any]:
    """List the simple instructions that may be carried out next.

    Args:
        instruction: minigrid's instruction, its verifier running.
    """
    if isinstance(instruction, AndInstr):
        a, b = instruction.instr_a, instruction.instr_b
        left = [a] if instruction.a_done != "success" else []
        right = [b] if instruction.b_done != "success" else []
        return [clause for half in left + right for clause in pending_clauses(half)]
    if isinstance(instruction, BeforeInstr):
        is_second = instruction.a_done == "success"
        return pending_clauses(instruction.instr_b if is_second else instruction.instr_a)
    if isinstance(instruction, AfterInstr):
        is_second = instruction.b_done == "success"
        return pending_clauses(instruction.instr_a if is_second else instruction.instr_b)
    return [instruction]


def doors_to_open(instruction: Any) -> list[Any]:
    """List the doors that fit a clause of the mission which says to open one."""
    if isinstance(instruction, (AndInstr, BeforeInstr, AfterInstr)):
        return doors_to_open(instruction.instr_a) + doors_to_open(instruction.instr_b)
    return list(instruction.desc.obj_set) if isinstance(instruction, OpenInstr) else []


def is_key_to(door: Any, thing: Any) -> bool:
    """Return whether a thing, or None, is a key of a door's colour."""
    return thing is not None and thing.type == "key" and bool(thing.color == door.color)


def sought(instruction: Any, is_lacking: Callable[[list[Any]], bool]) -> Any:
    """Return minigrid's description of the thing that a simple instruction needs next.

    Args:
        instruction: a simple instruction.
        is_lacking: whether none of these things is known.
    """
    if not isinstance(instruction, PutNextInstr):
        return instruction.desc
    both = (instruction.desc_move, instruction.desc_fixed)
    return next((desc for desc in both if is_lacking(desc.obj_set)), both[0])


def in_words(desc: Any) -> str:
    """Return the properties that the goal names of a thing."""
    article = "a" if len(desc.obj_set) > 1 else "the"  # as the goal says it
    side = _SIDES[desc.loc][0] if desc.loc else ""
    words = [article, desc.color, desc.type or "object", side]
    return " ".join(word for word in words if word)


def initial_cells(desc: Any, memory: Memory) -> Callable[[int], bool] | None:
    """Return the cells where the goal says the thing was at first, or None if it says nothing."""
    if not desc.loc:
        return None
    begin, direction = divmod(memory.start, 4)
    ahead_x, ahead_y = ((1, 0), (0, 1), (-1, 0), (0, -1))[(direction + _SIDES[desc.loc][1]) % 4]
    begin_x, begin_y = memory.map.position(begin)

    def is_there(cell: int) -> bool:
        x, y = memory.map.position(cell)
        return (x - begin_x) * ahead_x + (y - begin_y) * ahead_y > 0

    return is_there
