"""Turns texts into vectors with a Hugging Face encoder: the one module that needs torch."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agentgym_envs.errors import needs_extra

with needs_extra("dense", "dense retrieval"):
    import torch
    from transformers import AutoModel, AutoTokenizer

Vectors = npt.NDArray[np.float32]
"""(N, width) float32, each row of length 1."""


@dataclass(frozen=True)
class EncoderSettings:
    """The settings of an encoder.

    An index must be searched as it was built.

    Attributes:
        name: a local folder or a Hugging Face id.
        query_prefix: stands before every query.
        passage_prefix: stands before every passage.
        max_length: tokens of a text that are read.
    """

    name: str
    query_prefix: str = ""
    passage_prefix: str = ""
    max_length: int = 256


class Encoder:
    """Encodes batches of texts: mean over the last layer's tokens, scaled to length 1.

    It may be called from several threads; one encodes at a time.

    Args:
        settings: the model and how to use it.
        device: where it runs; None takes a CUDA device where there is one.

    Raises:
        ValueError: there is no such model, or it cannot be loaded.
    """

    def __init__(self, settings: EncoderSettings, *, device: str | None = None) -> None:
        self.settings = settings
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._tokenizer = AutoTokenizer.from_pretrained(settings.name)
            model = AutoModel.from_pretrained(settings.name, dtype=torch.float32)
        except (OSError, ValueError) as error:
            raise ValueError(
                f"cannot load the encoder {settings.name!r}; expected a folder with a model and "
                f"its tokenizer, or a Hugging Face id that can be downloaded: {error}"
            ) from error
        self._model = model.to(self.device).eval()
        self.width = int(model.config.hidden_size)
        self._lock = threading.Lock()
        self._pid = os.getpid()

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Encode queries."""
        return self._encode([self.settings.query_prefix + text for text in texts])

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Encode passages."""
        return self._encode([self.settings.passage_prefix + text for text in texts])

    def _encode(self, texts: list[str]) -> Vectors:
        if os.getpid() != self._pid:
            self._survive_fork()
        with self._lock, torch.inference_mode():
            batch = self._tokenizer(
                texts,
                padding=True,
                truncation=True,
                max_length=self.settings.max_length,
                return_tensors="pt",
            ).to(self.device)
            if batch["input_ids"].shape[1] == 0:  # no text has a token
                return np.zeros((len(texts), self.width), np.float32)
            hidden = self._model(**batch).last_hidden_state  # (N, T, width)
            mask = batch["attention_mask"].unsqueeze(-1)  # (N, T, 1)
            # Filled, not multiplied: where a whole text is padding, attention may give NaN.
            total = hidden.masked_fill(mask == 0, 0.0).sum(dim=1)  # (N, width)
            mean = total / mask.sum(dim=1).clamp(min=1)
            vectors = torch.nn.functional.normalize(mean, dim=-1)
        return vectors.cpu().numpy().astype(np.float32)

    def _survive_fork(self) -> None:
        # OpenMP's threads are not in a forked child: a parallel region would wait for them for
        # ever. Nor is the thread that may have held the lock.
        torch.set_num_threads(1)
        self._lock = threading.Lock()
        self._pid = os.getpid()
