"""Episodes never see each other, however many there are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.sites.state import SiteState, first_token
from agentgym_envs.webarena import deployments
from agentgym_envs.webarena.env import WebArenaEnv
from tests.agentgym_envs.webarena import small_tasks

EPISODES = 64
STATES = 1000


@pytest.mark.full
def test_a_thousand_states_keep_to_themselves() -> None:
    states = [SiteState() for _ in range(STATES)]
    for number, state in enumerate(states):
        state.sign_in("reddit", number)
    for number, state in enumerate(states):
        rows = state.database("reddit").execute("SELECT user_id FROM sessions").fetchall()
        assert [tuple(row) for row in rows] == [(number,)]
        state.close()
    assert not SiteState().database("reddit").execute("SELECT * FROM sessions").fetchall()


def test_the_shop_and_its_administration_share_a_database() -> None:
    state = SiteState()
    assert state.database("shopping_admin") is state.database("shopping")


def test_only_the_databases_that_are_visited_are_loaded() -> None:
    state = SiteState(signed_in={"shopping": 1, "gitlab": 1})
    assert state.connections == {}
    state.database("gitlab")
    assert set(state.connections) == {"gitlab"}
    sessions = state.database("gitlab").execute("SELECT token, user_id FROM sessions").fetchall()
    assert [tuple(row) for row in sessions] == [(first_token("gitlab"), 1)]


def test_a_token_is_never_given_twice() -> None:
    state = SiteState(signed_in={"gitlab": 1})
    database = state.database("gitlab")
    first = state.sign_in("gitlab", 2)
    database.execute("DELETE FROM sessions WHERE token = ?", (first_token("gitlab"),))
    second = state.sign_in("gitlab", 3)
    assert len({first, second, first_token("gitlab")}) == 3


@pytest.mark.full
def test_interleaved_episodes_do_not_see_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    states: list[SiteState] = []

    def recorded(**options: Any) -> SiteState:
        states.append(SiteState(**options))
        return states[-1]

    monkeypatch.setattr(deployments, "SiteState", recorded)
    path = small_tasks.write(
        tmp_path / "x.json", [small_tasks.string_task(sites=["gitlab"], start_url="__GITLAB__")]
    )
    envs = [WebArenaEnv(tasks_file=path, split="test") for _ in range(EPISODES)]
    firsts = {env.reset(options={"task_id": 0})[0] for env in envs}
    assert len(firsts) == 1
    for number, state in enumerate(states):
        database = state.database("gitlab")
        database.execute("UPDATE users SET name = ? WHERE id = 1", (f"Person {number}",))
        database.commit()
    for number, env in enumerate(envs):
        env.step("goto [http://gitlab.test/profile]")
        text = "\n".join(env.browser.page().lines())
        assert f"Person {number}" in text
    for env in envs:
        assert env.reset(options={"task_id": 0})[0] in firsts
        env.close()
