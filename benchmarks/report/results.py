"""A sweep's episodes, gathered into the rows of its report."""

from __future__ import annotations

import logging
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from agentgym_envs.registration.registry import short_env_name
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.names import short_names
from benchmarks.report.grouping import Row, distinguishing_settings, group
from benchmarks.report.published import (
    PublishedPanel,
    data_label,
    published_panel,
    published_panels,
)
from benchmarks.sweep.plan import Cell, environment_changes
from benchmarks.sweep.store import SWEEP_FILE, SweepFolder
from trainers.evaluation.baselines import Baseline, strongest
from trainers.evaluation.tally import Tally

_LOG = logging.getLogger(__name__)


@dataclass
class Setting:
    """The results of one policy in one scenario under one turn limit, over all seeds.

    Attributes:
        max_turns: the requested limit; None is the environment's own.
        panel: the panel's own name; empty where it has the environment's.
        short: the policy's name in tables; empty takes the policy itself.
        apart: the other differences from the sweep's settings, such as `temperature 0.2`.
        own_max_turns: the environment's own turn limit, where that was recorded.
        limit_is_the_panels: the turn limit is named with the panel and not in the setting's name,
            since all of the panel's settings have it.
        own_limits: the environments' own turn limits in all panels, where only some settings have
            them; empty elsewhere. It stands in the name, which is the same on every panel.
        is_altered: the environment was made with arguments or wrappers of the caller's.
        row: the common settings of its cells; None in tests of single settings.
        place: the folder or file that it was read from.
        ended: the end of its last batch in ISO 8601; empty where that was not recorded.
        damaged: the files of finished batches that lack episodes.
        whole: the tally of all subtasks.
        subtasks: the tally of each, in the panel's order.
    """

    policy: str
    env_id: str
    split: str
    max_turns: int | None
    digest: str
    panel: str = ""
    short: str = ""
    apart: tuple[str, ...] = ()
    own_max_turns: int | None = None
    limit_is_the_panels: bool = False
    own_limits: str = ""
    is_altered: bool = False
    seeds: list[int] = field(default_factory=list)
    num_requested: int = 0
    row: Row | None = None
    fingerprints: set[str] = field(default_factory=set)
    place: str = ""
    ended: str = ""
    damaged: list[Path] = field(default_factory=list)
    whole: Tally = field(default_factory=Tally)
    subtasks: dict[str, Tally] = field(default_factory=dict)

    @property
    def is_unfinished(self) -> bool:
        """Episodes that the sweep asks for were not played: mostly those of the last subtasks."""
        return self.num_requested > self.whole.num_played

    @property
    def scenario(self) -> str:
        """The panel's name: its own, or the environment's short one."""
        return self.panel or short_env_name(self.env_id)

    @property
    def label(self) -> str:
        """The label of embedded data (`data_label`)."""
        return data_label(self.env_id, {source for _, source, _ in self.whole.successes})

    @property
    def limit(self) -> str:
        """The turn limit, `5 turns`, or empty where it is the environment's own and not known."""
        return "" if self.turns_allowed is None else f"{self.turns_allowed} turns"

    @property
    def turns_allowed(self) -> int | None:
        """The turn limit, read off the episodes that it ended where it was not noted."""
        return self.max_turns or self.own_max_turns or self.whole.longest_cut or None

    @property
    def name(self) -> str:
        """Policy, turn limit where it is not the whole panel's, and other differences."""
        limit = "" if self.limit_is_the_panels else self.own_limits or self.limit
        return ", ".join(filter(None, [self.short or self.policy, limit, *self.apart]))

    @property
    def published(self) -> PublishedPanel | None:
        """The paper's panel where all of it was played, else None."""
        return published_panel(self.env_id, self.digest)

    @property
    def baseline(self) -> Baseline | None:
        """The strongest baseline on the tasks that were played, where one was measured."""
        sources = {source for _, source, _ in self.whole.successes}
        if self.is_altered or len(sources) != 1:
            return None
        task_ids = [task_id for _, _, task_id in self.whole.successes]
        return strongest(self.env_id, sources.pop(), self.split, task_ids, max_turns=self.max_turns)

    @property
    def is_as_published(self) -> bool:
        """The paper's panel was played as the paper did, so that its scores may stand beside."""
        panel = self.published
        return (
            panel is not None
            and bool(panel.success)
            and not self.is_altered
            and self.max_turns in (None, panel.max_turns)
            and (self.row is None or len(self.whole.successes) == self.row.num_tasks)
        )


@dataclass
class SweepResults:
    """The content of a sweep's folder, with settings in the order of its panels."""

    path: Path
    settings: list[Setting]
    calls: list[dict[str, object]]

    def scenarios(self) -> dict[str, list[Setting]]:
        """Return the settings of each scenario."""
        scenarios: dict[str, list[Setting]] = {}
        for setting in self.settings:
            scenarios.setdefault(setting.scenario, []).append(setting)
        return scenarios


def read_sweep(path: str | Path) -> SweepResults:
    """Read the folder of a sweep, finished or not.

    Raises:
        ValueError: the folder holds no sweep.
    """
    folder = SweepFolder(path)
    rows = group(folder.cells())
    short, apart = short_names([row.policy for row in rows], least=2), distinguishing_settings(rows)
    settings = [
        _setting(row, cells, folder, short=short[row.policy], apart=apart[row])
        for row, cells in rows.items()
    ]
    mark_panel_limits(settings, lambda setting: setting.scenario)
    try:
        calls = folder.calls()
    except (TypeError, ValueError) as error:
        _LOG.warning("%s/%s is skipped: %s", path, SWEEP_FILE, error)
        calls = []
    order = [panel for call in calls for panel in call.get("panels", ())]
    return SweepResults(Path(path), sorted(settings, key=partial(_place, order)), calls)


def mark_panel_limits(settings: Sequence[Setting], panel_of: Callable[[Setting], Hashable]) -> None:
    """Set the labels of turn limits of settings that are shown together."""
    limits: dict[Hashable, set[int | None]] = {}
    for setting in settings:
        limits.setdefault(panel_of(setting), set()).add(setting.max_turns)
    vary = len(set().union(*limits.values())) > 1
    own = {s.turns_allowed for s in settings if s.max_turns is None} - {None}
    numbers = " or ".join(map(str, sorted(filter(None, own))))
    named = f"{numbers} turns (its own limit)" if own else "its own turn limit"
    for setting in settings:
        is_alone = len(limits[panel_of(setting)]) == 1
        setting.limit_is_the_panels = is_alone and (vary or setting.max_turns is None)
        setting.own_limits = named if vary and setting.max_turns is None else ""


def shared_limit(settings: Sequence[Setting]) -> str:
    """Return the turn limit that settings share, `5 turns`, or an empty text."""
    return next((setting.limit for setting in settings if setting.limit), "")


def _setting(
    row: Row, cells: Sequence[Cell], folder: SweepFolder, *, short: str, apart: tuple[str, ...]
) -> Setting:
    setting = Setting(
        row.policy,
        row.env_id,
        row.split,
        row.max_turns,
        row.digest,
        panel=cells[0].panel,
        row=row,
        fingerprints={cell.fingerprint for cell in cells if cell.fingerprint},
        place=str(folder.path),
        ended=max(folder.ended(cell) for cell in cells),
        short=short,
        apart=apart,
        own_max_turns=max(filter(None, map(folder.max_turns, cells)), default=None),
        is_altered=bool(environment_changes(cells[0])),
    )
    order: dict[str, int] = {}
    for cell in cells:
        setting.seeds.append(cell.seed)
        setting.num_requested += len(cell.tasks) * cell.samples
        places = {task_id: place for place, task_id in enumerate(cell.tasks)}
        for episodes, seconds in folder.batches(cell, on_damage=setting.damaged.append):
            add_episodes(setting, episodes, seconds)
            for episode in episodes:
                order.setdefault(episode.subtask, places.get(episode.task_id, len(places)))
    # As the panel has them, whichever batches are there.
    in_order = sorted(setting.subtasks, key=lambda name: order[name])
    setting.subtasks = {name: setting.subtasks[name] for name in in_order}
    return setting


def add_episodes(setting: Setting, episodes: Sequence[Trajectory], seconds: float) -> None:
    """Add a batch, whose seconds are shared out by the turns of its episodes."""
    turns = [max(len(episode.turns), 1) for episode in episodes]
    for episode, share in zip(episodes, turns, strict=True):
        took = seconds * share / sum(turns)
        setting.whole.add(episode, took)
        setting.subtasks.setdefault(episode.subtask, Tally()).add(episode, took)


def _place(
    order: Sequence[str], setting: Setting
) -> tuple[int, int, str, int, str, tuple[str, ...]]:
    """Return where a setting stands: by its suite's order, or the paper's."""
    papers = [panel.env_id for panel in published_panels()]
    return (
        order.index(setting.scenario) if setting.scenario in order else len(order),
        papers.index(setting.env_id) if setting.env_id in papers else len(papers),
        setting.scenario,
        setting.max_turns or 0,
        setting.policy,
        setting.apart,
    )
