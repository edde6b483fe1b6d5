from __future__ import annotations

import gzip
import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.searchqa.questions import FAMILIES
from agentgym_envs.searchqa.real_data.lines import JsonLines
from agentgym_envs.searchqa.real_data.parts import (
    PAPER_TEST_SIZES,
    PARTS,
    find_part,
    paper_test_numbers,
)
from agentgym_envs.searchqa.sources import load_corpus, load_questions
from tests.agentgym_envs.retrieval.passages import flip_a_bit
from tests.row_files import write_rows


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "searchqa"


def write(folder: Path, name: str, size: int, **extra: Any) -> Path:
    """Write a file in FlashRAG's form."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    stem = name.removesuffix(".jsonl").replace("/", " ")
    rows = (
        {
            "id": f"{path.stem}_{n}",
            "question": f"{stem} {n}",
            "golden_answers": [f"answer {n}", f"the answer {n}"],
            **extra,
        }
        for n in range(size)
    )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in (
        *("nq/test", "nq/train", "nq/dev", "triviaqa/test", "triviaqa/dev", "popqa/test"),
        *("hotpotqa/dev", "hotpotqa/train", "2wikimultihopqa/dev", "musique/dev"),
    ):
        write(tmp_path / "flashrag", f"{name}.jsonl", 5)
    write(tmp_path / "flashrag", "bamboogle/test.jsonl", 125)
    return tmp_path / "flashrag"


# The ids ----------------------------------------------------------------------------------------


def test_ranges_follow_one_another_and_end_as_agentgyms() -> None:
    assert [(p.family, p.first) for p in PARTS if p.split == "test"] == [
        ("nq", 0),
        ("triviaqa", 3610),
        ("popqa", 14923),
        ("hotpotqa", 29190),
        ("2wikimultihopqa", 36595),
        ("musique", 49171),
        ("bamboogle", 51588),
    ]
    assert [(p.family, p.first) for p in PARTS if p.split == "train"] == [
        ("nq", 51713),
        ("hotpotqa", 130881),
    ]
    assert all(a.stop == b.first for a, b in zip(PARTS, PARTS[1:], strict=False))
    assert next(p.stop for p in PARTS if (p.family, p.split) == ("hotpotqa", "train")) == 221328


def test_ranges_have_the_sizes_of_flashrags_files() -> None:
    sizes = {(part.family, part.split): part.stop - part.first for part in PARTS}
    assert sizes == {
        ("nq", "test"): 3610,
        ("triviaqa", "test"): 11313,
        ("popqa", "test"): 14267,
        ("hotpotqa", "test"): 7405,
        ("2wikimultihopqa", "test"): 12576,
        ("musique", "test"): 2417,
        ("bamboogle", "test"): 125,
        ("nq", "train"): 79168,
        ("hotpotqa", "train"): 90447,
        ("nq", "validation"): 8757,
        ("triviaqa", "validation"): 8837,
    }


@pytest.mark.parametrize(
    ("number", "family", "split", "text"),
    [
        (0, "nq", "test", "nq test 0?"),
        (4, "nq", "test", "nq test 4?"),
        (3610, "triviaqa", "test", "triviaqa test 0?"),
        (14923, "popqa", "test", "popqa test 0?"),
        (29190, "hotpotqa", "test", "hotpotqa dev 0?"),
        (36599, "2wikimultihopqa", "test", "2wikimultihopqa dev 4?"),
        (49171, "musique", "test", "musique dev 0?"),
        (51588, "bamboogle", "test", "bamboogle test 0?"),
        (51712, "bamboogle", "test", "bamboogle test 124?"),
        (51713, "nq", "train", "nq train 0?"),
        (130881, "hotpotqa", "train", "hotpotqa train 0?"),
        (221328, "nq", "validation", "nq dev 0?"),
        (230085, "triviaqa", "validation", "triviaqa dev 0?"),
    ],
)
def test_a_number_is_a_line_of_its_file(
    folder: Path, number: int, family: str, split: str, text: str
) -> None:
    question = load_questions(folder).question(number)
    assert (question.number, question.family, question.split) == (number, family, split)
    assert question.text == text
    assert question.answers[1] == f"the {question.answers[0]}"
    assert question.hops == ()


def test_splits_are_the_lines_that_are_there(folder: Path) -> None:
    questions = load_questions(folder)
    assert list(questions.numbers("train")) == [*range(51713, 51718), *range(130881, 130886)]
    assert list(questions.numbers("validation")) == [*range(221328, 221333), *range(230085, 230090)]
    test = list(questions.numbers("test"))
    assert test == sorted(test) and len(test) == 6 * 5 + 125 and test[-1] == 51712
    assert len(questions) == 10 + 10 + len(test)
    for number in (*test, *questions.numbers("train"), *questions.numbers("validation")):
        questions.question(number)


def test_the_paper_test_is_pinned_and_has_the_papers_sizes(folder: Path) -> None:
    drawn = load_questions(folder).numbers("paper_test")
    bamboogle = [number for number in drawn if number >= 51588]
    assert len(bamboogle) == 50
    assert bamboogle[:6] == [51589, 51591, 51597, 51608, 51609, 51614]
    assert set(drawn) <= set(load_questions(folder).numbers("test"))
    whole = sorted(paper_test_numbers())
    assert Counter(find_part(number).family for number in whole) == PAPER_TEST_SIZES
    assert len(whole) == 400 and set(PAPER_TEST_SIZES) == set(FAMILIES)
    assert sha256(repr(whole).encode()).hexdigest()[:16] == "fbd915c7e4b10ec0"


def test_the_paper_test_does_not_depend_on_what_is_there(folder: Path) -> None:
    whole = set(load_questions(folder).numbers("paper_test"))
    write(folder, "nq/test.jsonl", 3610)
    more = set(load_questions(folder).numbers("paper_test"))
    assert whole <= more and len([number for number in more if number < 3610]) == 50


def test_an_empty_panel_or_split_names_the_files_that_are_missing_or_cut(tmp_path: Path) -> None:
    pytest.importorskip("pydantic_monty")
    from agentgym_envs.searchqa.env import SearchQAEnv

    write(tmp_path / "part", "nq/test.jsonl", 2)
    env = SearchQAEnv(
        data_dir=tmp_path / "part", retriever="http://localhost:1", split="paper_test"
    )
    assert env.task_ids() == []
    with pytest.raises(ValueError) as message:
        env.reset(seed=0)
    assert "its 400 ids are pinned" in str(message.value)
    assert "nq/test.jsonl has 2 of 3610 lines" in str(message.value)
    assert "lacks triviaqa/test.jsonl, popqa/test.jsonl" in str(message.value)
    assert "hotpotqa/test.jsonl or hotpotqa/dev.jsonl" in str(message.value)
    env = SearchQAEnv(data_dir=tmp_path / "part", retriever="http://localhost:1")
    with pytest.raises(ValueError, match=r"lacks nq/train.jsonl, hotpotqa/train.jsonl$"):
        env.reset(seed=0)


def test_a_test_file_comes_before_a_dev_file(folder: Path) -> None:
    write(folder, "musique/test.jsonl", 2)
    assert load_questions(folder).question(49171).text == "musique test 0?"


def test_an_unknown_split_is_refused(folder: Path) -> None:
    with pytest.raises(ValueError, match="unknown split 'dev'.*validation"):
        load_questions(folder).numbers("dev")


@pytest.mark.parametrize("number", [-1, 238922, 10**9])
def test_a_number_beyond_all_ranges_is_refused(folder: Path, number: int) -> None:
    with pytest.raises(ValueError, match=f"unknown question number {number}.*51713 to 221327"):
        load_questions(folder).question(number)
    with pytest.raises(ValueError, match="unknown question number"):
        find_part(number)


# What is missing --------------------------------------------------------------------------------


def test_only_the_present_data_sets_have_numbers(tmp_path: Path) -> None:
    write(tmp_path, "bamboogle/test.jsonl", 3)
    questions = load_questions(tmp_path)
    assert list(questions.numbers("test")) == [51588, 51589, 51590]
    assert list(questions.numbers("train")) == []
    assert questions.missing("train") == ["nq/train.jsonl", "hotpotqa/train.jsonl"]
    with pytest.raises(ValueError, match=r"29191 is number 1 of hotpotqa's test file, .*dev.jsonl"):
        questions.question(29191)
    with pytest.raises(ValueError, match="bamboogle/test.jsonl has 3 lines; put the whole file of"):
        questions.question(51591)


def test_a_folder_without_any_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds none of the data sets' files.*nq/test.jsonl"):
        load_questions(tmp_path)


def test_a_file_longer_than_its_range_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "bamboogle/test.jsonl", 126)
    with pytest.raises(ValueError, match="has 126 lines, and AgentGym's ids leave room for 125"):
        load_questions(tmp_path).numbers("test")


def test_a_name_that_is_no_folder_and_no_hub_name_is_refused() -> None:
    with pytest.raises(ValueError, match="data_dir='/no/such/place' is not a folder"):
        load_questions("/no/such/place")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The hub's cache folder, without a network."""
    constants = pytest.importorskip("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "hub"


def test_a_hub_name_without_a_network_is_told(hub: Path) -> None:
    with pytest.raises(ValueError, match="'nobody/nothing' is neither a local folder nor one that"):
        load_questions("nobody/nothing")


def test_a_hub_name_is_read_from_its_local_copy(hub: Path) -> None:
    repository = hub / "datasets--some--questions"
    commit = "0123456789" * 4
    write(repository / "snapshots" / commit, "nq/test.jsonl", 3)
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text(commit)
    questions = load_questions("some/questions")
    assert questions.question(2).text == "nq test 2?"
    assert questions.source.startswith("some/questions (")


# The lines --------------------------------------------------------------------------------------


def test_a_test_number_leaves_the_train_files_unread(folder: Path) -> None:
    (folder / "nq" / "train.jsonl").write_bytes(b"\xff not read \n" * 100_000)
    questions = load_questions(folder)
    questions.question(0)
    assert len(list(questions.numbers("test"))) == 155
    with pytest.raises(ValueError, match="nq/train.jsonl"):
        questions.numbers("train")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "not JSON"),
        ("[1]", "expected a JSON object"),
        ('{"golden_answers": ["x"]}', "'question' must be"),
        ('{"question": "  ", "golden_answers": ["x"]}', "'question' must be"),
        ('{"question": "x"}', "'golden_answers' must be"),
        ('{"question": "x", "golden_answers": []}', "'golden_answers' must be"),
        ('{"question": "x", "golden_answers": ["a", " "]}', "'golden_answers' must be"),
        ('{"question": "x", "answer": ""}', "'answer' must be"),
        ('{"question": "x", "golden_answers": [{"x": 1}]}', "'golden_answers' must be"),
        ('{"question": "x", "golden_answers": [["a"]]}', "'golden_answers' must be"),
        ('{"question": "x", "golden_answers": [true]}', "'golden_answers' must be"),
        ('{"prompt": ["x"], "golden_answers": ["a"]}', "'question' must be"),
        ('{"prompt": [{"role": "user"}], "golden_answers": ["a"]}', "'question' must be"),
        ('{"prompt": [{"content": null}], "golden_answers": ["a"]}', "'question' must be"),
    ],
)
def test_a_line_of_another_form_is_told_with_its_place(
    tmp_path: Path, line: str, message: str
) -> None:
    path = write(tmp_path, "nq/test.jsonl", 1)
    path.write_text(path.read_text() + line + "\n")
    questions = load_questions(tmp_path)
    questions.question(0)
    with pytest.raises(ValueError, match=f"nq/test.jsonl, .* 1: {message}"):
        questions.question(1)


def test_bad_lines_are_left_out_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write(tmp_path, "nq/test.jsonl", 2)
    path.write_text('{"question": "x", "golden_answers": []}\n' + path.read_text() + "{\n")
    questions = load_questions(tmp_path)
    assert list(questions.numbers("test")) == [1, 2]
    assert "2 of 4 rows hold no question and are left out" in caplog.text
    assert f"{path}, question 0: 'golden_answers' must be" in caplog.text
    assert f"{path}, object 3: not JSON" in caplog.text


@pytest.mark.parametrize("ending", [".json", ".jsonl.gz"])
def test_bad_lines_of_other_files_are_left_out_and_named(
    tmp_path: Path, ending: str, caplog: pytest.LogCaptureFixture
) -> None:
    good = write(tmp_path, "nq/test.jsonl", 2)
    first, second = good.read_text().splitlines()
    good.unlink()
    path = good.with_name(f"test{ending}")
    content = f"{first}\n{{\n{second}\n".encode()
    path.write_bytes(gzip.compress(content) if ending.endswith(".gz") else content)
    assert list(load_questions(tmp_path).numbers("test")) == [0, 2]
    assert "1 of 3 rows hold no question and are left out" in caplog.text
    assert f"{path}, line 2: not JSON" in caplog.text


@pytest.mark.parametrize(
    "content", [b"no gzip", gzip.compress(b'{"question": "x"}')[:-9]], ids=["no gzip", "cut"]
)
def test_a_damaged_compressed_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "nq/test.jsonl.gz"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"{path}: not compressed, cut short"):
        load_questions(tmp_path).numbers("test")


def test_a_file_without_any_question_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "nq/test.jsonl", 3, golden_answers=[])
    with pytest.raises(ValueError, match=r"nq/test.jsonl holds no question: .*question 0"):
        load_questions(tmp_path).numbers("test")


SEARCH_R1 = {
    "data_source": "nq",
    "prompt": [{"role": "user", "content": "Answer the question ... Question: who is it?\n"}],
    "reward_model": {"style": "rule", "ground_truth": {"target": ["one", "1"]}},
}


@pytest.mark.parametrize(
    ("row", "answers"),
    [
        ({"_id": "5a", "question": "who is it?", "answer": "one", "type": "bridge"}, ("one",)),
        ({"question": "who is it", "answer": ["one", "1"]}, ("one", "1")),
        ({"question": "who is it", "answers": ["one"]}, ("one",)),
        ({"question": "who is it", "answers": {"text": ["one"], "answer_start": [3]}}, ("one",)),
        ({"question": "who is it", "answer": {"value": "one", "aliases": ["1"]}}, ("one", "1")),
        ({"question": "who is it", "answer": "one", "answer_aliases": ["1"]}, ("one", "1")),
        (SEARCH_R1, ("one", "1")),
        ({**SEARCH_R1, "question": "who is it", "golden_answers": ["one"]}, ("one",)),
    ],
)
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz", ".json", ".parquet"])
def test_other_forms_of_questions_are_read_from_each_kind_of_file(
    tmp_path: Path, row: dict[str, Any], answers: tuple[str, ...], ending: str
) -> None:
    write_rows(tmp_path / f"nq/test{ending}", row)
    question = load_questions(tmp_path).question(0)
    assert (question.text, question.answers) == ("who is it?", answers)


def test_questions_are_trimmed_and_get_a_question_mark(tmp_path: Path) -> None:
    write(tmp_path, "nq/test.jsonl", 1, question=" who is it ", golden_answers="one")
    write(tmp_path, "popqa/test.jsonl", 1, question="Who?", golden_answers=["a", 3])
    questions = load_questions(tmp_path)
    assert questions.question(0).text == "who is it?" and questions.question(0).answers == ("one",)
    assert questions.question(14923).text == "Who?"
    assert questions.question(14923).answers == ("a", "3")


def test_lines_may_end_in_any_way(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_bytes('{"n": "é"}\r\n\n{"n": 1}\n\r\n  {"n": 2}'.encode())
    lines = JsonLines(path)
    assert [line["n"] for line in (lines[0], lines[1], lines[2])] == ["é", 1, 2]
    assert len(lines) == 3
    with pytest.raises(IndexError, match="has 3 lines"):
        lines[3]
    path.write_bytes(b"")
    assert len(JsonLines(path)) == 0


def test_the_source_changes_with_the_files(folder: Path) -> None:
    source = load_questions(folder).source
    assert source.startswith("flashrag (") and load_questions(folder).source == source
    path = folder / "nq" / "test.jsonl"
    path.write_text(path.read_text().replace("answer 3", "answer 9"))
    assert load_questions(folder).source != source


# The corpus -------------------------------------------------------------------------------------


WIKI = (
    ("Aaron", "Aaron was a prophet."),
    ("Aaron", "He had a brother."),
    ("Quill", "A town.\nOn two lines."),
    ('The "Old" Man', "A novel."),
    ("QUILL", "A band."),
    ("Aaron", "Another Aaron."),
)


def write_corpus(path: Path) -> Path:
    rows = [
        {"id": str(n), "contents": f'"{title}"\n{text}'} for n, (title, text) in enumerate(WIKI)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def wiki(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "wiki.jsonl")


def test_passages_are_lines(wiki: Path) -> None:
    corpus = load_corpus(wiki)
    assert len(corpus) == 6
    assert [(p.passage_id, p.title, p.text) for p in corpus.passages] == [
        (n, title, text) for n, (title, text) in enumerate(WIKI)
    ]
    assert corpus.passages[-1].text == "Another Aaron."
    assert [p.passage_id for p in corpus.passages[1:4]] == [1, 2, 3]
    with pytest.raises(IndexError):
        corpus.passages[6]


def test_lines_of_one_title_in_a_row_are_a_document(wiki: Path) -> None:
    corpus = load_corpus(wiki)
    assert [(p.document_id, p.part) for p in corpus.passages] == [
        (0, 0),
        (0, 1),
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 0),
    ]
    assert [p.passage_id for p in corpus.document(0)] == [0, 1]
    assert [p.passage_id for p in corpus.document(4)] == [5]
    for unknown in (-1, 5):
        with pytest.raises(ValueError, match=f"unknown document_id {unknown}; wiki.jsonl .* has 5"):
            corpus.document(unknown)


@pytest.mark.parametrize(
    ("title", "document_id"),
    [
        ("Aaron", 0),
        ("AARON", None),  # two documents bear it
        ("Quill", 1),
        ("QUILL", 3),
        ("quill", None),
        (' the "old" man ', 2),
        ("Nobody", None),
        ("", None),
        ("\ud800", None),
    ],
)
def test_titles_are_found_exactly_or_uniquely(
    wiki: Path, title: str, document_id: int | None
) -> None:
    assert load_corpus(wiki).find_title(title) == document_id


def test_a_lazy_corpus_finds_titles_as_one_in_memory_does(wiki: Path) -> None:
    from agentgym_envs.retrieval.documents import Corpus

    lazy = load_corpus(wiki)
    memory = Corpus(list(lazy.passages), lazy.source)
    for title in ("Aaron", "AARON", "Quill", "quill", "x", 'The "Old" Man'):
        assert lazy.find_title(title) == memory.find_title(title)


def test_positions_are_found_once(wiki: Path, cache: Path) -> None:
    source = load_corpus(wiki).source
    [folder] = cache.iterdir()
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    again = load_corpus(wiki)
    assert again.source == source and source.startswith("wiki.jsonl (")
    assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert again.passages[3].text == "A novel."


def test_a_changed_file_is_read_again(wiki: Path) -> None:
    source = load_corpus(wiki).source
    wiki.write_text('{"contents": "New\\ntext"}\n')
    corpus = load_corpus(wiki)
    assert corpus.source != source and len(corpus) == 1
    assert (corpus.passages[0].title, corpus.passages[0].text) == ("New", "text")


@pytest.mark.parametrize("name", ["starts.npy", "about.json", "sha256.json"])
def test_positions_that_are_damaged_are_made_anew(
    wiki: Path, cache: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    good = [*load_corpus(wiki).passages]
    flip_a_bit(next(cache.rglob(name)))
    assert [*load_corpus(wiki).passages] == good
    assert caplog.text.count("is damaged and is built anew") == 1
    caplog.clear()
    assert [*load_corpus(wiki).passages] == good and not caplog.text


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "holds no passages"),
        ("\n\n", "holds no passages"),
        ('{"id": "0"}\n', "passage 0: 'contents' must be a string"),
        ('{"contents": "a\\nb"}\n{"contents": 3}\n', "passage 1: 'contents' must be"),
        ("nothing\n", "passage 0: not JSON"),
    ],
)
def test_a_corpus_of_another_form_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        load_corpus(path)


def test_a_missing_or_compressed_corpus_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no corpus file"):
        load_corpus(tmp_path / "none.jsonl")
    (tmp_path / "wiki.jsonl.gz").write_bytes(b"x")
    with pytest.raises(ValueError, match="is compressed.*decompress it first"):
        load_corpus(tmp_path / "wiki.jsonl.gz")


def test_bm25_searches_a_corpus_file(wiki: Path) -> None:
    pytest.importorskip("bm25s")
    from agentgym_envs.retrieval import make_retriever

    corpus = load_corpus(wiki)
    hits = make_retriever("bm25", corpus).search("the prophet's brother", 3)
    assert [hit.passage.passage_id for hit in hits][:2] == [0, 1] or hits[
        0
    ].passage.title == "Aaron"


# The environment --------------------------------------------------------------------------------


def test_the_environment_plays_a_question_of_the_files(folder: Path, wiki: Path) -> None:
    pytest.importorskip("bm25s")
    from agentgym_envs.searchqa.env import SearchQAEnv

    env = SearchQAEnv(data_dir=str(folder), corpus=str(wiki), split="test", top_k=1)
    observation, info = env.reset(options={"task_id": "searchqa_51712"})
    assert "bamboogle test 124?" in observation and info["subtask"] == "bamboogle"
    assert "flashrag (" in info["source"] and "wiki.jsonl (" in info["source"]
    observation, *_ = env.step("<search>prophet</search>")
    assert "Aaron was a prophet." in observation
    _, reward, terminated, _, info = env.step("<answer>The answer 124!</answer>")
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    env.close()


def test_the_environment_refuses_a_task_whose_file_is_missing(tmp_path: Path, wiki: Path) -> None:
    pytest.importorskip("bm25s")
    from agentgym_envs.searchqa.env import SearchQAEnv

    write(tmp_path / "some", "nq/test.jsonl", 3)
    env = SearchQAEnv(data_dir=str(tmp_path / "some"), corpus=str(wiki), split="test")
    with pytest.raises(ValueError, match="'searchqa_51588'.*bamboogle/test.jsonl"):
        env.reset(options={"task_id": "searchqa_51588"})
    env.close()
    env = SearchQAEnv(data_dir=str(tmp_path / "some"), corpus=str(wiki), split="train")
    with pytest.raises(ValueError, match=r"split 'train' holds no task to draw in 'some \("):
        env.reset(seed=0)
    env.reset(options={"task_id": 0})
    env.close()
