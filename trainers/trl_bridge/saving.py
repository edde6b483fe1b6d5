"""How trainers save: whole checkpoints or none, at a signal, amid a step if something broke; cards.

Written for `transformers.Trainer`, whose `_save_checkpoint`, `_run_epoch`, `save_model` and
`create_model_card` it extends.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from accelerate.utils import is_peft_model

from agentgym_envs.errors import EnvFailure
from agentgym_envs.files import write_whole
from trainers.models.loading import keep_merged_start
from trainers.options.models import START
from trainers.runs.announcement import print_end, title_of
from trainers.runs.card import BaseModel, write_card
from trainers.runs.checkpoints import (
    CHECKPOINT,
    check_optimizer,
    damage_of,
    last_checkpoint,
    processes_of,
    write_checksums,
)
from trainers.runs.disk import write_patiently
from trainers.runs.folder import read_run
from trainers.runs.records import weights_step
from trainers.runs.stopping import Interrupted, SaveOnSignal, StopNow

logger = logging.getLogger(__name__)


class SavingMixin:
    """A mixin before a `transformers.Trainer`.

    Attributes:
        max_outage: seconds that a full or unreachable disk is waited for.
        run_options: dataclasses that `run.json` keeps besides `args`.
    """

    max_outage = 0.0
    run_options: Sequence[Any] = ()
    _rng_files: dict[str, bytes] = {}
    """The states of the random numbers as the last step left them, as files of a checkpoint."""
    _micro_batches_before = 0
    """Those of all steps that were taken; an epoch's last step may have fewer than the others."""

    def train(
        self: Any, resume_from_checkpoint: str | bool | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Train; see `transformers.Trainer.train`.

        SIGINT (Ctrl-C) and SIGTERM end it with a checkpoint: at once while episodes are played,
        else when the present step has ended. A second one ends it at once.

        Args:
            resume_from_checkpoint: a checkpoint's folder, or True for the last whole one in
                `args.output_dir`.
            *args: `transformers.Trainer.train`'s.
            **kwargs: `transformers.Trainer.train`'s.

        Returns:
            `transformers.TrainOutput`.

        Raises:
            Interrupted: a signal came; a `KeyboardInterrupt` that names the checkpoint.
            ValueError: there is no checkpoint to resume from.
        """
        if resume_from_checkpoint is True:
            folder = Path(self.args.output_dir)
            checkpoint = last_checkpoint(folder)
            if checkpoint is None:
                raise ValueError(
                    f"resume_from_checkpoint=True: there is no whole checkpoint in {folder}; leave "
                    "the argument out to begin, or name a checkpoint's folder"
                )
            check_optimizer(checkpoint)
            resume_from_checkpoint = str(checkpoint)
        self._keep_start(is_resumed=bool(resume_from_checkpoint))
        with SaveOnSignal() as on_signal:
            self.add_callback(on_signal)
            try:
                output = super().train(resume_from_checkpoint, *args, **kwargs)  # type: ignore[misc]
            except Interrupted as stop:
                self.callback_handler.on_train_end(self.args, self.state, self.control)
                raise stop.with_traceback(None) from None  # a message rather than our call stack
            finally:
                self.remove_callback(on_signal)
        if self.is_world_process_zero():
            print_end(
                title_of(self),
                self.args.output_dir,
                global_step=self.state.global_step,
                weights_step=weights_step(self.args, self.state, self.control),
                best_by=str(self.args.metric_for_best_model),
            )
        return output

    def _keep_start(self: Any, *, is_resumed: bool) -> None:
        folder = Path(self.args.output_dir) / START
        model = self.accelerator.unwrap_model(self.model)
        keep = partial(
            keep_merged_start,
            *(model, self.processing_class, folder),
            is_resumed=is_resumed,
            write=self.is_world_process_zero(),
        )
        write_patiently(str(folder), keep, limit=self.max_outage)

    def _remember_rng(self: Any) -> None:
        save = super()._save_rng_state  # type: ignore[misc]

        def read_back() -> None:
            with TemporaryDirectory(prefix="agentgym-rng-") as folder:
                save(folder)
                self._rng_files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}

        write_patiently("the states of random numbers", read_back, limit=self.max_outage)

    def _load_rng_state(self: Any, checkpoint: str | None) -> None:
        super()._load_rng_state(checkpoint)  # type: ignore[misc]
        self._remember_rng()
        saved_by = processes_of(Path(checkpoint)) if checkpoint is not None else 0
        whole = not self.args.save_on_each_node  # else the folder here holds this machine's alone
        if whole and saved_by not in (0, self.args.world_size) and self.is_world_process_zero():
            logger.warning(
                "%s was saved by %d process(es) and this run has %d: it goes on with other random "
                "numbers and shares of a batch than a run that was never stopped",
                checkpoint,
                saved_by,
                self.args.world_size,
            )

    def _maybe_log_save_evaluate(self: Any, *args: Any, **kwargs: Any) -> None:
        self._micro_batches_before = self._micro_batches_done
        self._remember_rng()
        super()._maybe_log_save_evaluate(*args, **kwargs)  # type: ignore[misc]
        self._remember_rng()

    def _save_rng_state(self: Any, output_dir: str) -> None:
        # Amid a step some have been drawn that a resumed run draws again.
        for name, content in self._rng_files.items():
            write_whole(Path(output_dir) / name, content)

    def _run_epoch(self: Any, *args: Any, **kwargs: Any) -> None:
        self._micro_batches_before = self._micro_batches_done
        self._remember_rng()
        # The trainer looks whether all steps are taken after a step only, so a run that is resumed
        # at its end would train one more.
        if self.state.global_step < self.state.max_steps:
            super()._run_epoch(*args, **kwargs)  # type: ignore[misc]

    def _save_checkpoint(self: Any, model: Any, trial: Any) -> None:
        """Save a checkpoint with checksums; where the disk does not take it, nothing is left."""
        folder = self._checkpoint_folder(trial)
        save = super()._save_checkpoint  # type: ignore[misc]

        def save_whole() -> None:
            try:
                save(model, trial)
                self.accelerator.wait_for_everyone()
                if self.args.should_save:
                    write_checksums(folder)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise

        write_patiently(str(folder), save_whole, limit=self.max_outage)

    def _load_from_checkpoint(self: Any, resume_from_checkpoint: str, model: Any = None) -> None:
        super()._load_from_checkpoint(resume_from_checkpoint, model)  # type: ignore[misc]
        model = self.model if model is None else model
        if is_peft_model(model) and len(model.peft_config) > 1:
            # transformers loads the adapters in folders of a checkpoint, such as TRL's reference,
            # or the one that is trained, never both.
            active = model.active_adapters[0]
            model.load_adapter(resume_from_checkpoint, active, is_trainable=True)

    def _issue_warnings_after_load(self: Any, load_result: Any) -> None:
        # A tied weight is in a checkpoint once, under the name that it is tied to.
        tied = getattr(self.model, "all_tied_weights_keys", {})
        missing = [key for key in load_result.missing_keys if key not in tied]
        filtered = type(load_result)(missing, load_result.unexpected_keys)
        super()._issue_warnings_after_load(filtered)  # type: ignore[misc]

    def save_model(self: Any, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Save the model with its card; see `transformers.Trainer.save_model`."""
        super().save_model(output_dir, _internal_call)  # type: ignore[misc]
        self._write_card(output_dir or self.args.output_dir)

    def create_model_card(
        self: Any,
        model_name: str | None = None,
        dataset_name: str | None = None,
        tags: str | list[str] | None = None,
    ) -> None:
        """Write the run's model card (`trainers.runs.card`) into the output folder.

        Args:
            model_name: by default the folder's name.
            dataset_name: has no effect: the tasks are the environments'.
            tags: further tags for the hub.
        """
        further = [tags] if isinstance(tags, str) else tags or []
        self._write_card(self.args.output_dir, name=model_name, tags=further)

    def _write_card(self: Any, folder: str, **further: Any) -> None:
        if not self.is_world_process_zero():
            return
        step = str(self.state.global_step)
        is_checkpoint = Path(folder).name == f"{CHECKPOINT}{step}"
        write_card(
            folder,
            self.args.output_dir,
            algorithm=self._algorithm,
            base=BaseModel.of(getattr(self.model.config, "_name_or_path", None)),
            global_step=int(step)
            if is_checkpoint
            else weights_step(self.args, self.state, self.control),
            **further,
        )

    @property
    def _algorithm(self: Any) -> str:
        """The algorithm: of `agentgym train`, or the trainer's own name."""
        command, _, algorithm = str(read_run(self.args.output_dir).get("command")).partition(" ")
        return algorithm if command == "train" else type(self).__name__

    def _checkpoint_folder(self: Any, trial: Any = None) -> Path:
        return Path(self._get_output_dir(trial=trial)) / f"{CHECKPOINT}{self.state.global_step}"

    @property
    def can_save(self: Any) -> bool:
        """Whether this process can save what it has now: no step is half taken."""
        is_half = self._micro_batches_done != self._micro_batches_before
        return self.args.world_size == 1 and not is_half

    @property
    def _micro_batches_done(self: Any) -> int:
        return getattr(self, "_step", 0)  # TRL's count, in the trainers that play amid a step

    def save_now(self: Any) -> None:
        """Save a checkpoint of the last step that was taken, if there is none and it can be."""
        if not self.can_save:
            return
        if damage_of(self._checkpoint_folder(), check=False) is not None:
            self._save_checkpoint(self.model_wrapped, trial=None)
        self.control = self.callback_handler.on_save(self.args, self.state, self.control)

    @contextmanager
    def playing(self: Any) -> Iterator[None]:
        """Save a checkpoint where a signal, or machinery that stays broken, ends what is played.

        Raises:
            Interrupted: a signal has come, and the checkpoint is saved.
            EnvFailure: from what is played.
        """
        on_signal = next(
            (one for one in self.callback_handler.callbacks if isinstance(one, SaveOnSignal)), None
        )
        try:
            with nullcontext() if on_signal is None or not self.can_save else on_signal.at_once():
                yield
        except StopNow:
            self.save_now()
        except EnvFailure:
            self.save_now()
            raise
