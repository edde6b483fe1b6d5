"""The questions of each family: their structures and how often each is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentgym_envs.searchqa.questions import FAMILIES
from worlds.searchqa.asking.comparing import Comparer
from worlds.searchqa.asking.drafts import Draft, Drafter, step_of
from worlds.searchqa.asking.rivals import Rivals
from worlds.searchqa.values import Entity


class Drawer:
    """Draws drafts of questions. A draw may fail.

    Args:
        drafter: makes trees and checks them.
        inbound: for each entity, how many facts of others are about it.
        rivals: knows the neighbours that mislead.
    """

    def __init__(self, drafter: Drafter, inbound: Sequence[int], rivals: Rivals) -> None:
        self.drafter, self.dice = drafter, drafter.dice
        self.inbound, self.rivals = inbound, rivals
        self.comparer = Comparer(drafter)

    def family_drawer(self, family: str) -> Callable[[str], Draft | None]:
        """Return the function that draws a draft of a family, meant for a split."""
        drawers = (
            self.nq,
            self.triviaqa,
            self.popqa,
            self.hotpotqa,
            self.wiki,
            self.musique,
            self.bamboogle,
        )
        return dict(zip(FAMILIES, drawers, strict=True))[family]

    def nq(self, split: str) -> Draft | None:
        """A single fact, asked as one types into a search box."""
        return self.drafter.draft(self.drafter.chain(self._start(split), 1), "query")

    def triviaqa(self, split: str) -> Draft | None:
        """A single fact, asked as in a quiz: by its value, by two clues, or by a full name."""
        drafter, dice = self.drafter, self.dice
        roll = dice.below(100)
        if roll < 35:
            return drafter.draft(drafter.back(split))
        if roll < 70:
            joined = drafter.join(split, (0, 0))
            return drafter.draft(joined[0] if joined else None)
        entity = self._start(split)
        anchor = drafter.anchor(entity, full=True)
        known = [r for r in drafter.relations[entity.kind] if r in entity.facts]
        if anchor is None or not known:
            return None
        return drafter.draft(step_of(anchor, dice.pick(known), entity))

    def popqa(self, split: str) -> Draft | None:
        """A single fact about an entity that hardly any other document mentions."""
        start = self._start(split, rare=True)
        return self.drafter.draft(self.drafter.chain(start, 1), "name")

    def hotpotqa(self, split: str) -> Draft | None:
        """Two facts over a bridge, a comparison, or a fact of the winner of one."""
        roll = self.dice.below(100)
        if roll < 70:
            return self.drafter.draft(self.drafter.chain(self._start(split), 2, backs=0.3))
        if roll < 80:
            return self.comparer.winner()
        return self.comparer.compare() if roll < 90 else self.comparer.same(split)

    def wiki(self, split: str) -> Draft | None:
        """A composition, kinship, or a comparison of entities that are only described."""
        drafter, dice = self.drafter, self.dice
        roll = dice.below(100)
        if roll < 45:
            return drafter.draft(drafter.chain(self._start(split), 2))
        if roll < 80:
            entity = self._start(split)
            if entity.kind == "person":
                return drafter.draft(drafter.kin(entity))
            ways = [r for r, v in entity.facts.items() if _is_person(v)]
            return drafter.draft(drafter.kin(entity, dice.pick(ways))) if ways else None
        if roll < 90:
            return self.comparer.compare(bridged=roll < 85)
        return self.comparer.same(split, bridged=dice.chance(0.6))

    def musique(self, split: str) -> Draft | None:
        """Two to four hops, in a row or over two branches that meet."""
        drafter, dice = self.drafter, self.dice
        roll = dice.below(100)
        if roll < 60:
            length = 2 if roll < 15 else 3 if roll < 42 else 4
            return drafter.draft(drafter.chain(self._start(split), length, backs=0.2))
        depths = ((1, 0), (1, 1), (2, 0), (2, 1))[dice.below(4)]
        joined = drafter.join(split, depths)
        if joined is None:
            return None
        node, target = joined
        if sum(depths) == 3 or not dice.chance(0.45):
            return drafter.draft(node)
        relation = dice.pick(drafter.relations[target.kind])
        if relation in node.relations or relation not in target.facts:
            return None
        return drafter.draft(step_of(node, relation, target))

    def bamboogle(self, split: str) -> Draft | None:
        """Two hops over a bridge that is easily mistaken for another."""
        draft = self.drafter.draft(self.drafter.chain(self._start(split), 2, backs=0.1))
        if draft is None:
            return None
        bridge = draft.values[0]
        return draft if isinstance(bridge, Entity) and self.rivals.of(bridge) else None

    def _start(self, split: str, *, rare: bool = False) -> Entity:
        """Pick an entity to start from, of the split somewhat more often than of others."""
        drafter, dice = self.drafter, self.dice
        while True:
            pool = drafter.pool(dice.pick(drafter.kinds), split if dice.chance(0.6) else None)
            entity = dice.pick(pool) if pool else None
            if entity and (not rare or self.inbound[entity.number] <= 1):
                return entity


def _is_person(value: object) -> bool:
    return isinstance(value, Entity) and value.kind == "person"
