from __future__ import annotations

import configparser
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("agentgym_envs", "wrappers", "trainers", "benchmarks")


FILES = (
    *("setup.cfg", "pyproject.toml", "MANIFEST.in", "README.md", "LICENSE", "CONTRIBUTING.md"),
    *("CHANGELOG.md", "CITATION.cff"),
    *("Makefile", "constraints.txt", "mkdocs.yml", ".gitignore", ".pre-commit-config.yaml"),
)
FOLDERS = (*PACKAGES, "tests", "worlds", "lab", "docs", ".ci")


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the sources, without what working in them leaves there."""
    pytest.importorskip("build", reason="packages are built where the dev extra is installed")
    source = tmp_path_factory.mktemp("source")
    for name in FILES:
        shutil.copy(ROOT / name, source)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    return source


def built(source: Path, kind: str) -> Path:
    """Build a wheel or an sdist; return its path."""
    command = [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", "dist"]
    subprocess.run([*command, "."], cwd=source, check=True, capture_output=True)
    (path,) = (source / "dist").glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return path


@pytest.fixture(scope="module")
def wheel_names(source: Path) -> set[str]:
    return set(zipfile.ZipFile(built(source, "wheel")).namelist())


@pytest.mark.full
def test_an_sdist_holds_all_that_a_build_and_the_tests_need(source: Path) -> None:
    with tarfile.open(built(source, "sdist")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = [path for name in FOLDERS for path in (source / name).rglob("*") if path.is_file()]
    wanted = {path.relative_to(source).as_posix() for path in needed} | set(FILES)
    assert wanted - names == set()


@pytest.mark.full
def test_a_wheel_holds_exactly_the_four_packages(wheel_names: set[str]) -> None:
    top = {name.partition("/")[0] for name in wheel_names}
    assert {name for name in top if not name.endswith(".dist-info")} == set(PACKAGES)


def test_a_wheel_holds_every_module_and_data_file(wheel_names: set[str]) -> None:
    files = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert files - wheel_names == set()


def test_every_package_tells_type_checkers_that_it_is_typed(wheel_names: set[str]) -> None:
    assert {f"{package}/py.typed" for package in PACKAGES} <= wheel_names


def test_the_environments_install_without_the_training_stack() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    required = config["options"]["install_requires"]
    assert not any(name in required for name in ("torch", "transformers", "trl"))


def test_the_constraints_pin_every_dependency_that_setup_names() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    extras = config["options.extras_require"]
    named = [config["options"]["install_requires"]]
    # vLLM's versions are made for one platform; webarena-verified and TextWorld pin exact versions
    # of their own.
    named += [extras[name] for name in extras if name not in ("vllm", "official", "alfworld")]
    lines = (line for block in named for line in block.split() if line[0].isalpha())
    wanted = {line.partition(">")[0].partition("[")[0] for line in lines} - {"agentgym-envs"}
    pinned = {
        line.partition("==")[0]
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if not line.startswith("#")
    }
    assert wanted - pinned == set()


@pytest.mark.full
def test_readmes_loop_runs_in_an_empty_environment_with_the_wheel(
    source: Path, tmp_path: Path
) -> None:
    wheel = built(source, "wheel")
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "-c", ROOT / "constraints.txt", wheel]
    subprocess.run(install, check=True)
    loop = re.search(
        r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S
    )
    assert loop is not None
    for words in (["-c", loop[1]], ["-m", "agentgym_envs", "envs"]):
        ended = subprocess.run(
            [python, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        assert "success: True" in ended.stdout or "TextCraft-v0" in ended.stdout
