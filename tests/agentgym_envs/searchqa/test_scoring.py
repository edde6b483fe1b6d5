from __future__ import annotations

import pytest

from agentgym_envs.searchqa.scoring import exact_match, f1, normalise


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The  Ship's Log!", "ships log"),
        ("an apple, a day", "apple day"),
        ("Theatre of a Man", "theatre of man"),
        ("U.S.A.", "usa"),
        ("a-b", "ab"),
        (" \n\t", ""),
        ("The", ""),
        ("Zoë – 3½", "zoë – 3½"),
    ],
)
def test_normalisation_drops_case_ascii_punctuation_articles_and_spaces(
    text: str, normal: str
) -> None:
    assert normalise(text) == normal


def test_any_accepted_answer_will_do() -> None:
    assert exact_match("the Quill.", ["Ashe", "Quill"])
    assert not exact_match("Quill town", ["Ashe", "Quill"])
    assert not exact_match("Quill", [])


def test_dashes_and_quotes_may_be_those_of_a_keyboard() -> None:
    assert exact_match("Takisawan-Brannholmer War", ["Takisawan–Brannholmer War"])
    assert exact_match("the clockmaker’s river", ["The Clockmaker's River"])
    assert f1("Takisawan-Brannholmer War", ["Takisawan–Brannholmer War"]) == 1.0
    assert not exact_match("Takisawan War", ["Takisawan–Brannholmer War"])


def test_an_answer_of_articles_alone_is_not_every_such_answer() -> None:
    assert exact_match(" a ", ["A"])
    assert not exact_match("the", ["A"])
    assert not exact_match("", ["The The"])
    assert f1("the the", ["The The"]) == 1.0


def test_f1_counts_shared_words_as_multisets() -> None:
    # 2 shared of 3 said and 2 wanted: precision 2/3, recall 1, F1 = 4/5.
    assert f1("the old town Quill", ["town Quill"]) == pytest.approx(0.8)
    # "bora" is shared once, not twice: precision 1/2, recall 1/2.
    assert f1("bora bora", ["bora isle"]) == pytest.approx(0.5)
    assert f1("nothing", ["town Quill"]) == 0.0
    assert f1("", ["town"]) == 0.0


def test_f1_takes_the_best_accepted_answer() -> None:
    assert f1("town Quill", ["Ashe", "Quill", "the old town Quill"]) == pytest.approx(0.8)
    assert f1("x", []) == 0.0


def test_an_exact_match_has_f1_one() -> None:
    assert f1("Twelve!", ["twelve"]) == 1.0
