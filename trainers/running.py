"""A run in its folder, as `agentgym train` does it: held, recorded, resumed, saved at its end."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from trainers.models.loading import save_policy
from trainers.runs.checkpoints import check_optimizer, last_checkpoint
from trainers.runs.disk import write_patiently
from trainers.runs.folder import PAIRS
from trainers.runs.lock import holding
from trainers.runs.provenance import begin_run
from trainers.runs.records import add_options_for_trackers


def train_and_save(
    trainer: Any, *, resume: bool = False, command: str | None = None, configs: Sequence[Any] = ()
) -> None:
    """Train, and leave the final model in the output folder.

    What `trainer.train()` does not do: no other process may write to the folder meanwhile; an
    earlier run in it is moved aside; `resume` begins anew where there is no checkpoint, and says
    which options differ; the model at the end is an ordinary folder, a LoRA adapter merged.

    Args:
        trainer: one of our trainers.
        resume: go on from the last whole checkpoint, if there is one.
        command: what `run.json` names as the run's command; by default the script's name.
        configs: dataclasses that `run.json` keeps besides those the trainer has.

    Raises:
        Interrupted: a signal ended training, and a checkpoint is saved; a `KeyboardInterrupt`.
        EnvFailure: machinery stayed broken.
        UsageError: another process holds the folder, a checkpoint cannot be gone on from, or the
            folder's run that is to be resumed is another command's.
    """
    command = Path(sys.argv[0]).name if command is None else command
    folder = Path(trainer.args.output_dir)
    with holding(folder, command) if trainer.is_world_process_zero() else nullcontext():
        checkpoint = last_checkpoint(folder) if resume else None
        trainer.accelerator.wait_for_everyone()  # all have looked before the first one writes
        if trainer.is_world_process_zero():
            _begin(trainer, checkpoint, resume=resume, command=command, configs=configs)
        trainer.accelerator.wait_for_everyone()
        add_options_for_trackers(trainer.args, configs)
        trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        _save(trainer, folder)
        # A process that has ended may take those with it that still save.
        trainer.accelerator.wait_for_everyone()


def _begin(
    trainer: Any, checkpoint: Path | None, *, resume: bool, command: str, configs: Sequence[Any]
) -> None:
    """Make room in the folder for a new run, or say what changes in one that goes on."""
    folder = Path(trainer.args.output_dir)
    configs = [*trainer.run_options, *configs, trainer.args]
    step = None
    if checkpoint is not None:
        check_optimizer(checkpoint)
        step = int(checkpoint.name.rpartition("-")[2])
    elif resume:
        print(f"{folder} has no checkpoint: training starts at the beginning", flush=True)
    begin_run(
        folder,
        command=command,
        seed=trainer.args.seed,
        configs=configs,
        at_step=step,
        start=_start_of(trainer, configs),
        # What a resumed run has played for DPO's pairs is its own.
        keep=(PAIRS,) if resume else (),
    )
    if checkpoint is not None:
        print(f"resuming from {checkpoint}", flush=True)
    trainer.run_file.is_written = True


def _start_of(trainer: Any, configs: Sequence[Any]) -> str | None:
    """Return the model that training starts from."""
    names = [getattr(config, "model_name_or_path", None) for config in configs]
    names.append(getattr(trainer.model.config, "_name_or_path", None))
    return next((str(name) for name in names if name), None)


def _save(trainer: Any, folder: Path) -> None:
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        trainer.save_model(str(folder))  # gathers split weights: all processes take part
    elif trainer.is_world_process_zero():
        model = trainer.accelerator.unwrap_model(trainer.model)

        def save() -> None:
            save_policy(model, trainer.processing_class, folder)
            trainer.create_model_card()

        write_patiently(str(folder), save, limit=trainer.max_outage)
