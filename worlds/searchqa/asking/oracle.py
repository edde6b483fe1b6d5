"""The oracle path of a question: the query of each hop and the passages with its answer."""

from __future__ import annotations

import re

from agentgym_envs.searchqa.questions import Hop
from worlds.searchqa.asking.patterns import BACKWARD
from worlds.searchqa.asking.relations import wording_of
from worlds.searchqa.asking.structure import Anchor, Back, Join, Kin, Node, Step, walk
from worlds.searchqa.prose.writer import Library
from worlds.searchqa.values import Entity, Value, value_forms

GOLD_LIMIT = 8


class NoEvidence(LookupError):
    """No passage states a fact that a hop needs in the words of its answer."""


class Oracle:
    """Writes oracle paths.

    Args:
        library: the passages and what they state.
    """

    def __init__(self, library: Library) -> None:
        self.library = library

    def hops(self, node: Node, values: dict[int, Value]) -> tuple[Hop, ...]:
        """Return the hops of a tree whose nodes have these values, in an order that works.

        Raises:
            NoEvidence: no passage states a hop's fact.
        """
        hops: list[Hop] = []
        for part in walk(node):
            if not isinstance(part, Anchor):
                hops.extend(self._hop(part, values))
        return tuple(hops)

    def fact_hop(self, subject: Entity, relation: str) -> Hop:
        """Return the hop from an entity along a relation."""
        words = wording_of(subject.kind, relation)
        assert words is not None, relation
        answer = value_forms(subject.facts[relation])[0]
        gold = self._gold(subject, relation, answer)
        keys = subject.kind if relation == "country" else words.keys
        return Hop(f"{search_name(subject)} {keys}", gold, answer)

    def _hop(self, part: Step | Back | Kin | Join, values: dict[int, Value]) -> list[Hop]:
        value = values[id(part)]
        if isinstance(part, Join):
            assert isinstance(value, Entity)
            inner = [values[id(branch)] for branch in part.branches]
            names = [search_name(each) for each in inner if isinstance(each, Entity)]
            golds = [self._gold(value, relation, value.name) for relation in part.relations]
            both = tuple(number for number in golds[0] if number in golds[1])
            gold = both or tuple(dict.fromkeys((*golds[0], *golds[1])))
            # A person is nowhere called one; a work's kind is in its own passages.
            kind = "" if part.kind in ("person", "landmark") else part.kind
            query = " ".join([*names, kind]).strip()
            return [Hop(query, gold, value.name)]
        inner_value = values[id(part.inner)]
        assert isinstance(inner_value, Entity)
        if isinstance(part, Back):
            assert isinstance(value, Entity)
            keys = BACKWARD[part.kind, part.relation].keys
            gold = self._gold(value, part.relation, value.name)
            return [Hop(f"{search_name(inner_value)} {keys}", gold, value.name)]
        if isinstance(part, Step):
            return [self.fact_hop(inner_value, part.relation)]
        first, second = part.relations
        between = inner_value.entity(first)
        return [self.fact_hop(inner_value, first), self.fact_hop(between, second)]

    def _gold(self, subject: Entity, relation: str, answer: str) -> tuple[int, ...]:
        """List passages that state a fact and hold the answer, the subject's own first."""
        stated = self.library.stated.get((subject.number, relation), [])
        passages = [self.library.passages[number] for number in stated]
        fits = [passage for passage in passages if answer in passage.text]
        fits.sort(key=lambda passage: (passage.document_id != subject.number, passage.passage_id))
        if not fits:
            raise NoEvidence(f"{subject!r} {relation}: {answer}")
        return tuple(passage.passage_id for passage in fits[:GOLD_LIMIT])


def search_name(entity: Entity) -> str:
    """Return an entity's unique title as a search query."""
    return " ".join(re.sub(r"[(),]", " ", entity.title).split())
