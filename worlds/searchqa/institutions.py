"""Universities, companies, clubs, bands, museums, newspapers, landmarks, prizes, festivals."""

from __future__ import annotations

from worlds.dice import Dice
from worlds.searchqa.geography import Maker
from worlds.searchqa.people import is_alive, works_in
from worlds.searchqa.values import Entity, Quantity, count, year
from worlds.searchqa.vocabulary import (
    ADJECTIVES,
    AWARD_FIELDS,
    CLUB_ENDINGS,
    COMPANY_SORTS,
    LANDMARKS,
    MONTHS,
    MUSIC,
    NOUNS,
    PLURALS,
    SPORTS,
    STYLES,
)

_FESTIVALS = ("Film Festival", "Music Festival", "Theatre Festival", "Book Fair")
_PAPERS = ("Courier", "Gazette", "Herald", "Observer", "Telegraph", "Chronicle", "Mercury")


class Institutions:
    """Makes organisations whose people live at the right time.

    Args:
        maker: holds places and people already.
        dice: the random source.
    """

    def __init__(self, maker: Maker, dice: Dice) -> None:
        self.maker, self.dice = maker, dice
        self.cities = maker.of_kind("city")
        self.people = maker.of_kind("person")

    def somebody(self, when: int, *trades: str, country: Entity | None = None) -> Entity | None:
        """Pick a person of one of the trades at work in a year, if there is one."""
        fits = [
            person
            for person in self.people
            if (not trades or person.facts["occupation"] in trades)
            and (country is None or person.facts["citizenship"] is country)
            and works_in(person, when)
        ]
        return self.dice.pick(fits) if fits else None

    def make_all(self) -> None:
        """Add every kind of organisation."""
        for _ in range(85):
            self.university()
        for _ in range(140):
            self.company()
        for _ in range(75):
            self.club()
        for _ in range(60):
            self.band()
        for _ in range(45):
            self.museum()
        for _ in range(50):
            self.newspaper()
        for _ in range(140):
            self.landmark()
        for _ in range(40):
            self.award()
        for _ in range(45):
            self.festival()
        self.careers()

    def place(self, kind: str, *endings: str) -> tuple[str, Entity] | None:
        """Pick a city and a name that is free in its kind. Four of ten names hold the city's."""
        dice = self.dice
        city = dice.pick(self.cities)
        stems = (dice.pick(NOUNS), dice.pick(self.people).name.split()[-1])
        stem = city.name if dice.chance(0.4) else dice.pick(stems)
        name = f"{stem} {dice.pick(endings)}"
        if stem == city.name and kind == "university" and dice.chance(0.5):
            name = f"University of {stem}"
        return None if self.maker.taken(kind, name) else (name, city)

    def university(self) -> None:
        """Add a university."""
        dice = self.dice
        site = self.place("university", "University", "Polytechnic")
        if site is None:
            return
        name, city = site
        when = dice.between(1740, 1935)
        university = self.maker.make("university", name, city=city, founded_year=year(when))
        university.facts["student_count"] = count(dice.between(2100, 38900), "students")
        self.add(university, "founder", self.somebody(when, country=city.entity("country")))
        self.add(university, "head", self.somebody(2008))
        if name.startswith("University of"):
            university.aliases = (f"{city.name} University",)
            if self.maker.taken("university", university.aliases[0]):
                university.aliases = ()

    def company(self) -> None:
        """Add a company, named after its founder or a word."""
        dice = self.dice
        sorts = list(COMPANY_SORTS)
        sort = dice.pick(sorts[:3]) if dice.chance(0.6) else dice.pick(sorts)
        early = {"film studio": 1905, "record label": 1938}.get(sort, 1790)
        when = dice.between(early, 1970)
        founder = self.somebody(when, *(("industrialist",) if dice.chance(0.4) else ()))
        city = dice.pick(self.cities)
        if founder is not None and dice.chance(0.4):
            stem = founder.name.split()[-1]
            city = founder.entity("birth_place") if dice.chance(0.4) else city
        else:
            stem = f"{dice.pick(ADJECTIVES)} {dice.pick(PLURALS)[:-1]}"
            stem = stem if not stem.endswith("Ferrie") else "Copper Ferry"
            stem = stem.replace("Ashe", "Ash")
        name = f"{stem} {dice.pick(COMPANY_SORTS[sort])}"
        if self.maker.taken("company", name):
            return
        company = self.maker.make("company", name, sort=sort, city=city, founded_year=year(when))
        company.facts["employees"] = count(dice.between(40, 9800), "employees", "people")
        self.add(company, "founder", founder)
        self.add(company, "head", self.somebody(2009))

    def club(self) -> None:
        """Add a sports club."""
        dice = self.dice
        sport = dice.pick(list(SPORTS))
        site = self.place("club", *CLUB_ENDINGS)
        if site is None:
            return
        name, city = site
        when = dice.between(1868, 1960)
        club = self.maker.make("club", name, sport=sport, city=city, founded_year=year(when))
        club.facts["capacity"] = count(dice.between(12, 480) * 100, "spectators", "people")
        self.add(club, "founder", self.somebody(when, country=city.entity("country")))
        self.add(club, "coach", self.somebody(2005))

    def band(self) -> None:
        """Add a band with its singer and label."""
        dice = self.dice
        name = f"{dice.pick(ADJECTIVES)} {dice.pick(PLURALS)}"
        when = dice.between(1958, 2004)
        labels = [
            company
            for company in self.maker.of_kind("company")
            if company.facts["sort"] == "record label" and company.year("founded_year") < when
        ]
        singer = self.somebody(when, "singer")
        if self.maker.taken("band", name) or singer is None or not labels:
            return
        self.maker.make(
            "band",
            name,
            genre=dice.pick(MUSIC),
            city=dice.pick(self.cities),
            formed_year=year(when),
            singer=singer,
            label=dice.pick(labels),
        )

    def museum(self) -> None:
        """Add a museum."""
        dice = self.dice
        site = self.place("museum", "Museum of Art", "Gallery", "Museum")
        if site is None:
            return
        name, city = site
        museum = self.maker.make("museum", name, city=city)
        when = dice.between(1790, 1930)
        museum.facts["founded_year"] = year(when)
        museum.facts["visitors"] = count(
            dice.between(90, 6400) * 100, "visitors", "visitors a year"
        )
        self.add(museum, "founder", self.somebody(when))
        self.add(museum, "head", self.somebody(2010))

    def newspaper(self) -> None:
        """Add a newspaper."""
        dice = self.dice
        site = self.place("newspaper", *_PAPERS)
        if site is None:
            return
        name, city = site
        when = dice.between(1780, 1925)
        paper = self.maker.make("newspaper", name, city=city, founded_year=year(when))
        self.add(paper, "founder", self.somebody(when, "journalist", "novelist", "politician"))
        self.add(paper, "head", self.somebody(2010))
        owners = [c for c in self.maker.of_kind("company") if c.facts["sort"] == "publisher"]
        if owners:
            paper.facts["owner"] = dice.pick(owners)
        paper.aliases = (f"The {name}",)

    def landmark(self) -> None:
        """Add a building, named after its city, a person or a word."""
        dice = self.dice
        sort = dice.pick(LANDMARKS)
        city = dice.pick(self.cities)
        when = dice.between(1740, 1985)
        architect = self.somebody(when, "architect")
        honoured = [p for p in self.people if p.year("birth_date") + 40 < when]
        stems = [dice.pick(ADJECTIVES), city.name]
        if honoured:
            stems.append(dice.pick(honoured).name.split()[-1])
        name = f"{dice.pick(stems)} {sort}"
        if architect is None or self.maker.taken("landmark", name):
            return
        tall = dice.between(14, 130)
        self.maker.make(
            "landmark",
            name,
            sort=sort.lower(),
            city=city,
            architect=architect,
            completed_year=year(when),
            style=dice.pick(STYLES),
            height=Quantity(tall, "metres"),
        )

    def award(self) -> None:
        """Add a prize that a university, museum or newspaper gives in memory of a person."""
        dice = self.dice
        giver = dice.pick(self.maker.of_kind("university", "museum", "newspaper"))
        when = giver.year("founded_year") + dice.between(8, 60)
        dead = [p for p in self.people if "death_date" in p.facts and p.year("death_date") < when]
        if not dead:
            return
        honoured = dice.pick(dead)
        name = f"{honoured.name} {dice.pick(('Prize', 'Medal', 'Award'))}"
        if self.maker.taken("award", name):
            return
        award = self.maker.make("award", name, field=dice.pick(AWARD_FIELDS), presenter=giver)
        award.facts["named_after"] = honoured
        award.facts["established_year"] = year(when)
        award.aliases = (" ".join(name.split()[-2:]),)

    def festival(self) -> None:
        """Add a yearly festival."""
        dice = self.dice
        site = self.place("festival", *_FESTIVALS)
        if site is None:
            return
        name, city = site
        when = dice.between(1925, 1985)
        festival = self.maker.make("festival", name, city=city, founded_year=year(when))
        festival.facts["month"] = dice.pick(MONTHS)
        festival.facts["attendance"] = count(dice.between(30, 2100) * 100, "people")
        self.add(festival, "founder", self.somebody(when))

    def careers(self) -> None:
        """Set people's studies, employers, clubs and prizes, and cities' mayors."""
        dice = self.dice
        universities = self.maker.of_kind("university")
        employers = self.maker.of_kind("newspaper", "museum", "university")
        awards, clubs = self.maker.of_kind("award"), self.maker.of_kind("club")
        for person in self.people:
            born = person.year("birth_date")
            schools = [u for u in universities if u.year("founded_year") <= born + 16]
            if schools and is_alive(person, born + 25) and dice.chance(0.6):
                person.facts["alma_mater"] = dice.pick(schools)
            jobs = [e for e in employers if e.year("founded_year") <= born + 22]
            if person.facts["occupation"] in _EMPLOYED and jobs and dice.chance(0.8):
                person.facts["employer"] = dice.pick(jobs)
            sport = _SPORT_OF.get(person.text("occupation"))
            teams = [c for c in clubs if c.facts["sport"] == sport]
            teams = [c for c in teams if c.year("founded_year") <= born + 18]
            if teams:
                person.facts["club"] = dice.pick(teams)
            when = born + dice.between(30, 68)
            fits = [
                a
                for a in awards
                if _FIELD_OF.get(person.text("occupation")) == a.facts["field"]
                and a.year("established_year") <= when <= 2015
            ]
            if fits and is_alive(person, when):
                person.facts["award"] = dice.pick(fits)
                person.facts["award_year"] = year(when)
        for city in dice.sample(self.cities, 250):
            self.add(city, "mayor", self.somebody(2011, country=city.entity("country")))

    def add(self, entity: Entity, relation: str, value: Entity | None) -> None:
        """Set a fact if there is a value for it."""
        if value is not None:
            entity.facts[relation] = value


_EMPLOYED = (
    *("journalist", "historian", "astronomer", "chemist", "botanist", "physician", "geologist"),
    *("mathematician", "jurist", "engineer"),
)
_SPORT_OF = {athlete: sport for sport, athlete in SPORTS.items()}
_FIELD_OF = {
    "novelist": "literature",
    "journalist": "literature",
    "chemist": "chemistry",
    "astronomer": "astronomy",
    "painter": "painting",
    "architect": "painting",
    "composer": "music",
    "singer": "music",
    "violinist": "music",
    "sculptor": "painting",
    "geologist": "chemistry",
    "mathematician": "astronomy",
    "physician": "medicine",
    "botanist": "medicine",
    "film director": "cinema",
    "actor": "cinema",
}
