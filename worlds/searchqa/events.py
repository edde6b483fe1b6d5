"""Wars, battles, treaties, expeditions, first ascents and discovered species."""

from __future__ import annotations

from worlds.dice import Dice
from worlds.searchqa.geography import Maker
from worlds.searchqa.institutions import Institutions
from worlds.searchqa.people import some_day
from worlds.searchqa.phonology import CULTURES
from worlds.searchqa.values import Entity, Quantity, count, year
from worlds.searchqa.vocabulary import ADJECTIVES, SPECIES

WARS, BATTLES, EXPEDITIONS, DISCOVERIES = 34, 120, 75, 95


class Events:
    """Makes events whose leaders were alive and in office.

    Args:
        maker: holds places, people and institutions already.
        dice: the random source.
        institutions: picks people.
    """

    def __init__(self, maker: Maker, dice: Dice, institutions: Institutions) -> None:
        self.maker, self.dice = maker, dice
        self.somebody = institutions.somebody
        self.cities = institutions.cities

    def make_all(self) -> None:
        """Add every kind of event."""
        for _ in range(WARS):
            self.war()
        for _ in range(BATTLES):
            self.battle()
        for mountain in self.maker.of_kind("mountain"):
            self.ascent(mountain)
        for _ in range(EXPEDITIONS):
            self.expedition()
        for _ in range(DISCOVERIES):
            self.discovery()

    def war(self) -> None:
        """Add a war between two countries and the treaty that ended it."""
        dice = self.dice
        victor, loser = dice.sample(self.maker.of_kind("country"), 2)
        start = dice.between(1745, 1935)
        end = start + dice.between(1, 5)
        name = f"{victor.text('adjective')}–{loser.text('adjective')} War"
        if self.maker.taken("war", name):
            return
        seat = dice.pick(self.cities)
        treaty_name = f"Treaty of {self.spot(seat)}"
        if self.maker.taken("treaty", treaty_name):
            return
        war = self.maker.make(
            "war", name, victor=victor, loser=loser, start_year=year(start), end_year=year(end)
        )
        treaty = self.maker.make(
            "treaty", treaty_name, city=seat, ended_war=war, signing_date=some_day(dice, end)
        )
        mediator = self.somebody(end, "politician", "historian", "journalist")
        if mediator:
            treaty.facts["mediator"] = mediator

    def battle(self) -> None:
        """Add a battle of a war near a city of one of its countries."""
        dice = self.dice
        war = dice.pick(self.maker.of_kind("war"))
        sides = [war.entity("victor"), war.entity("loser")]
        when = dice.between(war.year("start_year"), war.year("end_year"))
        fields = [city for city in self.cities if city.facts["country"] in sides]
        site = dice.pick(fields)
        name = f"Battle of {self.spot(site)}"
        winner = self.somebody(when, "general")
        loser = self.somebody(when, "general", "politician", "explorer")
        if winner is None or loser is None or winner is loser:
            return
        if self.maker.taken("battle", name) and dice.chance(0.5):
            return
        others = [b for b in self.maker.of_kind("battle") if b.name == name]
        if any(battle.year("battle_date") == when for battle in others):
            return
        self.maker.make(
            "battle",
            name,
            city=site,
            battle_date=some_day(dice, when),
            commander=winner,
            defeated_commander=loser,
            war=war,
            casualties=count(dice.between(9, 260) * 50, "casualties"),
        )

    def spot(self, city: Entity) -> str:
        """Return the name of a city or, more often, of an otherwise unknown place near it."""
        if self.dice.chance(0.35):
            return city.name
        while True:
            name = CULTURES[city.culture].place_name(self.dice)
            if not any(self.maker.taken(kind, name) for kind in ("city", "battle", "treaty")):
                return name

    def ascent(self, mountain: Entity) -> None:
        """Let somebody climb a mountain for the first time."""
        when = self.dice.between(1770, 1965)
        climber = self.somebody(when, "explorer", "botanist", "astronomer", "general", "physician")
        if climber:
            mountain.facts["first_climber"] = climber
            mountain.facts["first_ascent_year"] = year(when)

    def expedition(self) -> None:
        """Add an expedition to a far place."""
        dice = self.dice
        when = dice.between(1760, 1965)
        leader = self.somebody(when, "explorer", "botanist")
        if leader is None:
            return
        goal = dice.pick(self.maker.of_kind("river", "mountain", "lake"))
        stem = goal.name.removeprefix("River ")
        name = dice.pick((f"{stem} Expedition", f"{leader.name.split()[-1]} Expedition"))
        if any(e.name == name and e.year("departure_year") == when for e in self.known()):
            return
        expedition = self.maker.make(
            "expedition",
            name,
            leader=leader,
            departure_year=year(when),
            destination=goal,
            departure_city=dice.pick(self.cities),
            crew_size=count(dice.between(9, 148), "people"),
        )
        sponsors = [
            entity
            for entity in self.maker.of_kind("university", "museum", "newspaper")
            if entity.year("founded_year") < when
        ]
        if sponsors:
            expedition.facts["sponsor"] = dice.pick(sponsors)

    def known(self) -> list[Entity]:
        """List the expeditions made so far."""
        return self.maker.of_kind("expedition")

    def discovery(self) -> None:
        """Add a species with its discoverer, haunt and namesake."""
        dice = self.dice
        when = dice.between(1765, 1990)
        finder = self.somebody(when, "botanist", "explorer", "physician")
        honoured = self.somebody(when)
        if finder is None or honoured is None:
            return
        sort = dice.pick(SPECIES)
        stem = honoured.name.split()[-1]
        stem = f"{stem}'{'' if stem.endswith('s') else 's'}"
        name = f"{stem} {sort}" if dice.chance(0.6) else f"{stem} {dice.pick(ADJECTIVES)} {sort}"
        name = " ".join([name.split()[0], *(word.lower() for word in name.split()[1:])])
        if self.maker.taken("species", name):
            return
        self.maker.make(
            "species",
            name,
            sort=sort,
            discoverer=finder,
            described_year=year(when),
            named_after=honoured,
            habitat=dice.pick(self.maker.of_kind("mountain", "lake", "river")),
            length=Quantity(dice.between(12, 240), "millimetres"),
        )
