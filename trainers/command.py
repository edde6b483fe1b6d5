"""What every training command does around its trainer: read options, run, resume, save."""

from __future__ import annotations

import os
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from agentgym_envs.errors import EnvFailure
from agentgym_envs.files import is_storage_failure
from agentgym_envs.secrets import MASK, masked, masked_words
from trainers import installed_trainers
from trainers.models.loading import save_policy
from trainers.options.arguments import (
    EnvArguments,
    EvaluationArguments,
    RolloutArguments,
    RunArguments,
)
from trainers.options.configs import TINY, AgentDefaults, ModelArguments
from trainers.options.errors import BROKEN_OFF
from trainers.options.parser import CommandParser
from trainers.options.refused import COMMAND_LINE, refuse_ignored
from trainers.rollout.environments import Environments
from trainers.runs.checkpoints import CHECKPOINT, check_optimizer, last_checkpoint
from trainers.runs.disk import write_patiently
from trainers.runs.folder import read_run, set_aside
from trainers.runs.lock import holding
from trainers.runs.progress import hide_loading_bars
from trainers.runs.provenance import run_record, write_run
from trainers.runs.stopping import Interrupted, SaveOnSignal
from trainers.runs.trackers import tell_trackers

INTERRUPTED = 130
"""The exit status where Ctrl-C ended a run, as shells have it."""

IGNORED_IN_DIFF = {
    *("argv", "command_line", "started", "pid", "seed", "resumed", "device", "ended"),
    *("output_dir", "logging_dir", "run_name", "resume_from_checkpoint", "local_rank"),
}
"""Entries of `run.json` that may differ between the parts of one run; its config has the seed."""


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
    parser = CommandParser(
        (
            EnvArguments,
            RolloutArguments,
            EvaluationArguments,
            RunArguments,
            *further,
            ModelArguments,
            config,
        ),
        command=f"agentgym train {algorithm}",
        description=description,
        first=("env", "model_name_or_path", "output_dir", "max_steps", "learning_rate"),
        config_name=_trl_config(config).__name__,
    )
    if parser.peek(argv, "model_name_or_path") == TINY:
        parser.set_defaults(**config.tiny_defaults)
    parsed = parser.parse(argv)
    refuse_ignored(parsed[-1], COMMAND_LINE)
    hide_loading_bars()
    return parsed


def _trl_config(config: type) -> type:
    """Return the TRL config that ours extends."""
    return next(base for base in config.__mro__ if base.__module__.startswith("trl."))


def run_training(
    trainer: Any,
    *,
    command: str,
    resume: bool,
    configs: list[Any],
    environments: Environments | None = None,
) -> None:
    """Train, and leave the final model in the output folder.

    SIGINT and SIGTERM end training with a checkpoint after the present step.

    Args:
        trainer: a `transformers.Trainer`.
        command: the command's name, for `run.json`.
        resume: continue from the last checkpoint, if there is one.
        configs: dataclasses that `run.json` keeps.
        environments: closed at the end, however training ends.

    Raises:
        ValueError: the folder's run that is to be resumed is another command's, or another process
            is writing to the folder.
        SystemExit: with status 130, where a signal ended training, and 75, where machinery stayed
            broken or the disk took no more.
    """
    is_first = trainer.is_world_process_zero()
    try:
        with holding(trainer.args.output_dir, command) if is_first else nullcontext():
            _train(trainer, command=command, resume=resume, configs=configs)
    finally:
        if environments is not None:
            environments.close()


def _train(trainer: Any, *, command: str, resume: bool, configs: list[Any]) -> None:
    folder = Path(trainer.args.output_dir)
    checkpoint = last_checkpoint(folder) if resume else None
    trainer.accelerator.wait_for_everyone()  # all have looked before the first one writes
    if trainer.is_world_process_zero():
        further = {}
        if checkpoint is not None:
            check_optimizer(checkpoint)
            further = _resumed(folder, checkpoint, command=command, configs=configs)
            print(f"resuming from {checkpoint}", flush=True)
        else:
            if resume:
                print(f"{folder} has no checkpoint: training starts at the beginning", flush=True)
            set_aside(folder, start=_start_of(configs))
        write_run(folder, command=command, seed=trainer.args.seed, configs=configs, further=further)
    trainer.accelerator.wait_for_everyone()
    tell_trackers(trainer.args, configs)
    try:
        with SaveOnSignal() as on_signal:
            trainer.add_callback(on_signal)
            trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
    except Interrupted as stop:
        trainer.callback_handler.on_train_end(trainer.args, trainer.state, trainer.control)
        if trainer.is_world_process_zero():
            print(
                f"stopped after step {stop.global_step}; {folder}/{CHECKPOINT}{stop.global_step} "
                f"is saved. To go on:\n  {command_to_resume(command)}",
                flush=True,
            )
        raise SystemExit(INTERRUPTED) from None
    except (EnvFailure, OSError) as failure:
        if not (isinstance(failure, EnvFailure) or is_storage_failure(failure)):
            raise
        if trainer.is_world_process_zero():
            print(broken_off(folder, failure, command), file=sys.stderr, flush=True)
        raise SystemExit(BROKEN_OFF) from failure
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        trainer.save_model(str(folder))  # gathers split weights: all processes take part
    elif trainer.is_world_process_zero():
        model = trainer.accelerator.unwrap_model(trainer.model)

        def save() -> None:
            save_policy(model, trainer.processing_class, folder)
            trainer.create_model_card()

        write_patiently(str(folder), save, limit=trainer.max_outage)


def broken_off(folder: Path, failure: Exception, command: str) -> str:
    """Return what is told where broken machinery has ended a run."""
    checkpoint = last_checkpoint(folder, check=False)
    saved = "there is no checkpoint yet"
    if checkpoint is not None:
        saved = f"{checkpoint} is what it goes on from"
    what = "the machinery stayed broken"
    if isinstance(failure, OSError):
        what = "the disk took no more"
    to_resume = command_to_resume(command)
    return f"agentgym: {what}: {masked(str(failure))}\n{saved}. When that is mended:\n  {to_resume}"


def changed_options(before: dict[str, Any], now: dict[str, Any]) -> dict[str, list[Any]]:
    """Return what differs between two `run.json`, as option -> [before, now]."""
    changed: dict[str, list[Any]] = {}
    for group in sorted(set(before) | set(now)):
        one, other = before.get(group), now.get(group)
        if group in IGNORED_IN_DIFF or one == other:
            continue
        if not (isinstance(one, dict) and isinstance(other, dict)):
            changed[group] = [one, other]
            continue
        for name in sorted((set(one) | set(other)) - IGNORED_IN_DIFF):
            if one.get(name) != other.get(name):
                changed[f"{group}.{name}"] = [one.get(name), other.get(name)]
    return changed


def _resumed(folder: Path, checkpoint: Path, *, command: str, configs: list[Any]) -> dict[str, Any]:
    """Print what differs from the run that is resumed; return what `run.json` records of it."""
    before = read_run(folder)
    if before.get("command", command) != command:
        raise ValueError(
            f"{folder} holds a run of {before['command']!r}, which {command!r} cannot resume; "
            "choose another --output_dir, or leave --resume out to set that run aside"
        )
    now = run_record(command=command, seed=0, configs=configs)
    changed = changed_options(before, now) if before else {}
    if changed:
        lines = [f"  {name}: {old} -> {new}" for name, (old, new) in changed.items()]
        print("not as in the run that is resumed:\n" + "\n".join(lines), flush=True)
    step = int(checkpoint.name.rpartition("-")[2])
    resumed = {"at_step": step, "started": now["started"], "changed": changed}
    return {"resumed": [*before.get("resumed", []), resumed]}


def _start_of(configs: list[Any]) -> str | None:
    """Return the model that training starts from."""
    names = [getattr(config, "model_name_or_path", None) for config in configs]
    return next((str(name) for name in names if name), None)


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
