"""`agentgym export verifiers`: names and requirements of what it writes."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest

from agentgym_envs import __version__
from benchmarks.export.command import main


def test_the_package_has_the_environment_and_its_requirements(tmp_path: Path) -> None:
    assert main(["verifiers", "--env", "SearchQA", "--out", str(tmp_path / "out")]) == 0
    project = tomllib.loads((tmp_path / "out/pyproject.toml").read_text())["project"]
    assert project["name"] == "search-qa-agentgym"
    needed = ["verifiers>=0.4,<0.5", f"agentgym-envs[search]=={__version__}"]
    assert project["dependencies"] == needed
    module = ast.parse((tmp_path / "out/search_qa_agentgym/__init__.py").read_text())
    (names,) = (
        ast.literal_eval(node.value) for node in module.body if isinstance(node, ast.Assign)
    )
    assert names == ["AgentGymEnv", "AgentGymHarness", "SearchQaTaskset"]
    assert "`train`, `validation`, `test`" in (tmp_path / "out/README.md").read_text()


def test_what_cannot_be_exported_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    for words, said in (
        (["--env", "Nothing"], "Nothing"),
        (["--env", "TextCraft", "--out", str(tmp_path)], "pass another --out"),
        (["--env", "TextCraft", "--out", "/proc/new"], "nothing can be written to /proc"),
    ):
        with pytest.raises(SystemExit):
            main(["verifiers", *words])
        assert said in capsys.readouterr().err
