"""The tables of a report, as rows of text. Knows results, no files and no HTML."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from benchmarks.report.metrics import Tally, paired
from benchmarks.report.results import Setting, in_panel_order
from trainers.intervals import Estimate

Rows = list[list[str]]

PAPER = "paper"
MOST_PAIRS = 30
PASS_AT = (1, 2, 4, 8, 16, 32, 64)


def panel_table(settings: Sequence[Setting]) -> Rows:
    """Return a scenario's table in the paper's layout: a row per policy, a column per subtask.

    Where the panel is the paper's and was played whole, its agents' overall success stands below.
    """
    names = list(dict.fromkeys(name for s in settings for name in in_panel_order(s)))
    sizes = {
        name: max(len(s.subtasks[name].successes) for s in settings if name in s.subtasks)
        for name in names
    }
    header = ["policy", *(f"{name} ({sizes[name]})" for name in names), "overall"]
    rows = [header]
    for setting in settings:
        cells = [_percent(setting.subtasks.get(name)) for name in names]
        rows.append([setting.name, *cells, f"**{_percent(setting.whole)}**"])
    paper = next((s.panel.paper for s in settings if s.panel is not None), None)
    if paper is not None:
        blank = [""] * len(names)
        rows.append([f"Qwen2.5-7B ({PAPER})", *blank, f"{paper.base:.1f}"])
        rows.append([f"AgentGym-RL-7B ({PAPER})", *blank, f"{paper.fixed:.1f}"])
        rows.append([f"ScalingInter-7B ({PAPER})", *blank, f"{paper.staged:.1f}"])
    return rows


def detail_table(settings: Sequence[Setting]) -> Rows:
    """Return everything that was measured of each setting."""
    rows = [
        [
            "policy", "tasks", "episodes", "failed", "success, avg@k", "score", "turns",
            "invalid actions", "cut short", "tokens an episode", "seconds an episode",
        ]
    ]  # fmt: skip
    for setting in settings:
        whole = setting.whole
        played = max(whole.episodes, 1)
        all_played = whole.played
        failed = f"{whole.failures}" + f", unscored {whole.unscored}" * bool(whole.unscored)
        rows.append(
            [
                setting.name,
                str(len(whole.successes)),
                f"{all_played}" + ("" if all_played == setting.asked else f" of {setting.asked}"),
                failed,
                _with_interval(whole.success()),
                _with_interval(whole.score()),
                f"{whole.turns / played:.1f}",
                f"{whole.invalid / max(whole.turns, 1):.1%}",
                f"{whole.truncated / played:.1%}",
                f"{whole.tokens / played:.0f}",
                f"{setting.seconds / max(all_played, 1):.2f}",
            ]
        )
    return rows


def pass_table(settings: Sequence[Setting]) -> Rows | None:
    """Return pass@k by policy; None where each task was played once."""
    most = max((s.whole.samples for s in settings), default=0)
    ks = [k for k in PASS_AT if k <= most]
    if len(ks) < 2:
        return None
    rows = [["policy", *(f"pass@{k}" for k in ks)]]
    for setting in settings:
        rows.append([setting.name, *(_with_interval(setting.whole.pass_at(k)) for k in ks)])
    return rows


def pair_table(settings: Sequence[Setting]) -> Rows | None:
    """Compare settings two by two on the tasks that both played; None where no two share a task.

    At most `MOST_PAIRS` pairs, those of equal turn limits first; `pair_note` tells of the others.
    """
    rows = [["first", "second", "tasks", "gain of the first (95% interval)", "better", "worse"]]
    for one, other in _pairs(settings)[:MOST_PAIRS]:
        found = paired(one.whole.task_success, other.whole.task_success)
        assert found is not None, "a pair shares a task"
        rows.append(
            [
                one.name,
                other.name,
                str(found.n_tasks),
                points(found.gain),
                str(found.better),
                str(found.worse),
            ]
        )
    return rows if len(rows) > 1 else None


def pair_note(settings: Sequence[Setting]) -> str:
    """Say how many pairs `pair_table` leaves out and how to see them; empty where it has all."""
    more = len(_pairs(settings)) - MOST_PAIRS
    if more < 1:
        return ""
    told = "1 more pair is" if more == 1 else f"{more} more pairs are"
    return (
        f"{told} not listed; those of equal turn limits come first. `agentgym compare` takes the "
        "folders of any two under the sweep's `cells`, as POLICY/SCENARIO/turns_N."
    )


def _pairs(settings: Sequence[Setting]) -> list[tuple[Setting, Setting]]:
    """List the settings two by two that share a task, those of equal turn limits first."""
    found = [
        (one, other)
        for one, other in combinations(settings, 2)
        if one.whole.successes.keys() & other.whole.successes.keys()
    ]
    return sorted(found, key=lambda pair: pair[0].max_turns != pair[1].max_turns)


def points(gain: Estimate) -> str:
    """Write a difference of success rates: `+16.0 points (+10.0 to +22.2)`."""
    return f"{100 * gain.value:+.1f} points ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"


def markdown(rows: Rows) -> str:
    """Lay rows out as a Markdown table; bars in cells are escaped."""
    escaped = [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    head, *body = escaped
    lines = [head, ["---", *(["---:"] * (len(head) - 1))], *body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _percent(tally: Tally | None) -> str:
    found = None if tally is None else tally.success()
    return "" if found is None else f"{100 * found.value:.1f}"


def _with_interval(found: Estimate | None) -> str:
    if found is None:
        return ""
    return f"{100 * found.value:.1f}% ({100 * found.low:.1f} to {100 * found.high:.1f})"
