"""Questions of the real data sets, read from FlashRAG's files one line at a time."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentgym_envs.searchqa.questions import SPLITS, Question, QuestionSet
from agentgym_envs.searchqa.real_data.lines import JsonLines
from agentgym_envs.searchqa.real_data.parts import (
    FILES,
    PARTS,
    Part,
    paper_test_numbers,
    part_of,
)

_SAMPLE_BYTES = 1 << 16


class FlashRagQuestions(QuestionSet):
    """The questions of those data sets whose files a folder holds.

    A line is `{"id": ..., "question": ..., "golden_answers": [...]}`; its number depends on the
    file and its place in it, not on its own id. A file is read when a number of its range is asked
    for. As in AgentGym, a question without a question mark gets one.

    Args:
        folder: holds `nq/test.jsonl` and the like; not all files need be there.
        name: names the folder in `source`.

    Raises:
        ValueError: the folder holds none of the files.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self._files: dict[Part, JsonLines] = {}
        for part in PARTS:
            present = [folder / file for file in part.files if (folder / file).is_file()]
            if present:
                self._files[part] = JsonLines(present[0])
        if not self._files:
            raise ValueError(
                f"{folder} holds none of the data sets' files; expected FlashRAG's layout, one or "
                f"more of: {', '.join(FILES)}"
            )
        self.source = f"{name} ({_fingerprint(list(self._files.values()), folder)})"
        self._numbers_of: dict[str, Sequence[int]] = {}

    def __len__(self) -> int:
        """Return how many questions there are; every file is read through for it."""
        return sum(self._size(part) for part in self._files)

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of one split that the folder has, ascending.

        Only the files of this split are read. A split may be empty: `explain_empty` says why.

        Raises:
            ValueError: there is no such split, or a file is too long for its range.
        """
        if split not in SPLITS:
            raise ValueError(
                f"unknown split {split!r} of {self.source}; allowed: {', '.join(SPLITS)}"
            )
        if split not in self._numbers_of:
            holder = "test" if split == "paper_test" else split
            numbers = [
                number
                for part in self._files
                if part.split == holder
                for number in range(part.first, part.first + self._size(part))
            ]
            if split == "paper_test":
                numbers = [number for number in numbers if number in paper_test_numbers()]
            self._numbers_of[split] = numbers
        return self._numbers_of[split]

    def missing(self, split: str) -> list[str]:
        """List the files of a split that the folder lacks."""
        holder = "test" if split == "paper_test" else split
        return [
            " or ".join(part.files)
            for part in PARTS
            if part.split == holder and part not in self._files
        ]

    def explain_empty(self, split: str) -> str:
        """Name the files of one of `SPLITS` that the folder lacks, or has in part."""
        holder = "test" if split == "paper_test" else split
        reasons = [
            f"{lines.path.relative_to(self.folder).as_posix()} has {len(lines)} of "
            f"{part.stop - part.first} lines"
            for part, lines in self._files.items()
            if part.split == holder and len(lines) < part.stop - part.first
        ]
        lacking = self.missing(split)
        if lacking:
            reasons.append(f"{self.folder} lacks {', '.join(lacking)}")
        if split == "paper_test":
            reasons.insert(
                0, "its 400 ids are pinned and none of them is in the files that are there"
            )
        return "; ".join(reasons)

    def question(self, number: int) -> Question:
        """Return a question by its number.

        Raises:
            ValueError: there is no such question here; the message says which file would hold it.
                Or its line is not of FlashRAG's form.
        """
        part = self._part(number)
        line = self._files[part][number - part.first]
        where = f"{self._files[part].path}, question {number - part.first}"
        return Question(
            number=number,
            text=_question_text(line, where),
            answers=_answers(line, where),
            family=part.family,
            split=part.split,
        )

    def _part(self, number: int) -> Part:
        part = part_of(number)
        place = number - part.first
        where = f"question {number} is number {place} of {part.family}'s {part.split} file"
        if part not in self._files:
            raise ValueError(
                f"{where}, {' or '.join(part.files)}, which {self.folder} lacks; put it there, or "
                "choose among the numbers of the files that are there"
            )
        if place >= self._size(part):
            raise ValueError(
                f"{where}, and {self._files[part].path} has {self._size(part)} lines; put the "
                f"whole file of {part.stop - part.first} lines there, or choose a lower number"
            )
        return part

    def _size(self, part: Part) -> int:
        lines = self._files[part]
        if len(lines) > part.stop - part.first:
            raise ValueError(
                f"{lines.path} has {len(lines)} lines, and AgentGym's ids leave room for "
                f"{part.stop - part.first}; put FlashRAG's own file there"
            )
        return len(lines)


def _question_text(line: dict[str, Any], where: str) -> str:
    text = line.get("question")
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{where}: 'question' must be a string that is not empty, got {text!r}")
    text = text.strip()
    return text if text.endswith("?") else f"{text}?"


def _answers(line: dict[str, Any], where: str) -> tuple[str, ...]:
    answers = line.get("golden_answers")
    if isinstance(answers, str):
        answers = [answers]
    if not isinstance(answers, list) or not answers:
        raise ValueError(f"{where}: 'golden_answers' must be a list of strings, got {answers!r}")
    return tuple(str(answer) for answer in answers)


def _fingerprint(files: Sequence[JsonLines], folder: Path) -> str:
    """Hash names, sizes, heads and tails of the files: the whole would take seconds to read."""
    digest = sha256()
    for path in sorted(lines.path for lines in files):
        size = path.stat().st_size
        with path.open("rb") as file:
            head = file.read(_SAMPLE_BYTES)
            file.seek(max(0, size - _SAMPLE_BYTES))
            tail = file.read()
        digest.update(f"{path.relative_to(folder).as_posix()}\0{size}\0".encode())
        digest.update(head)
        digest.update(tail)
    return digest.hexdigest()[:12]
