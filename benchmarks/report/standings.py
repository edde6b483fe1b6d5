"""Results of policies from sweeps and evaluations, panel by panel, under distinct names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.names import short_names
from benchmarks.report.evaluations import is_evaluation, read_evaluation
from benchmarks.report.grouping import distinguishing_settings
from benchmarks.report.published import published_panels
from benchmarks.report.results import Setting, mark_panel_limits, read_sweep


class PanelKey(NamedTuple):
    """The tasks that a column is about: results on others do not compare."""

    scenario: str
    env_id: str
    split: str
    digest: str
    sources: tuple[str, ...]


@dataclass
class Standings:
    """The results of a leaderboard, with distinct names, and the calls behind them."""

    settings: list[Setting] = field(default_factory=list)
    calls: list[Mapping[str, Any]] = field(default_factory=list)

    def panels(self) -> dict[PanelKey, list[Setting]]:
        """Return the settings of each panel, the best first, panels in the paper's order."""
        panels: dict[PanelKey, list[Setting]] = {}
        for setting in self.settings:
            panels.setdefault(_panel_key(setting), []).append(setting)
        order = [panel.env_id for panel in published_panels()]
        places = {env_id: place for place, env_id in enumerate(order)}
        keys = sorted(panels, key=lambda key: (places.get(key.env_id, len(places)), key))
        return {key: sorted(panels[key], key=_standing) for key in keys}


def read_standings(paths: Iterable[str | Path]) -> Standings:
    """Read sweeps' folders and files of evaluations.

    Raises:
        ValueError: one is neither, or none of their episodes has a score.
    """
    standings = Standings()
    for path in dict.fromkeys(map(Path, paths)):
        if is_evaluation(path):
            settings, calls = read_evaluation(path)
        else:
            sweep = read_sweep(path)
            settings, calls = sweep.settings, sweep.calls
            if calls:
                last = str(calls[-1].get("started", ""))
                for setting in settings:
                    setting.ended = setting.ended or last
        standings.settings += [s for s in settings if s.whole.success() is not None]
        standings.calls += calls
    if not standings.settings:
        raise ValueError("there is no episode that has a score")
    _name_apart(standings.settings)
    return standings


def _name_apart(settings: Sequence[Setting]) -> None:
    """Give each setting a name that no other on its panel has."""
    files: dict[str, set[str]] = {}
    for setting in settings:
        files.setdefault(setting.policy, set()).update(setting.fingerprints)
    for setting in settings:
        if setting.row is not None and len(files[setting.policy]) > 1:
            known = "+".join(sorted(setting.fingerprints)) or "unknown"
            setting.row = replace(setting.row, fingerprint=known)
    short = short_names([setting.policy for setting in settings], least=2)
    # Other tasks are other panels here, and told by their headings.
    rows = [replace(s.row, split="", digest="", num_tasks=0) for s in settings if s.row]
    apart = distinguishing_settings(rows)
    for setting, row in zip((s for s in settings if s.row), rows, strict=True):
        setting.short, setting.apart = short[setting.policy], apart[row]
    mark_panel_limits(settings, _panel_key)
    counts = Counter((setting.name, _panel_key(setting)) for setting in settings)
    ambiguous = {name for (name, _), count in counts.items() if count > 1}
    places = short_names([setting.place for setting in settings])
    for setting in settings:
        if setting.name in ambiguous:
            setting.apart = (*setting.apart, places[setting.place])


def _panel_key(setting: Setting) -> PanelKey:
    sources = sorted({source for _, source, _ in setting.whole.successes} - {""})
    return PanelKey(setting.scenario, setting.env_id, setting.split, setting.digest, tuple(sources))


def _standing(setting: Setting) -> tuple[bool, float, str]:
    success = setting.whole.success()
    return setting.is_unfinished, (-success.value if success else 0.0), setting.name
