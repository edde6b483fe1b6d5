"""Draws the question set: the seven families, their structures and their splits."""

from __future__ import annotations

from collections import Counter

from agentgym_envs.searchqa.questions import FAMILIES, Question
from worlds.dice import Dice
from worlds.searchqa.asking.drafts import Draft, Drafter
from worlds.searchqa.asking.drawing import Drawer
from worlds.searchqa.asking.oracle import Oracle
from worlds.searchqa.asking.rivals import Rivals
from worlds.searchqa.asking.shortcuts import Shortcuts
from worlds.searchqa.asking.splitting import Splitting
from worlds.searchqa.prose.writer import Library
from worlds.searchqa.values import Entity, World, value_forms

SPLIT_SIZES: dict[str, dict[str, int]] = {
    "train": dict(zip(FAMILIES, (3000, 3000, 2400, 3200, 3200, 3200, 1600), strict=True)),
    "validation": dict(zip(FAMILIES, (140, 140, 130, 150, 150, 190, 100), strict=True)),
    "test": dict(zip(FAMILIES, (520, 520, 450, 540, 540, 640, 340), strict=True)),
}
"""Number of questions of each family, by split."""

PAPER_SIZES = dict(zip(FAMILIES, (50, 50, 50, 50, 50, 100, 50), strict=True))
"""The sizes of AgentGym-RL's test panel (arXiv 2509.08755)."""

_SHARE_PER_STRUCTURE = 0.06
_SHARE_PER_ANSWER = 0.005
_SHARE_PER_BOTH = 0.001
_SHARE_PER_COIN = 0.03
"""Share of questions that a guess answers every second time: which of two, and yes or no."""
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
        self.shortcuts = Shortcuts(world, library)
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
        """Return the only split that a draft may go to, or None if there is none."""
        if draft.answer not in ("yes", "no"):
            split = self.splitting.value_split(draft.answer)
            if split is not None:
                return split
        splits = {self.splitting.entity_split(subject) for subject in draft.subjects}
        return splits.pop() if len(splits) == 1 else None

    def _family(self, family: str) -> dict[str, list[Draft]]:
        """Draw one family, no structure and no answer too often."""
        dice = Dice(self.seed, "questions", family)
        drafter = Drafter(self.world, self.oracle, self.shortcuts, self.splitting, dice)
        draw = Drawer(drafter, self.inbound, self.rivals).family_drawer(family)
        rolls = {split: _Roll(SPLIT_SIZES[split][family]) for split in SPLIT_SIZES}
        for _ in range(_MAX_TRIES):
            open_splits = [split for split, roll in rolls.items() if not roll.is_full]
            if not open_splits:
                return {split: roll.drafts for split, roll in rolls.items()}
            draft = draw(dice.pick(open_splits))
            split = draft and self.split_of(draft)
            if draft is None or split not in open_splits or not rolls[split].has_room(draft):
                continue
            if not self._is_known(draft) and not self._is_found_at_once(draft):
                rolls[split].add(draft)
                self._note(draft)
        raise AssertionError(f"{family}: {_MAX_TRIES} tries left {open_splits} short")

    def _is_found_at_once(self, draft: Draft) -> bool:
        """Return whether one search answers a question that asks for more."""
        compared = draft.structure.startswith(("compare(", "same("))
        return len(draft.hops) > 1 and self.shortcuts.is_found_at_once(
            draft.text, draft.answer, draft.hops[-2:] if compared else ()
        )

    def _is_known(self, draft: Draft) -> bool:
        """Return whether the words or the fact were asked before."""
        return _words_of(draft) in self._texts or _fact_of(draft) in self._facts

    def _note(self, draft: Draft) -> None:
        self._texts.add(_words_of(draft))
        self._facts.add(_fact_of(draft))


class _Roll:
    """The drafts of one family and split.

    Args:
        size: how many there are to be.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.drafts: list[Draft] = []
        self._counts: Counter[object] = Counter()
        self._sides: Counter[str] = Counter()

    @property
    def is_full(self) -> bool:
        """Whether the family has all its drafts."""
        return len(self.drafts) >= self.size

    def has_room(self, draft: Draft) -> bool:
        """Return whether neither its structure nor its answer has come up too often."""
        limits: dict[object, int] = {draft.structure: max(6, int(self.size * _SHARE_PER_STRUCTURE))}
        if draft.coin is None:
            limits[draft.answer] = max(2, int(self.size * _SHARE_PER_ANSWER))
            limits[draft.structure, draft.answer] = max(1, int(self.size * _SHARE_PER_BOTH))
        else:
            what, side = draft.coin
            kind = what.split()[0]
            limits[kind] = int(self.size * _SHARE_PER_COIN)
            if self._sides[what] * side > 0 or self._sides[kind] * side > 0:
                return False
        return all(self._counts[key] < most for key, most in limits.items())

    def add(self, draft: Draft) -> None:
        """Take a draft."""
        self.drafts.append(draft)
        both = (draft.structure, draft.answer)
        self._counts.update((draft.structure, draft.answer, both))
        if draft.coin is not None:
            what, side = draft.coin
            for key in (what, what.split()[0]):
                self._counts[key] += 1
                self._sides[key] += side


def _words_of(draft: Draft) -> str:
    return draft.text.casefold().rstrip("?.")


def _fact_of(draft: Draft) -> tuple[object, ...]:
    return (draft.structure, *(subject.number for subject in draft.subjects))
