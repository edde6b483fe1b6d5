"""A sweep's folder, with one file per finished batch, written atomically.

    DIR/sweep.json                          the commands, versions and machine, one entry a call
    DIR/cells/<cell>/cell.json              what the cell plays
    DIR/cells/<cell>/batch_0000.jsonl       the episodes of a batch, as `read_jsonl` reads them
    DIR/cells/<cell>/batch_0000.json        its seconds, when it ended, and what its answers cost
    DIR/cells/<cell>/batch_0000.answers     of an unfinished batch: the server's answers
    DIR/costs.txt                           what each request to a server cost
    DIR/limits/<model>.txt                  the rate limits that requests to a server's model met

No file holds a secret, for cells hold none.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory, read_jsonl, write_jsonl
from benchmarks.sweep.plan import Cell, differences, slug
from trainers.ledger import Costs
from trainers.options.errors import UsageError
from trainers.options.policies import Endpoint
from trainers.runs.folder import CELL_FILE, read_json, write_json
from trainers.runs.progress_bar import ANSWERS

_LOG = logging.getLogger(__name__)

CELLS = "cells"
SWEEP_FILE = "sweep.json"
COSTS_FILE = "costs.txt"
LIMITS = "limits"


class SweepFolder:
    """Reads and writes one sweep, whose folder may not exist yet."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def cells(self) -> list[Cell]:
        """List the stored cells by name. Other folders are skipped with a warning.

        Raises:
            ValueError: the folder holds no sweep.
        """
        files = sorted((self.path / CELLS).rglob(CELL_FILE))
        if not files:
            raise ValueError(
                f"{self.path} holds no sweep; make one with: agentgym sweep --out {self.path}"
            )
        cells = []
        for file in files:
            try:
                cells.append(Cell.from_json(read_json(file)))
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                _pass_over(f"{file}: it is no cell ({error!r})")
        return cells

    def claim(self, cells: Sequence[Cell]) -> None:
        """Record the cells that are to be played.

        A cell that no batch was played of is free, whoever claimed it.

        Raises:
            ValueError: a cell of that name was played with other settings.
        """
        for cell in cells:
            folder = self._folder(cell)
            if any(folder.glob("batch_*.jsonl")) and (differing := self._differences(cell)):
                raise ValueError(
                    f"{folder} holds episodes played otherwise ({differing}); use another --out, "
                    "or the same settings"
                )
        for cell in cells:
            write_json(self._folder(cell) / CELL_FILE, cell.to_json())

    def note_call(self, record: dict[str, Any]) -> None:
        """Add how the sweep was called to `sweep.json`."""
        file = self.path / SWEEP_FILE
        calls = self.calls()
        write_json(file, [*calls, record])

    def calls(self) -> list[dict[str, Any]]:
        """Return the records of all calls that played here, or raise ValueError."""
        file = self.path / SWEEP_FILE
        if not file.exists():
            return []
        try:
            calls = json.loads(file.read_text(encoding="utf-8"))
            if not isinstance(calls, list) or not all(isinstance(call, dict) for call in calls):
                raise ValueError("it holds something else")
        except (ValueError, RecursionError) as error:
            raise ValueError(
                f"{file} must be a JSON list of objects, one a call ({error}); mend it, or move "
                "it away: it records the sweep's commands, and holds no episodes"
            ) from error
        return calls

    def is_done(self, cell: Cell, batch: int) -> bool:
        """Return whether a batch has been played."""
        return self._batch(cell, batch).exists()

    def missing(self, cell: Cell) -> list[int]:
        """List a cell's batches that are still to be played."""
        return [n for n in range(len(cell.batches)) if not self.is_done(cell, n)]

    def write(
        self,
        cell: Cell,
        batch: int,
        episodes: Sequence[Trajectory],
        *,
        seconds: float,
        cost: float | None = None,
        max_turns: int | None = None,
    ) -> None:
        """Put a played batch in place.

        Args:
            cell: the batch's cell.
            batch: its number.
            episodes: its episodes.
            seconds: its duration.
            cost: of its answers; None where it is unknown.
            max_turns: the turn limit, the environment's own too.

        Raises:
            UsageError: another call has claimed the cell meanwhile, with other settings.
        """
        if differing := self._differences(cell):
            raise UsageError(
                f"another call has claimed this cell with other settings ({differing})"
            )
        file = self._batch(cell, batch)
        # The seconds first: what tells that the batch is done comes last.
        record: dict[str, Any] = {"seconds": round(seconds, 3), "ended": now()}
        if cost is not None:
            record["cost"] = cost
        if max_turns is not None:
            record["max_turns"] = max_turns
        write_json(file.with_suffix(".json"), record)
        write_jsonl(file, episodes)

    def answers(self, cell: Cell, batch: int) -> Path:
        """Return the file that keeps the answers of a batch's server until it is finished."""
        return self._batch(cell, batch).with_suffix(ANSWERS)

    @property
    def costs(self) -> Costs:
        """The costs of all requests to servers."""
        return Costs(self.path / COSTS_FILE)

    def limits(self, endpoint: Endpoint) -> Path:
        """Return the file of the rate limits that all who ask a server's model share."""
        model = f"{endpoint.endpoint} {endpoint.model or ''}"
        return self.path / LIMITS / f"{slug(model)}.txt"

    def batches(
        self, cell: Cell, *, on_damage: Callable[[Path], None] | None = None
    ) -> Iterator[tuple[list[Trajectory], float]]:
        """Yield the episodes and seconds of each finished batch. Damaged lines are logged.

        `on_damage` is called with each file that lacks episodes.
        """
        for number, tasks in enumerate(cell.batches):
            if not self.is_done(cell, number):
                continue
            file = self._batch(cell, number)
            episodes = list(read_jsonl(file, on_problem=_pass_over))
            if on_damage is not None and len(episodes) < len(tasks):
                on_damage(file)
            yield episodes, _seconds(file.with_suffix(".json"))

    def files(self, cell: Cell) -> list[Path]:
        """List the files of a cell's finished batches."""
        numbers = range(len(cell.batches))
        return [self._batch(cell, n) for n in numbers if self.is_done(cell, n)]

    def ended(self, cell: Cell) -> str:
        """Return the end of a cell's last batch in ISO 8601, or an empty text."""
        records = (_record(file.with_suffix(".json")) for file in self.files(cell))
        return max((str(record.get("ended", "")) for record in records), default="")

    def max_turns(self, cell: Cell) -> int | None:
        """Return a cell's turn limit, or None where no batch notes the environment's own."""
        if cell.max_turns is not None:
            return cell.max_turns
        records = (_record(file.with_suffix(".json")) for file in self.files(cell))
        noted = [limit for record in records if type(limit := record.get("max_turns")) is int]
        return max(noted, default=None)

    def _differences(self, cell: Cell) -> str:
        """Return the stored cell's differences, or an empty text."""
        file = self._folder(cell) / CELL_FILE
        if not file.exists():
            return ""
        stored = Cell.from_json(json.loads(file.read_text(encoding="utf-8")))
        return "; ".join(differences(cell, stored))

    def _folder(self, cell: Cell) -> Path:
        return self.path / CELLS / cell.name

    def _batch(self, cell: Cell, batch: int) -> Path:
        return self._folder(cell) / f"batch_{batch:04d}.jsonl"


def _pass_over(problem: str) -> None:
    _LOG.warning("skipped: %s", problem)


def _seconds(file: Path) -> float:
    """Return a batch's seconds, or 0 with a warning where the record is lost."""
    try:
        return float(read_json(file)["seconds"])
    except (ValueError, KeyError, TypeError) as error:
        _pass_over(f"{file}: it records no seconds ({error!r})")
        return 0.0


def _record(file: Path) -> dict[str, Any]:
    """Return a batch's record, or an empty one where it cannot be read."""
    try:
        return read_json(file)
    except (ValueError, TypeError):
        return {}


def now() -> str:
    """Return the time, to the second, as records have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")
