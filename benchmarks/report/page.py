"""Writes a report as `report.md` with pictures beside it, and as one file, `report.html`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.report import plots, tables
from benchmarks.report.blocks import (
    Fold,
    Gallery,
    Heading,
    Part,
    Picture,
    Table,
    Text,
    as_markdown,
    plain,
)
from benchmarks.report.calls import call_list
from benchmarks.report.html import as_page
from benchmarks.report.published import PublishedPanel
from benchmarks.report.results import Setting, SweepResults, shared_limit

_READING = """\
Success rates are means over tasks; in brackets their 95% intervals: Wilson's for the effective
number of episodes, as several of one task count less than as many tasks. *Success* means that the
goal was reached, *score* is progress towards it; they are never mixed. Failed episodes (the
machinery broke) are counted in their own column and enter nothing else. Seconds are those of one
worker; the seconds of episodes that were played together are shared out by their turns."""

MOSTLY = 0.9
"""Share of invalid actions above which a report says so first."""
_PASS = "pass@k, one of k succeeds (arXiv 2107.03374), and pass^k, all do (arXiv 2406.12045)"


def write_report(results: SweepResults, out: Path, *, runs: Sequence[Path] = ()) -> Path:
    """Write `report.md`, `report.html` and the pictures, and return the path of `report.html`.

    Args:
        results: of a sweep.
        out: the folder.
        runs: training runs whose learning curves belong to the report.

    Raises:
        NoTrainingRun: one of the runs is none; nothing is written then.
    """
    curves = plots.find_curves(runs)
    parts = [*_head(results)]
    for scenario, settings in results.scenarios().items():
        parts += _scenario(scenario, settings)
        parts += _gallery(plots.draw_scenario(results, scenario, out))
        parts += _details(settings)
    if costs := plots.draw_costs(results, out):
        parts += [Heading(2, "Costs"), *_bill(results.settings), Gallery(costs)]
    if curves:
        parts += [Heading(2, "Training"), *_gallery(plots.copy_curves(curves, out))]
    if calls := call_list(results.calls):
        parts += [Heading(2, "How it was made"), *calls]
    out.mkdir(parents=True, exist_ok=True)
    (out / "report.md").write_text(as_markdown(parts) + "\n", encoding="utf-8")
    page = out / "report.html"
    page.write_text(as_page(parts, out), encoding="utf-8")
    return page


def _head(results: SweepResults) -> list[Part]:
    parts: list[Part] = [Heading(1, "Benchmark report")]
    missing = sum(s.num_requested - s.whole.num_played for s in results.settings)
    if missing:
        parts.append(Text(f"**Unfinished: {missing} episodes are still to be played.**"))
    if damaged := [str(file) for setting in results.settings for file in setting.damaged]:
        files = ", ".join(map(plain, damaged))
        parts.append(
            Text(
                f"**Damaged: {files}.** Episodes in there cannot be read. Where the file is "
                "deleted, the same `agentgym sweep` plays its batch again."
            )
        )
    if refused := _mostly_invalid(results):
        parts.append(
            Text(
                f"**Nearly all actions were invalid: {'; '.join(refused)}.** Read some in "
                "`agentgym view`: the answers may have another form than `--action_format`."
            )
        )
    head, *rows = tables.summary_table(results.settings)
    titles = {name: _title(name, settings[0]) for name, settings in results.scenarios().items()}
    named = [head[0], *(titles[scenario] for scenario in head[1:])]
    links = tuple((title, title) for title in titles.values())
    parts += [Text("Success by policy and scenario."), Table([named, *rows], links=links)]
    shortened = {s.short: s.policy for s in results.settings if s.short not in ("", s.policy)}
    if shortened:
        legend = [["policy", "its full name"], *map(list, sorted(shortened.items()))]
        parts.append(Table(legend, numbers_from=2))
    return [*parts, Text(_READING)]


def _mostly_invalid(results: SweepResults) -> list[str]:
    """List the policies whose actions are nearly all invalid, each with its scenario."""
    return [
        f"{plain(setting.short or setting.policy)} in {scenario}"
        for scenario, settings in results.scenarios().items()
        for setting in settings
        if setting.whole.invalid > MOSTLY * setting.whole.turns
    ]


def _title(scenario: str, setting: Setting) -> str:
    return f"{scenario} ({setting.label})" if setting.label else scenario


def _scenario(scenario: str, settings: Sequence[Setting]) -> list[Part]:
    parts: list[Part] = [Heading(2, _title(scenario, settings[0]))]
    if label := settings[0].label:
        sizes = ", with the paper's panel sizes" if all(s.published for s in settings) else ""
        parts.append(
            Text(
                f"This panel plays {label} tasks of our own{sizes}. It does not compare with the "
                "paper's numbers."
            )
        )
    if settings[0].limit_is_the_panels and (limit := shared_limit(settings)):
        parts.append(Text(f"All were allowed {limit}."))
    parts += [
        Heading(3, "Success by subtask, percent (tasks)"),
        Table(tables.panel_table(settings), has_total=True),
    ]
    if paper := tables.published_panel(settings):
        parts.append(Text(_paper_note(paper, settings)))
    return parts


def _paper_note(paper: PublishedPanel, settings: Sequence[Setting]) -> str:
    note = (
        "The paper's numbers: arXiv 2509.08755, with the original environments, at its "
        f"evaluation's limit of {paper.max_turns} turns. {paper.tasks}"
    )
    alike = [setting.name for setting in settings if setting.is_as_published]
    if len(alike) < len(settings):
        note += f" They compare with {'; '.join(map(plain, alike))}."
    return note


def _details(settings: Sequence[Setting]) -> list[Part]:
    parts: list[Part] = []
    if (rows := tables.pass_table(settings)) is not None:
        parts += [Heading(3, _PASS), Table(rows)]
    parts += [
        Heading(3, "All that was measured"),
        Table(tables.detail_table(settings)),
        Fold("The same for each subtask", [Table(tables.subtask_table(settings), numbers_from=2)]),
    ]
    if pairs := _pairs(settings, equal_limits=True):
        parts += [Heading(3, "Two by two, on the tasks that both played"), *pairs]
    if pairs := _pairs(settings, equal_limits=False):
        parts.append(Fold("Two by two, of unequal turn limits", pairs))
    return parts


def _pairs(settings: Sequence[Setting], *, equal_limits: bool) -> list[Part]:
    rows = tables.pair_table(settings, equal_limits=equal_limits)
    if rows is None:
        return []
    note = tables.pair_note(settings, equal_limits=equal_limits)
    return [Table(rows, numbers_from=2), *([Text(note)] if note else [])]


def _bill(settings: Sequence[Setting]) -> list[Part]:
    costs = tables.total_costs(settings)
    each = ", ".join(f"{plain(name)} {tables.three_digits(cost)}" for name, cost in costs.items())
    total = f"; {tables.three_digits(sum(costs.values()))} together" * (len(costs) > 1)
    return [Text(f"The episodes cost, in the currency of the prices: {each}{total}.")] * bool(costs)


def _gallery(pictures: Sequence[Picture]) -> list[Part]:
    return [Gallery(pictures)] if pictures else []
