"""Search engines behind one protocol: BM25, dense vectors, or somebody else's server."""

from agentgym_envs.retrieval.make import make_retriever
from agentgym_envs.retrieval.protocol import Hit, Retriever

__all__ = ["Hit", "Retriever", "make_retriever"]
