"""Parts in processes of their own: stand-ins that end well, fail, hang or need what is missing."""

from __future__ import annotations

import atexit
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

pytest.importorskip("torch")

from lab import processes
from lab.gpu.parts import LONGEST, PARTS, Part, Reading, Setting, select
from lab.gpu.records import Record, Status, read_record, write_record
from lab.gpu.report import TABLE, write_report
from lab.gpu.runner import LOG, run_parts

HERE = "tests.lab.gpu.test_runner"


def well(setting: Setting, part: str) -> Iterator[Reading]:
    assert not setting.small and setting.folder.is_dir() and setting.shared.is_dir()
    yield Reading("first", {"tokens/s": 1234, "note": "a"})
    yield Reading("second", {"tokens/s": 5, "peak GB": 0.25})


def failing(setting: Setting, part: str) -> Iterator[Reading]:
    yield Reading("before", {"n": 1})
    atexit.register(print, "W1127: a warning on the way out", file=sys.stderr)
    raise ZeroDivisionError("by nothing")


def hanging(setting: Setting, part: str) -> Iterator[Reading]:
    time.sleep(600)
    yield Reading("never")


STAND_INS = (
    Part("well", "ends well", f"{HERE}:well", 240),
    Part("failing", "fails", f"{HERE}:failing", 240),
    Part("hanging", "hangs", f"{HERE}:hanging", 4),
    Part("lacking", "needs it", f"{HERE}:well", 60, (("no_such_package", "install it"),)),
)
WELL, FAILING, HANGING, LACKING = STAND_INS


@pytest.fixture(autouse=True)
def _stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 1.0)
    for part in STAND_INS:
        monkeypatch.setitem(PARTS, part.name, part)  # for the report


def test_each_part_ends_within_ten_minutes_and_has_a_module() -> None:
    names = [part.name for part in select(None)]
    assert len(names) == len(set(names))
    for part in select(None):
        assert part.seconds <= LONGEST
        module, _, function = part.target.partition(":")
        assert callable(getattr(import_module(module), function))
    assert [part.name for part in select(["step", "tests"])] == ["tests", "step"]


@pytest.mark.slow
def test_parts_that_fail_or_hang_are_lines_of_the_report(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    records = run_parts([HANGING, FAILING, LACKING, WELL], folder, small=False)
    by_name = {record.part: record for record in records}
    assert {name: record.status for name, record in by_name.items()} == {
        "hanging": Status.TIMED_OUT,
        "failing": Status.FAILED,
        "lacking": Status.SKIPPED,
        "well": Status.DONE,
    }
    assert "by nothing" in by_name["failing"].reason
    assert by_name["lacking"].reason == "install it"
    assert by_name["failing"].readings == [Reading("before", {"n": 1})]  # what it had is kept
    assert by_name["well"].machine["cores"] >= 1
    text = write_report(folder).read_text()
    assert "ZeroDivisionError: by nothing" in text and "install it" in text
    table = (folder / TABLE).read_text()
    rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()]
    assert ["", "first", "1,234", "a", "", ""] in rows  # the columns of all its readings
    assert ["", "second", "5", "", "0.25", ""] in rows
    assert "--only well`" in table and "ZeroDivisionError" not in table


def test_a_part_that_is_done_does_not_run_again_and_one_that_failed_does(tmp_path: Path) -> None:
    write_record(tmp_path, Record("well", small=True, status=Status.DONE))
    write_record(tmp_path, Record("lacking", small=True, status=Status.FAILED))
    by_name = {r.part: r.status for r in run_parts([LACKING, WELL], tmp_path, small=True)}
    assert by_name == {"well": Status.DONE, "lacking": Status.SKIPPED}
    assert not (tmp_path / "work" / "well" / LOG).exists()


def test_a_rehearsal_does_not_stand_for_the_full_size(tmp_path: Path) -> None:
    record = Record("well", small=True, status=Status.DONE, readings=[Reading("a", {"n": 1})])
    write_record(tmp_path, record)
    assert read_record(tmp_path, "well") == record
    assert record.is_done(small=True) and not record.is_done(small=False)


@pytest.mark.slow
def test_a_part_that_the_commands_own_limit_ends_begins_the_next_call(tmp_path: Path) -> None:
    (record,) = run_parts([HANGING], tmp_path, small=True, seconds=3)
    assert record.status == Status.RUNNING and "goes on" in record.reason
    assert "hanging" in (write_report(tmp_path)).read_text()
    assert run_parts([WELL], tmp_path, small=True, seconds=0.5) == []  # no time for its process
