from __future__ import annotations

import pytest

pytest.importorskip("bm25s")

from lab.throughput.searchqa import searchqa_rows
from tests.agentgym_envs.searchqa import small_world


def test_searches_resets_steps_and_programs_have_rows() -> None:
    rows = list(
        searchqa_rows(
            1, num_queries=5, data_dir=small_world.questions(), corpus=small_world.corpus()
        )
    )
    assert [row.unit for row in rows] == ["searches", "searches", "resets", "steps", "programs"]
    assert [row.baseline for row in rows[:2]] == ["bm25s, the same queries", "SearchQA over HTTP"]
    assert all(row.speed is not None and row.speed > 0 for row in rows[:2])
