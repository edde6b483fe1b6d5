"""Writes a report: `report.md` with pictures beside it, and `report.html`, one file with all in it.

Knows the order of the report's parts; their numbers come from `tables` and `plots`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from pathlib import Path

from markdown_it import MarkdownIt

from benchmarks.report import tables
from benchmarks.report.plots import draw_all
from benchmarks.report.results import Setting, SweepResults
from benchmarks.suites import EMBEDDED, PAPER_PANELS

PICTURES = "report_images"

_STYLE = """
:root { color-scheme: light dark; --line: #d7dce3; --ink: #1d2430; --paper: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3a4250; --ink: #e6e9ee; --paper: #14181f; }
  img { background: #fff; border-radius: 6px; }
}
body { font: 15px/1.55 "Segoe UI", "Liberation Sans", sans-serif; color: var(--ink);
  background: var(--paper); max-width: 1100px; margin: 2rem auto; padding: 0 1rem; }
h1 { letter-spacing: -0.02em; } h2 { margin-top: 2.4rem; border-bottom: 1px solid var(--line); }
table { border-collapse: collapse; display: block; overflow-x: auto; font-size: 0.92rem; }
th, td { padding: 0.35rem 0.7rem; border-bottom: 1px solid var(--line); white-space: nowrap; }
th { text-align: left; } td { font-variant-numeric: tabular-nums; }
p, li { max-width: 80ch; } img, svg { max-width: 100%; height: auto; }
"""

_READING = """\
Success rates are means over tasks, in percent; intervals are 95%: Wilson's where each task was
played once, else bootstraps over tasks. *Success* means that the goal was reached, *score* is
progress towards it; they are never mixed. Failed episodes (the machinery broke) are counted in
their own column and enter nothing else. Turn limits are the environments' own where none is named.
"""


def write_report(results: SweepResults, out: Path, *, runs: Sequence[Path] = ()) -> Path:
    """Write `report.md`, `report.html` and the pictures.

    Args:
        results: of a sweep.
        out: the folder.
        runs: training runs whose learning curves belong to the report.

    Returns:
        the path of `report.html`.
    """
    pictures = draw_all(results, out / PICTURES, runs)
    text = "\n\n".join([*_head(results), *_scenarios(results), *_pictures(pictures)]) + "\n"
    (out / "report.md").write_text(text, encoding="utf-8")
    page = out / "report.html"
    page.write_text(_html(text, out), encoding="utf-8")
    return page


def _head(results: SweepResults) -> list[str]:
    lines = ["# Benchmark report", _READING.strip()]
    for call in results.calls:
        versions = dict(call.get("versions") or {})  # type: ignore[call-overload]
        told = ", ".join(f"{name} {version}" for name, version in versions.items())
        device = dict(call.get("device") or {})  # type: ignore[call-overload]
        machine = f"{device.get('machine', '')}, {device.get('cpus', '?')} CPUs" + "".join(
            f", {name}" for name in device.get("accelerators", ())
        )
        lines.append(
            f"- `{_command(call)}`\n  ({call.get('started', '')}; commit {call.get('git')}; "
            f"{machine}; {told})"
        )
    missing = sum(s.asked - s.whole.played for s in results.settings)
    if missing:
        lines.append(f"**Unfinished: {missing} episodes are still to be played.**")
    return lines


def _command(call: dict[str, object]) -> str:
    argv = call.get("argv")
    words = [str(word) for word in argv] if isinstance(argv, list) else []
    return " ".join(["agentgym", *words])


def _scenarios(results: SweepResults) -> list[str]:
    parts = []
    for scenario, settings in results.scenarios().items():
        label = _label(settings[0])
        parts.append(f"## {scenario}" + (f" ({label})" if label else ""))
        if label:
            parts.append(
                f"This panel plays {label} tasks of our own, with the paper's panel sizes. It does "
                "not compare with the paper's numbers."
            )
        parts.append(tables.markdown(tables.panel_table(settings)))
        parts.append(tables.markdown(tables.detail_table(settings)))
        for title, rows in (
            ("pass@k, without bias (arXiv 2107.03374)", tables.pass_table(settings)),
            ("Two by two, on the tasks that both played", tables.pair_table(settings)),
        ):
            if rows is not None:
                parts += [f"**{title}**", tables.markdown(rows)]
        if note := tables.pair_note(settings):
            parts.append(note)
    return parts


def _label(setting: Setting) -> str:
    """Return what must be said of a scenario's data wherever its numbers stand."""
    embedded = {panel.env_id for panel in PAPER_PANELS if panel.label == EMBEDDED}
    return EMBEDDED if setting.env_id in embedded else ""


def _pictures(pictures: Sequence[tuple[str, str]]) -> list[str]:
    if not pictures:
        return []
    return ["## Plots", *(f"![{_plain(title)}]({PICTURES}/{name}.png)" for title, name in pictures)]


def _plain(title: str) -> str:
    """Escape what Markdown would read as markup: a run's folder may have any name."""
    return re.sub(r"([\\\[\]`*<])", r"\\\1", title)


def _html(text: str, out: Path) -> str:
    """Turn the report into one page that needs no other file."""
    # "js-default" keeps HTML in policies' names as text.
    body = MarkdownIt("js-default", {"html": False}).enable("table").render(text)
    for picture in sorted((out / PICTURES).glob("*.png")):
        tag = f'src="{PICTURES}/{picture.name}"'
        body = body.replace(tag, f'src="{_data_url(picture)}"')
    title = html.escape("Benchmark report")
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{_STYLE}</style></head><body>\n{body}</body></html>\n"
    )


def _data_url(picture: Path) -> str:
    """Return a picture as an address; a vector drawing where there is one."""
    from base64 import b64encode

    vector = picture.with_suffix(".svg")
    source, kind = (vector, "svg+xml") if vector.exists() else (picture, "png")
    return f"data:image/{kind};base64,{b64encode(source.read_bytes()).decode()}"
