"""A sweep's episodes, gathered into the rows of its report."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentgym_envs.registry import short_env_name
from agentgym_envs.trajectory import Trajectory
from benchmarks.names import short_names
from benchmarks.report.grouping import Row, group, tell_apart
from benchmarks.sweep.plan import Cell, environment_changes
from benchmarks.sweep.store import SWEEP_FILE, SweepFolder
from benchmarks.sweep.suites import PAPER_PANELS, Panel, PaperScore
from trainers.evaluation.tally import Tally

_LOG = logging.getLogger(__name__)


@dataclass
class Setting:
    """What one policy did in one scenario under one turn limit, all seeds together.

    Attributes:
        policy: who played.
        env_id: where.
        split: the split.
        max_turns: the limit; None is the environment's own.
        digest: of the panel.
        short: the policy's name in tables; empty takes the policy itself.
        apart: what else tells it from the sweep's other settings, such as `temperature 0.2`.
        is_altered: the environment was made with arguments or wrappers of the caller's.
        seeds: of the sampling.
        asked: episodes that the sweep asks for.
        whole: the tally of all subtasks.
        subtasks: the tally of each, in the panel's order.
    """

    policy: str
    env_id: str
    split: str
    max_turns: int | None
    digest: str
    short: str = ""
    apart: tuple[str, ...] = ()
    is_altered: bool = False
    seeds: list[int] = field(default_factory=list)
    asked: int = 0
    whole: Tally = field(default_factory=Tally)
    subtasks: dict[str, Tally] = field(default_factory=dict)

    @property
    def scenario(self) -> str:
        """The environment's short name."""
        return short_env_name(self.env_id)

    @property
    def limit(self) -> str:
        """The turn limit, `5 turns`; empty where it is the environment's own."""
        return "" if self.max_turns is None else f"{self.max_turns} turns"

    @property
    def turns_allowed(self) -> int | None:
        """The turn limit; the environment's own is read off the episodes that it ended, if any."""
        return self.max_turns or self.whole.longest_cut or None

    @property
    def name(self) -> str:
        """Policy, turn limit where it is not the environment's own, and what else differs."""
        return ", ".join(filter(None, [self.short or self.policy, self.limit, *self.apart]))

    @property
    def panel(self) -> Panel | None:
        """The paper's panel that was played whole, or None."""
        for panel in PAPER_PANELS:
            if panel.env_id == self.env_id and panel.digest == self.digest:
                return panel
        return None

    @property
    def paper(self) -> PaperScore | None:
        """The paper's scores, where its panel was played as the paper did; else None."""
        paper = None if self.panel is None or self.is_altered else self.panel.paper
        return paper if paper and self.max_turns in (None, paper.max_turns) else None


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
        scenarios: dict[str, list[Setting]] = {}
        for setting in self.settings:
            scenarios.setdefault(setting.scenario, []).append(setting)
        return scenarios


_ORDER = [panel.env_id for panel in PAPER_PANELS]


def read_sweep(path: str | Path) -> SweepResults:
    """Read a sweep's folder; it may be unfinished.

    Raises:
        ValueError: the folder holds no sweep.
    """
    folder = SweepFolder(path)
    rows = group(folder.cells())
    short, apart = short_names([row.policy for row in rows], least=2), tell_apart(rows)
    settings = [
        _setting(row, cells, folder, short=short[row.policy], apart=apart[row])
        for row, cells in rows.items()
    ]
    try:
        calls = folder.calls()
    except (TypeError, ValueError) as error:
        _LOG.warning("%s/%s is passed over: %s", path, SWEEP_FILE, error)
        calls = []
    return SweepResults(Path(path), sorted(settings, key=_place), calls)


def _setting(
    row: Row, cells: Sequence[Cell], folder: SweepFolder, *, short: str, apart: tuple[str, ...]
) -> Setting:
    setting = Setting(
        row.policy,
        row.env_id,
        row.split,
        row.max_turns,
        row.digest,
        short=short,
        apart=apart,
        is_altered=bool(environment_changes(cells[0])),
    )
    for cell in cells:
        setting.seeds.append(cell.seed)
        setting.asked += len(cell.tasks) * cell.samples
        for episodes, seconds in folder.batches(cell):
            _take_in(setting, episodes, seconds)
    return setting


def _take_in(setting: Setting, episodes: Sequence[Trajectory], seconds: float) -> None:
    """Add a batch; its seconds are divided by turns, since its episodes were played together."""
    turns = [max(len(episode.turns), 1) for episode in episodes]
    for episode, share in zip(episodes, turns, strict=True):
        took = seconds * share / sum(turns)
        setting.whole.add(episode, took)
        setting.subtasks.setdefault(episode.subtask, Tally()).add(episode, took)


def _place(setting: Setting) -> tuple[int, str, int, str, tuple[str, ...]]:
    known = setting.env_id in _ORDER
    place = _ORDER.index(setting.env_id) if known else len(_ORDER)
    return place, setting.env_id, setting.max_turns or 0, setting.policy, setting.apart


def in_panel_order(setting: Setting) -> Mapping[str, Tally]:
    """Return a setting's subtasks in the order of the paper's panel, others after them."""
    panel = next((p for p in PAPER_PANELS if p.env_id == setting.env_id), None)
    names = [] if panel is None else [n for n in panel.sizes if n in setting.subtasks]
    names += sorted(name for name in setting.subtasks if name not in names)
    return {name: setting.subtasks[name] for name in names}
