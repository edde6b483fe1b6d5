"""Sampling attends as the model's own attention does."""

from collections.abc import Iterator

import pytest
import torch
from transformers import (
    Gemma2Config,
    Gemma2ForCausalLM,
    GptOssConfig,
    GptOssForCausalLM,
    PreTrainedModel,
)
from transformers.masking_utils import ALL_MASK_ATTENTION_FUNCTIONS, eager_mask
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
from transformers.models.gemma2 import modeling_gemma2
from transformers.models.gpt_oss import modeling_gpt_oss

from tests.trainers.tiny_models import forward_logprobs
from trainers.backends.hf import HFBackend
from trainers.tokens.generation import Sampling

KERNEL = "kernel_of_a_test"
SIZES = {
    "vocab_size": 120,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 256,
    "pad_token_id": 0,
}


def bounded() -> PreTrainedModel:
    """A model whose scores are bounded, as Gemma 2's are."""
    return Gemma2ForCausalLM(Gemma2Config(**SIZES, attn_logit_softcapping=0.5, sliding_window=16))


def with_sinks() -> PreTrainedModel:
    """A model whose layers have sinks, as gpt-oss's have."""
    config = GptOssConfig(**SIZES, num_local_experts=2, num_experts_per_tok=1, sliding_window=16)
    return GptOssForCausalLM(config)


@pytest.fixture
def kernel(request: pytest.FixtureRequest) -> Iterator[None]:
    """Attention that honours what the model asks for, as flash attention does on a GPU."""
    ALL_ATTENTION_FUNCTIONS.register(KERNEL, request.param)
    ALL_MASK_ATTENTION_FUNCTIONS.register(KERNEL, eager_mask)
    yield
    for functions in (ALL_ATTENTION_FUNCTIONS, ALL_MASK_ATTENTION_FUNCTIONS):
        del functions._global_mapping[KERNEL]


@pytest.mark.parametrize(
    ("make", "kernel"),
    [
        (bounded, modeling_gemma2.eager_attention_forward),
        (with_sinks, modeling_gpt_oss.eager_attention_forward),
    ],
    indirect=["kernel"],
)
@pytest.mark.usefixtures("kernel")
def test_what_a_kernel_honours_beside_the_mask_is_sampled_with(make):
    torch.manual_seed(0)
    model = make().eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim > 1 or name.endswith(".sinks"):
                parameter.normal_(0, 0.5)
    model.config._attn_implementation = KERNEL
    prompt = list(range(3, 40))
    turn = HFBackend(model).generate([prompt], Sampling(8), keys=[0])[0]
    own = forward_logprobs(model, prompt + turn.ids)[-len(turn.ids) :]
    assert (own - torch.tensor(turn.logprobs)).abs().max() < 1e-4
    assert model.config._attn_implementation == KERNEL
