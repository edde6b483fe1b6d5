"""Makes the adapter of `smollm2-textcraft` from some of TextCraft's expert episodes.

So few that it solves few of the tasks: what is left is for reinforcement learning to find. It plays
as that does, by the preset, and tasks of two commands too.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from safetensors.torch import load_file, save_file

from trainers import collect, sft
from trainers.options.files import option_file, read_options
from trainers.options.models import SMOLLM2

PRESET = "quickstart-llm"
STEPS = 16
EPISODES_A_STEP = 8
EXPERT_EPISODES = 128

_WEIGHTS, _CONFIG = "adapter_model.safetensors", "adapter_config.json"
_BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
_PLAYING = ("env", "env_kwargs", "action_format")
_TASKS = ("--tasks", "depth 1", "depth 2")
_ADAPTER = ("use_peft", "lora_r", "lora_alpha", "lora_target_modules")


def teach_adapter(folder: str) -> None:
    """Imitate the expert, and write the adapter in bfloat16.

    Args:
        folder: where the adapter goes.
    """
    preset = read_options(option_file(PRESET))
    playing, adapter = (
        [word for name in names for word in (f"--{name}", str(preset[name]))]
        for names in (_PLAYING, _ADAPTER)
    )
    with TemporaryDirectory() as scratch:
        episodes, trained = f"{scratch}/expert.jsonl", f"{scratch}/model"
        collecting = ["--policy", "expert", "--num_tasks", str(EXPERT_EPISODES), "--out", episodes]
        collect.main([*playing, *_TASKS, *collecting])
        imitating = [
            *("--model", SMOLLM2, "--data", episodes, "--output_dir", trained),
            *("--max_steps", str(STEPS), "--gradient_accumulation_steps", str(EPISODES_A_STEP)),
            *("--train_sampling_strategy", "random"),
            *("--learning_rate", "4e-4", "--lr_scheduler_type", "constant"),
            *("--eval_strategy", "no", "--save_strategy", "no", "--report_to", "none"),
        ]
        sft.main([*playing, *_TASKS, *adapter, *imitating])
        save_lowered(Path(trained) / "adapter", Path(folder))


def save_lowered(adapter: Path, folder: Path) -> None:
    """Write an adapter in bfloat16, which names its base as the hub does."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: weight.bfloat16() for name, weight in load_file(adapter / _WEIGHTS).items()}
    save_file(weights, folder / _WEIGHTS, metadata={"format": "pt"})
    config = json.loads((adapter / _CONFIG).read_text("utf-8"))
    config["base_model_name_or_path"] = _BASE
    (folder / _WEIGHTS).chmod(0o644)  # safetensors writes for the owner alone
    (folder / _CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", "utf-8")
