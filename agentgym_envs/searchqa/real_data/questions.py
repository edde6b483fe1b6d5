"""Questions of the real data sets, read from files in FlashRAG's layout."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from agentgym_envs.searchqa.questions import SPLITS, Question, QuestionSet
from agentgym_envs.searchqa.real_data.parts import (
    FILES,
    PARTS,
    Part,
    find_part,
    paper_test_numbers,
)
from agentgym_envs.searchqa.real_data.question_rows import ENDINGS, QuestionFile

_SAMPLE_BYTES = 1 << 16


class FlashRagQuestions(QuestionSet):
    """The questions of those data sets whose files a folder holds.

    A line is `{"id": ..., "question": ..., "golden_answers": [...]}`, or has the form of another
    data set (`question_rows`); its number depends on the file and its place in it, not on its own
    id. A file is read when a number of its range is asked for, and checked whole when its split is
    listed: rows without a question or an answer are left out. As in AgentGym, a question without a
    question mark gets one.

    Args:
        folder: holds `nq/test.jsonl` and the like (`.jsonl.gz`, `.json` or `.parquet`); not all
            files need be there.
        name: names the folder in `source`.

    Raises:
        ValueError: the folder holds none of the files.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self._files: dict[Part, QuestionFile] = {}
        for part in PARTS:
            names = [Path(file).with_suffix(end) for file in part.files for end in ENDINGS]
            present = [folder / name for name in names if (folder / name).is_file()]
            if present:
                self._files[part] = QuestionFile(present[0])
        if not self._files:
            raise ValueError(
                f"{folder} holds none of the data sets' files; expected FlashRAG's layout, one or "
                f"more of: {', '.join(FILES)}"
            )
        self.source = f"{name} ({_fingerprint(list(self._files.values()), folder)})"
        self._numbers_of: dict[str, Sequence[int]] = {}

    def __len__(self) -> int:
        """Return the number of questions, for which every file is read through."""
        return sum(self._size(part) for part in self._files)

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of one split that the folder has, ascending.

        Only the files of this split are read. A split may be empty: `explain_empty` says why.

        Raises:
            ValueError: there is no such split, or a file is too long for its range or holds no
                question.
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
                if number - part.first not in self._files[part].bad
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
                Or its row is of none of the forms.
        """
        part = self._part(number)
        text, answers = self._files[part][number - part.first]
        return Question(number, text, answers, part.family, part.split)

    def _part(self, number: int) -> Part:
        part = find_part(number)
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


def _fingerprint(files: Sequence[QuestionFile], folder: Path) -> str:
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
