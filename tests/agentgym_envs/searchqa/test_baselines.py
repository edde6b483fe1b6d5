from __future__ import annotations

from collections import Counter

import pytest

from agentgym_envs.errors import NoExpert
from agentgym_envs.retrieval.documents import Passage
from agentgym_envs.searchqa import baselines
from agentgym_envs.searchqa.env import SearchQAEnv
from agentgym_envs.searchqa.questions import FAMILIES, Question, QuestionSet
from tests.agentgym_envs.searchqa import small_world

ONE_HOP = ("nq", "triviaqa", "popqa")


def success(name: str, every: int) -> dict[str, float]:
    """Play a baseline on the test split, and return its success by family."""
    env = SearchQAEnv(split="test")
    tasks, solved = Counter[str](), Counter[str]()
    for task_id in env.task_ids()[::every]:
        env.reset(options={"task_id": task_id})
        for action in env.baseline(name):
            info = env.step(action)[4]
        tasks[info["subtask"]] += 1
        solved[info["subtask"]] += info["success"]
    return {family: solved[family] / tasks[family] for family in FAMILIES}


@pytest.mark.full
def test_the_question_alone_answers_few_of_any_family() -> None:
    assert max(success("question_only", 1).values()) <= 0.05


def test_one_search_answers_single_facts_and_few_questions_of_several_hops() -> None:
    by_family = success("one_search", 4)
    assert all(by_family[family] >= 0.2 for family in ONE_HOP)
    assert all(by_family[family] <= 0.25 for family in FAMILIES if family not in ONE_HOP)


def guess(text: str, train: list[tuple[str, str]]) -> str:
    """Return what is answered to a question alone after training questions and answers."""
    asked = [Question(n, t, (a,), "nq", "train") for n, (t, a) in enumerate(train, 1)]
    held = QuestionSet([Question(0, text, ("?",), "nq", "test"), *asked], "made up")
    env = small_world.make(data_dir=held)
    env.reset(options={"task_id": 0})
    (action,) = env.baseline("question_only")
    assert env.step(action)[2]
    return action.removeprefix("<answer>").removesuffix("</answer>")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Were Ada and Bo born in Quill?", "no"),
        ("Who taught Ada?", "Ivo Brann"),
        ("In which city is the Battle of Quill?", "Battle of Quill"),
        ("Which battle was fought near Quill, in Venn?", "Quill"),
        ("Which city is larger, the city of Quill or Venn?", "Quill"),
        ("Between Venn Hall and the film Quill, which is older?", "Venn Hall"),
        ("Of Bo and Ada, who is older?", "Bo"),
        ("how many people live in quill", "how many people live in quill"),
    ],
)
def test_what_is_learned_is_what_is_right_most_often_of_questions_that_begin_alike(
    text: str, expected: str
) -> None:
    train = [
        ("Were Orla and Ivo born in Venn?", "no"),
        ("Do Orla and Ivo live in Venn?", "no"),
        ("Did Orla live in Venn?", "yes"),
        ("Who taught Orla?", "Ivo Brann"),
        ("Who taught Ulla?", "Ivo Brann"),
        ("Who painted Quill?", "Orla Venn"),
        ("In which city is Venn Hall?", "Venn Hall"),
        ("Which school is in Venn, by the River Ashe?", "Venn"),
        ("Which school is in Quill?", "Quill"),
    ]
    assert guess(text, train) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("When was Orla Venn born in Quill?", "3 May 1871"),
        ("In which year did Orla Venn marry?", "1899"),
        ("How many pupils did Orla Venn have?", "14"),
        ("Who taught Orla Venn?", "Ivo Brann"),
        ("Where was Orla Venn born?", "Quill"),
    ],
)
def test_one_passage_gives_what_fits_the_question(text: str, expected: str) -> None:
    passage = Passage(
        0,
        "Orla Venn",
        "Orla Venn was born on 3 May 1871 in Quill. Orla Venn did marry in 1899. The sculptor Ivo "
        "Brann taught Orla Venn. Orla Venn had 14 pupils.",
        0,
        0,
    )
    assert baselines._read_off(passage, text) == expected


def test_one_search_searches_once_and_answers() -> None:
    env = small_world.make()
    env.reset(options={"task_id": 0})
    actions = []
    for action in env.baseline("one_search"):
        actions.append(action)
        info = env.step(action)[4]
    assert actions == ["<search>Where was Ivo Brann born?</search>", "<answer>Quill</answer>"]
    assert info["success"]


def test_a_baseline_that_there_is_not_is_told() -> None:
    env = small_world.make()
    env.reset(options={"task_id": 0})
    with pytest.raises(NoExpert, match="no baseline 'luck'; it has: question_only, one_search"):
        next(env.baseline("luck"))
