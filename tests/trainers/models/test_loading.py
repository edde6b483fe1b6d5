"""How long a model's episodes may be."""

from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model
from transformers import Gemma3Config, LlamaConfig, Phi3Config, PreTrainedConfig

from tests.trainers.toys import make_model, make_tokenizer
from trainers.models.loading import (
    checked_model,
    context_length,
    load_for_playing,
    load_policy,
    with_tokenizer,
)
from trainers.options.configs import ModelArguments
from trainers.options.errors import UsageError
from trainers.options.models import default_dtype, own_name

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


def test_an_adapter_alone_is_merged_where_it_is_trained_further(adapter: Path) -> None:
    named = ModelArguments(model_name_or_path=str(adapter))
    trained, tokenizer = load_policy(named)
    played, _ = load_for_playing(named)
    assert all(weight.requires_grad for weight in trained.parameters())
    assert not any("lora" in name for name, _ in trained.named_parameters())
    ids = torch.tensor([tokenizer.encode("take the oak log")])
    base, _ = load_policy(ModelArguments(model_name_or_path="tiny"))
    with torch.no_grad():
        ours, theirs, before = (model.eval()(ids).logits for model in (trained, played, base))
    assert torch.allclose(ours, theirs, atol=1e-4)
    assert not torch.allclose(ours, before, atol=1e-2)


@pytest.fixture
def untold(tmp_path: Path) -> Path:
    """A model's folder without a chat template, beside an adapter's folder that has one."""
    model, tokenizer = make_model(), make_tokenizer()
    model.save_pretrained(tmp_path / "base")
    adapted = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    adapted.peft_config["default"].base_model_name_or_path = str(tmp_path / "base")
    adapted.save_pretrained(tmp_path / "adapter")
    tokenizer.save_pretrained(tmp_path / "adapter")
    tokenizer.chat_template = None
    tokenizer.save_pretrained(tmp_path / "base")
    return tmp_path / "base"


def test_the_template_of_an_adapters_folder_is_enough(untold: Path) -> None:
    name = str(untold.with_name("adapter"))
    _, tokenizer = load_policy(ModelArguments(model_name_or_path=name))
    assert tokenizer.chat_template == make_tokenizer().chat_template
    assert checked_model(name).is_merged


@pytest.mark.parametrize("folder", ["base", "adapter"])
def test_a_given_tokenizer_takes_the_place_of_the_models_own(untold: Path, folder: str) -> None:
    for file in untold.parent.glob("*/tokenizer*"):
        file.unlink()
    given = make_tokenizer()
    model, tokenizer = with_tokenizer(str(untold.with_name(folder)), given)
    assert tokenizer is given
    assert not any("lora" in name for name, _ in model.named_parameters())
    with pytest.raises(UsageError, match="cannot be played with|cannot open the policy"):
        with_tokenizer(str(untold))


def test_an_adapter_has_its_base_s_defaults(adapter: Path) -> None:
    assert own_name(str(adapter)) == "tiny"
    assert default_dtype(str(adapter)) == "float32"


def test_an_adapter_is_not_merged_into_a_quantized_base(adapter: Path) -> None:
    named = ModelArguments(model_name_or_path=str(adapter), load_in_8bit=True)
    with pytest.raises(UsageError, match="leave load_in_4bit and load_in_8bit out"):
        load_policy(named)
