"""Questions that compare two things, or ask whether they share something.

Where one of two answers must be right, nothing but the facts may tell which: not the words that
name the two, nor their order, nor the language that their names are from.
"""

from __future__ import annotations

from agentgym_envs.searchqa.questions import Hop
from worlds.searchqa.asking import phrasing
from worlds.searchqa.asking.drafts import Draft, Drafter, gives_away
from worlds.searchqa.asking.oracle import NoEvidence
from worlds.searchqa.asking.patterns import COMPARISONS, SAMENESS
from worlds.searchqa.asking.relations import wording_of
from worlds.searchqa.asking.structure import Anchor, Node, Step, signature, sole_values
from worlds.searchqa.values import Date, Entity, Quantity, Value

Side = tuple[Entity, Entity]
"""The named entity, and the compared one: itself, or a person it leads to."""
Way = tuple[str, str]
"""A kind of thing, and the relation that leads from it to a person."""

_CREATORS: tuple[Way, ...] = (
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

_TELLING = ("year", "occupation")
"""Qualifiers left out of a thing's words, as they suggest which is older."""


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
        kind, relation, end, noun, clause = self.dice.pick(rows)
        way = self.dice.pick(_CREATORS) if bridged else None
        nodes, things = self._two(kind, relation, way)
        if nodes is None:
            return None
        answer = _winner(things, relation, end)
        if answer is None:
            return None
        text = phrasing.compare(noun, clause, nodes, self.dice)
        structure = f"compare({_sides(nodes)}.{relation}:{end})"
        coin = None if bridged else (f"compare {relation} {end}", 1 if answer is things[0] else -1)
        return self._draft(text, nodes, things, (relation, structure), answer, coin)

    def winner(self) -> Draft | None:
        """Ask for a fact of that one of two things that comes first or last."""
        kind, relation, end, noun, clause = self.dice.pick(COMPARISONS)
        nodes, things = self._two(kind, relation, None)
        if nodes is None:
            return None
        subject = _winner(things, relation, end)
        target = self.dice.pick(self.drafter.relations[kind])
        if subject is None or target == relation or not all(target in t.facts for t in things):
            return None
        words, answer = wording_of(kind, target), subject.facts[target]
        assert words is not None
        if things[0].facts[target] == things[1].facts[target]:
            return None
        text = phrasing.ask_of_winner(words, noun, clause, nodes, self.dice)
        if gives_away(text, [answer]) or self.drafter.shortcuts.is_in(answer, [text]):
            return None
        structure = f"winner({_sides(nodes)}.{relation}:{end})>{target}"
        draft = self._draft(text, nodes, things, (relation, structure), subject, None)
        try:
            hop = self.drafter.oracle.fact_hop(subject, target)
        except NoEvidence:
            return None
        return draft and Draft(
            text, answer, draft.subjects, (*draft.hops, hop), structure, (subject, answer)
        )

    def same(self, split: str, *, bridged: bool = False) -> Draft | None:
        """Ask whether two things of one split have the same value of a relation."""
        dice = self.dice
        rows = [row for row in SAMENESS if not bridged or row[0] == "person"]
        kind, relation, patterns = dice.pick(rows)
        way = dice.pick(_CREATORS) if bridged else None
        sides = self._sides_of(kind, relation, way, split)
        if not sides:
            return None
        one = dice.pick(sides)
        value = one[1].facts[relation]
        alike = [s for s in sides if s[1].facts[relation] == value and s[1] is not one[1]]
        if not alike:
            return None
        two, answer = dice.pick(alike), "yes"
        if dice.chance(0.5):
            # Of the language of one that would be right, lest two languages mean no.
            look = _look(two[1])
            others = [s for s in sides if s[1].facts[relation] != value and _look(s[1]) == look]
            if not others:
                return None
            two, answer = dice.pick(others), "no"
        nodes = self._named((one, two), relation, way)
        if nodes is None or one[1].name == two[1].name:
            return None
        text = phrasing.fill(dice.pick(patterns), *(phrasing.phrase(n, dice) for n in nodes))
        structure = f"same({_sides(nodes)}.{relation})"
        coin = (f"same {relation}", 1 if answer == "yes" else -1)
        return self._draft(text, nodes, (one[1], two[1]), (relation, structure), answer, coin)

    def _two(
        self, kind: str, relation: str, way: Way | None
    ) -> tuple[tuple[Node, Node] | None, tuple[Entity, Entity]]:
        """Pick two things to compare, and name them where that is possible."""
        sides = self._sides_of(kind, relation, way, None)
        one, two = self.dice.pick(sides), self.dice.pick(sides)
        return self._named((one, two), relation, way), (one[1], two[1])

    def _sides_of(self, kind: str, relation: str, way: Way | None, split: str | None) -> list[Side]:
        """List entities that can be named, each with the entity that has the relation."""
        sides = []
        for entity in self.drafter.pool(way[0] if way else kind, split):
            holder = entity.facts.get(way[1]) if way else entity
            if not isinstance(holder, Entity) or relation not in holder.facts:
                continue
            if split is None or self.drafter.splitting.entity_split(holder) == split:
                sides.append((entity, holder))
        return sides

    def _named(
        self, sides: tuple[Side, Side], relation: str, way: Way | None
    ) -> tuple[Node, Node] | None:
        """Return words for two things that do not give away the compared relation."""
        nodes: list[Node] = []
        for entity, _ in sides:
            anchor = self.drafter.anchor(entity, silent=(*_TELLING, relation))
            if anchor is None:
                return None
            nodes.append(Step(anchor, way[1], way[0]) if way else anchor)
        return nodes[0], nodes[1]

    def _draft(
        self,
        text: str,
        nodes: tuple[Node, Node],
        things: tuple[Entity, Entity],
        what: tuple[str, str],
        answer: Value,
        coin: tuple[str, int] | None,
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
        hidden = [t for t, node in zip(things, nodes, strict=True) if not isinstance(node, Anchor)]
        if gives_away(text, hidden) or len(dict.fromkeys(subjects)) < len(subjects):
            return None
        named = tuple(e for e in dict.fromkeys(subjects) if isinstance(e, Entity))
        return Draft(text, answer, named, tuple(hops), structure, (*hidden, answer), coin)


def _winner(things: tuple[Entity, Entity], relation: str, end: str) -> Entity | None:
    """Return the thing that comes first or last, or None if the two are equal."""
    one, two = things
    sizes = (_size(one.facts[relation]), _size(two.facts[relation]))
    if sizes[0] == sizes[1] or one.name == two.name:
        return None
    return one if (sizes[0] < sizes[1]) == (end == "min") else two


def _look(entity: Entity) -> str:
    """Return the language that an entity's name is from, or that of its city."""
    return entity.culture or entity.entity("city").culture


def _sides(nodes: tuple[Node, Node]) -> str:
    return "|".join(sorted({signature(node) for node in nodes}))


def _size(value: Value) -> tuple[int, int, int]:
    if isinstance(value, Date):
        return (value.year, value.month, value.day)
    assert isinstance(value, Quantity)
    return (value.amount, 0, 0)
