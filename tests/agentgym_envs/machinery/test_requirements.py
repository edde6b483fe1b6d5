"""What is required of a real installation, and what of it is installed."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from packaging.specifiers import SpecifierSet

from agentgym_envs.machinery.requirements import Package, all_packages, extras, own_packages


def test_what_is_always_required_is_here_and_of_no_extra() -> None:
    packages = {package.name: package for package in own_packages()}
    assert {"gymnasium", "numpy", "minigrid"} <= set(packages)
    assert {"trl", "httpx", "agentgym-envs"} & set(packages) == set()
    assert all(package.is_allowed and package.can_be_found for package in packages.values())
    assert packages["numpy"].version == version("numpy")


def test_python_finds_everything_that_pip_has_installed_of_the_extras() -> None:
    """So the names by which packages are imported are right."""
    packages = {package for extra in extras() for package in own_packages(extra)}
    tools = {"mkdocs-material", "mkdocstrings", "pytest-timeout", "pytest-xdist", "ruff"}
    installed = {one for one in packages if one.version is not None and one.name not in tools}
    assert {one.name for one in installed if not one.can_be_found} == set()
    assert {one.name for one in packages if one.version is None and one.can_be_found} == set()


def test_an_extra_adds_what_the_extras_that_it_includes_add() -> None:
    own = {package.name for package in own_packages("official")}
    assert own == {"webarena-verified"}
    names = [package.name for package in all_packages("official")]
    assert {"webarena-verified", "playwright", "starlette"} <= set(names)
    assert len(names) == len(set(names))
    both = {package.name for package in all_packages("envs")}
    assert {"scienceworld", "bm25s", "starlette"} <= both and own_packages("envs") == []


@pytest.mark.parametrize(
    ("installed", "is_allowed"),
    [("1.16.0", True), ("1.16.0+local", True), ("1.16.1rc1", True), ("1.15", False)]
    + [("1.17", False), ("1.17.0rc1", False), (None, False)],
)
def test_versions_are_compared_as_pip_compares_them(
    installed: str | None, is_allowed: bool
) -> None:
    package = Package("trl", SpecifierSet(">=1.16,<1.17"), installed, True)
    assert package.is_allowed is is_allowed
    assert package.requirement == "trl<1.17,>=1.16"
