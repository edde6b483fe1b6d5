"""Draws questions of a given structure and keeps those that have exactly one answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agentgym_envs.searchqa.questions import Hop
from worlds.dice import Dice
from worlds.searchqa.asking import phrasing
from worlds.searchqa.asking.oracle import NoEvidence, Oracle
from worlds.searchqa.asking.patterns import BACKWARD, JOINS, KIN
from worlds.searchqa.asking.relations import wording_of
from worlds.searchqa.asking.shortcuts import Shortcuts
from worlds.searchqa.asking.splitting import Splitting
from worlds.searchqa.asking.structure import (
    Anchor,
    Back,
    Join,
    Kin,
    Node,
    Step,
    signature,
    sole_values,
    walk,
)
from worlds.searchqa.naming import Mention, mentions, resolve
from worlds.searchqa.values import Entity, Value, World, fold, value_forms


@dataclass(frozen=True)
class Draft:
    """A question that is not numbered yet.

    Attributes:
        text: the question.
        answer: its value; `"yes"` or `"no"` where it is asked whether.
        subjects: the entities it names, and the one whose fact is asked for.
        hops: its oracle path.
        structure: its path of relations.
        values: every value on the way, the answer last.
        coin: where one of two answers must be right, what is asked, and 1 or -1 for which it is.
    """

    text: str
    answer: Value
    subjects: tuple[Entity, ...]
    hops: tuple[Hop, ...]
    structure: str
    values: tuple[Value, ...]
    coin: tuple[str, int] | None = None


class Drafter:
    """Makes trees and drafts from them.

    Args:
        world: the facts.
        oracle: writes the hops.
        shortcuts: knows what can be answered by less than is asked for.
        splitting: says which entities may be named for a split.
        dice: the random source.
    """

    def __init__(
        self, world: World, oracle: Oracle, shortcuts: Shortcuts, splitting: Splitting, dice: Dice
    ) -> None:
        self.world, self.oracle, self.dice = world, oracle, dice
        self.shortcuts, self.splitting = shortcuts, splitting
        self._mentions: dict[int, list[Mention]] = {}
        self._pools: dict[tuple[str, str | None], list[Entity]] = {}
        self.kinds = world.kinds
        self.relations: dict[str, list[str]] = {}
        self._backs: dict[str, list[tuple[str, str]]] = {}
        for kind in self.kinds:
            known = {r: None for entity in world.of_kind(kind) for r in entity.facts}
            self.relations[kind] = [r for r in known if wording_of(kind, r) is not None]
        for kind, relation in BACKWARD:
            targets = {
                entity.entity(relation).kind: None
                for entity in world.of_kind(kind)
                if relation in entity.facts
            }
            for target in targets:
                self._backs.setdefault(target, []).append((kind, relation))

    def pool(self, kind: str, split: str | None) -> list[Entity]:
        """List the entities of a kind, of one split or of all."""
        key = (kind, split)
        if key not in self._pools:
            self._pools[key] = [
                entity
                for entity in self.world.of_kind(kind)
                if split is None or self.splitting.entity_split(entity) == split
            ]
        return self._pools[key]

    def mentions_of(self, entity: Entity) -> list[Mention]:
        """List the ways to name an entity that mean no other."""
        if entity.number not in self._mentions:
            self._mentions[entity.number] = [
                mention for mention in mentions(entity) if resolve(self.world, mention) == [entity]
            ]
        return self._mentions[entity.number]

    def anchor(
        self, entity: Entity, *, full: bool = False, silent: Collection[str] = ()
    ) -> Anchor | None:
        """Name an entity in one of the plainer ways, or in the fullest.

        Args:
            entity: the entity.
            full: take the fullest way.
            silent: what the words must not tell of it, such as `"year"`.
        """
        candidates = [
            mention
            for mention in self.mentions_of(entity)
            if not any(field in silent for field, _ in mention.qualifiers)
        ]
        if not candidates:
            return None
        return Anchor(candidates[-1] if full else self.dice.pick(candidates[:2]), entity.kind)

    def chain(self, start: Entity, length: int, *, backs: float = 0.0) -> Node | None:
        """Walk from an entity along random relations, some of them backwards."""
        node: Node | None = self.anchor(start)
        here: Value = start
        if node is None:
            return None
        for place in range(length):
            if not isinstance(here, Entity):
                return None
            step = self._step(node, here, last=place == length - 1, backs=backs)
            if step is None:
                return None
            node, here = step
        return node

    def _step(
        self, node: Node, here: Entity, *, last: bool, backs: float
    ) -> tuple[Node, Value] | None:
        dice = self.dice
        ways = self._backs.get(here.kind, ())
        if ways and dice.chance(backs):
            kind, relation = dice.pick(ways)
            sources = [e for e in self.world.linked_from(relation, here) if e.kind == kind]
            return (Back(node, relation, kind), sources[0]) if len(sources) == 1 else None
        known = [r for r in self.relations[here.kind] if r in here.facts]
        if not known:
            return None
        relation = dice.pick(known)
        value = here.facts[relation]
        if not (last or isinstance(value, Entity)):
            return None
        return step_of(node, relation, here), value

    def back(self, split: str | None) -> Node | None:
        """Ask for the one entity that stands in a relation to a named one."""
        kind, relation = self.dice.pick(list(BACKWARD))
        fits = [e for e in self.pool(kind, split) if relation in e.facts]
        if not fits:
            return None
        anchor = self.anchor(self.dice.pick(fits).entity(relation))
        return anchor and Back(anchor, relation, kind)

    def kin(self, start: Entity, relation: str | None = None) -> Node | None:
        """Ask for a relative in two steps of the named person, or of a relation's value."""
        node: Node | None = self.anchor(start)
        if node is not None and relation is not None:
            node = step_of(node, relation, start)
        word = self.dice.pick(list(KIN))
        return node and Kin(node, word, KIN[word])

    def join(self, split: str | None, depths: tuple[int, int]) -> tuple[Join, Entity] | None:
        """Ask for an entity by two of its relations, each through a chain of some depth."""
        kind, first, second = self.dice.pick(list(JOINS))
        fits = [e for e in self.pool(kind, split) if {first, second} <= e.facts.keys()]
        if not fits:
            return None
        target = self.dice.pick(fits)
        branches = []
        if self.dice.chance(0.5):
            depths = (depths[1], depths[0])
        for relation, depth in zip((first, second), depths, strict=True):
            branch = self._towards(target.entity(relation), depth, target)
            if branch is None:
                return None
            branches.append(branch)
        return Join(kind, (first, second), (branches[0], branches[1])), target

    def _towards(self, value: Entity, depth: int, target: Entity) -> Node | None:
        """Make a chain of some depth that ends in a value and does not pass the target."""
        if depth == 0:
            return self.anchor(value)
        ways = [
            (other, relation)
            for relation in _BRIDGES
            for other in self.world.linked_from(relation, value)
            if other is not target and wording_of(other.kind, relation) is not None
        ]
        if not ways:
            return None
        other, relation = self.dice.pick(ways)
        inner = self._towards(other, depth - 1, target)
        return inner and step_of(inner, relation, other)

    def draft(self, node: Node | None, style: str = "ask") -> Draft | None:
        """Put a tree into words and check it: one value at every node, and no shortcut."""
        if node is None:
            return None
        values = sole_values(self.world, node)
        if values is None:
            return None
        text = (phrasing.name if style == "name" else phrasing.ask)(node, self.dice)
        parts = list(walk(node))
        step_values = [values[id(part)] for part in parts if not isinstance(part, Anchor)]
        if gives_away(text, step_values) or _STUTTER.search(text):
            return None
        if self.shortcuts.has_any(text, node, values):
            return None
        try:
            hops = self.oracle.hops(node, values)
        except NoEvidence:
            return None
        subjects = [values[id(part)] for part in parts if isinstance(part, Anchor)]
        subjects.extend(step_values[-2:-1])
        if isinstance(node, Kin | Join):
            subjects.extend(step_values[:-1])
        return Draft(
            text if style != "query" else text.rstrip("?.").lower(),
            step_values[-1],
            tuple(e for e in dict.fromkeys(subjects) if isinstance(e, Entity)),
            hops,
            signature(node),
            tuple(step_values),
        )


def step_of(inner: Node, relation: str, entity: Entity) -> Step:
    """Return the step from a node, whose value is the entity, along a relation."""
    value = entity.facts[relation]
    return Step(inner, relation, entity.kind, value.kind if isinstance(value, Entity) else "")


def gives_away(text: str, values: Sequence[Value]) -> bool:
    """Return whether a question names one of its hidden values."""
    folded = f" {text.casefold()} "
    return any(
        fold(form) in folded for value in values for form in value_forms(value) if len(form) > 2
    )


_STUTTER = re.compile(r"\b(\w+) \1\b|who was born in \d+\W+born")

_BRIDGES = tuple(
    """
    author director lead_actor score_composer painter composer librettist architect founder
    leader discoverer commander spouse father mother mentor singer producer performer
    named_after first_climber mediator birth_place capital setting filming_location alma_mater
    employer museum publisher studio label source mouth habitat depicts destination based_on
    war ended_war river city owner sponsor premiere_city
    """.split()
)
"""Relations that lead to an entity that a clue is about."""
