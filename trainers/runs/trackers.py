"""Gives experiment trackers all options of a run, not the trainer's alone.

transformers' integrations (`--report_to wandb`, `trackio`, `tensorboard` and the others) send what
`TrainingArguments.to_dict` returns when training begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from trainers.runs.provenance import options_by_group


def add_options_for_trackers(args: Any, configs: Sequence[Any]) -> None:
    """Let `args.to_dict` return the options of further dataclasses too, under their own names.

    Args:
        args: `transformers.TrainingArguments`, of whatever class.
        configs: dataclasses; `args` itself may be among them.
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
