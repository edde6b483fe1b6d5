"""Draws the question set: the seven families, their structures and their splits."""

from __future__ import annotations

from agentgym_envs.searchqa.questions import FAMILIES, Question
from worlds.dice import Dice
from worlds.searchqa.asking.drafts import Draft, Drafter
from worlds.searchqa.asking.drawing import Drawer
from worlds.searchqa.asking.oracle import Oracle
from worlds.searchqa.asking.rivals import Rivals
from worlds.searchqa.asking.splitting import Splitting
from worlds.searchqa.prose.writer import Library
from worlds.searchqa.values import Entity, World, value_forms

SPLIT_SIZES: dict[str, dict[str, int]] = {
    "train": dict(zip(FAMILIES, (3000, 3000, 2400, 3200, 3200, 3200, 1600), strict=True)),
    "validation": dict(zip(FAMILIES, (140, 140, 130, 150, 150, 190, 100), strict=True)),
    "test": dict(zip(FAMILIES, (520, 520, 450, 540, 540, 640, 340), strict=True)),
}
"""How many questions of each family a split holds."""

PAPER_SIZES = dict(zip(FAMILIES, (50, 50, 50, 50, 50, 100, 50), strict=True))
"""The sizes of AgentGym-RL's test panel (arXiv 2509.08755)."""

_SHARE_PER_STRUCTURE = 0.06
_MAX_TRIES = 400_000


class Examiner:
    """Draws questions until every split of a family is full.

    Args:
        world: the facts.
        library: the passages that tell them.
        seed: fixes the draw.
    """

    def __init__(self, world: World, library: Library, seed: int) -> None:
        self.world, self.seed = world, seed
        self.splitting = Splitting(world)
        self.oracle = Oracle(library)
        self.rivals = Rivals(world)
        self.inbound = [0] * len(world.entities)
        for entity in world.entities:
            for value in entity.facts.values():
                if isinstance(value, Entity):
                    self.inbound[value.number] += 1
        self._texts: set[str] = set()
        self._facts: set[tuple[object, ...]] = set()

    def questions(self) -> list[Question]:
        """Draw all questions, numbered by split and family."""
        drawn = {family: self._family(family) for family in FAMILIES}
        numbered: list[Question] = []
        for split in SPLIT_SIZES:
            for family in FAMILIES:
                for draft in drawn[family][split]:
                    numbered.append(
                        Question(
                            len(numbered),
                            draft.text,
                            value_forms(draft.answer),
                            family,
                            split,
                            draft.hops,
                            draft.structure,
                        )
                    )
        return numbered

    def split_of(self, draft: Draft) -> str | None:
        """Return the only split that a draft may go to; None if there is none."""
        if draft.answer not in ("yes", "no"):
            split = self.splitting.of_value(draft.answer)
            if split is not None:
                return split
        splits = {self.splitting.of_entity(subject) for subject in draft.subjects}
        return splits.pop() if len(splits) == 1 else None

    def _family(self, family: str) -> dict[str, list[Draft]]:
        """Draw one family, no structure too often."""
        dice = Dice(self.seed, "questions", family)
        drafter = Drafter(self.world, self.oracle, self.splitting, dice)
        draw = Drawer(drafter, self.inbound, self.rivals).of_family(family)
        sizes = {split: SPLIT_SIZES[split][family] for split in SPLIT_SIZES}
        filled: dict[str, list[Draft]] = {split: [] for split in sizes}
        structures: dict[tuple[str, str], int] = {}
        for _ in range(_MAX_TRIES):
            open_splits = [split for split in sizes if len(filled[split]) < sizes[split]]
            if not open_splits:
                return filled
            draft = draw(dice.pick(open_splits))
            split = draft and self.split_of(draft)
            if draft is None or split not in open_splits:
                continue
            most = max(6, int(sizes[split] * _SHARE_PER_STRUCTURE))
            if structures.get((split, draft.structure), 0) >= most or not self._is_new(draft):
                continue
            structures[split, draft.structure] = structures.get((split, draft.structure), 0) + 1
            filled[split].append(draft)
        raise AssertionError(f"{family}: {_MAX_TRIES} tries left {open_splits} short")

    def _is_new(self, draft: Draft) -> bool:
        """Return whether neither the words nor the fact were asked before, and note them."""
        text = draft.text.casefold().rstrip("?.")
        fact = (draft.structure, *(subject.number for subject in draft.subjects))
        if text in self._texts or fact in self._facts:
            return False
        self._texts.add(text)
        self._facts.add(fact)
        return True
