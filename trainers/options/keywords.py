"""What a trainer is given in Python: our dataclasses, TRL's arguments, and none that do nothing."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from agentgym_envs.errors import did_you_mean
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.errors import check_kind
from trainers.options.refused import refuse_ignored

REPLACED = {
    *("data_collator", "environment_factory", "formatting_func", "rollout_func", "tools"),
    "train_dataset",
}
"""Arguments of TRL's trainers in whose place ours have environments, episodes or pairs."""


def check_given(
    trainer: Any,
    *,
    args: Any,
    rollout: Any,
    evaluation: Any,
    further: Mapping[str, Any],
) -> None:
    """Check a trainer's arguments, but for its policy and its data, before anything is loaded.

    Args:
        trainer: ours, with the classes `config` and `takes` of its `args`, and with `replaced`, a
            sentence on what it has in place of `REPLACED`.
        args: the training config.
        rollout: `RolloutArguments`.
        evaluation: `EvaluationArguments`.
        further: the arguments that it hands on to TRL's trainer.

    Raises:
        TypeError: a dataclass is something else; an argument is TRL's and would do nothing here,
            an option of a dataclass, or unknown.
        UsageError: an option of `args` would be ignored.
    """
    name, config = type(trainer).__name__, trainer.config
    check_kind("args", args, trainer.takes, remedy=f"make a trainers.{config.__name__}(...)")
    homes: dict[str, type] = {"rollout": RolloutArguments, "evaluation": EvaluationArguments}
    for (place, kind), given in zip(homes.items(), (rollout, evaluation), strict=True):
        check_kind(place, given, kind, remedy=f"make a trainers.{kind.__name__}(...)")
    homes |= {"env": EnvArguments, "args": type(args)}
    theirs = next(kind for kind in type(trainer).__mro__ if kind.__module__.startswith("trl."))
    known = set(inspect.signature(theirs).parameters)
    for argument in further:
        if argument in REPLACED & known:
            raise TypeError(f"{name} takes no {argument}: {trainer.replaced}")
        if argument in known:
            continue
        for place, kind in homes.items():
            if argument in {entry.name for entry in fields(kind)}:
                raise TypeError(
                    f"{name} takes no {argument}, which is an option of {kind.__name__}: "
                    f"{place}={kind.__name__}({argument}=...)"
                )
        hint = did_you_mean(argument, known, otherwise=f"trl.{theirs.__name__} has none either")
        raise TypeError(f"{name} takes no {argument}{hint}")
    refuse_ignored(args, config.refused)
