"""`agentgym doctor`: tells what works on this machine, line by line."""

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
    """Print what every check has found.

    Returns:
        1 where something that is installed is broken, else 0.
    """
    parser = OptionParser(
        prog="agentgym doctor",
        description="Tell what works on this machine and what does not, with the command that "
        "mends it: Python, extras, Java, Chromium, CUDA, TRL, memory, folders. Ends with status 1 "
        "where something that is installed is broken; an extra that is missing is no failure. "
        "Takes some seconds where Chromium or TRL are installed.",
        epilog="example: agentgym doctor --json",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object, for programs")
    options = parser.parse_args(argv)
    findings = []
    for check in all_checks():
        if sys.stdout.isatty() and not options.json:
            print(f"  {'...':<{_STATUS_WIDTH}}{check.name}", end="\r", flush=True)
        finding = check.run()
        findings.append((check.name, finding))
        if not options.json:
            print(line(check.name, finding), flush=True)
    num = Counter(finding.status for _, finding in findings)
    if options.json:
        print(json.dumps(report(findings), indent=2))
    else:
        print(", ".join(f"{num[status]} {status}" for status in Status if num[status]))
    return 1 if num[Status.BROKEN] else 0


def all_checks() -> Iterator[Check]:
    """Yield every check; those that take seconds come last."""
    yield from package_checks()
    yield from machine_checks()
    yield from program_checks()
    yield from training_checks()


def line(name: str, finding: Finding) -> str:
    """Lay a finding out: status, name, what is there, and below it the remedy."""
    margin = " " * (2 + _STATUS_WIDTH + _NAME_WIDTH)
    first = f"  {finding.status:<{_STATUS_WIDTH}}{name:<{_NAME_WIDTH}}"
    text = textwrap.fill(
        finding.text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )
    if finding.remedy is None:
        return text
    return f"{text}\n{margin}remedy: {finding.remedy}"  # in one piece, to be copied


def report(findings: Sequence[tuple[str, Finding]]) -> dict[str, object]:
    """Return the findings as `--json` prints them."""
    return {
        "version": agentgym_envs.__version__,
        "works": all(finding.status != Status.BROKEN for _, finding in findings),
        "checks": [{"name": name, **asdict(finding)} for name, finding in findings],
    }
