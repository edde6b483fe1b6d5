"""`agentgym export openenv`: what it writes is whole, and its server plays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import yaml

import agentgym_envs
from agentgym_envs import NoExpert, register_env
from agentgym_envs.registration.registry import REGISTERED
from benchmarks.cli import new
from benchmarks.export import command, package
from benchmarks.export.measure import Measurement
from tests.benchmarks.export.conftest import package_server
from tests.helpers import COUNTING_ID, CountingEnv, register_helpers
from tests.wrappers.serving.clients import Socket

FILES = {
    *("README.md", "openenv.yaml", "pyproject.toml", "__init__.py", "client.py", "models.py"),
    *("server/__init__.py", "server/app.py", "server/Dockerfile", "validation/runtime.json"),
    *("solution/solve.sh", "solution/play.py"),
}
HERE = "tests.benchmarks.export.test_command"


class WithoutExpert(CountingEnv):
    """A counter that nobody knows how to raise."""

    def expert_moves(self) -> Any:
        raise NoExpert("there is none")


class Generous(CountingEnv):
    """A counter that pays at once."""

    def apply(self, action: str) -> Any:
        return super().apply(action)._replace(reward=1.0, terminated=True)


class Boundless(CountingEnv):
    """A counter that promises no greatest reward."""

    reward_range = (0.0, float("inf"))


class Rich(CountingEnv):
    """A counter that pays ten at once."""

    def apply(self, action: str) -> Any:
        return super().apply(action)._replace(reward=10.0, terminated=True)


@pytest.fixture
def registered() -> Any:
    """Registers classes of this module, for one test."""
    before = list(REGISTERED)

    def register(kind: type) -> str:
        env_id = f"tests/{kind.__name__}-v0"
        register_env(env_id, kind)
        return env_id

    yield register
    for env_id in set(REGISTERED) - set(before):
        del gym.registry[env_id]
        REGISTERED.remove(env_id)


@pytest.fixture
def as_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every module belong to a distribution, as an installed one does."""
    monkeypatch.setattr(
        package, "packages_distributions", lambda: {"tests": ["tests"], "tidy_up": ["tidy-up"]}
    )
    monkeypatch.setattr(package, "version", lambda name: "0.3.1")


def exported(folder: Path, env: str) -> dict[str, Any]:
    """Export an environment; its manifest."""
    assert command.main(["openenv", "--env", env, "--out", str(folder)]) == 0
    manifest: dict[str, Any] = yaml.safe_load((folder / "openenv.yaml").read_text())
    return manifest


def files(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_every_file_is_there_and_parses(text_craft: Path) -> None:
    assert files(text_craft) == FILES
    for path in text_craft.rglob("*.py"):
        compile(path.read_text(), path.name, "exec")
    project = tomllib.loads((text_craft / "pyproject.toml").read_text())["project"]
    assert project["name"] == "openenv-text-craft-env"
    assert project["scripts"] == {"server": "text_craft_env.server.app:main"}
    ours = f"agentgym-envs[serve]=={agentgym_envs.__version__}"
    assert project["dependencies"] == ["openenv>=0.10.0", ours]
    _, front, _ = (text_craft / "README.md").read_text().split("---\n", 2)
    assert yaml.safe_load(front)["sdk"] == "docker"


def test_the_python_files_are_in_good_style(text_craft: Path) -> None:
    pytest.importorskip("ruff", reason="needs the dev extra")
    for words in (["check", "--select", "E,F,I,UP,B"], ["format", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *words, "--line-length", "100", "--no-cache", "."],
            cwd=text_craft,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_manifest_says_what_the_environment_has(text_craft: Path) -> None:
    manifest = yaml.safe_load((text_craft / "openenv.yaml").read_text())
    assert (manifest["name"], manifest["app"]) == ("text_craft_env", "server.app:app")
    validation = manifest["validation"]
    assert validation["reward"]["range"] == [0.0, 1.0]
    assert validation["capabilities"]["declared_tools"] == ["get", "craft", "inventory"]
    assert validation["capabilities"]["declared_task_count"]["test"] == 100
    assert (text_craft / validation["capabilities"]["oracle"]["location"]).is_file()
    assert (text_craft / validation["execution"]["dockerfile"]).is_file()


def test_the_server_plays_chance_and_the_expert(text_craft: Path) -> None:
    plan = json.loads((text_craft / "validation" / "runtime.json").read_text())
    env = gym.make("agentgym/TextCraft-v0")
    task_id = "textcraft_3"
    env.reset(options={"task_id": task_id})
    game: Any = env.unwrapped
    with package_server(text_craft) as url:
        with Socket(url) as client:
            start = client.observation("reset", seed=0, **plan["reset"]["options"])
            assert start["metadata"]["is_valid_action"]
            for action in plan["actions"]:
                answer = client.observation("step", **action)
            assert answer["done"] and answer["reward"] == 0.0
        with Socket(url) as client:
            client.observation("reset", task_id=task_id)
            for action in game.expert():
                env.step(action)
                answer = client.observation("step", message=action)
            assert answer["done"] and answer["reward"] == 1.0


def test_an_environment_of_ones_own_brings_its_distribution(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, as_installed: None
) -> None:
    assert new.main(["env", "TidyUp", "--out", str(tmp_path / "source")]) == 0
    monkeypatch.syspath_prepend(str(tmp_path / "source"))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "source"), prepend=os.pathsep)
    folder = tmp_path / "tidy_up_env"
    try:
        manifest = exported(folder, "tidy_up:mylab/TidyUp-v0")
    finally:
        del gym.registry["mylab/TidyUp-v0"]
        REGISTERED.remove("mylab/TidyUp-v0")
        for name in ("tidy_up", "tidy_up.env"):
            del sys.modules[name]
    assert manifest["version"] == "0.3.1"
    dependencies = tomllib.loads((folder / "pyproject.toml").read_text())["project"]["dependencies"]
    assert dependencies[1:] == [
        f"agentgym-envs[serve]=={agentgym_envs.__version__}",
        "tidy-up==0.3.1",
    ]
    with package_server(folder) as url, Socket(url) as client:
        assert client.observation("reset", task_id="tidy_up_900")["metadata"]["split"] == "test"


@pytest.mark.parametrize(("name", "extras"), [("SearchQA", "serve,search"), ("WebArena", "serve")])
def test_a_scenario_brings_its_extras(name: str, extras: str) -> None:
    game: Any = gym.make(f"agentgym/{name}-v0").unwrapped
    assert package.requirements(game, "serve") == [
        f"agentgym-envs[{extras}]=={agentgym_envs.__version__}"
    ]


def test_the_module_that_registers_an_environment_brings_its_distribution(
    as_installed: None,
) -> None:
    game: Any = gym.make("agentgym/SearchQA-v0").unwrapped  # the class is of this package
    assert package.requirements(game, "serve", module=HERE) == [
        f"agentgym-envs[serve,search]=={agentgym_envs.__version__}",
        "tests==0.3.1",
    ]


@pytest.mark.parametrize(
    ("scenario", "message"), [("miniwob", "needs Chromium"), ("remote", "a server plays it")]
)
def test_a_scenario_that_needs_more_than_a_package_is_refused(scenario: str, message: str) -> None:
    kind = type("Needy", (CountingEnv,), {"__module__": f"agentgym_envs.{scenario}.env"})
    with pytest.raises(ValueError, match=message):
        package.requirements(kind())


def test_without_an_expert_there_is_no_oracle(
    tmp_path: Path, registered: Any, as_installed: None, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    manifest = exported(folder, f"{HERE}:{registered(WithoutExpert)}")
    assert manifest["validation"]["capabilities"]["oracle"] is None
    assert files(folder) == FILES - {"solution/solve.sh", "solution/play.py"}
    assert "no oracle" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--env", "TextCroft"], "did you mean"),
        (["--env", "TextCraft", "--out", "."], "is there already; pass another --out"),
        (["--env", "CartPole-v1"], "is no text environment"),
        (["--env", "TextCraft", "--out", "/proc/new"], "nothing can be written to /proc"),
        ([], "--env"),
    ],
)
def test_what_cannot_be_exported_is_refused(
    words: list[str],
    message: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stopped:
        command.main(["openenv", *words])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err
    assert files(tmp_path) == {"file"}


def test_a_module_of_no_distribution_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    register_helpers()
    with pytest.raises(SystemExit):
        command.main(["openenv", "--env", COUNTING_ID, "--out", str(tmp_path / "out")])
    assert "run pip install -e ." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("chance", "margin"), [(0.9, 0.1), (0.8, 0.2), (0.85, 0.1), (0.0, 1.0), (-3.0, 1.0), (1.0, 0.0)]
)
def test_the_margin_is_rounded_down_to_a_tenth(chance: float, margin: float) -> None:
    result = Measurement("test", (0.0, 1.0), (), (chance,), None, ("task_1", ("wait",)))
    assert result.margin == margin


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Generous, "so make the tasks harder"),
        (Rich, "set reward_range on its class"),
        (Boundless, "OpenEnv needs finite bounds"),
    ],
)
def test_rewards_that_openenv_cannot_judge_are_refused(
    kind: type,
    message: str,
    tmp_path: Path,
    registered: Any,
    as_installed: None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit):
        command.main(["openenv", "--env", registered(kind), "--out", str(tmp_path / "out")])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
