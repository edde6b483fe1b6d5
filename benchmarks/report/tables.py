"""The tables of a report, as rows of text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import floor, log10

from benchmarks.report.published import PublishedPanel
from benchmarks.report.results import Setting
from trainers.evaluation.baselines import Baseline
from trainers.evaluation.intervals import Estimate
from trainers.evaluation.tally import Tally, p_of, paired

Rows = list[list[str]]

MOST_PAIRS = 30
PASS_AT = (1, 2, 4, 8, 16, 32, 64)
CAUSES = {
    "horizon": "horizon",
    "max_turns": "turn limit",
    "env_limit": "environment's limit",
    "time_limit": "time limit",
    "token_budget": "out of tokens",
    "refused": "refused by the server",
    "no_action": "had no action",
}
"""The names of the causes of truncation in tables, as in the viewer."""
METRICS = (
    "tasks", "episodes", "failed", "success, avg@k", "score", "turns", "invalid actions",
    "cut short", "tokens an episode", "seconds an episode",
)  # fmt: skip


def summary_table(settings: Sequence[Setting]) -> Rows:
    """Return success by policy and scenario, with the strongest baselines below."""
    scenarios = list(dict.fromkeys(s.scenario for s in settings))
    cells = {(s.name, s.scenario): with_interval(s.whole.success()) for s in settings}
    names = list(dict.fromkeys(s.name for s in settings))
    for scenario in scenarios:
        for label, baseline in strongest_baselines([s for s in settings if s.scenario == scenario]):
            names += [label] * (label not in names)
            cells[label, scenario] = f"{with_interval(baseline.success)}, {baseline.policy}"
    return [
        ["policy", *scenarios],
        *([name, *(cells.get((name, place), "") for place in scenarios)] for name in names),
    ]


def panel_table(settings: Sequence[Setting]) -> Rows:
    """Return a scenario's table, a row per policy and a column per subtask, as the paper's."""
    names = list(dict.fromkeys(name for s in settings for name in s.subtasks))
    rows = [["policy", *(f"{name} ({_sizes(name, settings)})" for name in names), "overall"]]
    for setting in settings:
        cells = [_percent(setting.subtasks.get(name)) for name in names]
        rows.append([setting.name, *cells, _percent(setting.whole)])
    for label, baseline in strongest_baselines(settings):
        overall = f"{100 * baseline.success.value:.1f}"
        rows.append([f"{label}: {baseline.policy}", *[""] * len(names), overall])
    if paper := published_panel(settings):
        blank = [""] * len(names)
        for agent, success in paper.success:
            rows.append([f"{agent} (paper, {paper.max_turns} turns)", *blank, f"{success:.1f}"])
    return rows


def strongest_baselines(settings: Sequence[Setting]) -> list[tuple[str, Baseline]]:
    """Return the strongest baseline under each turn limit of a scenario, each with its label."""
    baselines: dict[str, Baseline] = {}
    for setting in settings:
        baseline = setting.baseline
        if baseline is not None:
            limit = "" if setting.limit_is_the_panels else setting.limit
            label = ", ".join(filter(None, ["strongest baseline", limit]))
            baselines.setdefault(label, baseline)
    return list(baselines.items())


def _sizes(subtask: str, settings: Sequence[Setting]) -> str:
    """Return how many tasks of a subtask were played: `5`, or `1 to 5` where settings differ."""
    sizes = [len(s.subtasks[subtask].successes) for s in settings if subtask in s.subtasks]
    return str(max(sizes)) if min(sizes) == max(sizes) else f"{min(sizes)} to {max(sizes)}"


def published_panel(settings: Sequence[Setting]) -> PublishedPanel | None:
    """Return the paper's scores where one of a scenario's settings compares with them."""
    return next((s.published for s in settings if s.is_as_published), None)


def detail_table(settings: Sequence[Setting]) -> Rows:
    """Return everything that was measured of each setting."""
    has_costs = _have_costs(settings)
    return [
        ["policy", *METRICS, *["cost an episode"] * has_costs],
        *(
            [setting.name, *_measured(setting.whole, setting.num_requested, has_costs=has_costs)]
            for setting in settings
        ),
    ]


def subtask_table(settings: Sequence[Setting]) -> Rows:
    """Return everything that was measured of each setting, subtask by subtask."""
    names = dict.fromkeys(name for s in settings for name in s.subtasks)
    has_costs = _have_costs(settings)
    return [
        ["policy", "subtask", *METRICS, *["cost an episode"] * has_costs],
        *(
            [setting.name, name, *_measured(setting.subtasks[name], has_costs=has_costs)]
            for name in names
            for setting in settings
            if name in setting.subtasks
        ),
    ]


def _have_costs(settings: Sequence[Setting]) -> bool:
    return any(setting.whole.cost is not None for setting in settings)


def _measured(
    tally: Tally, num_requested: int | None = None, *, has_costs: bool = False
) -> list[str]:
    """Return the cells of `METRICS`."""
    scored, num_played = max(tally.episodes, 1), tally.num_played
    cost = None if tally.cost is None else tally.cost / max(num_played, 1)
    return [
        str(len(tally.successes)),
        f"{num_played}" + ("" if num_requested in (None, num_played) else f" of {num_requested}"),
        f"{tally.failures}" + f", unscored {tally.unscored}" * bool(tally.unscored),
        with_interval(tally.success()),
        with_interval(tally.score()),
        f"{tally.turns / scored:.1f}",
        f"{tally.invalid / max(tally.turns, 1):.1%}"
        + f", refusals {tally.refusals}" * bool(tally.refusals),
        _cut_short(tally),
        f"{tally.tokens / scored:.0f}",
        three_digits(tally.seconds / max(num_played, 1)),
        *(["" if cost is None else three_digits(cost)] * has_costs),
    ]


def _cut_short(tally: Tally) -> str:
    """Return the share of truncated episodes with its causes: `31.1%: turn limit`."""
    total, scored = tally.truncated.total(), max(tally.episodes, 1)
    causes = {CAUSES.get(cause, cause): count for cause, count in tally.truncated.most_common()}
    each = [f"{cause} {count / scored:.1%}" for cause, count in causes.items()]
    named = ", ".join(causes if len(causes) == 1 else each)
    return f"{total / scored:.1%}" + f": {named}" * bool(total)


def total_costs(settings: Sequence[Setting]) -> dict[str, float]:
    """Return each policy's total cost by its name, where it was recorded."""
    costs: dict[str, float] = {}
    for setting in settings:
        if setting.whole.cost is not None:
            name = setting.short or setting.policy
            costs[name] = costs.get(name, 0.0) + setting.whole.cost
    return costs


def pass_table(settings: Sequence[Setting]) -> Rows | None:
    """Return pass@k and pass^k by policy, or None where each task was played once."""
    most = max((s.whole.samples for s in settings), default=0)
    ks = [k for k in PASS_AT if k <= most]
    if len(ks) < 2:
        return None
    rows = [["policy", *(f"pass@{k}" for k in ks), *(f"pass^{k}" for k in ks[1:])]]
    for setting in settings:
        one = [with_interval(setting.whole.pass_at(k)) for k in ks]
        each = [with_interval(setting.whole.pass_all(k)) for k in ks[1:]]
        rows.append([setting.name, *one, *each])
    return rows


def pair_table(settings: Sequence[Setting], *, equal_limits: bool = True) -> Rows | None:
    """Compare settings two by two on their shared tasks. None where no two share one.

    At most `MOST_PAIRS` pairs with equal turn limits, or with unequal ones.
    """
    gain = "gain of the first (95% interval)"
    rows = [["first", "second", "tasks", gain, "p", "better", "worse"]]
    for one, other in _pairs(settings, equal_limits)[:MOST_PAIRS]:
        result = paired(one.whole.task_success, other.whole.task_success)
        assert result is not None, "a pair shares a task"
        rows.append(
            [
                one.name,
                other.name,
                str(result.n_tasks),
                points(result.gain),
                p_value(p_of([result])),
                str(result.better),
                str(result.worse),
            ]
        )
    return rows if len(rows) > 1 else None


def pair_note(settings: Sequence[Setting], *, equal_limits: bool = True) -> str:
    """Return a note on the pairs that `pair_table` leaves out, or an empty text."""
    more = len(_pairs(settings, equal_limits)) - MOST_PAIRS
    if more < 1:
        return ""
    count = "1 more pair is" if more == 1 else f"{more} more pairs are"
    return (
        f"{count} not listed. `agentgym compare` takes the folders of any two under the sweep's "
        "`cells`, as POLICY/SCENARIO/turns_N."
    )


def _pairs(settings: Sequence[Setting], equal_limits: bool) -> list[tuple[Setting, Setting]]:
    return [
        (one, other)
        for one, other in combinations(settings, 2)
        if (one.max_turns == other.max_turns) == equal_limits
        and one.whole.successes.keys() & other.whole.successes.keys()
    ]


def points(gain: Estimate) -> str:
    """Write a difference of success rates: `+16.0 points (+10.0 to +22.2)`."""
    value, low, high = (f"{_percents(rate):+.1f}" for rate in (gain.value, gain.low, gain.high))
    return f"{value} points ({low} to {high})"


def p_value(p: float) -> str:
    """Write a p value: `0.0312`, or `<0.0001`."""
    return "<0.0001" if p < 1e-4 else f"{p:.4f}"


def with_interval(estimate: Estimate | None) -> str:
    """Write a rate with its interval: `57.8% (47.5 to 67.5)`."""
    if estimate is None:
        return ""
    return f"{100 * estimate.value:.1f}% ({100 * estimate.low:.1f} to {100 * estimate.high:.1f})"


def three_digits(value: float) -> str:
    """Write a positive number with three significant digits and without a power of ten."""
    if value <= 0:
        return "0"
    return f"{value:.{max(0, 2 - floor(log10(value)))}f}"


def _percents(rate: float) -> float:
    return round(100 * rate, 1) + 0.0  # no minus before a zero


def _percent(tally: Tally | None) -> str:
    success = None if tally is None else tally.success()
    return "" if success is None else f"{100 * success.value:.1f}"
