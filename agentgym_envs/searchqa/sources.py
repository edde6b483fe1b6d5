"""Where questions and passages come from; the environments of a process share what is loaded."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agentgym_envs.searchqa.documents import Corpus
from agentgym_envs.searchqa.questions import QuestionSet
from agentgym_envs.searchqa.tasks import SearchQATasks

_loading = threading.Lock()


@dataclass(frozen=True)
class Source:
    """Questions, and the passages to search.

    Attributes:
        tasks: the questions as tasks.
        corpus: the passages; None where only a remote retriever has them.
        name: both, with their versions.
        is_embedded: it is the package's own world.
    """

    tasks: SearchQATasks
    corpus: Corpus | None
    name: str
    is_embedded: bool


def open_source(
    data_dir: str | Path | QuestionSet | None, corpus: str | Path | Corpus | None
) -> Source:
    """Return the embedded world, or other questions; files are loaded once per process.

    Args:
        data_dir: the questions' folder or hub name, or the questions; None takes the embedded
            world.
        corpus: a corpus or its file; needed beside `data_dir` unless the retriever is remote.

    Raises:
        ValueError: `corpus` comes without `data_dir`, or a file does not hold what it should.
    """
    with _loading:
        if data_dir is None and corpus is None:
            return _embedded()
        if data_dir is None:
            raise ValueError(
                "corpus= goes with data_dir=: the embedded questions ask about the embedded "
                "corpus; name the questions' folder, or leave corpus out"
            )
        tasks = (
            SearchQATasks(data_dir) if isinstance(data_dir, QuestionSet) else _tasks(str(data_dir))
        )
        passages = corpus if corpus is None or isinstance(corpus, Corpus) else _corpus(str(corpus))
    name = tasks.questions.source
    if passages is not None and passages.source != name:
        name = f"{name} over {passages.source}"
    return Source(tasks, passages, name, is_embedded=False)


@cache
def _embedded() -> Source:
    from agentgym_envs.searchqa.embedded import embedded_world

    corpus, questions = embedded_world()
    return Source(SearchQATasks(questions), corpus, questions.source, is_embedded=True)


@cache
def _tasks(data_dir: str) -> SearchQATasks:
    from agentgym_envs.searchqa.datasets import load_questions

    return SearchQATasks(load_questions(data_dir))


@cache
def _corpus(path: str) -> Corpus:
    from agentgym_envs.searchqa.datasets import load_corpus

    return load_corpus(path)
