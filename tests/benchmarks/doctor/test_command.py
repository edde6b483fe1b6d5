"""`agentgym doctor` where nothing but the bare install is there, as a real process."""

from __future__ import annotations

import ast
import json
import resource
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import agentgym_envs
from benchmarks.doctor import command
from benchmarks.doctor.checks import Check, Finding, Status
from tests.benchmarks.doctor.conftest import Doctor
from tests.benchmarks.doctor.installing import PIP, ROOT, write_metadata

NOT_BARE = ("Java", "Chromium", "CUDA", "TRL")


def found(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in report["checks"]}


def test_a_bare_install_is_well_and_each_missing_extra_has_its_command(doctor: Doctor) -> None:
    ended = doctor("--json")
    assert ended.returncode == 0, ended.stdout + ended.stderr
    report = json.loads(ended.stdout)
    assert (report["version"], report["works"]) == (agentgym_envs.__version__, True)
    checks = found(report)
    assert [*checks][:2] == ["Python", "agentgym-envs"]
    for name, check in checks.items():
        assert set(check) == {"name", "status", "text", "remedy"}
        if name.startswith("[") or name in NOT_BARE:
            assert check["status"] == "missing", check
        else:
            assert check["status"] in ("works", "warning"), check
        if name.startswith("["):
            assert check["remedy"] == f'{PIP} "agentgym-envs{name}"'
    extras = {name for name in checks if name.startswith("[")}
    assert extras == {
        *("[eval]", "[train]", "[science]", "[search]", "[dense]", "[web]", "[browser]"),
        *("[serve]", "[remote]", "[miniwob]", "[official]", "[ray]", "[alfworld]"),
        *(["[vllm]"] if sys.platform == "linux" else []),
    }


def test_a_bare_install_is_looked_at_in_two_seconds_of_the_processor(doctor: Doctor) -> None:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert doctor().returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 2.0


def test_the_lines_tell_status_thing_and_remedy(doctor: Doctor) -> None:
    lines = doctor().stdout.splitlines()
    (place,) = (n for n, line in enumerate(lines) if " [science] " in line)
    assert lines[place].split()[:2] == ["missing", "[science]"]
    assert "scienceworld" in lines[place]
    assert lines[place + 1].strip() == f'remedy: {PIP} "agentgym-envs[science]"'
    assert "broken" not in lines[-1] and " missing" in lines[-1]


def test_what_is_installed_and_broken_ends_with_status_1(doctor: Doctor, bare: Path) -> None:
    """Pip's record of the search extra's packages is there, and what they installed is not."""
    write_metadata(bare, "bm25s", "0.2.14")
    write_metadata(bare, "pydantic-monty", "1.4.0")
    write_metadata(bare, "rapidfuzz", "3.14.6")
    ended = doctor("--json")
    assert ended.returncode == 1
    report = json.loads(ended.stdout)
    assert report["works"] is False
    check = found(report)["[search]"]
    assert check["status"] == "broken"
    assert check["remedy"].startswith(f"{PIP} --force-reinstall")
    assert '"bm25s>=0.2"' in check["remedy"] and '"pydantic-monty<2,>=1.4"' in check["remedy"]


def test_sources_that_are_not_installed_are_told_of(doctor: Doctor, bare: Path) -> None:
    (metadata,) = bare.glob("agentgym_envs-*.dist-info/METADATA")
    metadata.unlink()
    metadata.parent.rmdir()
    ended = doctor("--json")
    assert ended.returncode == 1
    checks = found(json.loads(ended.stdout))
    assert checks["agentgym-envs"]["status"] == "broken"
    assert checks["agentgym-envs"]["remedy"].startswith(f"{PIP} -e ")
    assert not any(name.startswith("[") for name in checks)


WHOLE = """
import sys
from benchmarks.doctor.command import main
status = main(["--json"])
print(sorted({name.partition(".")[0] for name in sys.modules}), file=sys.stderr)
sys.exit(status)
"""


@pytest.mark.full
def test_the_whole_of_it_imports_no_torch_of_its_own() -> None:
    """On this machine, with all that is installed here; TRL has what the trainers extend."""
    done = subprocess.run(
        [sys.executable, "-c", WHOLE], cwd=ROOT, capture_output=True, text=True, check=False
    )
    report = json.loads(done.stdout)
    assert report["works"] is (done.returncode == 0)
    assert {check["status"] for check in report["checks"]} <= {*Status}
    if find_spec("torch") is not None:
        trl = found(report)["TRL"]
        assert (trl["status"], trl["remedy"]) == (Status.WORKS, None)
        assert trl["text"].count("trl") == 1 and trl["text"].count("transformers") == 1
    imported = set(ast.literal_eval(done.stderr.splitlines()[-1]))
    assert imported & {"torch", "transformers", "trl", "vllm", "matplotlib"} == set()


def test_a_check_that_raises_is_a_line_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> Finding:
        raise ZeroDivisionError("by nothing")

    def checks() -> Iterator[Check]:
        yield Check("first", fail, "mend it")
        yield Check("second", lambda: Finding(Status.WORKS, "is there"))

    monkeypatch.setattr(command, "all_checks", checks)
    assert command.main([]) == 1
    first, remedy, second, total = capsys.readouterr().out.splitlines()
    assert first.split()[:4] == ["broken", "first", "ZeroDivisionError:", "by"]
    assert remedy.strip() == "remedy: mend it"
    assert second.split() == ["works", "second", "is", "there"]
    assert total == "1 works, 1 broken"


def test_a_terminal_shows_what_is_being_looked_at(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its line takes the place of the name, and is longer."""
    check = Check("slow thing", lambda: Finding(Status.WORKS, "is there"))
    monkeypatch.setattr(command, "all_checks", lambda: iter([check]))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert command.main([]) == 0
    before, _, after = capsys.readouterr().out.partition("\r")
    assert before.split() == ["...", "slow", "thing"]
    assert after.startswith("  works    slow thing ") and len(after) > len(before)
    assert command.main(["--json"]) == 0
    assert json.loads(capsys.readouterr().out)["works"] is True


def test_long_texts_are_wrapped_and_commands_are_not() -> None:
    remedy = "pip install " + " ".join(f'"package{n}>=1"' for n in range(12))
    told = command.line("[x]", Finding(Status.BROKEN, "word " * 40, remedy)).splitlines()
    assert all(len(line) <= 100 for line in told[:-1])
    assert len(told) > 3
    assert told[-1].endswith(f"remedy: {remedy}")
    assert textwrap.dedent("\n".join(told[1:])).startswith("word")
