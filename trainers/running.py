"""What every training command does around its trainer: read options, run, resume, save.

Knows `transformers.Trainer`'s public methods; no algorithm.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from trainers.arguments import EnvArguments, EvaluationArguments, RolloutArguments, RunArguments
from trainers.configs import TINY, AgentDefaults, ModelArguments
from trainers.extras import MISSING_TRAIN_EXTRA
from trainers.loading import save_policy
from trainers.parsing import CommandParser
from trainers.progress import hide_loading_bars
from trainers.records import write_run

try:
    from transformers.trainer_utils import get_last_checkpoint
except ImportError as error:
    raise ImportError(MISSING_TRAIN_EXTRA) from error

logger = logging.getLogger(__name__)


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
        config_name=_trl_config(config).__name__,
    )
    if parser.peek(argv, "model_name_or_path") == TINY:
        parser.set_defaults(**config.tiny_defaults)
    parsed = parser.parse(argv)
    hide_loading_bars()
    return parsed


def _trl_config(config: type) -> type:
    """Return the TRL config that ours extends."""
    return next(base for base in config.__mro__ if base.__module__.startswith("trl."))


def run_training(trainer: Any, *, command: str, resume: bool, configs: list[Any]) -> None:
    """Train, and leave the final model in the output folder.

    Args:
        trainer: a `transformers.Trainer`.
        command: the command's name, for `run.json`.
        resume: continue from the last checkpoint, if there is one.
        configs: dataclasses that `run.json` keeps.
    """
    folder = Path(trainer.args.output_dir)
    checkpoint = None
    if resume:
        checkpoint = get_last_checkpoint(str(folder)) if folder.is_dir() else None
        logger.info("resuming from %s", checkpoint or "the beginning: there is no checkpoint")
    if trainer.is_world_process_zero():
        write_run(folder, command=command, seed=trainer.args.seed, configs=configs)
    trainer.train(resume_from_checkpoint=checkpoint)
    if trainer.is_world_process_zero():
        model = trainer.accelerator.unwrap_model(trainer.model)
        save_policy(model, trainer.processing_class, folder)
