"""Reads a fictional world, its passages and questions: the one that is shipped, or a fresh one.

`python -m worlds searchqa` makes them. Such a folder holds `world.jsonl.xz`, a line of JSON about
the world and then one per passage and per question, and `world.json` with the SHA-256 of these.
"""

from __future__ import annotations

import json
import lzma
from functools import cache
from hashlib import sha256
from pathlib import Path

from agentgym_envs.searchqa.documents import Corpus, Passage
from agentgym_envs.searchqa.questions import Hop, Question, QuestionSet

CONTENT_FILE = "world.jsonl.xz"
ABOUT_FILE = "world.json"
EMBEDDED = Path(__file__).with_name("embedded")
"""The folder of the world that is shipped."""


def is_world(folder: str | Path) -> bool:
    """Return whether a folder holds a world."""
    return (Path(folder) / ABOUT_FILE).is_file()


@cache
def embedded_world() -> tuple[Corpus, QuestionSet]:
    """Return the passages and questions that are shipped, read once per process."""
    return load_world(EMBEDDED)


def load_world(folder: str | Path) -> tuple[Corpus, QuestionSet]:
    """Return the passages and the questions of a world; both name its version and its hash.

    Raises:
        ValueError: the content is damaged, or not what `world.json` says.
    """
    folder = Path(folder)
    expected = json.loads((folder / ABOUT_FILE).read_text("utf-8"))["content"]
    rows = [json.loads(line) for line in _content(folder / CONTENT_FILE, expected).split(b"\n")]
    head, end = rows[0], rows[0]["passages"] + 1
    passages = [Passage(number, *row) for number, row in enumerate(rows[1:end])]
    questions = [_question(number, *row) for number, row in enumerate(rows[end:])]
    source = f"{head['name']} ({expected[:12]})"
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


def _content(path: Path, expected: str) -> bytes:
    """Return the uncompressed content of a file, if it has the SHA-256 that it should have."""
    try:
        content = lzma.decompress(path.read_bytes())
        actual = sha256(content).hexdigest()
    except (OSError, EOFError, lzma.LZMAError) as error:
        actual = f"{type(error).__name__}: {error}"
    if actual != expected:
        raise ValueError(
            f"{path} is damaged or of another version: expected the SHA-256 {expected[:12]}, got "
            f"{actual[:80]}; install agentgym-envs again, or make the world again with "
            "python -m worlds searchqa"
        )
    return content
