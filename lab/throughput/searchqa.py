"""Searches, steps and resets per second of SearchQA on the embedded world.

Searches through `env.step` are measured against the same queries put to bm25s itself, and against
an environment that searches over HTTP, as AgentGym's environments do.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import bm25s  # type: ignore[import-untyped]
import gymnasium as gym

from agentgym_envs.retrieval.bm25 import BM25Retriever
from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.retrieval.server import RetrievalServer
from agentgym_envs.searchqa.env import SearchQAEnv
from lab.throughput.measure import Row, Side, Stopwatch, Workload, compare

_FOREVER = 10**9
_PROGRAM = "<python>print(sum(n * n for n in range(100)))</python>"


def searchqa_rows(
    repeats: int, *, num_queries: int = 300, num_tasks: int = 100, **env_kwargs: Any
) -> Iterator[Row]:
    """Measure searches, the expert's episodes on the test split, resets and programs.

    Args:
        repeats: timed runs of each side.
        num_queries: searches per run.
        num_tasks: tasks whose questions, hops and episodes are used.
        **env_kwargs: of the environment.
    """
    env = SearchQAEnv(max_turns=_FOREVER, **env_kwargs)
    task_ids = env.task_ids("test")[:num_tasks]
    queries = _queries(env, task_ids)[:num_queries]
    assert env.corpus is not None
    ours = Side("SearchQA, searches", "searches", _searches(env, queries))
    yield compare(
        "searchqa",
        ours,
        Side("bm25s, the same queries", "searches", _bare_searches(env.corpus, queries)),
        repeats=repeats,
        passages=len(env.corpus),
    )
    with _served(env.corpus) as url:
        remote = SearchQAEnv(max_turns=_FOREVER, retriever=url, **env_kwargs)
        yield compare(
            "searchqa",
            ours,
            Side("SearchQA over HTTP", "searches", _searches(remote, queries)),
            repeats=repeats,
        )
    yield compare(
        "searchqa",
        Side("SearchQA, resets", "resets", _resets(env, task_ids * 10)),
        repeats=repeats,
    )
    yield compare(
        "searchqa",
        Side("SearchQA, expert's actions", "steps", _expert_steps(env, task_ids)),
        repeats=repeats,
    )
    yield compare(
        "searchqa",
        Side("SearchQA, programs", "programs", _steps(env, [_PROGRAM] * num_queries)),
        repeats=repeats,
    )
    env.close()


def _queries(env: SearchQAEnv, task_ids: list[str]) -> list[str]:
    """Return an expert's queries: every hop of the tasks, and their questions."""
    queries = []
    for task_id in task_ids:
        env.reset(options={"task_id": task_id})
        queries += [env.question.text, *(hop.query for hop in env.question.hops)]
    return queries


def _searches(env: SearchQAEnv, queries: list[str]) -> Workload:
    return _steps(env, [f"<search>{query}</search>" for query in queries])


def _steps(env: gym.Env[str, str], actions: list[str]) -> Workload:
    def work(watch: Stopwatch) -> None:
        env.reset(seed=0)
        with watch.running():
            for action in actions:
                env.step(action)
        watch.units += len(actions)

    return work


def _bare_searches(corpus: Corpus, queries: list[str]) -> Workload:
    """Search as bm25s' own documentation does: its tokenizer, one query a call, three hits."""
    texts = [f"{passage.title} {passage.text}" for passage in corpus.passages]
    index = bm25s.BM25()
    index.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)

    def work(watch: Stopwatch) -> None:
        with watch.running():
            for query in queries:
                words = bm25s.tokenize(query, show_progress=False)
                index.retrieve(words, k=3, corpus=texts, show_progress=False)
        watch.units += len(queries)

    return work


@contextmanager
def _served(corpus: Corpus) -> Iterator[str]:
    server = RetrievalServer(BM25Retriever(corpus), port=0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.url
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _resets(env: SearchQAEnv, task_ids: list[str]) -> Workload:
    def work(watch: Stopwatch) -> None:
        with watch.running():
            for task_id in task_ids:
                env.reset(options={"task_id": task_id})
        watch.units += len(task_ids)

    return work


def _expert_steps(env: SearchQAEnv, task_ids: list[str]) -> Workload:
    def work(watch: Stopwatch) -> None:
        for task_id in task_ids:
            env.reset(options={"task_id": task_id})
            for action in env.expert():
                with watch.running():
                    _, _, terminated, _, _ = env.step(action)
                watch.units += 1
                if terminated:
                    break

    return work
