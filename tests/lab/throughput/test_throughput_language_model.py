from __future__ import annotations

from dataclasses import replace

import pytest

from lab.throughput import language_model
from lab.throughput.command import GROUPS


@pytest.mark.slow
def test_both_sides_do_the_same_turns_and_updates() -> None:
    case = replace(language_model._CASE, goals=2, group=2, turns=4, model="tiny")
    rows = list(language_model.language_model_rows(1, case=case))
    assert [row.name for row in rows] == [
        "rollout, tiny, bfloat16",
        "rollout, tiny, float32",
        "rollout, tiny, bfloat16, an adapter",
        "GRPO update, tiny, bfloat16",
        "GRPO update, tiny, float32",
    ]
    assert all(row.group == "language_model" and row.speed is not None for row in rows)
    assert "language_model" in GROUPS
