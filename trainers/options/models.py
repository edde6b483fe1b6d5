"""The options of the model that is trained."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from trainers.options.checks import MODEL, refuse_ignored
from trainers.options.errors import check_bounds
from trainers.options.model_names import MODEL_NAMES, TINY


@dataclass
class ModelDefaults:
    """The policy; a mixin before TRL's `ModelConfig`."""

    _argument_group_name: ClassVar[str] = "model"
    common_options: ClassVar[tuple[str, ...]] = ("model_name_or_path", "dtype", "use_peft")

    model_name_or_path: str | None = field(
        default=TINY,
        metadata={
            "help": "Hugging Face id, local folder, tiny, the small policy that is shipped, "
            "smollm2, SmolLM2-135M-Instruct, which is fetched once (93 MB), or smollm2-textcraft, "
            "which has seen some of TextCraft's expert episodes.",
            "aliases": ["--model"],
        },
    )
    dtype: str | None = field(
        default=None,
        metadata={
            "help": "Precision of the weights; by default bfloat16 for those that --use_peft "
            "freezes while --bf16 is on, and float32 otherwise.",
            "choices": ["auto", "bfloat16", "float16", "float32"],
        },
    )
    use_peft: bool = field(default=False, metadata={"help": "Train a LoRA adapter (peft)."})
    lora_r: int = field(default=16, metadata={"help": "Rank of the LoRA adapter.", "min": 1})
    lora_alpha: int = field(default=32, metadata={"help": "Scale of the LoRA adapter."})
    # 0, so that sampling and training see one distribution.
    lora_dropout: float = field(
        default=0.0, metadata={"help": "Dropout of the LoRA adapter.", "min": 0, "max": 1}
    )
    lora_target_modules: list[str] | None = field(
        default=None, metadata={"help": "Modules that get an adapter, such as q_proj v_proj."}
    )

    def __post_init__(self) -> None:
        check_bounds(self)
        refuse_ignored(self, MODEL)
        name = str(self.model_name_or_path)
        if name in MODEL_NAMES or Path(name).exists():
            revision = getattr(self, "model_revision", None)
            if revision not in (None, "main"):
                raise ValueError(f"model_revision={revision} is of a hub, got the model {name}")
        super().__post_init__()  # type: ignore[misc]
        modules: Any = self.lora_target_modules
        # TRL makes one name a string, which peft takes as a pattern of the module's whole path.
        if isinstance(modules, str) and modules.isidentifier():
            self.lora_target_modules = [modules]
