"""Defines the interface of search engines: passages and scores for a query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from agentgym_envs.retrieval.documents import Passage

MAX_K = 1000
"""Most hits of one query."""

MAX_QUERY_CHARACTERS = 2000
"""Characters of a query that are read."""


class Hit(NamedTuple):
    """A passage that was found, and how well it fits: higher is better, comparable in one list."""

    passage: Passage
    score: float


class Retriever(Protocol):
    """Finds passages. Implementations may be called from several threads at once."""

    name: str
    """The engine and its corpus, e.g. `"bm25"`."""

    def search(self, query: str, k: int) -> list[Hit]:
        """Return at most `k` hits, best first and equal scores by passage id.

        There are fewer, or none, where fewer passages share anything with the query.

        Raises:
            ValueError: `k` is not in 1 to `MAX_K`.
            EnvFailure: the engine's machinery broke.
        """

    def search_many(self, queries: Sequence[str], k: int) -> list[list[Hit]]:
        """Search for several queries at once, and return a list of hits per query, in order."""


def check_k(k: int) -> None:
    """Raise ValueError unless `k` is a number of hits that may be asked for."""
    if not 1 <= k <= MAX_K:
        raise ValueError(f"k must be in 1 to {MAX_K}, got {k}")


def clean_query(query: str) -> str:
    """Clip a query, and replace half characters, which neither tokenizers nor servers take."""
    return query[:MAX_QUERY_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
