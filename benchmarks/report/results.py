"""A sweep's episodes, gathered by policy, scenario and turn limit. Knows the sweep's folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentgym_envs.registry import short_env_name
from benchmarks.report.metrics import Tally
from benchmarks.suites import PAPER_PANELS, Panel
from benchmarks.sweep.plan import Cell
from benchmarks.sweep.store import SweepFolder


@dataclass
class Setting:
    """What one policy did in one scenario under one turn limit, all seeds together.

    Attributes:
        policy: who played.
        env_id: where.
        split: the split.
        max_turns: the limit; None is the environment's own.
        seeds: of the sampling.
        asked: episodes that the sweep asks for.
        seconds: that its batches took, in one worker.
        whole: the tally of all subtasks.
        subtasks: the tally of each, in the panel's order.
        digest: of the panel.
    """

    policy: str
    env_id: str
    split: str
    max_turns: int | None
    digest: str
    seeds: list[int] = field(default_factory=list)
    asked: int = 0
    seconds: float = 0.0
    whole: Tally = field(default_factory=Tally)
    subtasks: dict[str, Tally] = field(default_factory=dict)

    @property
    def scenario(self) -> str:
        """The environment's short name."""
        return short_env_name(self.env_id)

    @property
    def name(self) -> str:
        """Policy, and the turn limit where it is not the environment's own."""
        return self.policy if self.max_turns is None else f"{self.policy}, {self.max_turns} turns"

    @property
    def panel(self) -> Panel | None:
        """The paper's panel that was played whole, or None."""
        for panel in PAPER_PANELS:
            if panel.env_id == self.env_id and panel.digest == self.digest:
                return panel
        return None


@dataclass
class SweepResults:
    """Everything that a sweep's folder holds.

    Attributes:
        path: the folder.
        settings: in the order of scenarios, turn limits and policies.
        calls: how the sweep was called.
    """

    path: Path
    settings: list[Setting]
    calls: list[dict[str, object]]

    def scenarios(self) -> dict[str, list[Setting]]:
        """Return the settings of each scenario."""
        found: dict[str, list[Setting]] = {}
        for setting in self.settings:
            found.setdefault(setting.scenario, []).append(setting)
        return found


_ORDER = [panel.env_id for panel in PAPER_PANELS]


def read_sweep(path: str | Path) -> SweepResults:
    """Read a sweep's folder; it may be unfinished.

    Raises:
        ValueError: the folder holds no sweep.
    """
    folder = SweepFolder(path)
    found: dict[tuple[str, str, str, int | None], Setting] = {}
    for cell in folder.cells():
        key = (cell.policy, cell.env_id, cell.split, cell.max_turns)
        setting = found.setdefault(
            key, Setting(cell.policy, cell.env_id, cell.split, cell.max_turns, cell.digest)
        )
        _take_in(setting, folder, cell)
    settings = sorted(found.values(), key=_place)
    return SweepResults(Path(path), settings, folder.calls())


def _take_in(setting: Setting, folder: SweepFolder, cell: Cell) -> None:
    setting.seeds.append(cell.seed)
    setting.asked += len(cell.tasks) * cell.samples
    setting.seconds += folder.seconds(cell)
    for episode in folder.episodes(cell):
        setting.whole.add(episode)
        setting.subtasks.setdefault(episode.subtask, Tally()).add(episode)


def _place(setting: Setting) -> tuple[int, str, int, str]:
    known = setting.env_id in _ORDER
    place = _ORDER.index(setting.env_id) if known else len(_ORDER)
    return place, setting.env_id, setting.max_turns or 0, setting.policy


def in_panel_order(setting: Setting) -> Mapping[str, Tally]:
    """Return a setting's subtasks in the order of the paper's panel, others after them."""
    panel = next((p for p in PAPER_PANELS if p.env_id == setting.env_id), None)
    names = [] if panel is None else [n for n in panel.sizes if n in setting.subtasks]
    names += sorted(name for name in setting.subtasks if name not in names)
    return {name: setting.subtasks[name] for name in names}
