from __future__ import annotations

import random

import numpy as np
import pytest

from agentgym_envs.babyai.levels import AGENTGYM_LEVELS, make_level
from agentgym_envs.babyai.sight import CLOSED, EMPTY, OPEN, GridMap


def cells_minigrid_shows(level, grid_map: GridMap) -> list[int]:
    _, mask = level.gen_obs_grid()
    ahead, right = level.dir_vec, level.right_vec
    cells = []
    for row in range(7):
        for column in range(7):
            if mask[column, row] and (row, column) != (6, 3):
                x, y = np.array(level.agent_pos) + ahead * (6 - row) + right * (column - 3)
                cells.append(grid_map.cell(int(x), int(y)))
    return cells


@pytest.mark.parametrize("name", AGENTGYM_LEVELS[::4])
def test_the_field_of_view_is_minigrids(name: str):
    level, _ = make_level(name, 1)
    chance = random.Random(1)
    for _ in range(40):
        level.step(chance.choice((0, 1, 2, 2, 2, 3, 4, 5)))
        grid_map = GridMap(level)
        cell = grid_map.cell(*map(int, level.agent_pos))
        shown = cells_minigrid_shows(level, grid_map)
        assert grid_map.visible(cell, int(level.agent_dir)) == shown


def corridor(codes: dict[int, int]) -> tuple[GridMap, int]:
    level, _ = make_level("BabyAI-OneRoomS20-v0", 0)
    grid_map = GridMap(level)
    start = grid_map.cell(5, 5)
    row = [grid_map.cell(x, 5) for x in range(5, 10)]
    grid_map.codes = [CLOSED] * len(grid_map.codes)
    for index, cell in enumerate(row):
        grid_map.codes[cell] = codes.get(index, EMPTY)
    return grid_map, start


def test_closed_doors_block_paths_and_open_ones_do_not():
    for code, is_open in ((OPEN, True), (CLOSED, False)):
        grid_map, start = corridor({2: code})
        within = range(len(grid_map.codes))
        assert (grid_map.cell(9, 5) in grid_map.reachable(start, within)) is is_open
        path = grid_map.path_onto(start * 4, grid_map.cell(9, 5), within)
        assert path == ([2, 2, 2, 2] if is_open else None)


def test_a_path_to_face_turns_before_it_stops():
    grid_map, start = corridor({})
    within = range(len(grid_map.codes))
    assert grid_map.path_to_face(start * 4 + 2, grid_map.cell(6, 5), within) == [0, 0]
