"""Families: people with parents, spouses, trades and dates that fit together."""

from __future__ import annotations

from dataclasses import dataclass

from worlds.dice import Dice
from worlds.searchqa.geography import Maker
from worlds.searchqa.phonology import CULTURES
from worlds.searchqa.values import Date, Entity
from worlds.searchqa.vocabulary import OCCUPATIONS, SPORTS

PEOPLE = 1120
PRESENT = 2015

_MONTH_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def some_day(dice: Dice, year: int) -> Date:
    """Return a random day of a year, except the 29th of February."""
    month = dice.between(1, 12)
    return Date(year, month, dice.between(1, _MONTH_DAYS[month - 1]))


def is_alive(person: Entity, year: int) -> bool:
    """Return whether a person lives through the whole of a year."""
    death = person.facts.get("death_date")
    return person.year("birth_date") < year < (death.year if isinstance(death, Date) else 9999)


def works_in(person: Entity, year: int) -> bool:
    """Return whether a person is of working age in a year, and alive."""
    return is_alive(person, year) and 22 <= year - person.year("birth_date") <= 72


@dataclass
class _Settling:
    """Makes the families, one after the other."""

    maker: Maker
    dice: Dice
    cities: dict[Entity, list[Entity]]  # by country

    def person(
        self, country: Entity, surname: str, gender: str, born: int, namesake: str = ""
    ) -> Entity:
        dice, culture = self.dice, CULTURES[country.culture]
        name = namesake
        while not name or (not namesake and self.maker.taken("person", name)):
            name = f"{culture.given_name(dice, gender)} {surname}"
        home = dice.pick(self.cities[country])
        person = self.maker.make("person", name, country.culture, gender=gender)
        person.facts["birth_date"] = some_day(dice, born)
        person.facts["birth_place"] = home
        person.facts["citizenship"] = country
        person.facts["occupation"] = self.occupation(born)
        death = born + dice.between(34, 93)
        if death <= PRESENT:
            person.facts["death_date"] = some_day(dice, death)
            place = home if dice.chance(0.25) else dice.pick(self.cities[country])
            person.facts["death_place"] = place
        return person

    def occupation(self, born: int) -> str:
        dice = self.dice
        trade = dice.pick(OCCUPATIONS)
        if trade in ("film director", "actor") and born < 1868:
            trade = dice.pick(("novelist", "painter", "composer", "architect", "explorer"))
        if trade == "athlete":
            trade = dice.pick(list(SPORTS.values())) if born >= 1860 else "physician"
        if trade == "singer" and born < 1915:
            trade = "composer"
        return trade

    def spouse_of(self, person: Entity) -> Entity:
        """Find or make a spouse of about the same age from another family."""
        dice, born = self.dice, person.year("birth_date")
        gender = "female" if person.facts["gender"] == "male" else "male"
        if dice.chance(0.45):
            for other in dice.shuffled(self.maker.of_kind("person")):
                if (
                    other.facts["gender"] == gender
                    and "spouse" not in other.facts
                    and other.name.split()[-1] != person.name.split()[-1]
                    and other.facts["citizenship"] is person.facts["citizenship"]
                    and abs(other.year("birth_date") - born) <= 9
                ):
                    return self.wed(person, other)
        country = person.entity("citizenship")
        surname = CULTURES[country.culture].family_name(dice)
        return self.wed(person, self.person(country, surname, gender, born + dice.between(-6, 6)))

    def wed(self, first: Entity, second: Entity) -> Entity:
        first.facts["spouse"], second.facts["spouse"] = second, first
        return second

    def children_of(self, person: Entity, generations: int) -> None:
        """Add a person's spouse, children and further descendants."""
        dice = self.dice
        spouse = self.spouse_of(person)
        parents = (person, spouse) if person.facts["gender"] == "male" else (spouse, person)
        father, mother = parents
        young = max(parent.year("birth_date") for parent in parents)
        ends = [p.year("death_date") for p in parents if "death_date" in p.facts]
        names = {""}
        for number in range(dice.between(1, 3)):
            born = young + 20 + number * 3 + dice.between(0, 2)
            if born > min([young + 42, 1988, *(end - 1 for end in ends)]):
                break
            surname = father.name.split()[-1]
            gender = dice.pick(("male", "female"))
            elder = self.ancestor(father, gender)
            namesake = elder if elder not in names and dice.chance(0.3) else ""
            child = self.person(person.entity("citizenship"), surname, gender, born, namesake)
            names.add(child.name)
            child.facts["father"], child.facts["mother"] = father, mother
            if generations > 1 and "spouse" not in child.facts and dice.chance(0.7):
                self.children_of(child, generations - 1)

    def ancestor(self, father: Entity, gender: str) -> str:
        """Return the name of a grandparent or of the father whose surname a child bears."""
        if gender == "male":
            elder = father.facts.get("father", father)
            assert isinstance(elder, Entity)
            return elder.name
        return ""


def make_people(maker: Maker, dice: Dice) -> None:
    """Add the people, family by family."""
    cities: dict[Entity, list[Entity]] = {}
    for city in maker.of_kind("city"):
        cities.setdefault(city.entity("country"), []).append(city)
    settling = _Settling(maker, dice, cities)
    countries = list(cities)
    count = len(maker.entities)
    while len(maker.entities) - count < PEOPLE:
        country = dice.pick(countries)
        surname = CULTURES[country.culture].family_name(dice)
        start = settling.person(
            country, surname, dice.pick(("male", "female")), dice.between(1690, 1945)
        )
        settling.children_of(start, dice.between(1, 4))
    _share_names(maker, dice)
    _give_aliases(maker, dice)
    _find_mentors(maker, dice)


def _share_names(maker: Maker, dice: Dice) -> None:
    """Rename some people without parents or children as namesakes of others."""
    people = maker.of_kind("person")
    parents = {p.facts[r] for p in people for r in ("father", "mother") if r in p.facts}
    loose = [p for p in people if "father" not in p.facts and p not in parents]
    for person in loose[::3]:
        others = [
            other
            for other in people
            if other.culture == person.culture
            and other.facts["gender"] == person.facts["gender"]
            and abs(other.year("birth_date") - person.year("birth_date")) > 25
        ]
        if others:
            person.name = dice.pick(others).name
    for person in dice.sample(loose, 60):
        others = [other for other in people if other.culture == person.culture]
        person.name = f"{person.name.split()[0]} {dice.pick(others).name.split()[-1]}"


def _give_aliases(maker: Maker, dice: Dice) -> None:
    """Add pen names, stage names and epithets."""
    for person in maker.of_kind("person"):
        trade, culture = person.facts["occupation"], CULTURES[person.culture]
        if trade in ("novelist", "singer", "actor") and dice.chance(0.3):
            given = culture.given_name(dice, person.text("gender"))
            person.aliases = (f"{given} {culture.family_name(dice)}",)
        elif trade in ("general", "explorer") and dice.chance(0.35):
            beast = dice.pick(("Lion", "Wolf", "Fox", "Falcon", "Bear", "Heron"))
            person.aliases = (f"the {beast} of {person.entity('birth_place').name}",)


def _find_mentors(maker: Maker, dice: Dice) -> None:
    by_trade: dict[str, list[Entity]] = {}
    for person in maker.of_kind("person"):
        by_trade.setdefault(person.text("occupation"), []).append(person)
    for people in by_trade.values():
        for person in people:
            born = person.year("birth_date")
            elders = [
                other
                for other in people
                if 12 <= born - other.year("birth_date") <= 48 and is_alive(other, born + 24)
            ]
            if elders and dice.chance(0.45):
                person.facts["mentor"] = dice.pick(elders)
