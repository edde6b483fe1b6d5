"""Writes the episodes of a run to its `trajectories/`, in the background."""

from __future__ import annotations

import gzip
import logging
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from agentgym_envs.content.files import COMPRESSED, append_whole
from agentgym_envs.trajectories.trajectory import COMPRESSION, Trajectory
from trainers.options.arguments import RolloutArguments
from trainers.runs.folder import TRAJECTORIES, write_patiently

logger = logging.getLogger(__name__)

MOST_WAITING = 2
"""Batches in memory that are still to be written; a further one waits."""


class TrajectoryFiles(TrainerCallback):  # type: ignore[misc]
    """Writes `trajectories/<name>_<global_step>.jsonl`, over that of a repeated step.

    A thread writes while training goes on. Checkpoints, evaluations and the end of training wait
    for it, and so does the end of the process, whatever ends it but SIGKILL. Errors of the thread
    are raised by the next call.

    Args:
        folder: the run's folder.
        suffix: of the names, where several processes play.
        compress: write `.jsonl.gz`.
        max_bytes: of `trajectories/` in all, after which nothing more is written. 0 is no bound.
        max_outage: seconds that a full or unreachable disk is waited for.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        suffix: str = "",
        compress: bool = False,
        max_bytes: int = 0,
        max_outage: float = 0.0,
    ) -> None:
        self._folder = Path(folder) / TRAJECTORIES
        self._suffix = suffix
        self._compress = compress
        self._max_bytes = max_bytes
        self._max_outage = max_outage
        self._is_full = False
        self._begun: set[Path] = set()
        # One worker keeps the order, and Python waits for it before it ends.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="trajectories")
        self._waiting: deque[Future[None]] = deque()

    @classmethod
    def of(cls, args: Any, rollout: RolloutArguments) -> TrajectoryFiles:
        """Return the files of a trainer's process, with a suffix where several play."""
        suffix = f"_rank{args.process_index}" if args.world_size > 1 else ""
        return cls(
            args.output_dir,
            suffix=suffix,
            compress=rollout.compress_trajectories,
            max_bytes=int(rollout.max_trajectory_gb * 1e9),
            max_outage=rollout.failure_rules.max_outage,
        )

    def write(
        self, name: str, global_step: int, trajectories: Iterable[Trajectory], *, anew: bool = False
    ) -> None:
        """Queue the episodes of a step for writing. They must not change any more.

        Several batches within a step go into the same file, unless it is begun `anew`: a second
        evaluation of the same weights would count every task twice.
        """
        end = ".jsonl" + self._compress * COMPRESSED
        path = self._folder / f"{name}_{global_step:06d}{self._suffix}{end}"
        while self._waiting and (self._waiting[0].done() or len(self._waiting) >= MOST_WAITING):
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._write, path, list(trajectories), anew))

    def flush(self) -> None:
        """Wait until all is written."""
        while self._waiting:
            self._waiting.popleft().result()

    def on_save(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Wait until all is written."""
        self.flush()

    on_evaluate = on_train_end = on_save

    def _write(self, path: Path, trajectories: list[Trajectory], anew: bool) -> None:
        if self._is_full:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        if anew or path not in self._begun:
            self._begun.add(path)
            plain = path.with_name(path.name.removesuffix(COMPRESSED))
            for earlier in (plain, plain.with_name(plain.name + COMPRESSED)):
                earlier.unlink(missing_ok=True)
        before = self._bytes_written() if self._max_bytes else 0
        raw = BytesIO()
        with gzip.open(raw, "wb", COMPRESSION) if self._compress else nullcontext(raw) as file:
            for trajectory in trajectories:
                line = trajectory.to_line()
                if self._max_bytes and before + raw.tell() + len(line) > self._max_bytes:
                    self._is_full = True
                    logger.warning(
                        "%s holds the %.3g GB that --max_trajectory_gb allows: no more episodes "
                        "are written, and training goes on.",
                        self._folder,
                        self._max_bytes / 1e9,
                    )
                    break
                file.write(line)
        write = partial(append_whole, path, raw.getvalue())
        write_patiently(str(path), write, limit=self._max_outage)

    def _bytes_written(self) -> int:
        return sum(file.stat().st_size for file in self._folder.iterdir())
