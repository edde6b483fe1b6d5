from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentgym_envs.sites.content import (
    ABOUT_FILE,
    CONTENT_FILE,
    SHIPPED,
    SiteContent,
    open_content,
)
from agentgym_envs.webarena.env import WebArenaEnv

ABOUT = json.loads((SHIPPED / ABOUT_FILE).read_text("utf-8"))


def world(folder: Path, **changes: object) -> Path:
    """Copy the shipped world with another `about.json`."""
    (folder / ABOUT_FILE).write_text(json.dumps({**ABOUT, **changes}))
    (folder / CONTENT_FILE).write_bytes((SHIPPED / CONTENT_FILE).read_bytes())
    return folder


def test_every_file_is_what_the_hashes_say() -> None:
    content = SiteContent(SHIPPED)
    assert {"shopping.sqlite", "gitlab.sqlite", "map.sqlite", "reddit.sqlite"} < set(
        ABOUT["sha256"]
    )
    for file in ABOUT["sha256"]:
        content.read(file)


def test_the_source_names_the_version_and_the_hash() -> None:
    assert WebArenaEnv().source == open_content().name
    assert open_content().name.startswith("agentgym-sites v8 (")


def test_the_name_differs_where_a_file_does(tmp_path: Path) -> None:
    changed = {**ABOUT["sha256"], "tasks/0.jsonl": "1" * 64}
    assert SiteContent(world(tmp_path, sha256=changed)).name != open_content().name


def test_a_changed_file_is_refused_with_the_remedy(tmp_path: Path) -> None:
    changed = {**ABOUT["sha256"], "map.sqlite": "1" * 64}
    content = SiteContent(world(tmp_path, sha256=changed))
    with pytest.raises(ValueError, match=r"map\.sqlite is not what .* `python -m worlds sites"):
        content.database("map")
    assert content.database("reddit") == open_content().database("reddit")


def test_a_world_of_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"version 7, and these sites play version 8; make it"):
        WebArenaEnv(sites_dir=world(tmp_path, version=7))


@pytest.mark.parametrize("text", [None, "[]", "{}", "not json"])
def test_a_folder_without_a_world_is_refused(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / ABOUT_FILE).write_text(text)
    with pytest.raises(ValueError, match=r"is no world of the sites: .*; make it with"):
        WebArenaEnv(sites_dir=tmp_path)


def test_a_broken_archive_is_refused(tmp_path: Path) -> None:
    content = SiteContent(world(tmp_path))
    (tmp_path / CONTENT_FILE).write_bytes((SHIPPED / CONTENT_FILE).read_bytes()[:1000])
    with pytest.raises(ValueError, match="cannot be read: BadZipFile"):
        content.database("map")
