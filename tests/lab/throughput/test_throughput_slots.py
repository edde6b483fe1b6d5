"""Every environment plays 64 slots at once without a failure."""

from __future__ import annotations

import pytest

from lab.throughput.slots import ENV_IDS, slot_row

MARKS = {"SciWorld": pytest.mark.science, "MiniWoB": pytest.mark.browser}


def test_every_registered_environment_is_among_them() -> None:
    import agentgym_envs
    from agentgym_envs.registration.registry import short_env_name

    ours = {name for name in agentgym_envs.registered_ids() if name.startswith("agentgym/")}
    assert {short_env_name(name) for name in ours} == set(ENV_IDS)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", [pytest.param(e, marks=MARKS.get(e, ())) for e in ENV_IDS])
def test_64_slots_play_without_a_failure(env_id: str) -> None:
    row = slot_row(env_id, 64, turns=2)
    assert row.notes["failed"] == 0
    assert row.rate > 0
