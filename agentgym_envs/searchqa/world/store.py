"""Packs a corpus and its questions into bytes and back, and fingerprints them."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from hashlib import sha256

from agentgym_envs.searchqa.documents import Passage
from agentgym_envs.searchqa.questions import Hop, Question

Content = tuple[list[Passage], list[Question]]


def pack(passages: Sequence[Passage], questions: Sequence[Question]) -> bytes:
    """Return one line of JSON per passage and per question, after a line with their counts."""
    rows: list[object] = [[len(passages), len(questions)]]
    rows.extend([p.title, p.text, p.document_id, p.part] for p in passages)
    for q in questions:
        hops = [[hop.query, hop.gold, hop.answer] for hop in q.hops]
        rows.append([q.text, q.answers, q.family, q.split, q.structure, hops])
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return "\n".join(lines).encode()


def unpack(content: bytes) -> Content:
    """Return the passages and questions that `pack` has packed."""
    rows = [json.loads(line) for line in content.split(b"\n")]
    num_passages, num_questions = rows[0]
    passages = [Passage(number, *row) for number, row in enumerate(rows[1 : num_passages + 1])]
    questions = [
        Question(
            number,
            text,
            tuple(answers),
            family,
            split,
            tuple(Hop(query, tuple(gold), answer) for query, gold, answer in hops),
            structure,
        )
        for number, (text, answers, family, split, structure, hops) in enumerate(
            rows[num_passages + 1 :]
        )
    ]
    assert len(questions) == num_questions
    return passages, questions


def fingerprint(content: bytes) -> str:
    """Return the hash of packed content."""
    return sha256(content).hexdigest()


def compress(content: bytes) -> bytes:
    """Return packed content as it lies in the cache."""
    return gzip.compress(content, compresslevel=6, mtime=0)


def decompress(data: bytes) -> bytes:
    """Return packed content from its form in the cache.

    Raises:
        OSError: the data is not in that form.
        EOFError: the data ends too early.
        zlib.error: the data is damaged.
    """
    return gzip.decompress(data)
