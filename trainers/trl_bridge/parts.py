"""Parts of a checkpoint besides the model, the optimizer and the learning rate's schedule."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from transformers.integrations import is_deepspeed_zero3_enabled

from agentgym_envs.content.files import write_atomically
from trainers.options.errors import UsageError

logger = logging.getLogger(__name__)


class Part(Protocol):
    """State that a run needs to go on exactly. `RunMixin.parts` lists a trainer's."""

    def save(self, folder: Path) -> None:
        """Save into a checkpoint's folder. Every process calls it."""

    def load(self, folder: Path | None) -> None:
        """Continue from a checkpoint's folder. None resets."""


class Stateful(Protocol):
    """An object whose state is JSON values."""

    def state_dict(self) -> dict[str, Any]:
        """Return the state."""

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state. An empty dict resets."""


class StateFile:
    """An object's state as a JSON file, written by one process."""

    def __init__(self, name: str, owner: Stateful, args: Any) -> None:
        self._name, self._owner, self._args = name, owner, args

    def save(self, folder: Path) -> None:
        """Write the file, unless there is no state."""
        state = self._owner.state_dict()
        if state and self._args.should_save:
            folder.mkdir(parents=True, exist_ok=True)
            write_atomically(folder / self._name, json.dumps(state) + "\n")

    def load(self, folder: Path | None) -> None:
        """Read the file. Without one the object is reset, with a warning for a checkpoint."""
        state: dict[str, Any] = {}
        if folder is not None and (folder / self._name).is_file():
            state = json.loads((folder / self._name).read_text(encoding="utf-8"))
        elif folder is not None and self._owner.state_dict() and self._args.should_save:
            logger.warning("%s holds no %s; its state is reset", folder, self._name)
        self._owner.load_state_dict(state)


class UnusedBatch:
    """The batch of episodes that serves further optimizer steps.

    TRL keeps it in memory, so a run that is resumed between two of its steps would play again, and
    begin each later batch at another step than the uninterrupted run.
    """

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def _path(self, folder: Path) -> Path:
        return folder / f"batch_{self._trainer.args.process_index}.pt"

    def _use(self) -> list[int]:
        """Return the sizes that a saved batch fits: micro-batches, parts and processes."""
        args = self._trainer.args
        steps = args.steps_per_generation
        return [steps * self._trainer.num_iterations, steps, args.world_size]

    def save(self, folder: Path) -> None:
        """Save the batch, unless it is used up."""
        use, step = self._use(), self._trainer._step
        if step % use[0]:
            batches = self._trainer._buffered_inputs
            _save({"step": step, "batches": batches, "use": use}, self._path(folder))

    def load(self, folder: Path | None) -> None:
        """Give the trainer the saved batch or none, and warn where it does not fit."""
        trainer, device = self._trainer, self._trainer.accelerator.device
        # Of an earlier training, which may have ended amid a batch.
        trainer._step, trainer._buffered_inputs = 0, None
        path = None if folder is None else self._path(folder)
        misfit = (
            "the unfinished batch of %s does not fit this run's batches or processes; "
            "episodes are played again"
        )
        if saved := _saved(path, self._use(), misfit, device=device):
            trainer._step, trainer._buffered_inputs = saved["step"], saved["batches"]


class Reference:
    """The reference of the policy's KL: the weights of the start, or those it moved to.

    TRL loads it from the path that the model's configuration names, which may hold other weights:
    the base of an adapter that was merged, or the model before it was changed in Python. A
    reference that moves (`sync_ref_model`) would be back where it began after a resume.
    """

    _FILE = "reference.pt"

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer

    def copy_start(self) -> None:
        """Copy the weights that training starts from into the reference.

        Where it is split among processes it keeps those of the model's path.
        """
        if self._trainer.ref_model is not None and not self._is_split:
            start = self._trainer.accelerator.unwrap_model(self._trainer.model)
            self._model.load_state_dict(start.state_dict())

    def save(self, folder: Path) -> None:
        """Save a reference that moves."""
        if self._moves and self._trainer.is_world_process_zero() and not self._is_split:
            torch.save(self._model.state_dict(), folder / self._FILE)

    def load(self, folder: Path | None) -> None:
        """Load a reference that moves.

        Raises:
            UsageError: the checkpoint does not hold it.
        """
        if folder is None or not self._moves:
            return
        path = folder / self._FILE
        if not path.is_file():
            raise UsageError(
                f"sync_ref_model moves the reference, and {folder} does not hold it; resume "
                "without sync_ref_model, or name the checkpoint as the model of a new run"
            )
        device = self._trainer.accelerator.device
        self._model.load_state_dict(torch.load(path, map_location=device, weights_only=True))

    @property
    def _moves(self) -> bool:
        return bool(self._trainer.args.sync_ref_model)

    @property
    def _is_split(self) -> bool:
        """In pieces, of which no process has all."""
        return bool(self._trainer.is_fsdp_enabled or is_deepspeed_zero3_enabled())

    @property
    def _model(self) -> torch.nn.Module:
        reference: torch.nn.Module = self._trainer.accelerator.unwrap_model(self._trainer.ref_model)
        return reference


class CarriedRows:
    """The rows of the data that a step is played with where it is not its own.

    With `--carry_over` a checkpoint has the rows of the groups that are under way, or of its
    unfinished step. In a run that is resumed they take the place of the next batch's.
    """

    _FILE = "carried.pt"

    def __init__(self, trainer: Any) -> None:
        self._trainer = trainer
        self._resumed: list[Any] = []
        self._noted: tuple[int, list[Any]] = (-1, [])

    def take(self, rows: Sequence[Any]) -> Sequence[Any]:
        """Return a checkpoint's rows, once, or those given."""
        if self._resumed:
            rows, self._resumed = self._resumed, []
            self._noted = (self._trainer.state.global_step, rows)
        return rows

    def note(self, rows: list[Any]) -> None:
        """Note the rows of the present step, unless some are noted."""
        if self._noted[0] != self._trainer.state.global_step:
            self._noted = (self._trainer.state.global_step, rows)

    def _use(self) -> list[int]:
        """Return the sizes that saved rows fit: the episodes of a batch, and of a group."""
        args = self._trainer.args
        batch = args.per_device_train_batch_size * args.steps_per_generation
        return [batch, self._trainer.num_generations]

    def save(self, folder: Path) -> None:
        """Save the rows that are played first in a run that is resumed."""
        step, noted = self._noted
        # The rows of an unfinished step are not trained on yet.
        unfinished = noted if step == self._trainer.state.global_step else None
        rows = self._resumed or (
            self._trainer.player.pending_rows if unfinished is None else unfinished
        )
        if rows:
            _save({"rows": rows, "use": self._use()}, folder / self._FILE)

    def load(self, folder: Path | None) -> None:
        """Take the rows of a checkpoint, or warn where they do not fit."""
        path = None if folder is None else folder / self._FILE
        misfit = (
            "the episodes that were carried over at %s do not fit this run's batches; their tasks "
            "are left out of this epoch"
        )
        self._resumed = _saved(path, self._use(), misfit).get("rows", [])
        self._noted = (-1, [])


def _save(state: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    torch.save(state, path)


def _saved(
    path: Path | None, use: list[int], misfit: str, *, device: torch.device | None = None
) -> dict[str, Any]:
    """Return a saved state, empty without one or, with a warning, where its `use` differs."""
    if path is None or not path.is_file():
        return {}
    saved: dict[str, Any] = torch.load(path, map_location=device, weights_only=True)
    if saved["use"] != use:
        logger.warning(misfit, path.parent)
        return {}
    return saved


@runtime_checkable
class StatefulSchedule(Stateful, Protocol):
    """A horizon schedule that depends on success, such as `wrappers.AdaptiveHorizon`."""

    def __call__(self, global_step: int) -> int:
        """Return the horizon of episodes that start at `global_step`."""

    def record(self, global_step: int, success: float) -> None:
        """Record the success of a step's training episodes."""


class ScheduleState:
    """The state of a run's horizon schedules, for its checkpoints. Others are ignored.

    Args:
        schedule: any horizon schedule, or one for each environment by the name in front of its
            task ids.
        names: the environments' names in metrics, where each has a schedule.
    """

    def __init__(self, schedule: Any, *, names: Mapping[str, str] | None = None) -> None:
        # By their name in the state, and the metric that each goes by.
        schedules = {("", "episodes/success"): schedule}
        if isinstance(schedule, Mapping):
            shown = names or {}
            schedules = {(name, f"success/{shown[name]}"): own for name, own in schedule.items()}
        self._schedules = {
            key: own for key, own in schedules.items() if isinstance(own, StatefulSchedule)
        }

    def record(
        self, global_step: int, metrics: dict[str, float], *, horizon_step: int | None = None
    ) -> None:
        """Record a batch of training episodes at the step that trains on them.

        Episodes with the horizon of an earlier stage, by their `horizon_step`, say nothing of the
        present one. An environment whose episodes all failed has no metrics.
        """
        for (_, metric), schedule in self._schedules.items():
            is_earlier = horizon_step not in (None, global_step) and (
                schedule(horizon_step) != schedule(global_step)
            )
            if metric in metrics and not is_earlier:
                schedule.record(global_step, metrics[metric])

    def state_dict(self) -> dict[str, Any]:
        """Return the schedules' states by name."""
        return {name: schedule.state_dict() for (name, _), schedule in self._schedules.items()}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue from a state. An empty dict resets."""
        for (name, _), schedule in self._schedules.items():
            schedule.load_state_dict(state.get(name, {}))
