"""Callbacks that write a run's folder: `run.json`, metrics, learning curve and episodes."""

from __future__ import annotations

import gzip
import importlib.util
import json
import logging
import sys
from collections import deque
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from agentgym_envs.content.files import COMPRESSED, append_whole, is_storage_failure
from agentgym_envs.errors import pip_install
from agentgym_envs.trajectories.trajectory import COMPRESSION, Trajectory
from trainers.options.arguments import RolloutArguments
from trainers.runs.curve import draw_run_curve
from trainers.runs.folder import (
    METRICS_FILE,
    SUMMARY_FILE,
    TRAJECTORIES,
    end_run,
    finite,
    read_metrics,
    read_run,
    write_json,
    write_metrics,
    write_patiently,
)
from trainers.runs.health import HealthWarnings, WeightChanges
from trainers.runs.provenance import options_by_group, resumption, write_run
from trainers.runs.stopping import SkipNonFinite
from trainers.runs.success import FRESH, final_success

logger = logging.getLogger(__name__)

MOST_WAITING = 2
"""Batches of episodes in memory that wait to be written. A further one blocks."""


class MetricsFile(TrainerCallback):  # type: ignore[misc]
    """Appends every log entry to `metrics.jsonl`. A resumed run continues where it left off.

    Numbers that are not finite become null. A full or unreachable disk is waited for, `max_outage`
    seconds at most.
    """

    def __init__(self, folder: str | Path, *, max_outage: float = 0.0) -> None:
        self._folder = Path(folder)
        self._max_outage = max_outage

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Drop entries of steps that will be taken again."""
        if not state.is_world_process_zero:
            return
        entries = read_metrics(self._folder) if state.global_step else []
        earlier = [
            entry
            for entry in entries
            # The weights at the run's end are measured again, maybe others.
            if entry["global_step"] <= state.global_step and f"{FRESH}_success" not in entry
        ]
        write_metrics(self._folder, earlier)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        """Append one entry."""
        if not state.is_world_process_zero or logs is None:
            return
        entry = finite({"global_step": state.global_step, **logs})
        line = (json.dumps(entry, default=float) + "\n").encode()
        path = self._folder / METRICS_FILE
        write_patiently(path, lambda: append_whole(path, line), limit=self._max_outage)


class LearningCurve(TrainerCallback):  # type: ignore[misc]
    """Draws `learning_curve.png` with every checkpoint and at the end."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._can_draw = importlib.util.find_spec("matplotlib") is not None
        if not self._can_draw:
            logger.warning("no learning curve is drawn without: %s", pip_install("matplotlib"))

    def on_save(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Draw the run so far."""
        if self._can_draw and state.is_world_process_zero:
            try:
                draw_run_curve(self._folder)
            except OSError as error:  # the next checkpoint draws it again
                if not is_storage_failure(error):
                    raise
                logger.warning("the learning curve is not drawn: %s", error)

    def on_train_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Draw the whole run."""
        self.on_save(args, state, control)


class RunFile(TrainerCallback):  # type: ignore[misc]
    """Writes `run.json` for a trainer that is used from Python, and `ended` for every run.

    Args:
        folder: the run's folder.
        configs: dataclasses to store besides the training options.
        max_outage: seconds that a full or unreachable disk is waited for.

    Attributes:
        is_written: a command, or `train_and_save`, has written it for the training to come.
    """

    def __init__(
        self, folder: str | Path, configs: Sequence[Any], *, max_outage: float = 0.0
    ) -> None:
        self.is_written = False
        self._folder = folder
        self._configs = configs
        self._max_outage = max_outage

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Write the file unless it is written. A resumed run's has the differences."""
        is_written, self.is_written = self.is_written, False
        if not state.is_world_process_zero or is_written:
            return
        name, configs = Path(sys.argv[0]).name, [*self._configs, args]
        further = {}
        if state.global_step and read_run(self._folder).get("command") == name:
            further = resumption(self._folder, state.global_step, command=name, configs=configs)
        write_run(self._folder, command=name, seed=args.seed, configs=configs, further=further)

    def on_train_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Record the last step, that of the weights in the folder, and their success."""
        if not state.is_world_process_zero:
            return
        step = weights_step(args, state, control)
        write = partial(end_run, self._folder, global_step=state.global_step, weights_step=step)
        write_patiently(self._folder, write, limit=self._max_outage)
        success = final_success(self._folder, step, is_chosen=has_chosen(args, state, control))
        if success is not None:
            write = partial(write_json, Path(self._folder) / SUMMARY_FILE, success.to_json())
            write_patiently(self._folder, write, limit=self._max_outage)


def weights_step(args: Any, state: Any, control: Any) -> int:
    """Return the optimizer step of a trainer's weights, at the end that of the best ones."""
    is_best = has_chosen(args, state, control)
    return int(state.best_global_step if is_best else state.global_step)


def has_chosen(args: Any, state: Any, control: Any) -> bool:
    """Return whether a trainer's weights are the best ones, at the end of a run."""
    is_over = control.should_training_stop or state.global_step >= state.max_steps
    # A resumed run may know a best step whose checkpoint is gone; transformers loads none then.
    has_best = state.best_global_step is not None and state.best_model_checkpoint is not None
    return bool(args.load_best_model_at_end and is_over and has_best)


def add_options_for_trackers(args: Any, configs: Sequence[Any]) -> None:
    """Add the options of further dataclasses to `args.to_dict`, under their own names.

    It is what transformers' integrations (`--report_to wandb`, `trackio`, `tensorboard` and the
    others) send to a tracker when training begins. `args` itself may be among `configs`.
    """
    groups = options_by_group([config for config in configs if config is not args])
    further = {name: value for options in groups.values() for name, value in options.items()}
    earlier = vars(args).get("to_dict")
    if earlier is not None:
        further = {**earlier.args[1], **further}
    # On the instance: TRL's own configs are taken as well as ours.
    args.to_dict = partial(_all_options, args, further)


def _all_options(args: Any, further: dict[str, Any]) -> dict[str, Any]:
    return {**further, **type(args).to_dict(args)}


def keep_records(trainer: Any, *, configs: Sequence[Any] = ()) -> None:
    """Add the callbacks that write a run's files (`docs/reference/files.md`) and log warnings.

    `run.json` keeps `configs` besides the training options.
    """
    folder = trainer.args.output_dir
    add_options_for_trackers(trainer.args, configs)
    trainer.run_file = RunFile(folder, configs, max_outage=trainer.max_outage)
    # The order matters: what is skipped is counted before the entry is written, and then drawn.
    for callback in (
        trainer.run_file,
        SkipNonFinite(),
        HealthWarnings(),
        WeightChanges(log=getattr(trainer.args, "log_weight_changes", False)),
        MetricsFile(folder, max_outage=trainer.max_outage),
        LearningCurve(folder),
    ):
        trainer.add_callback(callback)


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
    def from_args(cls, args: Any, rollout: RolloutArguments) -> TrajectoryFiles:
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
        self,
        name: str,
        global_step: int,
        trajectories: Iterable[Trajectory],
        *,
        replace: bool = False,
    ) -> None:
        """Queue the episodes of a step for writing. They must not change any more.

        Several batches within a step go into the same file, but one to `replace` it: a second
        evaluation of the same weights would count every task twice.
        """
        end = ".jsonl" + self._compress * COMPRESSED
        path = self._folder / f"{name}_{global_step:06d}{self._suffix}{end}"
        while self._waiting and (self._waiting[0].done() or len(self._waiting) >= MOST_WAITING):
            self._waiting.popleft().result()
        self._waiting.append(self._thread.submit(self._write, path, list(trajectories), replace))

    def flush(self) -> None:
        """Wait until all is written."""
        while self._waiting:
            self._waiting.popleft().result()

    def on_save(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Wait until all is written."""
        self.flush()

    on_evaluate = on_train_end = on_save

    def _write(self, path: Path, trajectories: list[Trajectory], replace: bool) -> None:
        if self._is_full:
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        if replace or path not in self._begun:
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
        write_patiently(path, write, limit=self._max_outage)

    def _bytes_written(self) -> int:
        return sum(file.stat().st_size for file in self._folder.iterdir())
