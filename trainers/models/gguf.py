"""Turns a GGUF file, llama.cpp's format of a model in one file, into a Hugging Face folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from agentgym_envs.errors import needs_extra
from trainers.options.errors import UsageError

with needs_extra("train", "a GGUF file"):
    from gguf import GGMLQuantizationType, GGUFReader

_LOSSLESS = {GGMLQuantizationType.F32, GGMLQuantizationType.F16}
_TOKENS = ("bos", "eos", "pad")
_SAME = 0.9
"""The cosine of embedding and head from which they are two quantizations of one matrix."""


def save_as_folder(file: str | Path, folder: str | Path, *, pad_token: str | None = None) -> None:
    """Write the model and the tokenizer of a GGUF file as a Hugging Face folder.

    Weights that are quantized in the file become bfloat16, and others float32. Chat template, end
    and padding tokens are the file's, unless `pad_token` is given. Raises `UsageError` if
    transformers reads no such architecture, or weights are missing.
    """
    file = Path(file).resolve()
    with _explain(file):
        reader = GGUFReader(file)
        tokenizer = _tokenizer(file, reader, pad_token)
        model = _model(file, reader)
    ids = {f"{name}_token_id": getattr(tokenizer, f"{name}_token_id") for name in _TOKENS}
    model.config.update(ids)
    model.generation_config = GenerationConfig(**ids)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def _tokenizer(file: Path, reader: GGUFReader, pad_token: str | None) -> Any:
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    if _entry(reader, "tokenizer.ggml.pre") == "smollm":  # which transformers splits as GPT-2's
        tokenizer.backend_tokenizer.pre_tokenizer = Sequence(
            [Digits(individual_digits=True), ByteLevel(add_prefix_space=False)]
        )
    architecture = _entry(reader, "general.architecture")
    tokenizer.model_max_length = _entry(reader, f"{architecture}.context_length")
    tokenizer.pad_token = pad_token or tokenizer.pad_token or tokenizer.eos_token
    return tokenizer


def _model(file: Path, reader: GGUFReader) -> Any:
    kinds = {tensor.tensor_type for tensor in reader.tensors if len(tensor.shape) > 1}
    options: dict[str, Any] = {}
    if hasattr(transformers, "GgufConfig"):  # from 5.20 on, weights may stay in the file's blocks
        options["quantization_config"] = transformers.GgufConfig(dequantize=True)
    model, report = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        dtype=torch.float32 if kinds <= _LOSSLESS else torch.bfloat16,
        output_loading_info=True,
        **options,
    )
    if report["missing_keys"]:
        raise ValueError(f"it lacks the weights {', '.join(sorted(report['missing_keys'])[:3])}")
    _tie(model)
    for name in ("_model_name_or_path", "unk_token_id"):  # of the file, and of no model's config
        vars(model.config).pop(name, None)
    for name, value in vars(model.config).items():
        if isinstance(value, float):  # float32's neighbour of a number that was meant: 1e-05
            setattr(model.config, name, float(str(np.float32(value))))
    return model


def _tie(model: Any) -> None:
    """Share one matrix between embedding and head if the file holds it in two quantizations.

    The format cannot say that they share it. The head's is kept, the finer one in llama.cpp's own
    mixtures.
    """
    embedding, head = model.get_input_embeddings().weight, model.get_output_embeddings().weight
    if model.config.tie_word_embeddings or embedding.shape != head.shape:
        return
    one, other = (weight.detach().float().flatten() for weight in (embedding, head))
    if torch.cosine_similarity(one, other, dim=0) > _SAME:
        model.get_input_embeddings().weight = model.get_output_embeddings().weight
        model.config.tie_word_embeddings = True
        model.tie_weights()


def _entry(reader: GGUFReader, key: str) -> Any:
    entry = reader.get_field(key)
    return None if entry is None else entry.contents()


@contextmanager
def _explain(file: Path) -> Iterator[None]:
    """Turn errors of the GGUF readers into a usage error."""
    try:
        yield
    except (IndexError, KeyError, NotImplementedError, OSError, ValueError) as error:
        cause = f"it has no {error}" if isinstance(error, KeyError) else str(error)
        raise UsageError(
            f"the GGUF file {file} holds no model that can be loaded: {cause}; if it is cut off, "
            "fetch it again, and take the model's Hugging Face folder where transformers reads its "
            "architecture from there alone"
        ) from error
