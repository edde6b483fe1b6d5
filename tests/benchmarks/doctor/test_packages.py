from __future__ import annotations

import sys
from pathlib import Path

import pytest

import agentgym_envs
from benchmarks.doctor import packages
from benchmarks.doctor.checks import Status
from tests.benchmarks.doctor.installing import OURS, PIP, write_metadata, write_ours

VERSION = agentgym_envs.__version__


def install(site: Path, requires: list[str], *extras: str) -> None:
    """Lay metadata of ours before the installed."""
    write_metadata(site, OURS, VERSION, requires=requires, extras=extras)


def module(site: Path, name: str) -> None:
    (site / f"{name}.py").touch()


def test_an_extra_whose_packages_are_there_works_and_names_their_versions(site: Path) -> None:
    install(site, ['some-thing>=1; extra == "x"'], "x")
    write_metadata(site, "some-thing", "1.5")
    module(site, "some_thing")
    finding = packages.check_extra("x")
    assert (finding.status, finding.remedy) == (Status.WORKS, None)
    assert "some-thing 1.5" in finding.text


def test_an_extra_that_lacks_a_package_is_missing_whatever_the_others_are(site: Path) -> None:
    install(site, ['some-thing>=2; extra == "x"', 'no-thing; extra == "x"'], "x")
    write_metadata(site, "some-thing", "1.5")
    finding = packages.check_extra("x")
    assert (finding.status, finding.remedy) == (Status.MISSING, f'{PIP} "{OURS}[x]"')
    assert "not installed: no-thing (there: some-thing 1.5)" in finding.text


def test_what_an_included_extra_lacks_is_lacking(site: Path) -> None:
    install(site, ['no-thing; extra == "y"', f'{OURS}[y]; extra == "x"', 'numpy; extra == "x"'])
    assert packages.missing_packages("x") == ["no-thing"]
    assert packages.check_extra("x").status is Status.MISSING


@pytest.mark.parametrize("version", ["0.9", "2.0", "2.1rc1"])
def test_a_version_that_is_not_allowed_is_broken_and_pip_is_told_which_are(
    version: str, site: Path
) -> None:
    install(site, ['some-thing>=1,<2; extra == "x"'], "x")
    write_metadata(site, "some-thing", version)
    module(site, "some_thing")
    finding = packages.check_extra("x")
    assert (finding.status, finding.remedy) == (
        Status.BROKEN,
        f'{PIP} "some-thing<2,>=1"',
    )
    assert f"some-thing {version} (allowed: <2,>=1)" in finding.text


def test_what_pip_has_installed_and_python_cannot_find_is_broken(site: Path) -> None:
    install(site, ['some-thing>=1; extra == "x"'], "x")
    write_metadata(site, "some-thing", "1.5")
    finding = packages.check_extra("x")
    assert finding.status is Status.BROKEN
    assert finding.remedy == f'{PIP} --force-reinstall "some-thing>=1"'


def test_what_another_platform_needs_is_not_missed_here(site: Path) -> None:
    install(site, ['no-thing; sys_platform == "amiga" and extra == "x"'], "x")
    assert packages.missing_packages("x") == []
    names = [check.name for check in packages.package_checks()]
    assert "[x]" not in names and "agentgym-envs" in names


def test_what_is_always_needed_and_not_installed_is_broken(site: Path) -> None:
    install(site, ["no-thing>=1", "numpy"])
    finding = packages.own_installation()
    assert (finding.status, finding.remedy) == (Status.BROKEN, f'{PIP} "no-thing>=1"')


def test_sources_that_have_gone_on_since_they_were_installed_are_warned_of(site: Path) -> None:
    write_metadata(site, OURS, "0.0.1")
    finding = packages.own_installation()
    assert finding.status is Status.WARNING
    assert "0.0.1" in finding.text and (finding.remedy or "").startswith(f"{PIP} -e ")


def test_a_python_that_is_not_allowed_is_broken(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(site, [])
    assert packages.python().status is Status.WORKS
    monkeypatch.setattr(packages.platform, "python_version", lambda: "3.9.7")
    finding = packages.python()
    assert finding.status is Status.BROKEN and ">=3.11" in finding.text
    assert sys.executable in finding.text


def test_every_extra_of_ours_says_what_it_is_for(site: Path) -> None:
    write_ours(site)
    shown = {check.name.strip("[]") for check in packages.package_checks() if "[" in check.name}
    assert shown - {"vllm"} == set(packages.PURPOSES) - {"vllm"}
