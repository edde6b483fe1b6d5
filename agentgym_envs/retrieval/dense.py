"""Searches an encoder's vectors by FAISS."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentgym_envs.retrieval.dense_index import (
    default_index_dir,
    read_index,
    use_one_thread,
)
from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.retrieval.encoder import Encoder
from agentgym_envs.retrieval.protocol import Hit, check_k, clean_query

_DECIMALS = 5


class DenseRetriever:
    """Ranks passages by the inner product of unit vectors: the cosine of query and passage.

    Args:
        corpus: the passages that the index was built from.
        encoder: a local folder or a Hugging Face id; None takes what the index names.
        index_dir: the index; None looks where `build_index` puts it for this encoder and corpus.
        device: where queries are encoded; None takes a CUDA device where there is one.

    Raises:
        ValueError: there is no index, it was built from another corpus or with another encoder,
            or the encoder cannot be loaded.
    """

    def __init__(
        self,
        corpus: Corpus,
        *,
        encoder: str | None = None,
        index_dir: str | Path | None = None,
        device: str | None = None,
    ) -> None:
        if index_dir is None:
            if encoder is None:
                raise ValueError("a dense retriever needs encoder=, index_dir=, or both")
            index_dir = default_index_dir(encoder, corpus)
        folder = Path(index_dir)
        self._index, settings = read_index(folder, corpus, encoder)
        self.name = f"dense:{settings.name}"
        self._passages = corpus.passages
        self._encoder = Encoder(settings, device=device)
        self._pid = os.getpid()
        if self._encoder.width != self._index.d:
            raise ValueError(
                f"the index in {folder} holds vectors of width {self._index.d}, and the encoder "
                f"{settings.name!r} makes {self._encoder.width}; build the index again"
            )

    def search(self, query: str, k: int) -> list[Hit]:
        """Return the `k` nearest passages, best first."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Search for several queries in one pass."""
        check_k(k)
        if not queries:
            return []
        if os.getpid() != self._pid:
            use_one_thread()
            self._pid = os.getpid()
        vectors = self._encoder.queries([clean_query(query) for query in queries])
        scores, positions = self._index.search(vectors, k)
        return [
            self._hits(row_scores, row_positions)
            for row_scores, row_positions in zip(scores, positions, strict=True)
        ]

    def _hits(self, scores: Iterable[float], positions: Iterable[int]) -> list[Hit]:
        nearest = [
            (round(-float(score), _DECIMALS), int(position))
            for score, position in zip(scores, positions, strict=True)
            if position >= 0  # FAISS fills up with -1 where there are fewer
        ]
        return [Hit(self._passages[position], -score) for score, position in sorted(nearest)]
