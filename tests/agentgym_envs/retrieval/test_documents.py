import pytest

from agentgym_envs.retrieval.documents import Corpus, Passage


def corpus(*rows: tuple[str, int]) -> Corpus:
    parts: dict[int, int] = {}
    passages = []
    for number, (title, document_id) in enumerate(rows):
        part = parts[document_id] = parts.get(document_id, -1) + 1
        passages.append(Passage(number, title, f"Text {number}.", document_id, part))
    return Corpus(passages, "made v1 (0)")


def test_a_document_is_its_passages_in_order() -> None:
    made = corpus(("Alva", 5), ("Alva", 5), ("Brin", 9))
    assert len(made) == 3
    assert [passage.text for passage in made.document(5)] == ["Text 0.", "Text 1."]
    assert [passage.part for passage in made.document(9)] == [0]


def test_an_unknown_document_is_named_in_the_error() -> None:
    with pytest.raises(ValueError, match="unknown document_id 7; made v1"):
        corpus(("Alva", 5)).document(7)


def test_a_title_is_found_exactly_or_but_for_case_if_that_is_unique() -> None:
    made = corpus(("Alva", 1), ("ALVA", 2), ("Brin", 3))
    assert made.find_title("Alva") == 1
    assert made.find_title("ALVA") == 2
    assert made.find_title("alva") is None
    assert made.find_title(" brin ") == 3
    assert made.find_title("Corr") is None
