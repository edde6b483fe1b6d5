"""Commands for dense retrieval: building an index and serving it."""

from __future__ import annotations

from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.searchqa.sources import load_corpus

EMBEDDED = "embedded"
CORPUS_HELP = (
    f"a JSONL file in the form of wiki-18, or '{EMBEDDED}': the world of SearchQA (the default)"
)


def open_corpus(name: str) -> Corpus:
    """Return the embedded corpus, or that of a file, or raise ValueError."""
    if name == EMBEDDED:
        from agentgym_envs.searchqa.world import embedded_world

        return embedded_world()[0]
    return load_corpus(name)
