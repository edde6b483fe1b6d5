"""Fills one sentence pattern and keeps account of the facts that it states.

Fields of a pattern: `{birth_place}` is the value of a relation of the entity that the document is
about, `{x_birth_place}` that of the other entity of a link; `_name` at the end takes the bare name.
`{N}` and `{X}` refer to the two entities, `{S}`, `{P}`, `{s}`, `{o}`, `{P2}` are the subject, its
possessive and its pronouns; `{w_...}` is a word that states nothing, `{near_...}` an entity nearby.
`a~` becomes "a" or "an".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from string import Formatter

from worlds.dice import Dice
from worlds.searchqa.naming import CREATOR_OF, WORKS, with_article, year_of
from worlds.searchqa.tables import table
from worlds.searchqa.values import Date, Entity, World, value_forms

Fact = tuple[int, str]
"""An entity's number and a relation."""

SHORT = {
    "mountain": "the mountain",
    "university": "the university",
    "company": "the company",
    "club": "the club",
    "band": "the band",
    "museum": "the museum",
    "newspaper": "the newspaper",
    "award": "the prize",
    "festival": "the festival",
    "species": "the species",
    "expedition": "the expedition",
}

_ARTICLE = re.compile(r"\b([Aa])~(\w+)")
_SUBJECT_FIELDS = frozenset("SNPso")


class Inapplicable(LookupError):
    """A pattern asks for a fact that its entity does not have."""


@cache
def fields_of(pattern: str) -> tuple[str, ...]:
    """List the fields of a pattern."""
    return tuple(name for _, name, _, _ in Formatter().parse(pattern) if name)


def names_subject(pattern: str) -> bool:
    """Return whether a pattern can carry the name of the document's entity."""
    return not _SUBJECT_FIELDS.isdisjoint(fields_of(pattern))


class Referring:
    """Refers to entities in prose so that no namesake is meant.

    Args:
        world: all entities.
    """

    def __init__(self, world: World) -> None:
        self._shared: dict[int, list[Entity]] = {
            entity.number: [e for e in world.namesakes(entity) if e.name == entity.name]
            for entity in world.entities
        }

    def refer(self, entity: Entity) -> str:
        """Return the words for an entity within a sentence."""
        name, others = entity.name, self._shared[entity.number]
        if not others:
            return with_article(entity)
        if entity.kind == "person":
            trade = entity.text("occupation")
            if any(trade == other.facts.get("occupation") for other in others):
                return f"{name} (born {year_of(entity)})"
            return f"the {trade} {name}"
        if entity.kind in WORKS:
            if any(
                (other.kind, year_of(other)) == (entity.kind, year_of(entity)) for other in others
            ):
                return f"the {entity.kind} {name} by {entity.entity(CREATOR_OF[entity.kind]).name}"
            return f"the {year_of(entity)} {entity.kind} {name}"
        when = year_of(entity)
        if when is not None:
            return f"the {name} of {when}"
        country = entity.facts.get("country")
        if isinstance(country, Entity):
            return f"{with_article(entity)} in {country.name}"
        return with_article(entity)


class Telling:
    """Fills patterns about one entity.

    Args:
        entity: whom the document is about.
        referring: how entities are named.
        dice: picks the colour words.
        near: picks an entity nearby, by kind.
    """

    def __init__(
        self,
        entity: Entity,
        referring: Referring,
        dice: Dice,
        near: Callable[[str], Entity],
    ) -> None:
        self.entity, self.referring, self.dice, self.near = entity, referring, dice, near

    def facts_of(self, pattern: str, other: Entity | None = None) -> set[Fact]:
        """Return the facts that a pattern would state.

        Raises:
            Inapplicable: the entity lacks one of them.
        """
        facts: set[Fact] = set()
        for name in fields_of(pattern):
            if name == "lifespan":
                facts.update((self.entity.number, r) for r in _life(self.entity))
            elif name == "alias" and not self.entity.aliases:
                raise Inapplicable(name)
            elif not _is_special(name):
                about, relation = self._relation(name, other)
                facts.add((about.number, relation))
        return facts

    def fill(self, pattern: str, *, naming: str, other: Entity | None = None) -> str:
        """Return the sentence.

        Args:
            pattern: the pattern; `facts_of` has found it applicable.
            naming: `"full"`, `"short"` or `"pronoun"`: how the first mention of the subject reads.
            other: the other entity of a link.
        """
        values: dict[str, str] = {}
        picked: set[str] = set()
        for name in fields_of(pattern):
            if name in values:
                continue
            if name in ("S", "P", "s", "o"):
                values[name] = self._subject(name, naming)
                naming = "pronoun"
            else:
                values[name] = self._value(name, other, picked)
                naming = "pronoun" if name == "N" else naming
        text = pattern.format_map(values)
        text = _ARTICLE.sub(lambda match: f"{article(match)} {match[2]}", text)
        text = text.replace("the the ", "the ").replace("The the ", "The ")
        return text[0].upper() + text[1:]

    def _value(self, name: str, other: Entity | None, picked: set[str]) -> str:
        entity = self.entity
        if name == "N":
            return with_article(entity)
        if name.startswith("X"):
            assert other is not None
            bare = {"X_name": other.name, "X_plain": with_article(other)}
            return bare.get(name) or self.referring.refer(other)
        if name.startswith("w_"):
            words: list[str] = [
                word for word in table("colour")[name[2:].rstrip("2")] if word not in picked
            ]
            chosen = self.dice.pick(words)
            picked.add(chosen)
            return chosen
        if name.startswith("near_"):
            return self.referring.refer(self.near(name.removeprefix("near_")))
        special = _special(name, other if name.startswith("x_") else entity)
        if special is not None:
            return special
        about, relation = self._relation(name, other)
        value = about.facts[relation]
        if isinstance(value, Entity):
            return value.name if name.endswith("_name") else self.referring.refer(value)
        return value_forms(value)[0]

    def _relation(self, name: str, other: Entity | None) -> tuple[Entity, str]:
        about = self.entity
        if name.startswith("x_"):
            assert other is not None
            about, name = other, name[2:]
        relation = name.removesuffix("_name")
        if relation not in about.facts:
            raise Inapplicable(relation)
        return about, relation

    def _subject(self, name: str, naming: str) -> str:
        entity = self.entity
        if naming == "pronoun":
            return pronoun(entity, name)
        if naming == "full":
            text = with_article(entity)
        elif entity.kind == "person":
            text = entity.name.split()[-1]
        else:
            sort = entity.facts["sort"] if entity.kind == "landmark" else entity.kind
            text = SHORT.get(entity.kind, f"the {sort}")
        if name == "P":
            return f"{text}'" if text.endswith("s") and entity.kind != "person" else f"{text}'s"
        return text


def article(match: re.Match[str]) -> str:
    """Return "a" or "an" for the word that follows."""
    word = match[2].lower()
    vowel = word[0] in "aeiou" and not word.startswith(("uni", "uto", "use", "usu", "eu", "one"))
    # A year is read in pairs: an 1874 novel.
    return match[1] + ("n" if vowel or re.fullmatch(r"8\d*|1[18](\d\d)?", word) else "")


def pronoun(entity: Entity, name: str) -> str:
    """Return the pronoun of an entity in the place of a field."""
    if entity.kind != "person":
        return {"S": "it", "s": "it", "o": "it"}.get(name, "its")
    if entity.facts["gender"] == "male":
        return {"S": "he", "s": "he", "o": "him"}.get(name, "his")
    return {"S": "she", "s": "she", "o": "her"}.get(name, "her")


_SPECIAL = frozenset(
    "S N P s o P2 X X_name X_plain lifespan was adjective child x_child husband_wife spouse_word "
    "alias young_year".split()
)


def _is_special(name: str) -> bool:
    return name in _SPECIAL or name.startswith(("w_", "near_"))


def _life(person: Entity) -> tuple[str, ...]:
    return tuple(r for r in ("birth_date", "death_date") if r in person.facts)


def _special(name: str, entity: Entity | None) -> str | None:
    """Return a field that is worked out from several facts, or None for a plain one."""
    if entity is None or not _is_special(name):
        return None
    if name == "adjective":
        home = entity.facts.get("citizenship", entity.facts.get("country", entity))
        assert isinstance(home, Entity)
        return home.text("adjective")
    if name == "alias":
        return entity.aliases[0]
    if name == "P2":
        return pronoun(entity, "P")
    is_male = entity.facts.get("gender") == "male"
    if name == "lifespan":
        days = [value_forms(entity.facts[relation])[0] for relation in _life(entity)]
        return " – ".join(days) if len(days) == 2 else f"born {days[0]}"
    if name == "young_year":
        birth = entity.facts["birth_date"]
        assert isinstance(birth, Date)
        return str(birth.year + 18 + entity.number % 9)
    words = {
        "was": ("was", "was") if "death_date" in entity.facts else ("is", "is"),
        "child": ("son", "daughter"),
        "x_child": ("son", "daughter"),
        "husband_wife": ("husband", "wife"),
        "spouse_word": ("wife", "husband"),
    }
    return words[name][0 if is_male else 1]
