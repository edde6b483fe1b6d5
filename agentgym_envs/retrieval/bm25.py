"""Searches by BM25 in process, with `bm25s`, over an index that is made once."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from agentgym_envs.errors import needs_extra
from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.retrieval.protocol import Hit, check_k, clean_query
from agentgym_envs.retrieval.without_jax import without_jax
from agentgym_envs.retrieval.words import WORDS_VERSION, words

with needs_extra("search", "BM25"), without_jax():
    import bm25s

from agentgym_envs.retrieval.cache import read_cached, write_cached
from agentgym_envs.retrieval.documents import Passage

# bm25s asks for debug messages of its own, whatever the program's logging says.
logging.getLogger("bm25s").setLevel(logging.WARNING)

K1 = 0.9
B = 0.4
TITLE_WEIGHT = 2
"""Weight of a title's words. Most queries name the document they want."""

_DECIMALS = 4


_WHAT = "the BM25 index"


def fingerprint(passages: Sequence[Passage], *settings: object) -> str:
    """Name an index by its content: every passage, and the settings."""
    digest = sha256(repr((bm25s.__version__, *settings)).encode())
    for passage in passages:
        digest.update(f"{passage.title}\0{passage.text}\0".encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:24]


def load_index(folder: Path) -> bm25s.BM25 | None:
    """Return the index saved in a folder, or None where there is none, or none that can be read."""
    return read_cached(
        folder, lambda path: bm25s.BM25.load(path, mmap=True, show_progress=False), what=_WHAT
    )


def save_index(index: bm25s.BM25, folder: Path) -> None:
    """Save an index, if its folder can be written."""
    write_cached(folder, lambda path: index.save(str(path), show_progress=False), what=_WHAT)


class BM25Retriever:
    """Ranks passages by Lucene's BM25 over the title, counted twice, and the text.

    The same query gives the same hits on every machine: scores are rounded before they are
    compared, and equal ones go by passage id. Passages that share no word with the query are no
    hits. A query is read up to `MAX_QUERY_CHARACTERS`.

    Args:
        corpus: the passages; they are all read now.
        cache_dir: where indices are kept between processes; None keeps none.

    Raises:
        ValueError: the corpus holds no words.
    """

    name = "bm25"

    def __init__(self, corpus: Corpus, *, cache_dir: str | Path | None = None) -> None:
        self._passages = corpus.passages
        if cache_dir is None:
            self._index = _build(corpus)
        else:
            name = fingerprint(corpus.passages, WORDS_VERSION, K1, B, TITLE_WEIGHT)
            folder = Path(cache_dir) / f"bm25-{name}"
            index = load_index(folder)
            if index is None:
                index = _build(corpus)
                save_index(index, folder)
            self._index = index
        self._vocabulary: Mapping[str, int] = self._index.vocab_dict

    def search(self, query: str, k: int) -> list[Hit]:
        """Return at most `k` hits, best first."""
        check_k(k)
        numbers = (self._vocabulary.get(word) for word in words(clean_query(query)))
        token_ids = [number for number in numbers if number is not None]
        if not token_ids:
            return []
        scores = np.round(self._index.get_scores_from_ids(token_ids), _DECIMALS)
        candidates = np.flatnonzero(scores > 0)
        if len(candidates) > k:
            least = np.partition(scores[candidates], len(candidates) - k)[len(candidates) - k]
            candidates = candidates[scores[candidates] >= least]
        # Stable, and candidates ascend: equal scores stay in the order of the passages.
        order = np.argsort(-scores[candidates], kind="stable")[:k]
        return [
            Hit(self._passages[int(position)], float(scores[position]))
            for position in candidates[order]
        ]

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Search for each query."""
        return [self.search(query, k) for query in queries]


def _build(corpus: Corpus) -> bm25s.BM25:
    number_of: dict[str, int] = {}
    token_ids = [
        [
            number_of.setdefault(word, len(number_of))
            for word in (*words(passage.title) * TITLE_WEIGHT, *words(passage.text))
        ]
        for passage in corpus.passages
    ]
    if not number_of:
        raise ValueError(f"the corpus {corpus.source!r} holds no words to index")
    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    index.index((token_ids, number_of), show_progress=False)
    return index
