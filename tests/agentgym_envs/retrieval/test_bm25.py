from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("bm25s")

from agentgym_envs.retrieval.bm25 import K1, B, BM25Retriever
from agentgym_envs.retrieval.words import words
from tests.agentgym_envs.retrieval.passages import (
    RIVERS,
    corpus_of,
    flip_a_bit,
    noise,
    rivers,
    truncate,
)

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def retriever() -> BM25Retriever:
    return BM25Retriever(rivers())


def titles(retriever: BM25Retriever, query: str, k: int = 3) -> list[str]:
    return [hit.passage.title for hit in retriever.search(query, k)]


def test_titles_and_texts_are_searched(retriever: BM25Retriever) -> None:
    assert titles(retriever, "Ivo Brann")[0] == "Ivo Brann"
    assert titles(retriever, "who was a sculptor", 1) == ["Ivo Brann"]
    assert titles(retriever, "1204", 5) == ["Quill"]


def test_accents_and_case_do_not_matter(retriever: BM25Retriever) -> None:
    assert titles(retriever, "ELAN cote", 1) == ["Élan Côte"]
    assert titles(retriever, "the CAFE's", 1) == ["Élan Côte"]


def test_a_title_counts_twice() -> None:
    engine = BM25Retriever(corpus_of([("sky", "red kite"), ("kite", "red sky")]))
    assert titles(engine, "kite", 2) == ["kite", "sky"]


def test_scores_are_bm25_by_hand() -> None:
    from math import log

    corpus = corpus_of([("one", "red red kite"), ("two", "blue kite flying"), ("three", "sky")])
    lengths = [5, 5, 3]
    average = sum(lengths) / 3
    idf_red = log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    idf_kite = log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def weight(count: int, length: int) -> float:
        return count / (count + K1 * (1 - B + B * length / average))

    hits = BM25Retriever(corpus).search("red kite", 3)
    assert [hit.passage.passage_id for hit in hits] == [0, 1]
    assert hits[0].score == pytest.approx(
        idf_red * weight(2, 5) + idf_kite * weight(1, 5), abs=1e-3
    )
    assert hits[1].score == pytest.approx(idf_kite * weight(1, 5), abs=1e-3)


def test_equal_scores_go_by_passage_id(retriever: BM25Retriever) -> None:
    hits = retriever.search("twin entry", 5)
    assert [hit.passage.passage_id for hit in hits] == [5, 6]
    assert hits[0].score == hits[1].score
    same = BM25Retriever(corpus_of([("t", "same words here")] * 50))
    assert [hit.passage.passage_id for hit in same.search("words", 7)] == list(range(7))


@pytest.mark.parametrize("query", ["", "   ", "the of and", "zzzz unheard", "?!", "\ud800", "\0"])
def test_what_no_passage_shares_finds_nothing(retriever: BM25Retriever, query: str) -> None:
    assert retriever.search(query, 3) == []


def test_hits_share_a_word_with_the_query_even_if_fewer_than_k(retriever: BM25Retriever) -> None:
    assert len(retriever.search("painter", 100)) == 2


@pytest.mark.parametrize("k", [0, -1, 1001])
def test_k_has_bounds(retriever: BM25Retriever, k: int) -> None:
    with pytest.raises(ValueError, match=f"k must be in 1 to 1000, got {k}"):
        retriever.search("river", k)


def test_search_many_is_search_for_each(retriever: BM25Retriever) -> None:
    queries = ["river", "", "painter Quill"]
    assert retriever.search_many(queries, 2) == [retriever.search(q, 2) for q in queries]


@pytest.mark.parametrize("rows", [[], [("", ""), ("", " . ")]])
def test_a_corpus_without_words_is_refused(rows: list[tuple[str, str]]) -> None:
    with pytest.raises(ValueError, match="holds no words to index"):
        BM25Retriever(corpus_of(rows))


def test_passages_without_words_do_no_harm() -> None:
    hits = BM25Retriever(corpus_of([("", ""), ("a", "river")])).search("river", 3)
    assert [hit.passage.passage_id for hit in hits] == [1]


def test_the_whole_ranking_agrees_with_a_slow_one() -> None:
    corpus = noise(300)
    retriever = BM25Retriever(corpus)
    for passage in corpus.passages[:20]:
        query = " ".join(passage.text.split()[:6])
        hits = retriever.search(query, 1000)
        assert [(-h.score, h.passage.passage_id) for h in hits] == sorted(
            (-h.score, h.passage.passage_id) for h in hits
        )
        query_words = set(words(query))
        sharing = {p.passage_id for p in corpus.passages if query_words & set(words(p.text))}
        assert {hit.passage.passage_id for hit in hits} == sharing
        assert retriever.search(query, 5) == hits[:5]


def test_threads_get_what_one_thread_gets() -> None:
    corpus = noise(500)
    retriever = BM25Retriever(corpus)
    queries = [" ".join(p.text.split()[:5]) for p in corpus.passages[:200]]
    alone = [retriever.search(query, 3) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: retriever.search(query, 3), queries)) == alone


def test_an_index_is_kept_and_gives_the_same_hits(tmp_path: Path) -> None:
    corpus = noise(200)
    built = BM25Retriever(corpus, cache_dir=tmp_path)
    folders = list(tmp_path.iterdir())
    assert [folder.name.startswith("bm25-") for folder in folders] == [True]
    before = {path: path.stat().st_mtime_ns for path in folders[0].iterdir()}
    read = BM25Retriever(corpus, cache_dir=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in folders[0].iterdir()} == before
    for passage in corpus.passages[:50]:
        assert read.search(passage.text, 5) == built.search(passage.text, 5)


def test_another_corpus_of_the_same_name_has_another_index(tmp_path: Path) -> None:
    BM25Retriever(corpus_of(RIVERS, "x"), cache_dir=tmp_path)
    BM25Retriever(corpus_of(RIVERS[:-1], "x"), cache_dir=tmp_path)
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", [flip_a_bit, truncate, Path.unlink])
@pytest.mark.parametrize(
    "name", ["vocab.index.json", "params.index.json", "data.csc.index.npy", "sha256.json"]
)
def test_a_damaged_index_is_built_anew(
    tmp_path: Path, name: str, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    corpus = rivers()
    good = BM25Retriever(corpus, cache_dir=tmp_path).search("river", 3)
    damage(next(tmp_path.rglob(name)))
    assert BM25Retriever(corpus, cache_dir=tmp_path).search("river", 3) == good
    assert "is damaged and is built anew" in caplog.text
    caplog.clear()
    assert BM25Retriever(corpus, cache_dir=tmp_path).search("river", 3) == good
    assert not caplog.text


def test_a_cache_that_cannot_be_written_only_warns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    assert BM25Retriever(rivers(), cache_dir=blocked / "cache").search("river", 3)
    assert "not kept for later" in caplog.text


def test_processes_agree_whatever_the_hash_seed(tmp_path: Path) -> None:
    code = (
        "from agentgym_envs.retrieval.bm25 import BM25Retriever\n"
        "from tests.agentgym_envs.retrieval.passages import noise\n"
        "corpus = noise(200)\n"
        "found = BM25Retriever(corpus)\n"
        "print([found.search(p.text, 5) for p in corpus.passages[:40]])"
    )
    answers = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for seed in ("0", "7")
    ]
    assert answers[0] == answers[1] and "Passage(" in answers[0]


def test_a_long_query_is_read_up_to_its_2000th_character(retriever: BM25Retriever) -> None:
    start = time.process_time()
    hits = retriever.search("river " * 200_000, 3)
    assert time.process_time() - start < 1
    assert hits == retriever.search(("river " * 400)[:2000], 3)
