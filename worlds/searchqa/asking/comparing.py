"""Questions that compare two things, or ask whether they share something."""

from __future__ import annotations

from agentgym_envs.searchqa.questions import Hop
from worlds.searchqa.asking import phrasing
from worlds.searchqa.asking.drafts import Draft, Drafter, gives_away
from worlds.searchqa.asking.oracle import NoEvidence
from worlds.searchqa.asking.patterns import COMPARISONS, SAMENESS
from worlds.searchqa.asking.structure import Anchor, Node, Step, signature, sole_values
from worlds.searchqa.values import Date, Entity, Quantity, Value

_CREATORS = (
    ("film", "director"),
    ("film", "lead_actor"),
    ("film", "score_composer"),
    ("novel", "author"),
    ("painting", "painter"),
    ("opera", "composer"),
    ("opera", "librettist"),
    ("landmark", "architect"),
    ("species", "discoverer"),
    ("expedition", "leader"),
    ("university", "founder"),
    ("company", "founder"),
    ("album", "producer"),
)
"""Ways to speak of a person without the name."""


class Comparer:
    """Makes comparisons.

    Args:
        drafter: names entities and knows the world.
    """

    def __init__(self, drafter: Drafter) -> None:
        self.drafter, self.dice = drafter, drafter.dice
        self.world = drafter.world

    def compare(self, *, bridged: bool = False) -> Draft | None:
        """Ask which of two things comes first or last by a date or a number."""
        rows = [row for row in COMPARISONS if not bridged or row[0] == "person"]
        kind, relation, end, patterns = self.dice.pick(rows)
        sides = [self._side(kind, relation, None, bridged) for _ in range(2)]
        if sides[0] is None or sides[1] is None:
            return None
        (first, one), (second, two) = sides[0], sides[1]
        values = (one.facts[relation], two.facts[relation])
        if _size(values[0]) == _size(values[1]) or one.name == two.name:
            return None
        smaller, larger = (one, two) if _size(values[0]) < _size(values[1]) else (two, one)
        answer = smaller if end == "min" else larger
        structure = f"compare({_sides(first, second)}.{relation}:{end})"
        return self._draft(
            self.dice.pick(patterns), (first, second), (one, two), (relation, structure), answer
        )

    def same(self, split: str, *, bridged: bool = False) -> Draft | None:
        """Ask whether two things of one split have the same value of a relation."""
        rows = [row for row in SAMENESS if not bridged or row[0] == "person"]
        kind, relation, patterns = self.dice.pick(rows)
        side = self._side(kind, relation, split, bridged)
        if side is None:
            return None
        first, one = side
        value = one.facts[relation]
        wanted = self.dice.chance(0.5)
        side = self._side(kind, relation, split, bridged, (value, wanted))
        if side is None or side[1] is one or side[1].name == one.name:
            return None
        second, two = side
        answer = "yes" if two.facts[relation] == value else "no"
        structure = f"same({_sides(first, second)}.{relation})"
        return self._draft(
            self.dice.pick(patterns), (first, second), (one, two), (relation, structure), answer
        )

    def _side(
        self,
        kind: str,
        relation: str,
        split: str | None,
        bridged: bool,
        like: tuple[Value, bool] | None = None,
    ) -> tuple[Node, Entity] | None:
        """Name an entity that has the relation; `like` asks for a value, or for another one."""
        dice = self.dice
        through = dice.pick(_CREATORS) if bridged else None
        pool = self.drafter.pool(through[0] if through else kind, split)
        fits = []
        for entity in pool:
            found = entity.facts.get(through[1]) if through else entity
            if not isinstance(found, Entity) or relation not in found.facts:
                continue
            if split is not None and self.drafter.splitting.of_entity(found) != split:
                continue
            if like is None or (found.facts[relation] == like[0]) == like[1]:
                fits.append((entity, found))
        if not fits:
            return None
        entity, found = dice.pick(fits)
        anchor = self.drafter.anchor(entity)
        if anchor is None:
            return None
        return (Step(anchor, through[1], through[0]) if through else anchor), found

    def _draft(
        self,
        pattern: str,
        nodes: tuple[Node, Node],
        things: tuple[Entity, Entity],
        what: tuple[str, str],
        answer: Value,
    ) -> Draft | None:
        relation, structure = what
        hops: list[Hop] = []
        subjects: list[Value] = []
        try:
            for node in nodes:
                values = sole_values(self.world, node)
                if values is None:
                    return None
                subjects.extend(values.values())
                hops.extend(self.drafter.oracle.hops(node, values))
            hops.extend(self.drafter.oracle.fact_hop(thing, relation) for thing in things)
        except NoEvidence:
            return None
        text = phrasing.fill(pattern, *(phrasing.phrase(node, self.dice) for node in nodes))
        hidden = [t for t, node in zip(things, nodes, strict=True) if not isinstance(node, Anchor)]
        if gives_away(text, hidden) or len(dict.fromkeys(subjects)) < len(subjects):
            return None
        named = tuple(e for e in dict.fromkeys(subjects) if isinstance(e, Entity))
        return Draft(text, answer, named, tuple(hops), structure, (*hidden, answer))


def _sides(first: Node, second: Node) -> str:
    names = sorted({signature(first), signature(second)})
    return "|".join(names)


def _size(value: Value) -> tuple[int, int, int]:
    if isinstance(value, Date):
        return (value.year, value.month, value.day)
    assert isinstance(value, Quantity)
    return (value.amount, 0, 0)
