from __future__ import annotations

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("wsproto")

from lab.throughput.serving import serving_rows


@pytest.mark.slow
def test_one_client_many_and_sessions_are_measured() -> None:
    alone, sessions, together = serving_rows(1, num_steps=60, num_clients=4)
    assert (alone.unit, alone.baseline) == ("steps", "in process")
    assert sessions.unit == "sessions"
    assert "4 clients at once" in together.name
    assert min(alone.rate, sessions.rate, together.rate) > 0
