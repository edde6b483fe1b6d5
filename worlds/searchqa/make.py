"""Makes a world's content: passages, questions and the paper's test panel, in two files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentgym_envs.retrieval.documents import Passage
from agentgym_envs.searchqa.questions import FAMILIES, Question
from agentgym_envs.searchqa.world import EMBEDDED, WORLD
from worlds.dice import stable_number
from worlds.packing import named, packed, write_rows
from worlds.searchqa.asking.families import PAPER_SIZES, Examiner
from worlds.searchqa.build import build_world
from worlds.searchqa.prose.writer import Writer

VERSION = 4
"""The content's version, raised with every change of content.

A task id keeps its meaning within a version.
"""

SOURCES = (
    "worlds/searchqa",
    "worlds/dice.py",
    "agentgym_envs/content/dice.py",
    "agentgym_envs/retrieval/words.py",
)


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
    name = named("agentgym-world", VERSION, seed)
    folder = EMBEDDED if out is None else out
    digest = write_rows(folder, WORLD, pack(name, *generate(seed)), SOURCES)
    print(f"{name} ({digest}) in {folder}")


def generate(seed: int) -> tuple[list[Passage], list[Question]]:
    """Make the world of a seed, its prose and its questions."""
    world = build_world(seed)
    library = Writer(world, seed).write()
    return library.passages, Examiner(world, library, seed).questions()


def pack(name: str, passages: Sequence[Passage], questions: Sequence[Question]) -> bytes:
    """Return a row about the world, and then one per passage and per question."""
    head = {"name": name, "passages": len(passages), "paper_test": draw_panel(questions)}
    rows: list[object] = [head]
    rows.extend([p.title, p.text, p.document_id, p.part] for p in passages)
    for q in questions:
        hops = [[hop.query, hop.gold, hop.answer] for hop in q.hops]
        rows.append([q.text, q.answers, q.family, q.split, q.structure, hops])
    return packed(rows)


def draw_panel(questions: Sequence[Question]) -> list[int]:
    """Draw the test panel, with the paper's number for each family and varied structures."""
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
