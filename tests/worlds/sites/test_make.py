from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym_envs.sites.content import ABOUT_FILE, CONTENT_FILE, SHIPPED, open_content
from agentgym_envs.sites.map.drawing import COUNTRY_FILE
from agentgym_envs.webarena.env import WebArenaEnv
from worlds.sites.make import SOURCES, make
from worlds.sites.map.country import draw_country
from worlds.sources import sources_digest

ABOUT = json.loads((SHIPPED / ABOUT_FILE).read_text("utf-8"))


def test_the_shipped_content_is_made_by_these_sources() -> None:
    """Fails when a generator changed: raise VERSION if content does, then `make worlds`."""
    assert ABOUT["sources"] == sources_digest(SOURCES)


def test_the_shipped_country_is_drawn_again_byte_for_byte() -> None:
    assert COUNTRY_FILE.read_text("utf-8") == draw_country()


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("hash_seed", ["0", "77"])
def test_the_shipped_content_is_made_again_byte_for_byte(tmp_path: Path, hash_seed: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "worlds", "sites", "--out", str(tmp_path)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        check=True,
    )
    assert json.loads((tmp_path / ABOUT_FILE).read_text("utf-8")) == ABOUT


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sites")
    make(folder, seed=7, instances=2)
    return folder


@pytest.mark.full
def test_a_fresh_world_is_played_with_its_own_tasks(fresh: Path) -> None:
    env, shipped = WebArenaEnv(sites_dir=fresh), WebArenaEnv()
    assert env.source.startswith("agentgym-sites v8 seed 7 (")
    assert env.source != shipped.source
    numbers = [each.task_ids[0] for each in open_content(fresh.resolve()).templates][::20]
    different = 0
    for number in numbers:
        env.reset(options={"task_id": number})
        for action in env.expert():
            *_, info = env.step(action)
        assert info["success"], (number, env.verdict)
        different += info["goal"] != shipped.reset(options={"task_id": number})[1]["goal"]
    assert different >= len(numbers) - 2


@pytest.mark.full
def test_two_worlds_in_one_process_do_not_mix(fresh: Path) -> None:
    names = []
    for env in (WebArenaEnv(), WebArenaEnv(sites_dir=fresh), WebArenaEnv()):
        env.reset(options={"task_id": 0})
        assert env._episode is not None and env._episode.state is not None
        shop = env._episode.state.database("shopping")
        names.append(shop.execute("SELECT name FROM customers WHERE id = 2").fetchone()[0])
    assert names[0] == names[2] != names[1]


@pytest.mark.full
def test_a_world_that_was_changed_is_refused(fresh: Path, tmp_path: Path) -> None:
    about = json.loads((fresh / ABOUT_FILE).read_text("utf-8"))
    about["sha256"]["shopping.sqlite"] = "0" * 64
    (tmp_path / ABOUT_FILE).write_text(json.dumps(about))
    (tmp_path / CONTENT_FILE).write_bytes((fresh / CONTENT_FILE).read_bytes())
    env = WebArenaEnv(sites_dir=tmp_path)
    with pytest.raises(ValueError, match=r"shopping\.sqlite is not what it was made as; make it"):
        env.reset(options={"task_id": 0})
