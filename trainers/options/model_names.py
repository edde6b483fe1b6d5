"""Models that have a name of their own here, beside folders and Hugging Face ids."""

from __future__ import annotations

TINY = "tiny"
"""The policy of a million parameters that is shipped."""
SMOLLM2 = "smollm2"
"""SmolLM2-135M-Instruct, which is fetched when it is first named."""
SMOLLM2_TEXTCRAFT = "smollm2-textcraft"
"""SmolLM2 after some of TextCraft's expert episodes, made of `smollm2` and a shipped adapter."""
MODEL_NAMES = (TINY, SMOLLM2, SMOLLM2_TEXTCRAFT)
