"""Models that have a name of their own here, beside folders and Hugging Face ids."""

from __future__ import annotations

TINY = "tiny"
"""The policy of a million parameters that is shipped."""
SMOLLM2 = "smollm2"
"""SmolLM2-135M-Instruct, which is fetched when it is first named."""
MODEL_NAMES = (TINY, SMOLLM2)
