"""Makes the adapter of `smollm2-babyai`: SmolLM2 imitates some of BabyAI's expert episodes.

So few that it solves about two in five tasks: what is left is for reinforcement learning to find.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from safetensors.torch import load_file, save_file

from trainers import collect, sft
from trainers.options.model_names import SMOLLM2

STEPS = 20
EPISODES_A_STEP = 8
EXPERT_EPISODES = 240

_WEIGHTS, _CONFIG = "adapter_model.safetensors", "adapter_config.json"
_BASE = "HuggingFaceTB/SmolLM2-135M-Instruct"
_PLAYING = (
    *("--env", "BabyAI", "--tasks", "GoTo", "--env_kwargs", '{"list_actions": false}'),
    *("--action_format", "plain", "--max_turns", "8", "--max_tokens_per_turn", "12"),
)
_TRAINING = (
    *("--use_peft", "--lora_r", "8", "--lora_alpha", "16", "--lora_target_modules", "all-linear"),
    *("--per_device_train_batch_size", "1", "--learning_rate", "5e-4"),
    *("--lr_scheduler_type", "constant", "--eval_strategy", "no", "--save_strategy", "no"),
)


def teach_adapter(folder: str) -> None:
    """Imitate the expert, and write the adapter in bfloat16.

    Args:
        folder: where the adapter goes.
    """
    with TemporaryDirectory() as scratch:
        episodes, trained = f"{scratch}/expert.jsonl", Path(scratch) / "model"
        collecting = ("--policy", "expert", "--num_tasks", str(EXPERT_EPISODES), "--out", episodes)
        collect.main([*_PLAYING, *collecting])
        imitating = (
            *("--model", SMOLLM2, "--data", episodes, "--output_dir", str(trained)),
            *("--max_steps", str(STEPS), "--gradient_accumulation_steps", str(EPISODES_A_STEP)),
        )
        sft.main([*_PLAYING, *_TRAINING, *imitating])
        save_lowered(trained / "adapter", Path(folder))


def save_lowered(adapter: Path, folder: Path) -> None:
    """Write an adapter in bfloat16, which names its base as the hub does."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = {name: weight.bfloat16() for name, weight in load_file(adapter / _WEIGHTS).items()}
    save_file(weights, folder / _WEIGHTS, metadata={"format": "pt"})
    config = json.loads((adapter / _CONFIG).read_text("utf-8"))
    config["base_model_name_or_path"] = _BASE
    (folder / _CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", "utf-8")
