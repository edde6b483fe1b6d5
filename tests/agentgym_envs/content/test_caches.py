from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentgym_envs.content.files import cache_folder


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_the_cache_is_in_the_platforms_place(
    platform: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("AGENTGYM_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", platform)
    parts = {"linux": ".cache", "darwin": "Library/Caches", "win32": "AppData/Local"}
    assert cache_folder("searchqa") == tmp_path / parts[platform] / "agentgym-envs" / "searchqa"


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTGYM_CACHE", "~/elsewhere")
    assert cache_folder("models") == Path.home() / "elsewhere" / "models"
