"""The report of the parts' runs, and the same numbers as tables for the docs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import write_atomically
from benchmarks.cli.listing import table
from lab.gpu.parts import Part, Reading
from lab.gpu.records import WORK, Record, Status, records_of
from lab.gpu.runner import LOG
from trainers.runs.folder import CURVE_FILE

REPORT = "report.md"
TABLE = "table.md"
_TAIL = 30
"""Lines of a log that the report repeats."""


def write_report(folder: Path) -> Path:
    """Write the report and the tables of all records.

    Args:
        folder: of the records.

    Returns:
        the report's path.
    """
    pairs = list(records_of(folder))
    tables = "\n\n".join(section(part, record) for part, record in pairs if record.readings)
    write_atomically(folder / TABLE, tables + "\n")
    lines = ["# What a GPU shows", "", overview(pairs), "", tables]
    if (folder / CURVE_FILE).is_file():
        lines += ["", f"![Success while training]({CURVE_FILE})"]
    for part, record in pairs:
        if record.status in (Status.FAILED, Status.TIMED_OUT):
            lines += ["", f"## The end of {part.name}'s log", "", _tail(folder, part)]
    write_atomically(folder / REPORT, "\n".join(lines) + "\n")
    return folder / REPORT


def overview(pairs: Sequence[tuple[Part, Record]]) -> str:
    """Return a table with a line for each part that has a record."""
    header = ("part", "what", "how it ended", "seconds", "why")
    rows = [
        (part.name, part.purpose, record.status.value, f"{record.seconds:.0f}", record.reason)
        for part, record in pairs
    ]
    return table([header, *rows])


def section(part: Part, record: Record) -> str:
    """Return a part's readings as a table, with the command that made them."""
    columns = list(dict.fromkeys(name for reading in record.readings for name in reading.values))
    rows = [_cells(reading, columns) for reading in record.readings]
    size = " --small" if record.small else ""
    is_whole = "" if record.status == Status.DONE else f" ({record.status}: what there is)"
    return "\n".join(
        [
            f"## {part.name}: {part.purpose}{is_whole}",
            "",
            table([("", *columns), *rows], numbers_from=1),
            "",
            f"`python -m lab.gpu --out FOLDER --only {part.name}{size}`, "
            + "; ".join(_stamp(record)),
        ]
    )


def _cells(reading: Reading, columns: Sequence[str]) -> tuple[str, ...]:
    return (reading.name, *(_cell_text(reading.values.get(column)) for column in columns))


def _cell_text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else str(value)


def _stamp(record: Record) -> Iterator[str]:
    machine = record.machine
    if not machine:
        return
    gpus = ", ".join(f"{gpu['name']} ({gpu['gigabytes']} GB)" for gpu in machine["gpus"])
    yield machine["date"][:10]
    yield gpus or f"no GPU: {machine['cpu']}"
    yield f"{machine['cores']} cores"
    if machine["commit"]:  # a copy of the files has none
        yield f"commit {machine['commit']}"
    yield f"Python {machine['python']}"
    yield ", ".join(f"{name} {version}" for name, version in machine["versions"].items())


def _tail(folder: Path, part: Part) -> str:
    log = folder / WORK / part.name / LOG
    if not log.is_file():
        return "It has none."
    lines = log.read_text("utf-8", errors="replace").splitlines()[-_TAIL:]
    return "\n".join(["```", *(line.rpartition("\r")[2][:300] for line in lines), "```"])
