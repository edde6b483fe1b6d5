"""Reads a fictional world, its passages and questions: the shipped one, or a fresh one.

`python -m worlds searchqa` makes them: a row about the world, and then one per passage and per
question.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from agentgym_envs.content.packed import PackedRows
from agentgym_envs.retrieval.documents import Corpus, Passage
from agentgym_envs.searchqa.questions import Hop, Question, QuestionSet

WORLD = PackedRows("world", "searchqa")
EMBEDDED = Path(__file__).with_name("embedded")
"""The folder of the world that is shipped."""


@cache
def embedded_world() -> tuple[Corpus, QuestionSet]:
    """Return the passages and questions that are shipped, read once per process."""
    return load_world(EMBEDDED)


def load_world(folder: str | Path) -> tuple[Corpus, QuestionSet]:
    """Return the passages and questions of a world, which name its version and its hash.

    Raises:
        ValueError: the content is damaged, or not what `world.json` says.
    """
    rows, digest = WORLD.read(folder)
    head, end = rows[0], rows[0]["passages"] + 1
    passages = [Passage(number, *row) for number, row in enumerate(rows[1:end])]
    questions = [_question(number, *row) for number, row in enumerate(rows[end:])]
    source = f"{head['name']} ({digest})"
    return Corpus(passages, source), QuestionSet(questions, source, paper_test=head["paper_test"])


def _question(
    number: int,
    text: str,
    answers: list[str],
    family: str,
    split: str,
    structure: str,
    hops: list[tuple[str, list[int], str]],
) -> Question:
    path = tuple(Hop(query, tuple(gold), answer) for query, gold, answer in hops)
    return Question(number, text, tuple(answers), family, split, path, structure)
