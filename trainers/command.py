"""What every training command does around its trainer: read options, run, end with a status."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import is_storage_failure
from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.secrets import MASK, masked, masked_words
from trainers import installed_trainers
from trainers.models.loading import adapter_config, load_policy
from trainers.options.arguments import (
    EnvArguments,
    EvaluationArguments,
    RolloutArguments,
    RunArguments,
)
from trainers.options.checks import LOADING, ROLLOUT, refuse_ignored
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
from trainers.running import train_and_save
from trainers.runs.checkpoints import last_checkpoint
from trainers.runs.folder import read_run
from trainers.runs.progress import hide_loading_bars
from trainers.runs.stopping import Interrupted

INTERRUPTED = 130
"""The exit status where Ctrl-C ended a run, as shells have it."""


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
        description: what the command does.
        further: dataclasses of the algorithm's own options.

    Returns:
        `EnvArguments`, `RolloutArguments`, `EvaluationArguments`, `RunArguments`, the further
        ones, `ModelArguments`, and the training config.
    """
    trl_configs = (kind.__name__ for kind in config.__mro__ if kind.__module__.startswith("trl."))
    parser = CommandParser(
        (
            *(EnvArguments, RolloutArguments, EvaluationArguments, RunArguments),
            *(*further, ModelArguments, config),
        ),
        command=f"agentgym train {algorithm}",
        description=description,
        first=("env", "model_name_or_path", "output_dir", "max_steps", "learning_rate"),
        config_name=next(trl_configs),
    )
    model = str(parser.peek(argv, "model_name_or_path"))
    adapter = bool(parser.peek(argv, "use_peft"))
    parser.set_defaults(**defaults_for(config, model, adapter=adapter))
    parsed = parser.parse(argv)
    derive_precision(*parsed[-2:])
    refuse_ignored(parsed[1], ROLLOUT.get(algorithm, {}))
    refuse_ignored(parsed[-1], LOADING)
    check_folder("output_dir", parsed[-1].output_dir)
    hide_loading_bars()
    return parsed


def run_training(
    trainer: Any,
    *,
    command: str,
    resume: bool,
    configs: Sequence[Any] = (),
    environments: Environments | None = None,
) -> None:
    """Run a training command: `train_and_save`, whose ends become exit statuses.

    Args:
        trainer: one of our trainers.
        command: the command's name, for `run.json`.
        resume: continue from the last checkpoint, if there is one.
        configs: dataclasses that `run.json` keeps besides those the trainer has.
        environments: closed at the end, however training ends.

    Raises:
        UsageError: the folder's run that is to be resumed is another command's, or another process
            is writing to the folder.
        SystemExit: with status 130, where a signal ended training, and 75, where machinery stayed
            broken or the disk took no more.
    """
    try:
        with exit_statuses(trainer.args, command), explain_refusals(ImportError):
            train_and_save(trainer, resume=resume, command=command, configs=configs)
        # Its threads would end some processes by SIGABRT when the interpreter does.
        trainer.accelerator.state.destroy_process_group()
    finally:
        if environments is not None:
            environments.close()


def use_revision_for_reference(args: Any, revision: str | None) -> None:
    """Let TRL load the KL's reference, which it names by the model alone, at its revision.

    TRL warns that the policy itself ignores the revision, so the default is left out.
    """
    if args.beta and revision not in (None, "main"):
        args.model_init_kwargs = {**(args.model_init_kwargs or {}), "revision": revision}


def train_online(
    argv: list[str] | None,
    *,
    algorithm: str,
    trainer: type[Any],
    description: str,
) -> int:
    """Run a training command.

    Args:
        argv: the options; None takes the process's own.
        algorithm: the command's name.
        trainer: an `OnlineTrainer`, made from the policy, the environments and the options.
        description: what the command does.

    Returns:
        The exit status.
    """
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
    run_training(
        made,
        command=f"train {algorithm}",
        resume=run.resume,
        configs=[model_args],
        environments=made.task_environments,
    )
    return 0


@contextmanager
def refusing() -> Iterator[None]:
    """Turn what a trainer refuses when it is made into a usage error.

    Raises:
        UsageError: the options do not fit each other, or the hub has not what they name.
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
    """Turn what ends a run early into a message with the command that goes on, and a status.

    Args:
        args: the run's training config.
        command: the command's name.

    Raises:
        SystemExit: with status 130, where a signal ended training, and 75, where machinery stayed
            broken or the disk took no more.
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
    checkpoint = _newest_checkpoint(folder)
    saved = "there is no checkpoint yet"
    if checkpoint is not None:
        saved = f"{checkpoint} is what it goes on from"
    what = "the machinery stayed broken"
    if isinstance(failure, OSError):
        what = "the disk took no more"
    to_resume = command_to_resume(command)
    cause = masked(as_options(str(failure)))
    return f"agentgym: {what}: {cause}\n{saved}. When that is mended:\n  {to_resume}"


def _newest_checkpoint(folder: Path) -> Path | None:
    """Return the last whole checkpoint of a run; of one in rounds, that of its newest round."""
    rounds = sorted(folder.glob("round_*"), key=lambda path: path.stat().st_mtime, reverse=True)
    saved = (last_checkpoint(place, check=False) for place in (folder, *rounds[:1]))
    return next(filter(None, saved), None)


def command_to_resume(command: str) -> str:
    """Return what goes on with the run of this process."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        return "the same command, launcher and all, with --resume"
    program, *words = sys.argv
    if words[: len(command.split())] == command.split():
        words = words[len(command.split()) :]
    words = [word for word in words if word != "--resume"]
    is_installed = command.split()[-1] in installed_trainers()
    start = ["agentgym", *command.split()] if is_installed else ["python", program]
    shown = masked_words(words)
    again = "" if shown == words else f"\n(with your secret in place of each {MASK})"
    return shlex.join([*start, *shown, "--resume"]) + again
