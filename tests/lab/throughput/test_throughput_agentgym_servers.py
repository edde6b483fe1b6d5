from __future__ import annotations

import pytest

pytest.importorskip("uvicorn")
pytest.importorskip("wsproto")

from lab.throughput.agentgym_servers import agentgym_rows, compared, our_server


def test_rows_are_left_out_without_a_checkout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("AGENTGYM_CHECKOUT", raising=False)
    assert list(agentgym_rows(1)) == []
    assert "AGENTGYM_CHECKOUT" in capsys.readouterr().out


@pytest.mark.slow
def test_a_server_is_as_fast_as_itself() -> None:
    with our_server("TextCraft", 2) as server:
        rows = list(compared("TextCraft", server, server, repeats=1, num_clients=2))
        assert [row.unit for row in rows] == ["episodes", "steps", "episodes"]
        assert all(row.rate > 0 and row.baseline_rate for row in rows)
        with pytest.raises(RuntimeError, match="not valid"):
            server.ask("step", id=10**6, action="inventory")
