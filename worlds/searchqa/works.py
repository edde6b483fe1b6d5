"""Novels, films, albums, paintings and operas."""

from __future__ import annotations

from worlds.dice import Dice
from worlds.searchqa.geography import Maker
from worlds.searchqa.institutions import Institutions
from worlds.searchqa.people import works_in
from worlds.searchqa.phonology import CULTURES
from worlds.searchqa.titles import echo_title, make_title
from worlds.searchqa.values import Entity, Quantity, count, year
from worlds.searchqa.vocabulary import FILM_GENRES, MUSIC, NOVEL_GENRES, STYLES

NOVELS, FILMS, ALBUMS, PAINTINGS, OPERAS = 260, 300, 130, 140, 75


class Works:
    """Makes works by authors of a fitting trade who were alive then.

    Args:
        maker: holds places, people and institutions already.
        dice: the random source.
        institutions: picks people.
    """

    def __init__(self, maker: Maker, dice: Dice, institutions: Institutions) -> None:
        self.maker, self.dice = maker, dice
        self.somebody = institutions.somebody
        self.cities = institutions.cities
        self.people = institutions.people
        self.titles: list[str] = []
        self.used: set[str] = set()

    def make_all(self) -> None:
        """Add every kind of work."""
        for author in self.makers("novelist", NOVELS):
            self.novel(author)
        for director in self.makers("film director", FILMS):
            self.film(director)
        for painter in self.makers("painter", PAINTINGS):
            self.painting(painter)
        for composer in self.makers("composer", OPERAS):
            self.opera(composer)
        for _ in range(ALBUMS):
            self.album()

    def makers(self, trade: str, count: int) -> list[Entity]:
        """List people of a trade, each about equally often, `count` in all."""
        people = [person for person in self.people if person.facts["occupation"] == trade]
        return [self.dice.pick(people) for _ in range(count)]

    def title(self, culture: str) -> str:
        """Make a title. Some echo or repeat an earlier one."""
        dice = self.dice
        roll = dice.below(100)
        if self.titles and roll < 14:
            title = echo_title(dice, dice.pick(self.titles))
        elif self.titles and roll < 22:
            title = dice.pick(self.titles)
        else:
            given = CULTURES[culture].given_name(dice, dice.pick(("male", "female")))
            title = make_title(dice, dice.pick(self.cities).name, given)
        self.titles.append(title)
        return title

    def working_year(self, person: Entity, earliest: int = 0) -> int | None:
        """Pick a year in which a person was at work, if there is one."""
        born = person.year("birth_date")
        years = [y for y in range(max(born + 23, earliest), born + 71) if y <= 2014]
        years = [y for y in years if works_in(person, y)]
        return self.dice.pick(years) if years else None

    def make(self, kind: str, title: str, when: int, maker: Entity) -> Entity | None:
        """Add a work unless one of its kind and year, or by the same hand, has the title."""
        if f"{kind}/{title}/{when}" in self.used or f"{title}/{maker.number}" in self.used:
            return None
        self.used.update((f"{kind}/{title}/{when}", f"{title}/{maker.number}"))
        return self.maker.make(kind, title, maker.culture)

    def company(self, sort: str, when: int) -> Entity | None:
        """Pick a company of a sort that exists in a year."""
        fits = [
            company
            for company in self.maker.of_kind("company")
            if company.facts["sort"] == sort and company.year("founded_year") <= when
        ]
        return self.dice.pick(fits) if fits else None

    def novel(self, author: Entity) -> None:
        """Add a novel."""
        when = self.working_year(author)
        novel = when and self.make("novel", self.title(author.culture), when, author)
        if not when or not novel:
            return
        novel.facts.update(
            author=author,
            publication_year=year(when),
            genre=self.dice.pick(NOVEL_GENRES),
            setting=self.dice.pick(self.cities),
            protagonist=CULTURES[author.culture].given_name(self.dice, "female")
            + " "
            + CULTURES[author.culture].family_name(self.dice),
            page_count=count(self.dice.between(112, 840), "pages"),
        )
        publisher = self.company("publisher", when)
        if publisher:
            novel.facts["publisher"] = publisher

    def film(self, director: Entity) -> None:
        """Add a film, some of them after a novel, then often by the novel's title."""
        dice = self.dice
        when = self.working_year(director, 1912)
        if when is None:
            return
        novels = [n for n in self.maker.of_kind("novel") if n.year("publication_year") < when - 2]
        novel = dice.pick(novels) if novels and dice.chance(0.32) else None
        title = novel.name if novel and dice.chance(0.6) else self.title(director.culture)
        film = self.make("film", title, when, director)
        if film is None:
            return
        film.facts.update(
            director=director,
            release_year=year(when),
            genre=dice.pick(FILM_GENRES),
            running_time=Quantity(dice.between(71, 196), "minutes"),
            filming_location=dice.pick(self.cities),
        )
        actors = [p for p in self.people if p.facts["occupation"] == "actor" and works_in(p, when)]
        cast = dice.sample(actors, 2)
        film.facts.update(zip(("lead_actor", "supporting_actor"), cast, strict=False))
        extras = {
            "studio": self.company("film studio", when),
            "score_composer": self.somebody(when, "composer"),
            "based_on": novel,
        }
        film.facts.update({relation: value for relation, value in extras.items() if value})

    def painting(self, painter: Entity) -> None:
        """Add a painting that hangs in a museum."""
        when = self.working_year(painter)
        painting = when and self.make("painting", self.title(painter.culture), when, painter)
        if not when or not painting:
            return
        museums = self.maker.of_kind("museum")
        sights = self.maker.of_kind("city", "river", "mountain", "lake")
        painting.facts.update(
            painter=painter,
            painted_year=year(when),
            museum=self.dice.pick(museums),
            depicts=self.dice.pick(sights),
            style=self.dice.pick(STYLES[1:4]),
        )

    def opera(self, composer: Entity) -> None:
        """Add an opera with its librettist and first night."""
        dice = self.dice
        when = self.working_year(composer)
        opera = when and self.make("opera", self.title(composer.culture), when, composer)
        if not when or not opera:
            return
        opera.facts.update(
            composer=composer,
            premiere_year=year(when),
            premiere_city=dice.pick(self.cities),
            act_count=str(dice.pick(("two", "three", "four", "five"))),
        )
        librettist = self.somebody(when, "novelist", "historian", "journalist")
        if librettist:
            opera.facts["librettist"] = librettist

    def album(self) -> None:
        """Add an album by a band or a singer."""
        dice = self.dice
        performer = dice.pick(
            [*self.maker.of_kind("band"), *self.makers("singer", 40)],
        )
        if performer.kind == "band":
            when = performer.year("formed_year") + dice.between(1, 10)
        else:
            when = self.working_year(performer, 1950) or 0
        label = self.company("record label", when)
        producer = self.somebody(when, "singer", "composer")
        if not 1950 <= when <= 2014 or not label or not producer or producer is performer:
            return
        album = self.make("album", self.title(producer.culture), when, performer)
        if album is None:
            return
        album.facts.update(
            performer=performer,
            release_year=year(when),
            genre=performer.facts.get("genre", dice.pick(MUSIC)),
            label=label,
            producer=producer,
            track_count=count(dice.between(8, 19), "tracks"),
        )
