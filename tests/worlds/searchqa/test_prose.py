from __future__ import annotations

import re
from collections import Counter

import pytest

from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.searchqa.world import embedded_world
from worlds.searchqa.prose.writer import MAX_PARTS, MAX_WORDS, MIN_WORDS


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return embedded_world()[0]


LINT = {
    "a double or trailing space": r"  |^ | $",
    "an unfilled slot": r"[{}~_]|\bNone\b",
    "a sentence that begins small": r"(^|[.?!] )[a-z]",
    "no full stop at the end": r"[^.]$",
    "doubled punctuation": r"\.\.|,,|,\.| [.,;]",
    "a doubled word": r"\b(\w+) \1\b",
    "a before a vowel": r"\b[Aa] (?!uni|uto|us[eu]|eu|one\b)[aeiou]",
    "an before a consonant": r"\b[Aa]n (?!hour)([b-df-hj-np-tv-z]|uni|uto|us[eu])",
    "the wrong article before a number": r"\b[Aa] (8|1[18](\d\d)?\b)|\b[Aa]n (?!1[18])[1-79]",
}


@pytest.mark.parametrize("fault", LINT)
def test_no_passage_has(corpus: Corpus, fault: str) -> None:
    pattern = re.compile(LINT[fault])
    texts = [p.text for p in corpus.passages if pattern.search(p.text)]
    assert not texts, texts[:3]


def test_passages_are_of_readable_length_and_documents_of_several(corpus: Corpus) -> None:
    assert len(corpus) >= 10_000
    lengths = [len(passage.text.split()) for passage in corpus.passages]
    assert MIN_WORDS <= min(lengths) and max(lengths) <= MAX_WORDS
    parts = Counter(passage.document_id for passage in corpus.passages)
    assert max(parts.values()) <= MAX_PARTS
    assert sum(count >= 2 for count in parts.values()) >= 0.99 * len(parts)


def test_passages_are_numbered_and_documents_stand_together(corpus: Corpus) -> None:
    for number, passage in enumerate(corpus.passages):
        assert passage.passage_id == number
        assert corpus.document(passage.document_id)[passage.part] is passage
        assert corpus.find_title(passage.title) == passage.document_id


def test_no_two_passages_say_the_same(corpus: Corpus) -> None:
    assert len({passage.text for passage in corpus.passages}) == len(corpus)


def test_the_first_sentence_names_the_documents_subject(corpus: Corpus) -> None:
    for passage in corpus.passages:
        name = re.sub(r" \([^)]*\)$", "", passage.title)
        assert name.casefold() in passage.text.casefold() or passage.part, passage
    named = sum(
        re.sub(r" \([^)]*\)$", "", passage.title) in passage.text for passage in corpus.passages
    )
    assert named >= 0.8 * len(corpus)


def test_wording_varies(corpus: Corpus) -> None:
    """No sentence is told more often than a few dozen times among tens of thousands."""
    sentences = Counter(
        sentence for passage in corpus.passages for sentence in re.split(r"(?<=\.) ", passage.text)
    )
    assert sum(sentences.values()) >= 50_000
    assert len(sentences) >= 0.7 * sum(sentences.values())
    assert sentences.most_common(1)[0][1] <= 100
