from __future__ import annotations

import os
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("bm25s")

from agentgym_envs.retrieval import make, make_retriever
from agentgym_envs.retrieval.bm25 import BM25Retriever
from agentgym_envs.retrieval.documents import Passage, passage_contents, split_contents
from agentgym_envs.retrieval.remote import RemoteRetriever
from agentgym_envs.retrieval.without_jax import without_jax
from agentgym_envs.retrieval.words import words
from tests.agentgym_envs.retrieval.passages import rivers


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))


def test_the_same_name_over_the_same_corpus_is_one_retriever() -> None:
    corpus = rivers()
    assert make_retriever("bm25", corpus) is make_retriever("bm25", corpus)
    assert make_retriever("bm25", rivers()) is not make_retriever("bm25", corpus)


def test_threads_that_ask_at_once_share_one_index() -> None:
    corpus = rivers()
    made: list[object] = []
    threads = [
        threading.Thread(target=lambda: made.append(make_retriever("bm25", corpus)))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 8 and len(set(map(id, made))) == 1


def test_an_index_is_let_go_with_its_corpus() -> None:
    import gc
    import weakref

    corpus = rivers()
    retriever = weakref.ref(make_retriever("bm25", corpus))
    del corpus
    gc.collect()
    assert retriever() is None


def test_a_retriever_is_returned_as_it_is() -> None:
    retriever = BM25Retriever(rivers())
    assert make_retriever(retriever) is retriever


def test_a_url_needs_no_corpus() -> None:
    assert isinstance(make_retriever("http://localhost:1"), RemoteRetriever)


def test_a_mapping_sets_what_a_url_cannot_say() -> None:
    retriever = make_retriever({"url": "http://localhost:1", "timeout": 90, "retries": 0})
    assert isinstance(retriever, RemoteRetriever)
    assert (retriever.url, retriever.timeout) == ("http://localhost:1/retrieve", 90.0)
    assert retriever.retries == 0
    assert isinstance(make_retriever({"url": "http://localhost:1"}), RemoteRetriever)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"timeout": 3}, "needs the key 'url'"),
        ({"url": "http://x", "time": 3}, "'time'.*allowed: url, timeout, retries"),
        ({"url": "bm25"}, "retriever URL 'bm25'"),
        ({"url": None}, "retriever URL None"),
        ({"url": "http://x", "timeout": "3"}, "timeout must be > 0 seconds, got '3'"),
        ({"url": "http://x", "retries": 2.5}, "retries must be >= 0, got 2.5"),
    ],
)
def test_a_mapping_of_another_form_is_refused(spec: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_retriever(spec)


class Half:
    name = "half"

    def search(self, query: str, k: int) -> list[Any]:
        return []


class Nameless(Half):
    name = None  # type: ignore[assignment]

    def search_many(self, queries: Any, k: int) -> list[Any]:
        return []


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        (None, "retriever=None.*allowed: 'bm25'.*leave retriever out for 'bm25'"),
        (5, "retriever=5.*lacks search, search_many, name"),
        (["bm25"], r"retriever=\['bm25'\].*lacks search"),
        (Half(), "Half.*lacks search_many;"),
        (Nameless(), "Nameless.*lacks name;"),
        (BM25Retriever, "BM25Retriever.*is a class.*make one of it"),
    ],
)
def test_what_is_no_retriever_is_refused_when_the_env_is_made(spec: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_retriever(spec, rivers())


@pytest.mark.parametrize("spec", ["", "bm26", "dense", "dense:", "BM25", "ftp://x"])
def test_an_unknown_name_is_told_what_is_allowed(spec: str) -> None:
    with pytest.raises(ValueError, match="unknown retriever.*'bm25', 'dense:<"):
        make_retriever(spec, rivers())


def test_an_unknown_name_that_is_a_url_is_shown_without_its_password() -> None:
    with pytest.raises(ValueError, match="unknown retriever 'ftp://\\*\\*\\*@host'") as message:
        make_retriever("ftp://user:secret@host")
    assert "secret" not in str(message.value)
    assert isinstance(make_retriever("HTTP://localhost:1"), RemoteRetriever)


def test_a_local_engine_without_a_corpus_is_refused() -> None:
    with pytest.raises(ValueError, match="searches a corpus, and there is none"):
        make_retriever("bm25")


def test_contents_hold_title_and_text() -> None:
    passage = Passage(0, 'The "Old" Man', "First line.\nSecond.", 0, 0)
    assert passage_contents(passage) == '"The "Old" Man"\nFirst line.\nSecond.'
    assert split_contents(passage_contents(passage)) == (passage.title, passage.text)
    assert split_contents("Bare\ntext") == ("Bare", "text")
    assert split_contents("") == ("", "")
    assert split_contents('"') == ('"', "")


def test_words_are_folded_and_stop_words_left_out() -> None:
    assert words("The Café's OWNERS, in Cities") == ["cafe", "owners", "cities"]
    assert words("It was before 1204: x-ray") == ["before", "1204", "x", "ray"]
    assert words("The Who") == ["the", "who"]
    assert words(" .,_ ") == []


def test_importing_retrieval_loads_no_engine() -> None:
    check = (
        "import sys, agentgym_envs.retrieval, agentgym_envs.searchqa.sources;"
        "sys.exit(str({'bm25s', 'faiss', 'torch', 'transformers'} & set(sys.modules)))"
    )
    result = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True)
    assert result.stderr.strip() == "set()"


@pytest.mark.parametrize(
    ("hidden", "make", "remedy"),
    [
        ("bm25s", "make_retriever('bm25', corpus)", 'pip install "agentgym-envs[search]"'),
        ("faiss", "make_retriever('dense:x', corpus)", 'pip install "agentgym-envs[dense]"'),
        ("torch", "make_retriever('dense:x', corpus)", 'pip install "agentgym-envs[dense]"'),
    ],
)
def test_a_missing_package_is_told_with_its_extra(hidden: str, make: str, remedy: str) -> None:
    code = f"""
import sys
sys.modules[{hidden!r}] = None
from agentgym_envs.retrieval import make, make_retriever
from tests.agentgym_envs.retrieval.passages import rivers
corpus = rivers()
try:
    {make}
except ImportError as error:
    print(error)
"""
    root = Path(__file__).parents[3]
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )
    assert remedy in result.stdout, result.stderr


def test_only_the_index_of_a_large_corpus_lies_in_the_cache_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_retriever("bm25", rivers())
    assert not (tmp_path / "cache").exists()
    monkeypatch.setattr(make, "CACHED_FROM", len(rivers()))
    make_retriever("bm25", rivers())
    assert [path.name[:5] for path in (tmp_path / "cache" / "searchqa").iterdir()] == ["bm25-"]


def test_bm25_leaves_jax_and_the_memory_of_its_gpu_alone(tmp_path: Path) -> None:
    package = tmp_path / "jax"
    package.mkdir()
    (package / "__init__.py").write_text("print('jax is used')")
    (package / "lax.py").write_text("def top_k(scores, k): print('on its device')")
    code = "from agentgym_envs.retrieval import bm25; print('searching'); import jax.lax"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n") == ["searching", "jax is used", ""]


def test_jax_that_is_imported_already_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    jax, lax = ModuleType("jax"), ModuleType("jax.lax")
    monkeypatch.setitem(sys.modules, "jax", jax)
    monkeypatch.setitem(sys.modules, "jax.lax", lax)
    with pytest.raises(ZeroDivisionError), without_jax():
        with pytest.raises(ImportError):
            import_module("jax.lax")
        raise ZeroDivisionError
    assert sys.modules["jax"] is jax
    assert sys.modules["jax.lax"] is lax
