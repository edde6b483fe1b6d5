"""`agentgym doctor`: the checks' findings, a line each."""

from __future__ import annotations

import json
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict

import agentgym_envs
from benchmarks.doctor.checks import Check, Finding, Status
from benchmarks.doctor.machine import machine_checks
from benchmarks.doctor.packages import package_checks
from benchmarks.doctor.programs import program_checks
from benchmarks.doctor.training import training_checks
from trainers.options.parser import OptionParser

_WIDTH = 100
_NAME_WIDTH = 17
_STATUS_WIDTH = 9


def main(argv: Sequence[str] | None = None) -> int:
    """Print the findings.

    Returns:
        1 where something that is installed is broken, else 0.
    """
    parser = OptionParser(
        prog="agentgym doctor",
        description="Check Python, extras, Java, Chromium, CUDA, TRL, memory and folders, and "
        "print the command that mends each fault. Ends with status 1 where something that is "
        "installed is broken; a missing extra is no failure. Takes some seconds where Chromium "
        "or TRL are installed.",
        epilog="example: agentgym doctor --json",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    options = parser.parse_args(argv)
    findings: list[tuple[str, Finding]] = []
    for check in all_checks():
        if sys.stdout.isatty() and not options.json:
            print(f"  {'...':<{_STATUS_WIDTH}}{check.name}", end="\r", flush=True)
        finding = check.run()
        findings.append((check.name, finding))
        if not options.json:
            print(line(check.name, finding), flush=True)
    counts = Counter(finding.status for _, finding in findings)
    if options.json:
        report = {
            "version": agentgym_envs.__version__,
            "works": not counts[Status.BROKEN],
            "checks": [{"name": name, **asdict(finding)} for name, finding in findings],
        }
        print(json.dumps(report, indent=2))
    else:
        print(", ".join(f"{counts[status]} {status}" for status in Status if counts[status]))
    return 1 if counts[Status.BROKEN] else 0


def all_checks() -> Iterator[Check]:
    """Yield every check, those that take seconds last."""
    yield from package_checks()
    yield from machine_checks()
    yield from program_checks()
    yield from training_checks()


def line(name: str, finding: Finding) -> str:
    """Format a finding: status, name and text, and below it the remedy."""
    margin = " " * (2 + _STATUS_WIDTH + _NAME_WIDTH)
    text = textwrap.fill(
        finding.text,
        _WIDTH,
        initial_indent=f"  {finding.status:<{_STATUS_WIDTH}}{name:<{_NAME_WIDTH}}",
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if finding.remedy is None:
        return text
    return f"{text}\n{margin}remedy: {finding.remedy}"  # in one piece, to be copied
