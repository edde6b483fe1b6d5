"""The plots of a report. Knows results and matplotlib; writes PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from benchmarks.report.results import Setting, SweepResults
from benchmarks.report.tables import PASS_AT
from benchmarks.sweep.plan import slug
from trainers.curve import draw_run_curve

COLOURS = ("#2457c5", "#c0392b", "#18794e", "#b7791f", "#6b3fa0", "#0f766e", "#555f6d", "#a21caf")
MARKERS = "osD^vPX*"
COSTS = ("tokens", "seconds")


class NoTrainingRun(ValueError):
    """A folder was named as a training run and holds none."""


def draw_all(
    results: SweepResults, folder: Path, runs: Sequence[Path] = ()
) -> list[tuple[str, str]]:
    """Draw what the results allow.

    Args:
        results: of a sweep.
        folder: the pictures go here.
        runs: folders of training runs whose learning curves belong to the report.

    Returns:
        (title, file name without suffix) of each picture.

    Raises:
        NoTrainingRun: one of the runs is none; nothing is written then.
    """
    curves = [_learning_curve(run) for run in runs]
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for scenario, settings in results.scenarios().items():
        if len({s.max_turns for s in settings}) > 1:
            drawn.append(_picture(folder, f"turns_{scenario}", _turns(scenario, settings)))
        if max(s.whole.samples for s in settings) > 1:
            drawn.append(_picture(folder, f"pass_{scenario}", _pass(scenario, settings)))
    for kind in COSTS:
        if any(_spent(setting, kind) for setting in results.settings):
            drawn.append(_picture(folder, f"cost_{kind}", _cost(results, kind)))
    for place, (run, curve) in enumerate(zip(runs, curves, strict=True), 1):
        # Two runs may have one name, as fixed/seed_0 and scaling/seed_0 do.
        name = f"training_{place}_{slug(run.resolve().name)}"
        (folder / f"{name}.png").write_bytes(curve.read_bytes())
        drawn.append((f"Training: {run}", name))
    return drawn


Draw = tuple[str, Callable[[Any], None]]


def _picture(folder: Path, name: str, what: Draw) -> tuple[str, str]:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    title, draw = what
    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    draw(axes)
    axes.set_title(title)
    axes.spines[["top", "right"]].set_visible(False)
    axes.set_ylim(-0.02, 1.02)
    axes.set_ylabel("success rate")
    axes.yaxis.set_major_formatter(matplotlib.ticker.PercentFormatter(1.0))
    axes.legend(frameon=False, fontsize=8)
    with matplotlib.rc_context({"svg.hashsalt": name}):  # the same numbers give the same file
        figure.savefig(folder / f"{name}.svg", metadata={"Date": None})
    figure.savefig(folder / f"{name}.png", dpi=130)
    plt.close(figure)
    return title, name


def _turns(scenario: str, settings: Sequence[Setting]) -> Draw:
    def draw(axes: Any) -> None:
        for colour, policy, theirs in _by_policy(settings):
            limited = [s for s in theirs if s.max_turns is not None]
            _line(axes, [(s.max_turns, s.whole.success()) for s in limited], colour, policy)
        axes.set_xlabel("turns allowed")

    return f"{scenario}: success against turns", draw


def _pass(scenario: str, settings: Sequence[Setting]) -> Draw:
    def draw(axes: Any) -> None:
        for place, setting in enumerate(settings):
            ks = [k for k in PASS_AT if k <= setting.whole.samples]
            colour = COLOURS[place % len(COLOURS)]
            _line(axes, [(k, setting.whole.pass_at(k)) for k in ks], colour, setting.name)
        axes.set_xscale("log", base=2)
        axes.set_xlabel("k")

    return f"{scenario}: pass@k", draw


def _cost(results: SweepResults, kind: str) -> Draw:
    def draw(axes: Any) -> None:
        markers = dict(zip(results.scenarios(), cycle(MARKERS), strict=False))
        for colour, policy, theirs in _by_policy(results.settings):
            # A logarithmic axis has no place for what cost nothing, as the expert's tokens do.
            points = [
                (_spent(setting, kind), success.value, markers[setting.scenario])
                for setting in theirs
                if _spent(setting, kind) and (success := setting.whole.success()) is not None
            ]
            for spent, value, marker in points:
                axes.plot(spent, value, marker, color=colour, alpha=0.8)
            if points:
                axes.plot([], [], "o", color=colour, label=policy)
        for scenario, marker in markers.items():
            axes.plot([], [], marker, color="#999999", label=scenario)
        axes.set_xscale("log")
        axes.set_xlabel(f"{kind} an episode")

    return f"Success against {kind} an episode", draw


def _spent(setting: Setting, kind: str) -> float:
    """Return what an episode cost, as the tables have it: failed ones took time, but no tokens."""
    whole = setting.whole
    if kind == "tokens":
        return whole.tokens / max(whole.episodes, 1)
    return setting.seconds / max(whole.played, 1)


def _line(axes: Any, found: Sequence[tuple[Any, Any]], colour: str, label: str) -> None:
    known = [(x, estimate) for x, estimate in found if estimate is not None]
    if not known:
        return
    xs = [x for x, _ in known]
    axes.plot(xs, [e.value for _, e in known], "o-", color=colour, label=label, markersize=4)
    axes.fill_between(
        xs, [e.low for _, e in known], [e.high for _, e in known], color=colour, alpha=0.12
    )


def _by_policy(settings: Sequence[Setting]) -> list[tuple[str, str, list[Setting]]]:
    policies = list(dict.fromkeys(s.policy for s in settings))
    return [
        (COLOURS[place % len(COLOURS)], policy, [s for s in settings if s.policy == policy])
        for place, policy in enumerate(policies)
    ]


def _learning_curve(run: Path) -> Path:
    """Return the picture of a run's learning curve, drawn now where the run has left none."""
    kept = run / "learning_curve.png"
    found = kept if kept.exists() else draw_run_curve(run)
    if found is None:
        raise NoTrainingRun(
            f"{run} holds no training run: neither a learning curve nor metrics to draw one from"
        )
    return found
