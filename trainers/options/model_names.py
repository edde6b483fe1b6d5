"""Models that have a name of their own here, beside folders and Hugging Face ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TINY = "tiny"
"""The policy of a million parameters that is shipped."""
SMOLLM2 = "smollm2"
"""SmolLM2-135M-Instruct, which is fetched when it is first named."""
SMOLLM2_TEXTCRAFT = "smollm2-textcraft"
"""SmolLM2 after some of TextCraft's expert episodes, made of `smollm2` and a shipped adapter."""
MODEL_NAMES = (TINY, SMOLLM2, SMOLLM2_TEXTCRAFT)
START = "start"
"""The folder in a run's with the model that an adapter is trained on, where it was merged."""

_ON_THE_HUB = {"HuggingFaceTB/SmolLM2-135M-Instruct": SMOLLM2}
_SIZES = {(128, 4, 1465): TINY, (576, 30, 49152): SMOLLM2}
"""Width, layers and vocabulary, which training leaves as they are."""


def own_name(model: str) -> str:
    """Return which of these models a name stands for, or the name itself where it is another.

    Args:
        model: a name of these, a Hugging Face id, or a folder, which may hold one of them after
            training.
    """
    sizes = ("hidden_size", "num_hidden_layers", "vocab_size")
    config = read_config(model)
    return _SIZES.get(tuple(config.get(size, 0) for size in sizes), _ON_THE_HUB.get(model, model))


def read_config(model: str) -> dict[str, Any]:
    """Return a model folder's `config.json`; empty where `model` is no such folder."""
    base = base_of_adapter(model)
    file = Path(model if base is None else base) / "config.json"
    return dict(json.loads(file.read_text("utf-8"))) if file.is_file() else {}


def base_of_adapter(model: str) -> str | None:
    """Return the model that a folder's adapter is for; None where it is no adapter alone."""
    file = Path(model) / "adapter_config.json"
    if not file.is_file() or file.with_name("config.json").is_file():
        return None
    base = str(json.loads(file.read_text("utf-8"))["base_model_name_or_path"])
    if Path(base).name != START:
        return base
    # The run's folder may have been moved, and another run may have taken its place.
    own = (folder / START for folder in file.resolve().parents)
    return next((str(start) for start in own if start.is_dir()), base)
