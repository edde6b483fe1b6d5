"""How long a model's episodes may be."""

import pytest
from transformers import Gemma3Config, LlamaConfig, Phi3Config, PreTrainedConfig

from trainers.models.loading import context_length

FACTORS = [1.0] * 48
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10_000.0,
    "short_factor": FACTORS,
    "long_factor": FACTORS,
    "original_max_position_embeddings": 4_096,
}


@pytest.mark.parametrize(
    ("config", "limit", "length"),
    [
        (LlamaConfig(max_position_embeddings=512), None, 512),
        (LlamaConfig(max_position_embeddings=512), 100, 100),
        (LlamaConfig(max_position_embeddings=512), 1_000, 512),
        (Gemma3Config(text_config={"max_position_embeddings": 512}), None, 512),
        (Phi3Config(max_position_embeddings=131_072, rope_parameters=LONGROPE), None, 4_096),
        (Phi3Config(max_position_embeddings=131_072, rope_parameters=LONGROPE), 100, 100),
        (PreTrainedConfig(), 100, 100),
        (PreTrainedConfig(), None, None),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, PreTrainedConfig) else str(value),
)
def test_an_episode_is_as_long_as_limit_and_context_allow(config, limit, length):
    assert context_length(config, limit) == length
