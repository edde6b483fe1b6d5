"""The plots of a report. Knows results and matplotlib; writes PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.report.results import Setting, SweepResults
from benchmarks.report.tables import PASS_AT
from trainers.curve import draw_learning_curve

COLOURS = ("#2457c5", "#c0392b", "#18794e", "#b7791f", "#6b3fa0", "#0f766e", "#555f6d", "#a21caf")


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
    """
    folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for scenario, settings in results.scenarios().items():
        if len({s.max_turns for s in settings}) > 1:
            drawn.append(_picture(folder, f"turns_{scenario}", _turns(scenario, settings)))
        if max(s.whole.samples for s in settings) > 1:
            drawn.append(_picture(folder, f"pass_{scenario}", _pass(scenario, settings)))
    if any(s.whole.tokens for s in results.settings):
        drawn.append(_picture(folder, "cost_tokens", _cost(results, "tokens an episode")))
    drawn.append(_picture(folder, "cost_seconds", _cost(results, "seconds an episode")))
    for run in runs:
        drawn.append(_training(run, folder))
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


def _cost(results: SweepResults, axis: str) -> Draw:
    def draw(axes: Any) -> None:
        scenarios = list(results.scenarios())
        for colour, policy, theirs in _by_policy(results.settings):
            for setting in theirs:
                played = setting.whole.played
                success = setting.whole.success()
                if success is None:
                    continue
                spent = setting.whole.tokens if axis.startswith("tokens") else setting.seconds
                marker = "osD^vPX*"[scenarios.index(setting.scenario) % 8]
                axes.plot(
                    spent / max(played, 1) or None, success.value, marker, color=colour, alpha=0.8
                )
            axes.plot([], [], "o", color=colour, label=policy)
        for place, scenario in enumerate(scenarios):
            axes.plot([], [], "osD^vPX*"[place % 8], color="#999999", label=scenario)
        axes.set_xscale("log")
        axes.set_xlabel(axis)

    return f"Success against {axis}", draw


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


def _training(run: Path, folder: Path) -> tuple[str, str]:
    """Copy a training run's learning curve, with its horizon's stages, into the report."""
    found = run / "learning_curve.png"
    if not found.exists():
        draw_learning_curve(run)
    if not found.exists():
        raise ValueError(f"{run} holds no training run: neither metrics.jsonl nor a learning curve")
    name = f"training_{run.name}"
    (folder / f"{name}.png").write_bytes(found.read_bytes())
    return f"Training: {run}", name
