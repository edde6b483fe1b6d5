"""The commands behind a sweep or an evaluation, as a part of a page."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.report.blocks import Part, Text


def call_list(calls: Sequence[Mapping[str, Any]]) -> list[Part]:
    """List calls of commands (`run_record`), merging those that differ in their time alone."""
    times: dict[tuple[str, str], list[str]] = {}
    for call in calls:
        times.setdefault((_command(call), _machine(call)), []).append(str(call.get("started", "")))
    if not times:
        return []
    lines = [
        f"- `{command}`\n  ({'; '.join(filter(None, [_when(started), machine]))})"
        for (command, machine), started in times.items()
    ]
    return [Text("\n".join(lines))]


def _when(started: Sequence[str]) -> str:
    if len(started) == 1:
        return started[0]
    return f"called {len(started)} times, from {started[0]} to {started[-1]}"


def _command(call: Mapping[str, Any]) -> str:
    argv = call.get("argv")
    words = [str(word) for word in argv] if isinstance(argv, list) else []
    return shlex.join(["agentgym", *words])


def _machine(call: Mapping[str, Any]) -> str:
    versions, device = call.get("versions") or {}, call.get("device") or {}
    parts = [
        f"commit {call['git']}" if call.get("git") else "",
        ", ".join(
            [
                *([device["machine"]] if "machine" in device else []),
                *([f"{device['cpus']} CPUs"] if "cpus" in device else []),
                *map(str, device.get("accelerators", ())),
            ]
        ),
        ", ".join(f"{name} {version}" for name, version in versions.items()),
    ]
    return "; ".join(filter(None, parts))
