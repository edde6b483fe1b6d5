"""Entities, their facts and the facts' values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)

_OTHER_UNITS = {
    "kilometres": ("kilometers",),
    "metres": ("meters",),
    "millimetres": ("millimeters",),
    "square kilometres": (
        *("square kilometers", "square km"),
        *("sq kilometres", "sq kilometers", "sq km"),
    ),
    "minutes": ("mins",),
}
_SYMBOLS = {
    "kilometres": ("km",),
    "metres": ("m",),
    "millimetres": ("mm",),
    "square kilometres": ("km2", "km²"),
    "minutes": ("min",),
}
"""Symbols that may follow a number directly."""
_SHORT_MONTHS = {"September": ("Sep", "Sept")}


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 11 <= number <= 13 else ending}"


@dataclass(frozen=True, order=True)
class Date:
    """A day of the world's calendar, which is ours."""

    year: int
    month: int
    day: int

    @property
    def forms(self) -> tuple[str, ...]:
        """Ways to write it, the canonical one first."""
        month = MONTHS[self.month - 1]
        written = [
            form
            for name in (month, *_SHORT_MONTHS.get(month, (month[:3],)))
            for day in (str(self.day), _ordinal(self.day))
            for form in (f"{day} {name} {self.year}", f"{name} {day}, {self.year}")
        ]
        iso = f"{self.year}-{self.month:02}-{self.day:02}"
        of = f"{_ordinal(self.day)} of {month} {self.year}"
        return tuple(dict.fromkeys((*written, iso, of)))


@dataclass(frozen=True, order=True)
class Quantity:
    """A whole number with its unit.

    Years have the unit `"year"`, and counts have none.

    Attributes:
        amount: the number.
        unit: in the plural.
        counted: words for what is counted, which may stand behind the number.
    """

    amount: int
    unit: str = ""
    counted: tuple[str, ...] = ()

    @property
    def forms(self) -> tuple[str, ...]:
        """Ways to write it, the canonical one first."""
        if self.unit == "year":
            return (str(self.amount),)
        plain, grouped = str(self.amount), f"{self.amount:,}"
        if not self.unit:
            named = [f"{number} {word}" for word in self.counted for number in (grouped, plain)]
            return tuple(dict.fromkeys((grouped, plain, *named)))
        symbols = _SYMBOLS.get(self.unit, ())
        units = (self.unit, *_OTHER_UNITS.get(self.unit, ()), *symbols)
        written = [f"{number} {unit}" for unit in units for number in (grouped, plain)]
        written += [f"{number}{unit}" for unit in symbols for number in (grouped, plain)]
        return tuple(dict.fromkeys((*written, grouped, plain)))


@dataclass(eq=False)
class Entity:
    """A person, place, organisation, work or event.

    Attributes:
        number: its position in the world.
        kind: such as `"city"` or `"novel"`.
        name: what it is called, not always by it alone.
        culture: the people whose language its name is from.
        aliases: other names.
        facts: what is true of it, by relation; a relation has one value.
        title: the title of its document, distinct from namesakes' and set when all are known.
    """

    number: int
    kind: str
    name: str
    culture: str = ""
    aliases: tuple[str, ...] = ()
    facts: dict[str, Value] = field(default_factory=dict)
    title: str = ""

    @property
    def forms(self) -> tuple[str, ...]:
        """Its name and aliases."""
        return (self.name, *self.aliases)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.title or self.name}>"

    def entity(self, relation: str) -> Entity:
        """Return the value of a relation that links to another entity."""
        value = self.facts[relation]
        assert isinstance(value, Entity), (self, relation)
        return value

    def year(self, relation: str) -> int:
        """Return the year of a relation whose value is a date or a year."""
        value = self.facts[relation]
        if isinstance(value, Date):
            return value.year
        assert isinstance(value, Quantity), (self, relation)
        return value.amount

    def text(self, relation: str) -> str:
        """Return the value of a relation that is a bare word."""
        value = self.facts[relation]
        assert isinstance(value, str), (self, relation)
        return value


Value: TypeAlias = Entity | Date | Quantity | str


def year(number: int) -> Quantity:
    """Return a year as a value."""
    return Quantity(number, "year")


def count(number: int, *counted: str) -> Quantity:
    """Return a count as a value, with the words for the counted things."""
    return Quantity(number, counted=counted)


def value_forms(value: Value) -> tuple[str, ...]:
    """Return the accepted ways to write a value, the canonical one first."""
    return (value,) if isinstance(value, str) else value.forms


def fold(name: str) -> str:
    """Return a name for comparison: lower case, without the article."""
    return name.casefold().removeprefix("the ")


class World:
    """All entities, with look-ups by kind, by name and against the direction of a relation.

    Args:
        entities: entity `i` has the number i.
    """

    def __init__(self, entities: Sequence[Entity]) -> None:
        self.entities = list(entities)
        self._kinds: dict[str, list[Entity]] = {}
        self._names: dict[str, list[Entity]] = {}
        self._inverse: dict[tuple[str, int], list[Entity]] = {}
        for entity in self.entities:
            self._kinds.setdefault(entity.kind, []).append(entity)
            for form in dict.fromkeys(map(fold, entity.forms)):
                self._names.setdefault(form, []).append(entity)
            for relation, value in entity.facts.items():
                if isinstance(value, Entity):
                    self._inverse.setdefault((relation, value.number), []).append(entity)

    @property
    def kinds(self) -> list[str]:
        """The kinds of entities, in the order of the alphabet."""
        return sorted(self._kinds)

    def of_kind(self, *kinds: str) -> list[Entity]:
        """List the entities of some kinds."""
        return [entity for kind in kinds for entity in self._kinds.get(kind, ())]

    def named(self, name: str) -> list[Entity]:
        """List the entities that bear a name, as their own or as an alias."""
        return self._names.get(fold(name), [])

    def namesakes(self, entity: Entity) -> list[Entity]:
        """List the other entities that share one of its names."""
        matches: Iterable[Entity] = (other for form in entity.forms for other in self.named(form))
        return [other for other in dict.fromkeys(matches) if other is not entity]

    def linked_from(self, relation: str, target: Entity) -> list[Entity]:
        """List the entities whose `relation` is `target`."""
        return self._inverse.get((relation, target.number), [])
