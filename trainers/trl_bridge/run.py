"""The run of every trainer: set-up, signals, steps, evaluations, checkpoints and cards.

Written for `transformers.Trainer`, whose hooks it extends in the order in which they are called.
"""

from __future__ import annotations

import logging
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import numpy as np
import torch
from accelerate.utils import is_peft_model
from safetensors import SafetensorError
from transformers import TrainerCallback

from agentgym_envs.errors import EnvFailure
from trainers.models.bases import keep_merged_start, load_base, save_base
from trainers.models.loading import inputs_left_to_autocast
from trainers.options.checks import MUON
from trainers.options.errors import UsageError, explain_refusals
from trainers.options.models import START
from trainers.plans import algorithm_title, print_end
from trainers.runs.card import BaseModel, write_card
from trainers.runs.checkpoints import (
    CHECKPOINT,
    check_optimizer,
    count_processes,
    find_damage,
    last_checkpoint,
    write_checksums,
)
from trainers.runs.folder import read_run, write_patiently
from trainers.runs.progress import Heartbeat
from trainers.runs.records import has_chosen, weights_step
from trainers.runs.stopping import Interrupted, SaveOnSignal, StopNow
from trainers.trl_bridge.parts import Part
from trainers.trl_bridge.passes import save_memory_on_cpu, small_tiles

logger = logging.getLogger(__name__)


class RunMixin:
    """A mixin before one of TRL's trainers.

    Attributes:
        max_outage: seconds that a full or unreachable disk is waited for.
        run_options: dataclasses that `run.json` keeps besides `args`.
        parts: the state in checkpoints that is ours.
        make_validation: makes the `trainers.evaluation.validation.Validation`; None where there
            is no environment.
        heartbeat: writes lines while a run is silent.
    """

    max_outage = 0.0
    run_options: Sequence[Any] = ()
    make_validation: Callable[[], Any] | None = None
    _step_rng: dict[str, Any] = {}
    """The states of the random number generators as the last step left them."""
    _micro_batches_before = 0
    """Micro-batches of all steps so far. An epoch's last step may have fewer than the others."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.args.optim == MUON:
            from trainers.models.muon import use_muon  # which torch has since 2.9

            use_muon(self)
        self.parts: list[Part] = []
        self.heartbeat = Heartbeat()
        self.heartbeat.is_shown = self.is_world_process_zero()
        save_memory_on_cpu(self)

    # Training -----------------------------------------------------------------------------------

    def train(
        self: Any, resume_from_checkpoint: str | bool | None = None, *args: Any, **kwargs: Any
    ) -> Any:
        """Train, as `transformers.Trainer.train` does.

        SIGINT (Ctrl-C) and SIGTERM end it with a checkpoint: at once while episodes are played,
        else when the present step has ended. A second one ends it at once.

        Args:
            resume_from_checkpoint: a checkpoint's folder, or True for the last intact one in
                `args.output_dir`.
            *args: `transformers.Trainer.train`'s.
            **kwargs: `transformers.Trainer.train`'s.

        Returns:
            `transformers.TrainOutput`.

        Raises:
            Interrupted: a signal came; a `KeyboardInterrupt` that names the checkpoint.
            UsageError: a library cannot follow the options.
            ValueError: there is no checkpoint to resume from.
        """
        if resume_from_checkpoint is True:
            resume_from_checkpoint = self._last_checkpoint()
        accelerator = self.accelerator
        with (
            self.in_training(),
            small_tiles(accelerator.device),
            inputs_left_to_autocast(self.model, accelerator.mixed_precision != "no"),
        ):
            self._keep_start(is_resumed=bool(resume_from_checkpoint))
            if not resume_from_checkpoint:
                for part in self.parts:
                    part.load(None)
            with self.heartbeat.writing(), self._saving_on_signal(), self._explaining_refusals():
                output = super().train(resume_from_checkpoint, *args, **kwargs)  # type: ignore[misc]
            end = self.args, self.state, self.control
            if self.is_world_process_zero():
                print_end(
                    algorithm_title(self),
                    self.args.output_dir,
                    global_step=self.state.global_step,
                    weights_step=weights_step(*end),
                    best_by=str(self.args.metric_for_best_model) if has_chosen(*end) else None,
                )
        return output

    @contextmanager
    def in_training(self) -> Iterator[None]:
        """Surround a whole training. A subclass ends its threads and files here."""
        yield

    def _last_checkpoint(self: Any) -> str:
        folder = Path(self.args.output_dir)
        checkpoint = last_checkpoint(folder)
        if checkpoint is None:
            raise ValueError(
                f"resume_from_checkpoint=True: there is no whole checkpoint in {folder}; leave "
                "the argument out to begin, or name a checkpoint's folder"
            )
        check_optimizer(checkpoint)
        return str(checkpoint)

    def _keep_start(self: Any, *, is_resumed: bool) -> None:
        folder = Path(self.args.output_dir) / START
        model = self.accelerator.unwrap_model(self.model)
        options = {"is_resumed": is_resumed, "write": self.is_world_process_zero()}
        keep = partial(keep_merged_start, model, self.processing_class, folder, **options)
        write_patiently(folder, keep, limit=self.max_outage)

    @contextmanager
    def _saving_on_signal(self: Any) -> Iterator[None]:
        with SaveOnSignal() as on_signal:
            self.add_callback(on_signal)
            try:
                yield
            except Interrupted as stop:
                self.callback_handler.on_train_end(self.args, self.state, self.control)
                raise stop.with_traceback(None) from None  # a message rather than our call stack
            finally:
                self.remove_callback(on_signal)

    @contextmanager
    def _explaining_refusals(self: Any) -> Iterator[None]:
        """Turn refusals of libraries before the first step into a usage error."""
        begun = _Begun()
        self.callback_handler.callbacks.insert(0, begun)  # errors of other callbacks are their own
        try:
            yield
        except Exception:
            if begun.is_begun:
                raise
            with explain_refusals():
                raise
        finally:
            self.remove_callback(begun)

    def _run_epoch(self: Any, *args: Any, **kwargs: Any) -> None:
        self._note_step()
        # The trainer looks whether all steps are taken after a step only, so a run that is resumed
        # at its end would train one more.
        if self.state.global_step < self.state.max_steps:
            super()._run_epoch(*args, **kwargs)  # type: ignore[misc]

    def _maybe_log_save_evaluate(self: Any, *args: Any, **kwargs: Any) -> None:
        self._note_step()
        super()._maybe_log_save_evaluate(*args, **kwargs)  # type: ignore[misc]
        self._step_rng = _rng_states()

    def _note_step(self) -> None:
        self._micro_batches_before = self._micro_batches_done
        self._step_rng = _rng_states()

    # Evaluations --------------------------------------------------------------------------------

    @cached_property
    def validation(self) -> Any:
        """The evaluations, made at first use. None where there is no environment."""
        return None if self.make_validation is None else self.make_validation()

    def evaluate(
        self,
        eval_dataset: Any = None,
        ignore_keys: list[str] | None = None,
        metric_key_prefix: str = "eval",
    ) -> dict[str, float]:
        """Play the validation tasks, and log and return the metrics.

        It is logged under the step of the weights that played: after training those of the best
        checkpoint, where that was loaded. Tasks of another split are logged under its name.

        Args:
            eval_dataset: rows whose `prompt` is a task id, in place of the validation's tasks.
            ignore_keys: has no effect on episodes.
            metric_key_prefix: how the names of the metrics begin.

        Returns:
            `<prefix>_success`, `_score`, `_turns`, `_invalid_actions`, `_failed`, `_runtime` and
            the bounds of the 95% interval of the success. Of several environments these are means
            over them, and each has its own, such as `<prefix>_success/TextCraft`.

        Raises:
            ValueError: there is no environment.
        """
        if self.validation is None:
            raise ValueError(
                f"there is nothing to play: make the {type(self).__name__} with env=, such as "
                'env="TextCraft"'
            )
        metrics: dict[str, float] = self.validation.evaluate(self, eval_dataset, metric_key_prefix)
        return metrics

    def _load_best_model(self: Any) -> None:
        is_biased = self.validation is not None and self.validation.chose_by_noise(self.state)
        if is_biased:
            self.save_now()  # else a signal below would save the best weights as the last step's
        super()._load_best_model()  # type: ignore[misc]
        self.load_best(Path(self.state.best_model_checkpoint))
        if is_biased:
            self.validation.measure_again(self)

    def load_best(self: Any, folder: Path) -> None:
        """Load from the best checkpoint the weights that Trainer does not."""
        load_base(self.model, folder)

    @contextmanager
    def playing(self: Any) -> Iterator[None]:
        """Save a checkpoint where a signal, or machinery that stays broken, ends the play.

        Raises:
            Interrupted: a signal has come, and the checkpoint is saved.
            EnvFailure: from the play.
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

    # Checkpoints --------------------------------------------------------------------------------

    @property
    def can_save(self: Any) -> bool:
        """Whether this process can save now, with no step half taken."""
        is_half = self._micro_batches_done != self._micro_batches_before
        return self.args.world_size == 1 and not is_half

    @property
    def _micro_batches_done(self: Any) -> int:
        return getattr(self, "_step", 0)  # TRL's count, in the trainers that play within a step

    def save_now(self: Any) -> None:
        """Save a checkpoint of the last step that was taken, if there is none and it can be."""
        if not self.can_save:
            return
        if find_damage(self._checkpoint_folder(), check=False) is not None:
            self._save_checkpoint(self.model_wrapped, trial=None)
        self.control = self.callback_handler.on_save(self.args, self.state, self.control)

    def _checkpoint_folder(self: Any, trial: Any = None) -> Path:
        return Path(self._get_output_dir(trial=trial)) / f"{CHECKPOINT}{self.state.global_step}"

    def _save_checkpoint(self: Any, model: Any, trial: Any) -> None:
        """Save a checkpoint with checksums, or nothing where the disk does not take it."""
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

        write_patiently(folder, save_whole, limit=self.max_outage)

    def _save_optimizer_and_scheduler(self: Any, output_dir: str) -> None:
        for part in self.parts:
            part.save(Path(output_dir))
        super()._save_optimizer_and_scheduler(output_dir)  # type: ignore[misc]

    def _load_optimizer_and_scheduler(self: Any, checkpoint: str | None) -> None:
        with nullcontext() if checkpoint is None else _explaining_damage(checkpoint):
            super()._load_optimizer_and_scheduler(checkpoint)  # type: ignore[misc]
            for part in self.parts:
                part.load(None if checkpoint is None else Path(checkpoint))

    def _save_rng_state(self: Any, output_dir: str) -> None:
        # Within a step some have been drawn that a resumed run draws again.
        present = _rng_states()
        _set_rng_states(self._step_rng)
        try:
            super()._save_rng_state(output_dir)  # type: ignore[misc]
        finally:
            _set_rng_states(present)

    def _load_rng_state(self: Any, checkpoint: str | None) -> None:
        super()._load_rng_state(checkpoint)  # type: ignore[misc]
        self._step_rng = _rng_states()
        saved_by = count_processes(Path(checkpoint)) if checkpoint is not None else 0
        whole = not self.args.save_on_each_node  # else the folder here holds this machine's alone
        if whole and saved_by not in (0, self.args.world_size) and self.is_world_process_zero():
            logger.warning(
                "%s was saved by %d process(es) and this run has %d: it goes on with other random "
                "numbers and shares of a batch than a run that was never stopped",
                checkpoint,
                saved_by,
                self.args.world_size,
            )

    def _load_from_checkpoint(self: Any, resume_from_checkpoint: str, model: Any = None) -> None:
        with _explaining_damage(resume_from_checkpoint):
            super()._load_from_checkpoint(resume_from_checkpoint, model)  # type: ignore[misc]
            load_base(self.model, Path(resume_from_checkpoint))
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

    # Cards --------------------------------------------------------------------------------------

    def save_model(self: Any, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Save the model with its card, and the base of an adapter where resets have changed it."""
        folder = output_dir or self.args.output_dir
        model, write = self.accelerator.unwrap_model(self.model), self.args.should_save
        save_base(model, self.processing_class, Path(folder), write=write)
        super().save_model(output_dir, _internal_call)  # type: ignore[misc]
        self._write_card(folder)

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
            base=BaseModel.from_name(getattr(self.model.config, "_name_or_path", None)),
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


class _Begun(TrainerCallback):  # type: ignore[misc]
    """Notes that the set-up of a training has ended."""

    is_begun = False

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        self.is_begun = True


_LOAD_ERRORS = (
    *(EOFError, KeyError, OSError, RuntimeError, TypeError, ValueError),
    *(UnpicklingError, SafetensorError),
)


@contextmanager
def _explaining_damage(checkpoint: str) -> Iterator[None]:
    """Turn the errors of loading a checkpoint into usage errors.

    Raises:
        UsageError: a file of it is damaged or missing, or a library cannot load it.
    """
    with explain_refusals(
        *_LOAD_ERRORS,
        cannot=f"load the checkpoint {checkpoint}",
        remedy="; resume with the model and the options that it was saved with",
    ):
        try:
            yield
        except UsageError:  # it names the fault
            raise
        except _LOAD_ERRORS as error:
            damage = find_damage(Path(checkpoint))
            if damage is None:
                raise
            raise UsageError(
                f"the checkpoint {checkpoint} {damage}, so training cannot go on from it; name an "
                "earlier one, or pass resume_from_checkpoint=True for the last whole one"
            ) from error


def _rng_states() -> dict[str, Any]:
    """Return the states of the global random number generators."""
    states = {"python": random.getstate(), "numpy": np.random.get_state()}
    states["cpu"] = torch.get_rng_state()
    device = torch.get_device_module()
    if hasattr(device, "get_rng_state_all"):  # of GPUs and NPUs; the CPU's module has none
        states["accelerator"] = device.get_rng_state_all()
    return states


def _set_rng_states(states: dict[str, Any]) -> None:
    if not states:
        return
    random.setstate(states["python"])
    np.random.set_state(states["numpy"])
    torch.set_rng_state(states["cpu"])
    if "accelerator" in states:
        torch.get_device_module().set_rng_state_all(states["accelerator"])
