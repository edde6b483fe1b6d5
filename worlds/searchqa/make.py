"""Makes a world's content: passages, questions and the paper's test panel, in two files."""

from __future__ import annotations

import json
import lzma
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from agentgym_envs.files import write_whole
from agentgym_envs.searchqa.documents import Passage
from agentgym_envs.searchqa.questions import FAMILIES, Question
from agentgym_envs.searchqa.world import ABOUT_FILE, CONTENT_FILE, EMBEDDED
from worlds.dice import stable_number
from worlds.searchqa.asking.families import PAPER_SIZES, Examiner
from worlds.searchqa.build import build_world
from worlds.searchqa.prose.writer import Writer
from worlds.sources import sources_digest

VERSION = 2
"""Raise it with every change that changes content: a task id keeps its meaning within a version."""

SOURCES = ("worlds/searchqa", "worlds/dice.py", "agentgym_envs/searchqa/retrieval/words.py")


def make(out: Path | None, *, seed: int = 0, scale: int = 1) -> None:
    """Make a world and write it.

    Args:
        out: the folder; None writes the one that is shipped.
        seed: another one makes another world.
        scale: there is only the scale of 1.

    Raises:
        ValueError: another scale is asked for.
    """
    if scale != 1:
        raise ValueError(f"the world of searchqa has no --scale, got {scale}; leave it out")
    passages, questions = generate(seed)
    name = f"agentgym-world v{VERSION}{f' seed {seed}' if seed else ''}"
    content = pack(name, passages, questions)
    about = {"content": sha256(content).hexdigest(), "sources": sources_digest(SOURCES)}
    folder = EMBEDDED if out is None else out
    folder.mkdir(parents=True, exist_ok=True)
    if not _has_content(folder, about["content"]):
        write_whole(folder / CONTENT_FILE, lzma.compress(content, preset=9))
    write_whole(folder / ABOUT_FILE, json.dumps(about) + "\n")
    print(f"{name} ({about['content'][:12]}) in {folder}")


def _has_content(folder: Path, content: str) -> bool:
    """Return whether a folder has content of this hash; a compressor may write it otherwise."""
    about = folder / ABOUT_FILE
    return about.is_file() and json.loads(about.read_text("utf-8"))["content"] == content


def generate(seed: int) -> tuple[list[Passage], list[Question]]:
    """Make the world of a seed, its prose and its questions."""
    world = build_world(seed)
    library = Writer(world, seed).write()
    return library.passages, Examiner(world, library, seed).questions()


def pack(name: str, passages: Sequence[Passage], questions: Sequence[Question]) -> bytes:
    """Return a line of JSON about the world, and then one per passage and per question."""
    head = {"name": name, "passages": len(passages), "paper_test": draw_panel(questions)}
    rows: list[object] = [head]
    rows.extend([p.title, p.text, p.document_id, p.part] for p in passages)
    for q in questions:
        hops = [[hop.query, hop.gold, hop.answer] for hop in q.hops]
        rows.append([q.text, q.answers, q.family, q.split, q.structure, hops])
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    return "\n".join(lines).encode()


def draw_panel(questions: Sequence[Question]) -> list[int]:
    """Draw the test panel, of each family as many as in the paper and no structure too often."""
    panel: list[int] = []
    for family in FAMILIES:
        pool = [q for q in questions if q.family == family and q.split == "test"]
        pool.sort(key=lambda question: stable_number("paper_test", question.text))
        taken: dict[str, int] = {}
        rank = {}
        for question in pool:
            rank[question.number] = taken[question.structure] = taken.get(question.structure, 0) + 1
        pool.sort(key=lambda question: rank[question.number])
        panel.extend(question.number for question in pool[: PAPER_SIZES[family]])
    return sorted(panel)
