"""The leaderboard: policies ranked by success in sweeps and evaluations, in one HTML file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from agentgym_envs.content.files import write_atomically
from agentgym_envs.core.text import counted
from benchmarks.report.blocks import Fold, Heading, Part, Table, Text
from benchmarks.report.calls import call_list
from benchmarks.report.html import as_page
from benchmarks.report.results import Setting, shared_limit
from benchmarks.report.standings import PanelKey, Standings
from benchmarks.report.tables import points, strongest_baselines, three_digits, with_interval
from trainers.evaluation.intervals import Estimate, mean_of
from trainers.evaluation.tally import paired

LEADERBOARD_FILE = "leaderboard.html"

_READING = """\
Success is the mean over tasks; its 95% interval stands in brackets and as a bar: Wilson's for the
effective number of episodes, as several of one task count less. *Mean* is over the panels, with the
interval that theirs give (Zou and Donner 2008); only who played them all has one, and a rank.
*Against the first* is paired over the tasks that both played. Failed episodes (the machinery broke)
enter no success."""


def write_leaderboard(standings: Standings, out: Path) -> Path:
    """Write the page, a single file that any web server can serve, and return its path."""
    page = out / LEADERBOARD_FILE
    write_atomically(page, as_page(leaderboard_parts(standings), out))
    return page


def leaderboard_parts(standings: Standings) -> list[Part]:
    """Return the parts of the page."""
    panels = standings.panels()
    titles = _titles(panels)
    today = datetime.now(UTC).date().isoformat()
    links = tuple((title, title) for title in titles.values())
    parts: list[Part] = [
        Heading(1, "Leaderboard"),
        Text(f"{_count(standings.settings)}, as of {today}."),
        Table(_overall_table(panels, titles), links=links, has_bars=True),
        Text(_READING),
    ]
    for key, settings in panels.items():
        parts += [
            Heading(2, titles[key]),
            Text(_about(key, settings)),
            Table(_panel_table(settings), has_bars=True),
        ]
    if calls := call_list(standings.calls):
        parts.append(Fold("How it was played", calls))
    return parts


def _count(settings: Sequence[Setting]) -> str:
    policies = len({setting.name for setting in settings})
    episodes = sum(setting.whole.num_played for setting in settings)
    return f"{counted(policies, 'entry', 'entries')}, {counted(episodes, 'episode')}"


def _titles(panels: Mapping[PanelKey, Sequence[Setting]]) -> dict[PanelKey, str]:
    """Name each panel, by more than its scenario where several have one."""
    names = {
        key: f"{key.scenario} ({label})" if (label := settings[0].label) else key.scenario
        for key, settings in panels.items()
    }
    sized = {
        key: f"{name}, {counted(_num_tasks(panels[key]), 'task')}" for key, name in names.items()
    }
    exact = {key: f"{name} ({key.split}, {key.digest[:6]})" for key, name in sized.items()}
    full = {key: f"{name} on {', '.join(key.sources)}" for key, name in exact.items()}
    titles = {}
    for key in panels:
        for kind in (names, sized, exact, full):
            titles[key] = kind[key]
            if list(kind.values()).count(kind[key]) == 1:
                break
    return titles


def _num_tasks(settings: Sequence[Setting]) -> int:
    return max(len(setting.whole.successes) for setting in settings)


def _overall_table(
    panels: Mapping[PanelKey, Sequence[Setting]], titles: Mapping[PanelKey, str]
) -> list[list[str]]:
    by_name: dict[str, dict[PanelKey, Setting]] = {}
    for key, settings in panels.items():
        for setting in settings:
            by_name.setdefault(setting.name, {})[key] = setting
    means = {
        name: mean_of([_success(by_panel[key]) for key in panels])
        for name, by_panel in by_name.items()
        if len(by_panel) == len(panels) and not any(s.is_unfinished for s in by_panel.values())
    }
    ranked = sorted(means, key=lambda name: (-means[name].value, name))
    others = sorted(by_name.keys() - means.keys(), key=lambda name: (-len(by_name[name]), name))
    several = len(panels) > 1
    rows = []
    for place, name in enumerate([*ranked, *others], 1):
        by_panel = by_name[name]
        rows.append(
            [
                f"{place}. {name}" if name in means else name,
                *([with_interval(means.get(name))] if several else []),
                *(_cell(by_panel[key]) if key in by_panel else "" for key in panels),
                *_spent(list(by_panel.values())),
            ]
        )
    head = ["policy", *(["mean"] if several else []), *titles.values(), *_SPENT]
    return without_empty_columns([head, *rows])


_SPENT = ("tokens an episode", "cost an episode", "played")


def _spent(settings: Sequence[Setting]) -> list[str]:
    """Return an episode's mean tokens and cost, and the day of the last one."""
    scored = sum(setting.whole.episodes for setting in settings)
    tokens = sum(setting.whole.tokens for setting in settings)
    priced = [setting for setting in settings if setting.whole.cost is not None]
    cost = sum(setting.whole.cost or 0.0 for setting in priced)
    episodes = sum(setting.whole.num_played for setting in priced)
    return [
        f"{tokens / max(scored, 1):.0f}" if tokens else "",
        three_digits(cost / max(episodes, 1)) if priced else "",
        max(setting.ended for setting in settings)[:10],
    ]


def _about(key: PanelKey, settings: Sequence[Setting]) -> str:
    data = f", on {', '.join(f'`{source}`' for source in key.sources)}" if key.sources else ""
    limit = shared_limit(settings) if settings[0].limit_is_the_panels else ""
    return (
        f"{counted(_num_tasks(settings), 'task')} of `{key.env_id}`, split `{key.split}`{data}; "
        f"digest of the tasks `{key.digest}`." + f" All were allowed {limit}." * bool(limit)
    )


def _panel_table(settings: Sequence[Setting]) -> list[list[str]]:
    """Return a row per policy, the best first, then the strongest baseline and the paper's."""
    names = list(dict.fromkeys(name for s in settings for name in s.subtasks if name))
    sizes = {name: _num_subtasks(name, settings) for name in names}
    first = settings[0].whole.task_success
    rows = [
        [
            "policy",
            "success",
            *(f"{name} ({size})" for name, size in sizes.items()),
            "against the first",
            "episodes",
            "failed",
            *_SPENT,
        ]
    ]
    for setting in settings:
        whole, parts = setting.whole, setting.subtasks
        gain = None if setting is settings[0] else paired(whole.task_success, first)
        rows.append(
            [
                setting.name,
                with_interval(whole.success()),
                *(with_interval(parts[n].success()) if n in parts else "" for n in names),
                "" if gain is None else points(gain.gain),
                f"{whole.num_played}"
                + (f" of {setting.num_requested}" if setting.is_unfinished else ""),
                str(whole.failures + whole.unscored),
                *_spent([setting]),
            ]
        )
    for label, baseline in strongest_baselines(settings):
        cells = [f"{label}: {baseline.policy}", with_interval(baseline.success)]
        rows.append([*cells, *[""] * (len(rows[0]) - len(cells))])
    published = next((s.published for s in settings if s.is_as_published), None)
    for agent, success in published.success if published else ():
        label = f"{agent} (paper, {published.max_turns} turns)" if published else agent
        rows.append([label, f"{success:.1f}%", *[""] * (len(rows[0]) - 2)])
    return without_empty_columns(rows)


def _num_subtasks(name: str, settings: Sequence[Setting]) -> int:
    return max(len(s.subtasks[name].successes) for s in settings if name in s.subtasks)


def without_empty_columns(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return a table without the columns that hold nothing below their heads."""
    filled = [any(row[place] for row in rows[1:]) for place in range(len(rows[0]))]
    return [[cell for cell, keep in zip(row, filled, strict=True) if keep] for row in rows]


def _cell(setting: Setting) -> str:
    success = with_interval(_success(setting))
    if not setting.is_unfinished:
        return success
    return f"{success}, {setting.whole.num_played:,} of {counted(setting.num_requested, 'episode')}"


def _success(setting: Setting) -> Estimate:
    success = setting.whole.success()
    assert success is not None, "a leaderboard holds only what has a score"
    return success
