"""`smollm2-textcraft`: SmolLM2 with the adapter that is shipped merged into it."""

from __future__ import annotations

import shutil
from pathlib import Path

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

ADAPTER = Path(__file__).parent / "smollm2_textcraft"
"""Made by `python -m lab.warm_start --adapter`."""
_CARD = "README.md"


def save_with_adapter(base: Path, folder: Path) -> None:
    """Write the model of a Hugging Face folder, with the adapter merged into it, in bfloat16.

    Args:
        base: the model's folder.
        folder: is there already.
    """
    model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    merged = PeftModel.from_pretrained(model, ADAPTER).merge_and_unload()
    weights = shutil.ignore_patterns("*.safetensors")
    shutil.copytree(base, folder, ignore=weights, dirs_exist_ok=True)  # tokenizer and licence
    merged.to(torch.bfloat16).save_pretrained(folder)
    shutil.copyfile(ADAPTER / _CARD, folder / _CARD)
