from __future__ import annotations

import sys
from pathlib import Path

import pytest

from agentgym_envs.errors import MissingExtra, activation, for_each, install_command

LACKING = {"WebArena": "web", "SearchQA": "search", "WebShop": "search"}


def opened(name: str) -> str:
    if name in LACKING:
        raise MissingExtra(LACKING[name], name, f"no package of {name}")
    return name.lower()


def test_the_remedy_is_of_the_python_that_runs() -> None:
    assert install_command("web") == f'{sys.executable} -m pip install "agentgym-envs[web]"'


def test_the_environment_is_activated_where_its_command_is_not_on_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = tmp_path / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "activate").touch()
    (scripts / "agentgym").touch(mode=0o755)
    monkeypatch.setattr("sys.prefix", str(tmp_path / ".venv"))
    monkeypatch.setenv("PATH", str(tmp_path))
    assert activation() == f"source {scripts / 'activate'}"
    monkeypatch.chdir(tmp_path)
    assert activation() == "source .venv/bin/activate"
    monkeypatch.setenv("PATH", str(scripts))
    assert activation() == ""


def test_every_missing_extra_is_named_in_one_sentence_with_one_command() -> None:
    with pytest.raises(MissingExtra) as raised:
        for_each(opened, ["TextCraft", *LACKING])
    assert str(raised.value) == (
        "WebArena needs the web extra (no package of WebArena), SearchQA needs the search extra "
        "(no package of SearchQA), WebShop needs the search extra (no package of WebShop): "
        f'{sys.executable} -m pip install "agentgym-envs[web,search]"'
    )


def test_where_nothing_is_missing_each_item_has_its_result() -> None:
    assert for_each(opened, ["TextCraft", "Maze"]) == ["textcraft", "maze"]


def test_another_error_is_not_gathered() -> None:
    with pytest.raises(ZeroDivisionError):
        for_each(lambda number: 1 / number, [1, 0])
