"""Repairs two slips of minigrid that make some missions impossible, in the default mode.

1. Where opening a wrong door loses the game (`OpenDoorsOrder...Debug`), the action that completes
   the first clause of an ordered mission is judged by the second clause as well, and loses. Here
   the second clause is judged from the next action on, unless the same action completes it too.
2. `GoToImpUnlock` and `Unlock` mean to put the key outside the locked room but compare numpy
   integers by identity, so in one layout of nine it lies inside. Here it lies in the agent's room.

Missions, and every layout that can be solved, stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from minigrid.envs.babyai.core.verifier import AfterInstr, BeforeInstr


def repair(level: Any) -> None:
    """Make a level solvable in which a slip of minigrid prevents it.

    Args:
        level: a minigrid level after its reset.
    """
    instruction = level.instrs
    if isinstance(instruction, (BeforeInstr, AfterInstr)):
        instruction.verify = _InOrder(instruction)
    for room in _rooms(level):
        if room.locked and not room.pos_inside(*level.agent_pos):
            _take_key_out(level, room)


@dataclass
class _InOrder:
    """Verifies an ordered instruction in place of its own method, in copies of it too."""

    instruction: Any

    def __call__(self, action: Any) -> str:
        instruction = self.instruction
        first = "a_done" if isinstance(instruction, BeforeInstr) else "b_done"
        was_done = getattr(instruction, first) == "success"
        status: str = type(instruction).verify(instruction, action)
        if status == "failure" and not was_done and getattr(instruction, first) == "success":
            return "continue"
        return status


def _take_key_out(level: Any, room: Any) -> None:
    doors = [door for door in room.doors if door]
    if not doors or any(door is True or not door.is_locked for door in doors):
        return
    colours = {door.color for door in doors}
    keys = [thing for thing in _all_things(level) if thing.type == "key" and thing.color in colours]
    if not keys or not all(room.pos_inside(*key.cur_pos) for key in keys):
        return
    place = next(_free_places(level), None)
    if place is not None:
        key = keys[0]
        level.grid.set(*key.cur_pos, None)
        level.put_obj(key, *place)
        level.instrs.reset_verifier(level)


def _all_things(level: Any) -> Iterator[Any]:
    for thing in level.grid.grid:
        if thing is not None:
            yield thing
            if thing.contains is not None:
                # In a box it lies where the box lies.
                thing.contains.cur_pos = thing.cur_pos
                yield thing.contains


def _free_places(level: Any) -> Iterator[tuple[int, int]]:
    # Cells of the agent's room with nothing around them: a key there blocks no way.
    room = level.room_from_pos(*level.agent_pos)
    for y in range(room.top[1] + 1, room.top[1] + room.size[1] - 1):
        for x in range(room.top[0] + 1, room.top[0] + room.size[0] - 1):
            around = [(x + dx, y + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
            agent = (int(level.agent_pos[0]), int(level.agent_pos[1]))
            if agent not in around and not any(_is_taken(level, *cell) for cell in around):
                yield x, y


def _is_taken(level: Any, x: int, y: int) -> bool:
    thing = level.grid.get(x, y)
    return thing is not None and thing.type != "wall"


def _rooms(level: Any) -> Iterator[Any]:
    for row in level.room_grid:
        yield from row
