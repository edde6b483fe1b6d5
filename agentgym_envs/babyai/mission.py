"""Reads from minigrid's instruction tree what a mission still asks for, and which key fits."""

from __future__ import annotations

from typing import Any

from minigrid.envs.babyai.core.verifier import AfterInstr, AndInstr, BeforeInstr, OpenInstr


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
