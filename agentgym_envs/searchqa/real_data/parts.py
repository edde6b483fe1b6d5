"""Numbers the questions: AgentGym's id ranges over FlashRAG's files.

The ranges of test and train are AgentGym's (commit 3ef9235d), whose upper ends are exclusive: the
last id is 221327. Its table of data sets takes a data set's `test` file, and where there is none,
`dev`. It has no validation ids; ours follow its own, over the `dev` files that are no test.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from hashlib import sha256


@dataclass(frozen=True)
class Part:
    """One file of questions and its ids: its line i, from 0, has the number `first + i`.

    Attributes:
        family: the data set.
        split: `"test"`, `"train"` or `"validation"`.
        files: names that the file may have, relative to the data folder; the first there is counts.
        first: number of its first line.
        stop: the number after its last line.
    """

    family: str
    split: str
    files: tuple[str, ...]
    first: int
    stop: int


def _test(family: str, first: int, stop: int, *names: str) -> Part:
    return Part(family, "test", tuple(f"{family}/{name}.jsonl" for name in names), first, stop)


PARTS: tuple[Part, ...] = (
    _test("nq", 0, 3610, "test"),
    _test("triviaqa", 3610, 14923, "test"),
    _test("popqa", 14923, 29190, "test"),
    _test("hotpotqa", 29190, 36595, "test", "dev"),
    _test("2wikimultihopqa", 36595, 49171, "test", "dev"),
    _test("musique", 49171, 51588, "test", "dev"),
    _test("bamboogle", 51588, 51713, "test"),
    Part("nq", "train", ("nq/train.jsonl",), 51713, 130881),
    Part("hotpotqa", "train", ("hotpotqa/train.jsonl",), 130881, 221328),
    Part("nq", "validation", ("nq/dev.jsonl",), 221328, 230085),
    Part("triviaqa", "validation", ("triviaqa/dev.jsonl",), 230085, 238922),
)
"""All parts. Their ranges follow one another without a gap."""

FILES = tuple(name for part in PARTS for name in part.files)
"""Every file that may be read."""

PAPER_TEST_SIZES = {
    "nq": 50,
    "triviaqa": 50,
    "popqa": 50,
    "hotpotqa": 50,
    "2wikimultihopqa": 50,
    "musique": 100,
    "bamboogle": 50,
}
"""Questions of the paper's test panel (arXiv 2509.08755)."""

_FIRSTS = [part.first for part in PARTS]


def find_part(number: int) -> Part:
    """Return the part whose range holds a number.

    Raises:
        ValueError: no range holds it.
    """
    if not 0 <= number < PARTS[-1].stop:
        raise ValueError(
            f"unknown question number {number}; the data sets' numbers are 0 to 51712 (test), "
            f"51713 to 221327 (train) and 221328 to {PARTS[-1].stop - 1} (validation)"
        )
    return PARTS[bisect_right(_FIRSTS, number) - 1]


@cache
def paper_test_numbers() -> frozenset[int]:
    """Return the 400 numbers of `paper_test`: of each test range, those whose hashes come first.

    They are ours: the paper names the sizes, not the questions.
    """
    return frozenset(
        number
        for part in PARTS
        if part.split == "test"
        for number in sorted(range(part.first, part.stop), key=_rank)[
            : PAPER_TEST_SIZES[part.family]
        ]
    )


def _rank(number: int) -> bytes:
    return sha256(f"searchqa_{number}".encode()).digest()
