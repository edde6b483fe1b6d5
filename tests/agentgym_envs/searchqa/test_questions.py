import pytest

from agentgym_envs.searchqa.questions import SPLITS, Question, QuestionSet


def question(number: int, split: str) -> Question:
    return Question(number, f"Question {number}?", ("yes",), "nq", split)


@pytest.fixture
def questions() -> QuestionSet:
    made = [question(4, "test"), question(1, "train"), question(3, "test")]
    return QuestionSet(made, "made v1 (0)", paper_test=[4])


def test_numbers_of_a_split_ascend(questions: QuestionSet) -> None:
    assert {split: list(questions.numbers(split)) for split in SPLITS} == {
        "train": [1],
        "validation": [],
        "test": [3, 4],
        "paper_test": [4],
    }
    assert len(questions) == 3


def test_a_question_is_found_by_its_number(questions: QuestionSet) -> None:
    assert questions.question(3).text == "Question 3?"


def test_unknown_numbers_and_splits_are_named_in_the_error(questions: QuestionSet) -> None:
    with pytest.raises(ValueError, match="unknown question number 9; made v1 .* 1 to 4"):
        questions.question(9)
    with pytest.raises(ValueError, match="unknown split 'dev'.*paper_test"):
        questions.numbers("dev")
