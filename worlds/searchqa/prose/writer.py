"""Writes the documents of a world and remembers which passage states which fact."""

from __future__ import annotations

from dataclasses import dataclass

from agentgym_envs.retrieval.documents import Passage
from worlds.dice import Dice
from worlds.searchqa.prose.near import Neighbourhood
from worlds.searchqa.prose.patterns import ASIDES, FILLERS, LEADS, LINKS, PLANS
from worlds.searchqa.prose.telling import (
    Fact,
    Inapplicable,
    Referring,
    Telling,
    names_subject,
)
from worlds.searchqa.values import Entity, World

MIN_WORDS, MAX_WORDS = 40, 120
MAX_PARTS = 8
_LINKS_PER_RELATION = {"person": 5, "city": 6, "country": 7, "continent": 12}


@dataclass
class Library:
    """The written passages and the facts that they state.

    Attributes:
        passages: all passages, those of a document together and in order.
        stated: for each fact, the ids of the passages that state it.
    """

    passages: list[Passage]
    stated: dict[Fact, list[int]]


@dataclass(frozen=True)
class _Line:
    """A planned sentence and its facts.

    `follows` keeps it right after the line before it.
    """

    pattern: str
    facts: frozenset[Fact]
    other: Entity | None = None
    follows: bool = False


class Writer:
    """Writes one document per entity.

    Args:
        world: the entities and their facts.
        seed: fixes the wording.
    """

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.seed = world, seed
        self.referring = Referring(world)
        self.library = Library([], {})
        self.neighbourhood = Neighbourhood(world)
        self._links: dict[int, list[tuple[str, Entity]]] = {}
        for entity in world.entities:
            for relation, value in entity.facts.items():
                if isinstance(value, Entity):
                    self._links.setdefault(value.number, []).append((relation, entity))

    def write(self) -> Library:
        """Write all documents."""
        for entity in self.world.entities:
            dice = Dice(self.seed, "prose", entity.number)
            self._document(entity, dice)
        return self.library

    def _document(self, entity: Entity, dice: Dice) -> None:
        near = self.neighbourhood.around(entity)
        telling = Telling(entity, self.referring, dice, lambda kind: dice.pick(near[kind]))
        lines = self._lines(telling, dice)
        fillers = [
            _Line(pattern, frozenset())
            for pattern in dice.shuffled(FILLERS[entity.kind])
            if near["person"] or "{near_person}" not in pattern
        ]
        lines = _interleave(lines, fillers, dice)
        part = 0
        while lines and part < MAX_PARTS:
            text, facts = self._passage(telling, lines, fillers, dice, first=part == 0)
            self._add(entity, part, text, facts)
            part += 1

    def _add(self, entity: Entity, part: int, text: str, facts: set[Fact]) -> None:
        number = len(self.library.passages)
        self.library.passages.append(Passage(number, entity.title, text, entity.number, part))
        for fact in facts:
            self.library.stated.setdefault(fact, []).append(number)

    def _lines(self, telling: Telling, dice: Dice) -> list[_Line]:
        """List the document's sentences in order, lead first."""
        kind, covered = telling.entity.kind, set[Fact]()
        lead = self._choose(telling, LEADS[kind], covered, dice)
        assert lead is not None, telling.entity
        covered.update(lead.facts)
        lines = [lead]
        for section in PLANS[kind]:
            for slot in dice.shuffled(section) if kind != "person" else section:
                line = self._choose(telling, slot, covered, dice)
                if line and not (line.facts and line.facts <= covered and dice.chance(0.93)):
                    lines.append(line)
                    covered.update(line.facts)
        self._add_asides(lines, telling, covered, dice)
        return [*lines, *self._link_lines(telling, covered, dice)]

    def _choose(
        self, telling: Telling, slot: tuple[str, ...], covered: set[Fact], dice: Dice
    ) -> _Line | None:
        """Pick one of the patterns that say most that is new."""
        lines = []
        for pattern in slot:
            try:
                lines.append(_Line(pattern, frozenset(telling.facts_of(pattern))))
            except Inapplicable:
                continue
        if not lines:
            return None
        news = max(len(line.facts - covered) for line in lines)
        return dice.pick([line for line in lines if len(line.facts - covered) == news])

    def _link_lines(self, telling: Telling, covered: set[Fact], dice: Dice) -> list[_Line]:
        """List sentences about the entities that link to this one, from its side."""
        entity, lines = telling.entity, []
        by_relation: dict[str, list[Entity]] = {}
        for relation, other in self._links.get(entity.number, ()):
            by_relation.setdefault(relation, []).append(other)
        for relation, others in by_relation.items():
            count = _LINKS_PER_RELATION.get(entity.kind, 4)
            turn = dice.below(6)
            for number, other in enumerate(dice.sample(others, count), turn):
                patterns = _link_patterns(entity, relation, other)
                first = number % max(1, len(patterns))
                turned = (*patterns[first:], *patterns[:first])
                line = self._link_line(telling, turned, (other, relation))
                if line is not None and not line.facts <= covered:
                    lines.append(line)
                    covered.update(line.facts)
        return lines[:26]

    def _add_asides(
        self, lines: list[_Line], telling: Telling, covered: set[Fact], dice: Dice
    ) -> None:
        """Insert a few facts about mentioned entities behind their mention."""
        facts = telling.entity.facts
        places = {
            value: place
            for place, line in enumerate(lines)
            for number, relation in sorted(line.facts)
            if number == telling.entity.number and isinstance(value := facts[relation], Entity)
        }
        chosen = dice.sample(list(places), 3)
        for other in sorted(chosen, key=lambda value: -places[value]):
            for pattern in dice.shuffled(ASIDES.get(other.kind, ())):
                try:
                    stated = frozenset(telling.facts_of(pattern, other))
                except Inapplicable:
                    continue
                if not stated & covered and telling.entity not in _values(other, stated):
                    lines.insert(places[other] + 1, _Line(pattern, stated, other, follows=True))
                    covered.update(stated)
                    break

    def _link_line(
        self, telling: Telling, patterns: tuple[str, ...], link: tuple[Entity, str]
    ) -> _Line | None:
        other, relation = link
        for pattern in patterns:
            try:
                facts = telling.facts_of(pattern, other)
            except Inapplicable:
                continue
            return _Line(pattern, frozenset((*facts, (other.number, relation))), other)
        return None

    def _passage(
        self,
        telling: Telling,
        lines: list[_Line],
        fillers: list[_Line],
        dice: Dice,
        *,
        first: bool,
    ) -> tuple[str, set[Fact]]:
        """Take lines off the list until a passage is full, and pad a short one."""
        target = dice.between(46, 72)
        sentences: list[str] = []
        facts: set[Fact] = set()
        words, naming = 0, "full"
        while words < target or _rest_is_short(lines, words):
            source = lines or (fillers if words < MIN_WORDS else [])
            if not source:
                break
            for line in _take(source, must_name=not sentences):
                text = telling.fill(line.pattern, naming=naming, other=line.other)
                naming = _next_naming(line, dice)
                sentences.append(text)
                facts.update(line.facts)
                words += len(text.split())
        return " ".join(sentences), facts


def _link_patterns(entity: Entity, relation: str, other: Entity) -> tuple[str, ...]:
    """Return the patterns of a link, the most special ones there are."""
    for key in (
        (entity.kind, relation, other.kind),
        (entity.kind, relation),
        ("*", relation),
    ):
        if key in LINKS:
            return LINKS[key]
    return ()


def _values(entity: Entity, facts: frozenset[Fact]) -> list[object]:
    return [entity.facts[relation] for number, relation in facts if number == entity.number]


def _take(lines: list[_Line], *, must_name: bool) -> list[_Line]:
    """Take the next line, or the next that can name the entity, and the lines tied to it."""
    first = next(
        (n for n, line in enumerate(lines) if not must_name or names_subject(line.pattern)), 0
    )
    end = first + 1
    while end < len(lines) and lines[end].follows:
        end += 1
    taken = lines[first:end]
    del lines[first:end]
    return taken


def _rest_is_short(lines: list[_Line], words: int) -> bool:
    """Return whether the rest would not fill a passage and still fits into this one."""
    return 0 < len(lines) <= 2 and words <= MAX_WORDS - 24 * len(lines)


def _next_naming(line: _Line, dice: Dice) -> str:
    """Return how the next sentence should name the entity, after this one."""
    if line.other is not None or not line.pattern.startswith(("{S}", "{P}", "{N}")):
        return "short"
    return "pronoun" if dice.chance(0.6) else "short"


def _interleave(lines: list[_Line], fillers: list[_Line], dice: Dice) -> list[_Line]:
    """Put fillers between the lines, never before the lead. Short documents get more."""
    count = max(4, 16 - len(lines))
    mixed = list(lines)
    for _ in range(min(count, len(fillers) - 3)):
        places = [n for n in range(min(2, len(mixed)), len(mixed)) if not mixed[n].follows]
        mixed.insert(dice.pick([*places, len(mixed)]), fillers.pop())
    return mixed
