"""A world of a few documents, for tests that need no more."""

from __future__ import annotations

from typing import Any

from agentgym_envs.retrieval.documents import Corpus, Passage
from agentgym_envs.searchqa.env import SearchQAEnv
from agentgym_envs.searchqa.questions import Hop, Question, QuestionSet

DOCUMENTS = {
    "Orla Venn": (
        "Orla Venn was a painter from Tarsk.",
        "In her youth Orla Venn studied under the sculptor Ivo Brann.",
        "L" * 1450,
        "Her motto was 'stone remembers'.",
    ),
    "Ivo Brann": ("Ivo Brann, a sculptor, was born in the town of Quill in 1871.",),
    "Quill": ("Quill is a town on the river Ashe.",),
    "Quill (novel)": ("Quill is a novel about the town and the river of nobody.",),
}


def corpus() -> Corpus:
    passages = []
    for document_id, (title, texts) in enumerate(DOCUMENTS.items()):
        for part, text in enumerate(texts):
            passages.append(Passage(len(passages), title, text, document_id, part))
    return Corpus(passages, "small-corpus v1")


BORN = Hop("Ivo Brann born", (4,), "Quill")
QUESTIONS = (
    Question(
        0, "Where was Ivo Brann born?", ("Quill", "the town of Quill"), "nq", "train", (BORN,)
    ),
    Question(
        1,
        "Where was the teacher of Orla Venn born?",
        ("Quill",),
        "hotpotqa",
        "train",
        (Hop("Orla Venn studied under", (1,), "Ivo Brann"), BORN),
        "teacher/birthplace",
    ),
    Question(
        2,
        "What was the motto of Orla Venn?",
        ("stone remembers",),
        "popqa",
        "test",
        (Hop("Orla Venn painter", (3,), "stone remembers"),),
    ),
    Question(3, "On which river is Quill?", ("Ashe", "the river Ashe"), "nq", "validation"),
    Question(4, "Who was the aunt of Ivo Brann?", ("Ulla Sorn",), "nq", "test"),
)


def questions() -> QuestionSet:
    return QuestionSet(QUESTIONS, "small-questions v1", paper_test=(2,))


def make(**kwargs: Any) -> SearchQAEnv:
    return SearchQAEnv(**{"data_dir": questions(), "corpus": corpus(), "top_k": 2, **kwargs})
