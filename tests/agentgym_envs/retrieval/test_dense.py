from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("faiss")
pytest.importorskip("transformers")

import numpy as np
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from transformers import AutoTokenizer, BertConfig, BertModel, PreTrainedTokenizerFast

from agentgym_envs.retrieval import make_retriever
from agentgym_envs.retrieval.dense import DenseRetriever
from agentgym_envs.retrieval.dense_index import (
    INDEX_FILE,
    SETTINGS_FILE,
    adopt_index,
    build_index,
    default_index_dir,
    default_settings,
)
from agentgym_envs.retrieval.documents import Corpus, passage_contents
from agentgym_envs.retrieval.encoder import Encoder, EncoderSettings
from tests.agentgym_envs.retrieval.passages import corpus_of, noise

CORPUS = noise(70)
ROOT = Path(__file__).parents[3]


def save_encoder(folder: Path, *, width: int = 16, seed: int = 0) -> str:
    """Save a random BERT and a tokenizer that knows the words of `CORPUS`."""
    names = ["[PAD]", "[UNK]", *sorted({w for p in CORPUS.passages for w in p.text.split()})]
    tokenizer = Tokenizer(WordLevel({w: n for n, w in enumerate(names)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]"
    ).save_pretrained(folder)
    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=width,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=256,
    )
    BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> str:
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory, encoder: str) -> Path:
    folder = tmp_path_factory.mktemp("index")
    settings = default_settings(encoder)
    return build_index(CORPUS, settings, index_dir=folder, batch_size=16, show_progress=False)


def test_vectors_are_means_over_the_tokens_that_are_there(encoder: str) -> None:
    settings = EncoderSettings(encoder, query_prefix="query ")
    short, long = CORPUS.passages[0].text.split()[0], CORPUS.passages[1].text
    made = Encoder(settings, device="cpu")
    both = made.queries([short, long])
    model, words = BertModel.from_pretrained(encoder).eval(), AutoTokenizer.from_pretrained(encoder)
    with torch.inference_mode():
        hidden = model(**words(f"query {short}", return_tensors="pt")).last_hidden_state
    mean = hidden[0].mean(dim=0).numpy()
    np.testing.assert_allclose(both[0], mean / np.linalg.norm(mean), atol=1e-5)
    np.testing.assert_allclose(both[1], made.queries([long])[0], atol=1e-5)
    assert both.dtype == np.float32 and both.shape == (2, 16)


def test_texts_are_cut_at_max_length(encoder: str) -> None:
    cut = Encoder(EncoderSettings(encoder, max_length=4), device="cpu")
    words = CORPUS.passages[0].text.split()
    same = cut.passages([" ".join(words), " ".join(words[:4])])
    np.testing.assert_allclose(same[0], same[1], atol=1e-6)


def test_hits_are_the_nearest_by_cosine(encoder: str, index: Path) -> None:
    retriever = DenseRetriever(CORPUS, index_dir=index)
    query = CORPUS.passages[3].text
    made = Encoder(default_settings(encoder), device="cpu")
    passages = made.passages([passage_contents(p) for p in CORPUS.passages])
    cosine = passages @ made.queries([query])[0]
    hits = retriever.search(query, 5)
    assert [h.passage.passage_id for h in hits] == list(np.argsort(-cosine, kind="stable")[:5])
    assert hits[0].score == pytest.approx(cosine.max(), abs=1e-4)
    assert retriever.name == f"dense:{encoder}"


def test_search_many_is_search_for_each(index: Path) -> None:
    retriever = DenseRetriever(CORPUS, index_dir=index)
    queries = [passage.text for passage in CORPUS.passages[:5]]
    for row, query in zip(retriever.search_many(queries, 3), queries, strict=True):
        alone = retriever.search(query, 3)
        assert [hit.passage for hit in row] == [hit.passage for hit in alone]
    assert [len(row) for row in retriever.search_many(["", "known words"], 3)] == [3, 3]
    assert retriever.search_many([], 3) == []


def test_equal_scores_go_by_passage_id_and_there_are_no_more_hits_than_passages(
    encoder: str,
) -> None:
    corpus = corpus_of([("same", "text")] * 4, "same v1")
    build_index(corpus, default_settings(encoder), show_progress=False)
    hits = DenseRetriever(corpus, encoder=encoder).search("text", 10)
    assert [hit.passage.passage_id for hit in hits] == [0, 1, 2, 3]


@pytest.mark.parametrize("query", ["", "\ud800", "\0", "x " * 100_000])
def test_any_string_is_a_query(index: Path, query: str) -> None:
    assert len(DenseRetriever(CORPUS, index_dir=index).search(query, 3)) == 3


def test_k_has_bounds(index: Path) -> None:
    with pytest.raises(ValueError, match="k must be in 1 to 1000, got 0"):
        DenseRetriever(CORPUS, index_dir=index).search("x", 0)


@pytest.mark.parametrize(
    ("name", "prefix"),
    [
        ("intfloat/e5-base-v2", "query: "),
        ("intfloat/multilingual-e5-large", "query: "),
        ("/models/e5-small", "query: "),
        ("BAAI/bge-base-en-v1.5", ""),
        ("someone/re5-model", ""),
    ],
)
def test_e5_models_get_e5s_prefixes(name: str, prefix: str) -> None:
    settings = default_settings(name)
    assert settings.query_prefix == prefix
    assert settings.passage_prefix == ("passage: " if prefix else "")


def test_the_name_dense_finds_the_index_in_the_cache(encoder: str) -> None:
    folder = build_index(CORPUS, default_settings(encoder), show_progress=False)
    assert folder == default_index_dir(encoder, CORPUS)
    retriever = make_retriever(f"dense:{encoder}", CORPUS)
    assert len(retriever.search("x", 3)) == 3
    assert make_retriever(f"dense:{encoder}", CORPUS) is retriever


def test_the_name_dense_takes_an_index_folder(index: Path) -> None:
    assert len(make_retriever(f"dense:{index}", CORPUS).search("x", 3)) == 3


def test_without_an_index_the_command_is_told(encoder: str) -> None:
    with pytest.raises(ValueError, match="no index of noise v1 in .*agentgym build-index --enc"):
        DenseRetriever(CORPUS, encoder=encoder)


def test_an_index_of_another_corpus_is_refused(index: Path) -> None:
    other = Corpus(CORPUS.passages, "other v2")
    with pytest.raises(ValueError, match="built from 'noise v1', not from 'other v2'.*build"):
        DenseRetriever(other, index_dir=index)


def test_an_index_of_another_encoder_is_refused(index: Path) -> None:
    with pytest.raises(ValueError, match="built with the encoder .*, not 'other/model'.*build"):
        DenseRetriever(CORPUS, encoder="other/model", index_dir=index)


def test_an_index_of_another_size_is_refused(index: Path) -> None:
    shorter = Corpus(CORPUS.passages[:-1], CORPUS.source)
    with pytest.raises(ValueError, match="holds 70 vectors for 69 passages"):
        DenseRetriever(shorter, index_dir=index)


def test_an_encoder_that_has_changed_its_width_is_refused(tmp_path: Path) -> None:
    name = save_encoder(tmp_path / "encoder")
    build_index(CORPUS, default_settings(name), show_progress=False)
    shutil.rmtree(name)
    save_encoder(tmp_path / "encoder", width=8)
    with pytest.raises(ValueError, match="vectors of width 16, and the encoder .* makes 8"):
        DenseRetriever(CORPUS, encoder=name)


@pytest.mark.parametrize(
    ("file", "message"),
    [(INDEX_FILE, "not a FAISS index that can be read"), (SETTINGS_FILE, "is damaged")],
)
def test_a_damaged_index_is_told(index: Path, tmp_path: Path, file: str, message: str) -> None:
    copy = Path(shutil.copytree(index, tmp_path / "copy"))
    (copy / file).write_text("{}")
    with pytest.raises(ValueError, match=message):
        DenseRetriever(CORPUS, index_dir=copy)


def test_an_unknown_encoder_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="cannot load the encoder .*expected a folder"):
        build_index(CORPUS, EncoderSettings(str(tmp_path / "empty")), show_progress=False)


@pytest.mark.parametrize(
    ("factory", "message"), [("Nonsense", "FAISS knows no index"), ("IVF4,Flat", "needs training")]
)
def test_an_index_must_be_one_that_needs_no_training(
    encoder: str, factory: str, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        build_index(CORPUS, default_settings(encoder), factory=factory, show_progress=False)


def test_an_approximate_index_works_too(encoder: str, tmp_path: Path) -> None:
    folder = build_index(
        CORPUS,
        default_settings(encoder),
        index_dir=tmp_path / "hnsw",
        factory="HNSW8",
        show_progress=False,
    )
    assert len(DenseRetriever(CORPUS, index_dir=folder).search("x", 3)) == 3


def test_a_file_that_others_have_built_is_taken_over(
    encoder: str, index: Path, tmp_path: Path
) -> None:
    theirs = shutil.copy(index / INDEX_FILE, tmp_path / "e5_Flat.index")
    folder = adopt_index(CORPUS, default_settings(encoder), theirs, index_dir=tmp_path / "adopted")
    query = CORPUS.passages[0].text
    ours = DenseRetriever(CORPUS, index_dir=index)
    assert DenseRetriever(CORPUS, index_dir=folder).search(query, 3) == ours.search(query, 3)
    with pytest.raises(ValueError, match="holds 70 vectors, and small v1 has 1 passages"):
        adopt_index(
            corpus_of([("a", "b")], "small v1"),
            default_settings(encoder),
            theirs,
            index_dir=tmp_path / "wrong",
        )


def test_threads_get_what_one_thread_gets(index: Path) -> None:
    retriever = DenseRetriever(CORPUS, index_dir=index)
    queries = [passage.text for passage in CORPUS.passages[:40]]
    alone = [retriever.search(query, 3) for query in queries]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda query: retriever.search(query, 3), queries)) == alone


@pytest.mark.full
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_can_search(index: Path) -> None:
    code = (
        "import os\n"
        "from agentgym_envs.retrieval.dense import DenseRetriever\n"
        "from tests.agentgym_envs.retrieval.passages import noise\n"
        "corpus = noise(70)\n"
        f"retriever = DenseRetriever(corpus, index_dir={str(index)!r}, device='cpu')\n"
        "queries = [p.text for p in corpus.passages]\n"
        "before = retriever.search_many(queries, 3)\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    found = retriever.search_many(queries, 3)\n"
        "    same = [[h.passage for h in r] for r in found] == "
        "[[h.passage for h in r] for r in before]\n"
        "    os._exit(0 if same else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    result = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=ROOT,
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT),
            "OMP_NUM_THREADS": "2",
            "OMP_WAIT_POLICY": "PASSIVE",
        },
    )
    assert result.stdout.strip() == "0", result.stderr


def test_the_command_builds_an_index_and_shows_progress(
    encoder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from benchmarks.retrieval.build_index import main

    corpus = tmp_path / "corpus.jsonl"
    lines = [
        json.dumps({"id": str(p.passage_id), "contents": passage_contents(p)})
        for p in CORPUS.passages
    ]
    corpus.write_text("\n".join(lines))
    out = tmp_path / "out"
    words = ["--encoder", encoder, "--corpus", str(corpus), "--out", str(out)]
    assert main([*words, "--batch-size", "32", "--max-length", "32", "--device", "cpu"]) == 0
    message = capsys.readouterr()
    assert f"retriever='dense:{out}'" in message.out and "70/70" in message.err
    about = json.loads((out / SETTINGS_FILE).read_text())
    assert about["encoder"] == {
        "name": encoder,
        "query_prefix": "",
        "passage_prefix": "",
        "max_length": 32,
    }
    with pytest.raises(SystemExit):
        main([*words, "--factory", "Nonsense"])
    assert "FAISS knows no index" in capsys.readouterr().err
