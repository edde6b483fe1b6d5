"""Reads questions from the rows of FlashRAG, HotpotQA, Natural Questions and Search-R1."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from agentgym_envs.content.row_files import read_rows
from agentgym_envs.searchqa.real_data.lines import JsonLines

ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".parquet")
"""Endings of the names of question files."""

_ANSWERS = ("golden_answers", "answers", "answer")
_PROMPT_MARK = "Question:"
"""Behind it Search-R1's prompts have the question."""
_NAMED = 5
"""Bad lines that a warning names."""

_log = logging.getLogger(__name__)


class QuestionFile:
    """The rows of a file of questions. Lines of JSON are read as they are asked for.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __len__(self) -> int:
        """Return the number of rows, bad ones included."""
        return len(self._rows)

    def __getitem__(self, place: int) -> tuple[str, tuple[str, ...]]:
        """Return the question and the accepted answers of a row, from 0.

        Raises:
            ValueError: the row is not of one of the forms.
        """
        where = f"{self.path}, question {place}"
        row = self._rows[place]
        if isinstance(row, ValueError):
            raise row
        if not isinstance(row, Mapping):
            raise ValueError(f"{where}: expected an object, got {row!r:.80}")
        return _question(row, where), _answers(row, where)

    @cached_property
    def bad(self) -> frozenset[int]:
        """The rows that hold no question, of the whole file. A warning names them.

        Raises:
            ValueError: all of them do.
        """
        problems: dict[int, str] = {}
        for place in range(len(self)):
            try:
                self[place]
            except ValueError as error:
                problems[place] = str(error)
        named = "; ".join(list(problems.values())[:_NAMED])
        if problems and len(problems) == len(self):
            raise ValueError(f"{self.path} holds no question: {named}")
        if problems:
            _log.warning(
                "%s: %d of %d rows hold no question and are left out: %s%s",
                self.path,
                len(problems),
                len(self),
                named,
                "; ..." if len(problems) > _NAMED else "",
            )
        return frozenset(problems)

    @cached_property
    def _rows(self) -> JsonLines | Sequence[Any]:
        if self.path.suffix == ".jsonl":
            return JsonLines(self.path)
        return list(read_rows(self.path, keep_bad_lines=True))


def _question(row: Mapping[str, Any], where: str) -> str:
    text = row.get("question")
    if text is None:
        prompt = row.get("prompt")
        if isinstance(prompt, list) and prompt and isinstance(prompt[-1], Mapping):
            prompt = prompt[-1].get("content")
        text = prompt.rpartition(_PROMPT_MARK)[2] if isinstance(prompt, str) else None
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{where}: 'question' must be a string that is not empty, got {text!r}")
    text = text.strip()
    return text if text.endswith("?") else f"{text}?"


def _answers(row: Mapping[str, Any], where: str) -> tuple[str, ...]:
    name = next((name for name in _ANSWERS if row.get(name) is not None), _ANSWERS[0])
    answers = row.get(name)
    if answers is None and isinstance(row.get("reward_model"), Mapping):  # Search-R1's
        name, answers = "reward_model", row["reward_model"].get("ground_truth")
    if isinstance(answers, Mapping):  # of TriviaQA, SQuAD and Search-R1
        kinds = ("value", "aliases", "text", "target")
        answers = [answer for kind in kinds for answer in _listed(answers.get(kind))]
    answers = [*_listed(answers), *_listed(row.get("answer_aliases"))]  # MuSiQue's
    answers = [answer for answer in answers if answer is not None]
    texts = tuple(dict.fromkeys(str(answer).strip() for answer in answers))
    is_plain = all(type(answer) in (str, int, float) for answer in answers)
    if not texts or not all(texts) or not is_plain:
        raise ValueError(
            f"{where}: {name!r} must be a list of strings that are not empty, got "
            f"{row.get(name)!r:.80}"
        )
    return texts


def _listed(answers: Any) -> list[Any]:
    if answers is None:
        return []
    return list(answers) if isinstance(answers, list | tuple) else [answers]
