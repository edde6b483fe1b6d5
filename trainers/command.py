"""Runs of `agentgym train`: options, the run's folder, training, and the exit status."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

from tqdm.contrib.logging import logging_redirect_tqdm

from agentgym_envs.content.files import is_storage_failure
from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.secrets import MASK, masked, masked_words
from trainers import installed_trainers
from trainers.models.loading import adapter_config, load_policy, save_policy
from trainers.options.arguments import (
    EnvArguments,
    EvaluationArguments,
    RolloutArguments,
    RunArguments,
)
from trainers.options.checks import ROLLOUT, refuse_ignored
from trainers.options.configs import AgentDefaults, ModelArguments, defaults_for
from trainers.options.errors import (
    BROKEN_OFF,
    UsageError,
    as_options,
    check_folder,
    explain_refusals,
)
from trainers.options.models import derive_precision
from trainers.options.parser import CommandParser
from trainers.rollout.environments import Environments
from trainers.runs.checkpoints import check_optimizer, last_checkpoint
from trainers.runs.folder import PAIRS, holding, read_run, write_patiently
from trainers.runs.progress import hide_loading_bars
from trainers.runs.provenance import begin_run
from trainers.runs.records import add_options_for_trackers
from trainers.runs.stopping import Interrupted

INTERRUPTED = 130
"""The exit status where Ctrl-C ended a run, as shells have it."""


def training_parser(
    algorithm: str, config: type[AgentDefaults], description: str, further: tuple[type, ...] = ()
) -> CommandParser:
    """Return the parser of a training command. The arguments are those of `parse_training`."""
    trl_configs = (kind.__name__ for kind in config.__mro__ if kind.__module__.startswith("trl."))
    return CommandParser(
        (
            *(EnvArguments, RolloutArguments, EvaluationArguments, RunArguments),
            *(*further, ModelArguments, config),
        ),
        command=f"agentgym train {algorithm}",
        description=description,
        first=("env", "model_name_or_path", "output_dir", "max_steps", "learning_rate"),
        config_name=next(trl_configs),
    )


def parse_training(
    argv: list[str] | None,
    *,
    algorithm: str,
    config: type[AgentDefaults],
    description: str,
    further: tuple[type, ...] = (),
) -> tuple[Any, ...]:
    """Parse a training command's options.

    Args:
        argv: the options; None takes the process's own.
        algorithm: the command's name.
        config: the training config, `AgentDefaults` before one of TRL's.
        description: of the command.
        further: dataclasses of the algorithm's own options.

    Returns:
        `EnvArguments`, `RolloutArguments`, `EvaluationArguments`, `RunArguments`, the further
        ones, `ModelArguments`, and the training config.
    """
    parser = training_parser(algorithm, config, description, further)
    model = str(parser.peek(argv, "model_name_or_path"))
    adapter = bool(parser.peek(argv, "use_peft"))
    parser.set_defaults(**defaults_for(config, model, adapter=adapter))
    parsed = parser.parse(argv)
    derive_precision(*parsed[-2:])
    refuse_ignored(parsed[1], ROLLOUT.get(algorithm, ()))
    refuse_ignored(parsed[-1], ["loading"])
    check_folder("output_dir", parsed[-1].output_dir)
    hide_loading_bars()
    return parsed


@contextmanager
def running(
    trainer: Any, command: str, *, environments: Environments | None = None
) -> Iterator[None]:
    """Turn early ends of a command's training into exit statuses, and clean up after it.

    The environments are closed at the end, however training ends.

    Raises:
        SystemExit: with status 130 after a signal, and 75 where machinery stayed broken or the
            disk took no more.
    """
    try:
        # Warnings would stand behind the progress bar, on its line.
        with (
            logging_redirect_tqdm(),
            exit_statuses(trainer.args, command),
            explain_refusals(ImportError),
        ):
            yield
        # Its threads would end some processes by SIGABRT when the interpreter does.
        trainer.accelerator.state.destroy_process_group()
    finally:
        if environments is not None:
            environments.close()


def train_and_save(
    trainer: Any, *, resume: bool = False, command: str | None = None, configs: Sequence[Any] = ()
) -> None:
    """Train, and leave the final model in the output folder.

    Unlike `trainer.train()`: no other process may write to the folder meanwhile; an earlier run in
    it is moved aside; `resume` begins again where there is no checkpoint, and prints which options
    differ; the model at the end is an ordinary folder, a LoRA adapter merged.

    Args:
        trainer: one of our trainers.
        resume: go on from the last intact checkpoint, if there is one.
        command: the run's command in `run.json`; by default the script's name.
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
    """Make room in the folder for a new run, or print the changes in one that goes on."""
    folder = Path(trainer.args.output_dir)
    configs = [*trainer.run_options, *configs, trainer.args]
    step = None
    if checkpoint is not None:
        check_optimizer(checkpoint)
        step = int(checkpoint.name.rpartition("-")[2])
    elif resume:
        print(f"{folder} has no checkpoint: training starts at the beginning", flush=True)
    models = [getattr(config, "model_name_or_path", None) for config in configs]
    models.append(getattr(trainer.model.config, "_name_or_path", None))
    begin_run(
        folder,
        command=command,
        seed=trainer.args.seed,
        configs=configs,
        at_step=step,
        start=next((str(name) for name in models if name), None),
        # What a resumed run has played for DPO's pairs is its own.
        keep=(PAIRS,) if resume else (),
    )
    if checkpoint is not None:
        print(f"resuming from {checkpoint}", flush=True)
    trainer.run_file.is_written = True


def _save(trainer: Any, folder: Path) -> None:
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        trainer.save_model(str(folder))  # gathers split weights: all processes take part
    elif trainer.is_world_process_zero():
        model = trainer.accelerator.unwrap_model(trainer.model)

        def save() -> None:
            save_policy(model, trainer.processing_class, folder)
            trainer.create_model_card()

        write_patiently(folder, save, limit=trainer.max_outage)


def use_revision_for_reference(args: Any, revision: str | None) -> None:
    """Let TRL load the KL's reference, which it names by the model alone, at its revision.

    TRL warns that the policy itself ignores the revision, so the default is left out.
    """
    if args.beta and revision not in (None, "main"):
        args.model_init_kwargs = {**(args.model_init_kwargs or {}), "revision": revision}


def train_online(
    argv: list[str] | None, *, algorithm: str, trainer: type[Any], description: str
) -> int:
    """Run a training command of an `OnlineTrainer` class, and return the exit status."""
    env, rollout, evaluation, run, model_args, args = parse_training(
        argv, algorithm=algorithm, config=trainer.config, description=description
    )
    model, tokenizer = load_policy(model_args, args)
    use_revision_for_reference(args, model_args.model_revision)
    with refusing():
        made: Any = trainer(
            model,
            env,
            args=args,
            rollout=rollout,
            evaluation=evaluation,
            processing_class=tokenizer,
            peft_config=adapter_config(model_args),
        )
    command = f"train {algorithm}"
    with running(made, command, environments=made.task_environments):
        train_and_save(made, resume=run.resume, command=command, configs=[model_args])
    return 0


@contextmanager
def refusing() -> Iterator[None]:
    """Turn errors of a trainer's constructor into usage errors.

    Raises:
        UsageError: the block raises a `ValueError`, or an `OSError` that is no storage failure.
    """
    try:
        with explain_refusals():
            yield
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        if is_storage_failure(error):
            raise
        raise UsageError(str(error)) from error


@contextmanager
def exit_statuses(args: Any, command: str) -> Iterator[None]:
    """Turn early ends of a run into a message with the command that resumes it, and a status.

    Raises:
        SystemExit: with status 130 after a signal, and 75 where machinery stayed broken or the
            disk took no more.
    """
    is_first = args.process_index == 0
    try:
        yield
    except Interrupted as stop:
        if is_first:
            print(
                f"stopped after step {stop.global_step}; {stop.checkpoint} is saved. To go on:\n"
                f"  {command_to_resume(command)}",
                flush=True,
            )
        raise SystemExit(INTERRUPTED) from None
    except (EnvFailure, OSError) as failure:
        folder = Path(args.output_dir)
        # A folder that cannot be written at all is a mistake on the command line.
        has_begun = read_run(folder).get("pid") == os.getpid()
        if isinstance(failure, OSError) and not (is_storage_failure(failure) and has_begun):
            raise
        if is_first:
            message = broken_off(folder, failure, command)
            print(message, file=sys.stderr, flush=True)
        raise SystemExit(BROKEN_OFF) from failure


def broken_off(folder: Path, failure: Exception, command: str) -> str:
    """Return the message where broken machinery has ended a run."""
    rounds = sorted(folder.glob("round_*"), key=lambda path: path.stat().st_mtime, reverse=True)
    checkpoints = (last_checkpoint(place, check=False) for place in (folder, *rounds[:1]))
    checkpoint = next(filter(None, checkpoints), None)
    saved = f"{checkpoint} is what it goes on from" if checkpoint else "there is no checkpoint yet"
    is_disk = isinstance(failure, OSError)
    end = "the disk took no more" if is_disk else "the machinery stayed broken"
    cause = masked(as_options(str(failure)))
    to_resume = command_to_resume(command)
    return f"agentgym: {end}: {cause}\n{saved}. When that is mended:\n  {to_resume}"


def command_to_resume(command: str) -> str:
    """Return the command that resumes this process's run."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        return "the same command, launcher and all, with --resume"
    program, *words = sys.argv
    if words[: len(command.split())] == command.split():
        words = words[len(command.split()) :]
    words = [word for word in words if word != "--resume"]
    is_installed = command.split()[-1] in installed_trainers()
    start = ["agentgym", *command.split()] if is_installed else ["python", program]
    masked_options = masked_words(words)
    again = "" if masked_options == words else f"\n(with your secret in place of each {MASK})"
    return shlex.join([*start, *masked_options, "--resume"]) + again
