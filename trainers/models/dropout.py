"""Turns dropout off in every form that transformers' models have it in."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from peft import PeftModel
from torch import nn
from torch.nn.modules.dropout import _DropoutNd
from transformers import PreTrainedModel


def disable_dropout(*models: nn.Module | None) -> None:
    """Turn off the dropout of models in place, so that they are trained as they sample.

    TRL's `disable_dropout_in_model` does so for `torch.nn.Dropout`. Many models have a number
    instead, which their attention passes on (Granite, OPT, Llama) or reads from its configuration
    (Falcon, GPT-J). The configuration that is saved with a model stays as it is.
    """
    lowered: dict[int, Any] = {}
    for module in (part for model in models if model is not None for part in model.modules()):
        if isinstance(module, _DropoutNd):
            module.p = 0.0
        for name in _rates(module):
            setattr(module, name, 0.0)
        config = vars(module).get("config")
        is_saved = isinstance(module, PreTrainedModel | PeftModel)
        if config is None or is_saved or not any(_rates(config)):
            continue
        if id(config) not in lowered:
            lowered[id(config)] = copy.copy(config)
            for name in _rates(config):
                setattr(lowered[id(config)], name, 0.0)
        module.config = lowered[id(config)]


def _rates(owner: Any) -> Iterator[str]:
    """Yield the names of an object's dropout probabilities that are not 0."""
    for name, value in list(vars(owner).items()):
        if "drop" in name and isinstance(value, float) and value > 0.0:
            yield name
