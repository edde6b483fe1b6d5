"""Makes a retriever from its name, one per index and process.

Engines are imported only when they are asked for.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

from agentgym_envs.content.files import cache_folder
from agentgym_envs.machinery.secrets import masked_address
from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.retrieval.protocol import Retriever

ALLOWED = (
    "'bm25', 'dense:<encoder or index folder>', 'http://host:port[/retrieve]', "
    "{'url': 'http://...', 'timeout': 30, 'retries': 3}, or an object with name, search(query, k) "
    "and search_many(queries, k)"
)

CACHED_FROM = 50_000
"""Passages from which a BM25 index is cached. A smaller one is built in a second."""

_REMOTE_KEYS = ("url", "timeout", "retries")

_shared: WeakKeyDictionary[Corpus, dict[str, Retriever]] = WeakKeyDictionary()
_lock = threading.Lock()


def _after_fork() -> None:
    # Another thread of the parent may have held the lock; here nobody would ever release it.
    global _lock
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


def make_retriever(
    spec: str | Mapping[str, Any] | Retriever, corpus: Corpus | None = None
) -> Retriever:
    """Return the retriever that `spec` names.

    Asked twice for the same one over the same corpus object, it returns the same retriever.

    Args:
        spec: `"bm25"`; `"dense:NAME"` with an encoder's folder or Hugging Face id, or the folder
            of an index that `agentgym build-index` has written; the URL of a server that speaks
            Search-R1's protocol, or `{"url": ..., "timeout": ..., "retries": ...}`, as
            `RemoteRetriever` takes them; a retriever is returned as it is.
        corpus: what is searched. A remote server has its own: its hits that stand in `corpus` are
            given as passages of `corpus`, and None will do.

    Raises:
        ValueError: `spec` is none of these, or a local engine is given no corpus.
        ImportError: the engine's packages are not installed; the message says what to install.
    """
    if isinstance(spec, Mapping):
        return _remote(spec, corpus)
    if not isinstance(spec, str):
        return _checked(spec)
    kind, _, rest = spec.partition(":")
    if kind.lower() in ("http", "https"):
        return _remote({"url": spec}, corpus)
    if spec != "bm25" and not (kind == "dense" and rest):
        raise ValueError(f"unknown retriever {masked_address(spec)!r}; allowed: {ALLOWED}")
    if corpus is None:
        raise ValueError(
            f"the retriever {spec!r} searches a corpus, and there is none; name a corpus file, or "
            "the URL of a retrieval server"
        )
    if kind == "dense":
        return _share(spec, corpus, lambda: _dense(rest, corpus))
    return _share(spec, corpus, lambda: _bm25(corpus))


def _checked(retriever: Any) -> Retriever:
    """Return an object that can search, or raise before the first search."""
    lacking = [
        name for name in ("search", "search_many") if not callable(getattr(retriever, name, None))
    ]
    if not isinstance(getattr(retriever, "name", None), str):
        lacking.append("name")
    reason = f"it lacks {', '.join(lacking)}"
    if isinstance(retriever, type):
        reason = "it is a class, make one of it"
    elif not lacking:
        return cast(Retriever, retriever)
    raise ValueError(
        f"retriever={retriever!r:.80} cannot search: {reason}; allowed: {ALLOWED}; leave retriever "
        "out for 'bm25'"
    )


def _remote(settings: Mapping[str, Any], corpus: Corpus | None) -> Retriever:
    from agentgym_envs.retrieval.remote import RemoteRetriever

    unknown = [key for key in settings if key not in _REMOTE_KEYS]
    if unknown:
        raise ValueError(
            f"unknown retriever settings {unknown}; allowed: {', '.join(_REMOTE_KEYS)}"
        )
    if "url" not in settings:
        raise ValueError(
            "a retriever's settings are those of a server, so it needs the key 'url', such as "
            "{'url': 'http://host:port', 'timeout': 30}"
        )
    return RemoteRetriever(**settings, corpus=corpus)


def _share(spec: str, corpus: Corpus, make: Callable[[], Retriever]) -> Retriever:
    with _lock:
        of_corpus = _shared.setdefault(corpus, {})
        if spec not in of_corpus:
            of_corpus[spec] = make()
        return of_corpus[spec]


def _bm25(corpus: Corpus) -> Retriever:
    from agentgym_envs.retrieval.bm25 import BM25Retriever

    return BM25Retriever(
        corpus, cache_dir=cache_folder("searchqa") if len(corpus) >= CACHED_FROM else None
    )


def _dense(name: str, corpus: Corpus) -> Retriever:
    from agentgym_envs.retrieval.dense import DenseRetriever
    from agentgym_envs.retrieval.dense_index import SETTINGS_FILE

    if (Path(name) / SETTINGS_FILE).is_file():
        return DenseRetriever(corpus, index_dir=name)
    return DenseRetriever(corpus, encoder=name)
