"""The plots of a report, as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import cycle
from math import inf
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.report.blocks import Picture
from benchmarks.report.results import Setting, SweepResults
from benchmarks.report.tables import PASS_AT
from benchmarks.sweep.plan import slug
from trainers.runs.curve import draw_run_curve
from trainers.runs.folder import CURVE_FILE

MOST_LABELS = 14
"""Maximum number of labelled turn limits below a plot."""
PICTURES = "report_images"
INK = "#1d2430"
"""Colour of axes and text, in place of which the page puts its own."""
COLOURS = ("#3f7fe0", "#d9573f", "#2a9d6f", "#c08a1e", "#8f62d9", "#17a2b8", "#c2559d", "#7f8a99")
"""Colours of lines, each distinct from white and from black."""
STYLES = ("-", "--", ":", "-.", (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)))
GREY = "#8a93a0"
MARKERS = "osD^vPX*"
COSTS = ("tokens", "seconds", "cost")
_LOOKS = {
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 11,
    "legend.fontsize": 8,
    "svg.fonttype": "none",
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
}

Draw = Callable[[Any], None]
Kind = TypeVar("Kind")


class NoTrainingRun(ValueError):
    """A folder was named as a training run and holds none."""


def draw_scenario(results: SweepResults, scenario: str, out: Path) -> list[Picture]:
    """Draw success against turns and pass@k, where several limits or samples were played."""
    settings, colours = results.scenarios()[scenario], policy_colours(results)
    drawn = []
    if len({s.turns_allowed for s in settings} - {None}) > 1:
        draw = success_by_turns(settings, colours)
        drawn.append(
            draw_picture(out, slug(f"turns_{scenario}"), f"{scenario}: success against turns", draw)
        )
    if max(s.whole.samples for s in settings) > 1:
        draw = pass_at_k_curves(settings, colours)
        title = f"{scenario}: pass@k (dots) and pass^k (crosses)"
        drawn.append(draw_picture(out, slug(f"pass_{scenario}"), title, draw))
    return drawn


def draw_costs(results: SweepResults, out: Path) -> list[Picture]:
    """Draw success against the costs of an episode, of all scenarios together."""
    return [
        draw_picture(
            out,
            f"cost_{kind}",
            f"Success against {kind} an episode",
            success_by_cost(results, kind),
        )
        for kind in COSTS
        if any(_spent(setting, kind) for setting in results.settings)
    ]


def find_curves(runs: Iterable[Path]) -> list[tuple[Path, Path]]:
    """Return training runs with their curves' pictures, or raise NoTrainingRun."""
    return [(run, _learning_curve(run)) for run in runs]


def copy_curves(curves: Sequence[tuple[Path, Path]], out: Path) -> list[Picture]:
    """Copy the learning curves of training runs beside the report."""
    copied = []
    for place, (run, curve) in enumerate(curves, 1):
        # Two runs may have one name, as fixed/seed_0 and scaling/seed_0 do.
        file = f"{PICTURES}/training_{place}_{slug(run.resolve().name)}"
        path = out / f"{file}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(curve.read_bytes())
        copied.append(Picture(f"Training: {run}", file))
    return copied


def policy_colours(results: SweepResults) -> dict[str, str]:
    """Return each policy's colour, the same one on every plot."""
    policies = dict.fromkeys(setting.policy for setting in results.settings)
    return dict(zip(policies, cycle(COLOURS), strict=False))


def draw_picture(out: Path, name: str, title: str, draw: Draw) -> Picture:
    """Draw a plot and write it to the report's pictures as SVG and PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    path = out / PICTURES / name
    path.parent.mkdir(parents=True, exist_ok=True)
    # The salt: the same numbers give the same file.
    with matplotlib.rc_context({**_LOOKS, "svg.hashsalt": name}):
        figure, axes = plt.subplots(layout="constrained")
        draw(axes)
        handles, labels = axes.get_legend_handles_labels()
        figure.set_size_inches(5.6, 3.4 + 0.18 * -(-len(labels) // 2))
        axes.set_title(title, loc="left", weight="bold")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_ylim(-0.02, 1.02)
        axes.set_ylabel("success rate")
        axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1.0))
        axes.grid(axis="y", color=INK, alpha=0.12, linewidth=0.6)
        figure.legend(handles, labels, loc="outside lower left", ncols=2, frameon=False)
        # Not `with_suffix`: a name may hold a dot of its own.
        figure.savefig(f"{path}.svg", metadata={"Date": None}, transparent=True)
        figure.savefig(f"{path}.png", dpi=130)
        plt.close(figure)
    return Picture(title, f"{PICTURES}/{name}")


def success_by_turns(settings: Sequence[Setting], colours: Mapping[str, str]) -> Draw:
    """Return a function that draws success over the turn limit."""

    def draw(axes: Any) -> None:
        limited = [s for s in settings if s.turns_allowed]
        limited.sort(key=lambda s: s.turns_allowed or 0)
        style = _styles(s.apart for s in limited)
        for policy, apart in dict.fromkeys((s.policy, s.apart) for s in limited):
            members = [s for s in limited if (s.policy, s.apart) == (policy, apart)]
            points = [(s.turns_allowed, s.whole.success()) for s in members]
            _line(axes, points, colours[policy], style[apart])
        _legend(axes, limited, colours)
        _legend_of_styles(axes, {", ".join(apart): look for apart, look in style.items()})
        turns = sorted({s.turns_allowed for s in limited if s.turns_allowed})
        axes.set_xticks(_apart(turns))
        axes.set_xticks(turns, minor=True)
        axes.set_xlabel("turns allowed")

    return draw


def _apart(places: Sequence[int]) -> list[int]:
    """Return the sorted ticks whose labels do not overlap, both ends first."""
    least = (places[-1] - places[0]) / MOST_LABELS
    chosen = [places[-1]]
    for place in places[:-1]:
        before = chosen[-2] if len(chosen) > 1 else -inf
        if place - before >= least and places[-1] - place >= least:
            chosen.insert(-1, place)
    return chosen


def pass_at_k_curves(settings: Sequence[Setting], colours: Mapping[str, str]) -> Draw:
    """Return a function that draws pass@k and pass^k over k."""

    def draw(axes: Any) -> None:
        kinds = [", ".join(filter(None, [s.limit, *s.apart])) for s in settings]
        style = _styles(kinds)
        most = max(s.whole.samples for s in settings)
        for s, kind in zip(settings, kinds, strict=True):
            ks = [k for k in PASS_AT if k <= s.whole.samples]
            look = colours[s.policy], style[kind]
            _line(axes, [(k, s.whole.pass_at(k)) for k in ks], *look)
            _line(axes, [(k, s.whole.pass_all(k)) for k in ks], *look, marker="x")
        _legend(axes, settings, colours)
        _legend_of_styles(axes, style)
        axes.set_xscale("log", base=2)
        ticks = [k for k in PASS_AT if k <= most]
        axes.set_xticks(ticks, labels=map(str, ticks))
        axes.set_xlabel("k")

    return draw


def success_by_cost(results: SweepResults, kind: str) -> Draw:
    """Return a function that draws success against tokens, seconds or cost an episode."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    colours = policy_colours(results)

    def draw(axes: Any) -> None:
        markers = dict(zip(results.scenarios(), cycle(MARKERS), strict=False))
        # A logarithmic axis has no place for what cost nothing, as the expert's tokens do.
        costs = [(s, _spent(s, kind), s.whole.success()) for s in results.settings]
        drawn = [(s, spent, success) for s, spent, success in costs if spent and success]
        for s, spent, success in drawn:
            axes.plot(
                spent, success.value, markers[s.scenario], color=colours[s.policy], alpha=0.85
            )
        _legend(axes, [s for s, _, _ in drawn], colours)
        for scenario, marker in markers.items():
            axes.plot([], [], marker, color=GREY, label=scenario)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel(f"{kind} an episode")

    return draw


def _spent(setting: Setting, kind: str) -> float:
    """Return the mean cost of an episode. Failed ones took time, but no tokens."""
    whole = setting.whole
    if kind == "tokens":
        return whole.tokens / max(whole.episodes, 1)
    return ((whole.cost or 0.0) if kind == "cost" else whole.seconds) / max(whole.num_played, 1)


def _styles(kinds: Iterable[Kind]) -> dict[Kind, Any]:
    return dict(zip(dict.fromkeys(kinds), cycle(STYLES), strict=False))


def _legend(axes: Any, settings: Sequence[Setting], colours: Mapping[str, str]) -> None:
    """Add a legend of the policies' colours."""
    for policy, name in {s.policy: s.short or s.policy for s in settings}.items():
        axes.plot([], [], "-", color=colours[policy], linewidth=3, label=name)


def _legend_of_styles(axes: Any, styles: Mapping[str, Any]) -> None:
    """Add a legend of the line styles, where there are several."""
    for name, style in styles.items() if len(styles) > 1 else ():
        axes.plot([], [], linestyle=style, color=GREY, label=name or "environment's own limit")


def _line(
    axes: Any, points: Sequence[tuple[Any, Any]], colour: str, style: Any, *, marker: str = "o"
) -> None:
    known = [(x, estimate) for x, estimate in points if estimate is not None]
    if not known:
        return
    xs = [x for x, _ in known]
    values = [estimate.value for _, estimate in known]
    axes.plot(xs, values, marker=marker, linestyle=style, color=colour, markersize=4)
    low, high = [e.low for _, e in known], [e.high for _, e in known]
    axes.fill_between(xs, low, high, color=colour, alpha=0.12, linewidth=0)


def _learning_curve(run: Path) -> Path:
    """Return the picture of a run's learning curve, drawn now where the run has left none."""
    picture = run / CURVE_FILE
    drawn = picture if picture.exists() else draw_run_curve(run)
    if drawn is None:
        raise NoTrainingRun(
            f"{run} holds no training run: neither a learning curve nor metrics to draw one from"
        )
    return drawn
