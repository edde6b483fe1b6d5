"""Refuses questions that can be answered by less than they ask for.

Everything is computed against the finished world: its names, its facts, and what a search finds in
its passages.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from agentgym_envs.searchqa.questions import Hop
from worlds.searchqa.asking.searching import Searcher
from worlds.searchqa.asking.splitting import normal_form
from worlds.searchqa.asking.structure import (
    Anchor,
    Back,
    Join,
    Kin,
    Node,
    Step,
    backwards,
    inner_nodes,
    walk,
)
from worlds.searchqa.naming import YEAR_OF
from worlds.searchqa.prose.writer import Library
from worlds.searchqa.values import Entity, Value, World, value_forms

SHOWN = 3
"""Passages that a search shows."""

_COMMON = 0.04
"""A word in this share of a kind's names, such as `gazette`, does not distinguish them."""
_PRIOR = 0.15
"""Largest share of those in a role with the same word or country, such as an occupation."""
_WORD = re.compile(r"\w+")


class Shortcuts:
    """Finds the shortcuts of questions.

    Args:
        world: the facts.
        library: the passages that tell them.
    """

    def __init__(self, world: World, library: Library) -> None:
        self.world, self.library = world, library
        self._searcher = Searcher(library.passages)
        self._common = {kind: _common_words(world.of_kind(kind)) for kind in world.kinds}
        self._priors: dict[tuple[str, str, str], float] = {}

    def has_any(self, text: str, node: Node, values: dict[int, Value]) -> bool:
        """Return whether a question needs less than all the steps of its tree.

        Args:
            text: the question.
            node: its tree.
            values: the value of each node.
        """
        parts = [part for part in walk(node) if not isinstance(part, Anchor)]
        is_long = len(parts) > 1 or isinstance(node, Kin)
        return (
            _shares_a_name(parts, values)
            or any(self._is_readable(part, text, values) for part in parts)
            or any(self._is_named_by_its_value(part) for part in parts)
            or any(self._needs_one_branch(part, values) for part in parts)
            or self._is_usual(parts[-1], values)
            or (is_long and self._skips_a_step(parts, values))
        )

    def is_found_at_once(self, text: str, answer: Value, compared: Sequence[Hop]) -> bool:
        """Return whether a search for the question itself shows the answer.

        Args:
            text: the question.
            answer: its answer.
            compared: where two facts are compared, what looks for them: both must be shown.
        """
        shown = self._searcher.search(text, SHOWN)
        if compared:
            numbers = {passage.passage_id for passage in shown}
            return all(not numbers.isdisjoint(hop.gold) for hop in compared)
        texts = [f" {normal_form(f'{passage.title} {passage.text}')} " for passage in shown]
        forms = [f" {normal_form(form)} " for form in value_forms(answer)]
        return any(form in passage for form in forms for passage in texts)

    def is_in(self, value: Value, texts: Iterable[str]) -> bool:
        """Return whether words hold every word of a name that tells it from other names.

        `"Battle of Isfash"` is in `"fought near Isfash"`, and a country in its adjective.
        """
        if not isinstance(value, Entity):
            return False
        words = _words(value.name)
        words = [word for word in words if word not in self._common[value.kind]] or words
        there = [word for text in texts for word in _words(text)]
        return all(any(_is_akin(word, other) for other in there) for word in words)

    def _is_readable(self, part: Node, text: str, values: dict[int, Value]) -> bool:
        """Return whether a value stands in the question or in the name of an inner entity."""
        value = values[id(part)]
        inner = [values[id(node)] for node in inner_nodes(part)]
        names = [entity.name for entity in inner if isinstance(entity, Entity)]
        return self.is_in(value, [text]) or self.is_in(value, names)

    def _is_named_by_its_value(self, part: Node) -> bool:
        """Return whether the words for an entity hold the answer, such as its year."""
        if not isinstance(part, Step) or not isinstance(part.inner, Anchor):
            return False
        dated = YEAR_OF.get(part.inner.kind)
        return any(
            field == part.relation or (field == "year" and part.relation == dated)
            for field, _ in part.inner.mention.qualifiers
        )

    def _needs_one_branch(self, part: Node, values: dict[int, Value]) -> bool:
        """Return whether one branch of a join suffices to find its entity."""
        return isinstance(part, Join) and any(
            len(backwards(self.world, [values[id(branch)]], relation, part.kind)) < 2
            for branch, relation in zip(part.branches, part.relations, strict=True)
        )

    def _is_usual(self, last: Node, values: dict[int, Value]) -> bool:
        """Return whether a role gives its holder's word or country away, as an occupation."""
        value = values[id(last)]
        if not isinstance(last, Step) or not _is_one_of_few(value):
            return False
        role = last.inner.relation if isinstance(last.inner, Step | Back) else ""
        key = (last.inner.kind, role, last.relation)
        if key not in self._priors:
            holders = self._holders(last)
            counts = Counter(
                id(fact) if isinstance(fact, Entity) else fact
                for holder in holders
                if (fact := holder.facts.get(last.relation)) is not None
            )
            self._priors[key] = max(counts.values()) / counts.total()
        return self._priors[key] > _PRIOR

    def _holders(self, last: Step) -> list[Entity]:
        """List the entities that the last step may be asked of, by the step before it."""
        inner = last.inner
        if isinstance(inner, Step):
            subjects = self.world.of_kind(inner.kind)
            return [e for s in subjects if isinstance(e := s.facts.get(inner.relation), Entity)]
        return [e for e in self.world.entities if e.kind == last.kind]

    def _skips_a_step(self, parts: Sequence[Node], values: dict[int, Value]) -> bool:
        """Return whether an earlier entity's facts or document hold a later step's value."""
        for part in parts:
            if isinstance(part, Join):
                continue
            inner = [node for node in walk(part) if node is not part]
            if isinstance(part, Step | Back):
                inner = [node for node in inner if node is not part.inner]
            earlier = [e for node in inner if isinstance(e := values[id(node)], Entity)]
            value = values[id(part)]
            if any(value in entity.facts.values() for entity in earlier):
                return True
            documents = self._stating_documents(part, values)
            if any(entity.number in documents for entity in earlier):
                return True
        return False

    def _stating_documents(self, part: Node, values: dict[int, Value]) -> set[int]:
        """Return the documents that state the fact of a step."""
        value = values[id(part)]
        if isinstance(part, Back):
            assert isinstance(value, Entity)
            fact = (value.number, part.relation)
        else:
            assert isinstance(part, Step | Kin)
            subject = values[id(part.inner)]
            assert isinstance(subject, Entity)
            if isinstance(part, Kin):
                subject = subject.entity(part.relations[0])
            fact = (subject.number, part.relation if isinstance(part, Step) else part.relations[1])
        passages = self.library.stated.get(fact, ())
        return {self.library.passages[number].document_id for number in passages}


def _common_words(entities: Sequence[Entity]) -> set[str]:
    """Return the words that many of some names have."""
    counts = Counter(word for entity in entities for word in set(_words(entity.name)))
    least = max(3, _COMMON * len(entities))
    return {word for word, count in counts.items() if count >= least}


def _shares_a_name(parts: Sequence[Node], values: dict[int, Value]) -> bool:
    """Return whether two of the entities on the way have a name in common."""
    step_values = [values[id(part)] for part in parts]
    for part in parts:
        if isinstance(part, Kin):
            subject = values[id(part.inner)]
            assert isinstance(subject, Entity)
            step_values.append(subject.facts[part.relations[0]])
    names = [set(map(normal_form, value_forms(value))) for value in step_values]
    return len(set().union(*names)) < sum(map(len, names))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold().replace("'s ", " ").replace("’s ", " "))


def _is_akin(word: str, other: str) -> bool:
    """Return whether two words have a stem in common, as `valdmark` and `valdmarkian`."""
    least = max(4, min(len(word), len(other)) - 2)
    return word == other or word[:least] == other[:least]


def _is_one_of_few(value: Value) -> bool:
    """Return whether there are few values like this one: a word, a country or a continent."""
    return isinstance(value, str) or (
        isinstance(value, Entity) and value.kind in ("country", "continent")
    )
