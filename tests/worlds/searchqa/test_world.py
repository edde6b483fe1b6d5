from __future__ import annotations

from collections import Counter

import pytest

from worlds.searchqa.asking.patterns import BACKWARD, JOINS, SAMENESS
from worlds.searchqa.asking.relations import WORDING
from worlds.searchqa.build import build_world
from worlds.searchqa.naming import CREATOR_OF, WORKS, mentions, resolve, year_of
from worlds.searchqa.phonology import REAL_NAMES
from worlds.searchqa.prose.writer import Library, Writer
from worlds.searchqa.values import Date, Entity, Quantity, World


@pytest.fixture(scope="module")
def world() -> World:
    return build_world(0)


@pytest.fixture(scope="module")
def library(world: World) -> Library:
    return Writer(world, 0).write()


@pytest.mark.full
def test_the_world_has_many_linked_entities_of_every_sort(world: World) -> None:
    kinds = Counter(entity.kind for entity in world.entities)
    assert sum(kinds.values()) >= 3000
    assert {"person", "city", "company", "film", "battle"} <= kinds.keys()
    linked = {e.number for e in world.entities for v in e.facts.values() if isinstance(v, Entity)}
    linked |= {v.number for e in world.entities for v in e.facts.values() if isinstance(v, Entity)}
    assert len(linked) == len(world.entities)


@pytest.mark.full
def test_the_same_seed_makes_the_same_world_and_another_one_another(world: World) -> None:
    again, other = build_world(0), build_world(1)
    assert [(e.title, repr(e.facts)) for e in again.entities] == [
        (e.title, repr(e.facts)) for e in world.entities
    ]
    assert {e.title for e in other.entities} != {e.title for e in world.entities}


def test_titles_differ_and_no_place_bears_a_real_name(world: World) -> None:
    titles = [entity.title.casefold() for entity in world.entities]
    assert len(set(titles)) == len(titles)
    for place in world.of_kind("city", "river", "mountain", "lake"):
        assert not set(place.name.casefold().split()) & REAL_NAMES


def test_lives_fit_together(world: World) -> None:
    for person in world.of_kind("person"):
        birth, death = person.facts["birth_date"], person.facts.get("death_date")
        assert isinstance(birth, Date)
        assert death is None or (isinstance(death, Date) and death > birth)
        assert person.entity("birth_place").facts["country"] is person.facts["citizenship"]
        if "spouse" in person.facts:
            assert person.entity("spouse").facts["spouse"] is person
        for relation in ("father", "mother"):
            if relation in person.facts:
                parent = person.entity(relation)
                assert 16 <= birth.year - parent.year("birth_date") <= 60
                assert "death_date" not in parent.facts or parent.year("death_date") >= birth.year
        if "mentor" in person.facts:
            assert person.entity("mentor").year("birth_date") + 12 <= birth.year
        if "alma_mater" in person.facts:
            assert person.entity("alma_mater").year("founded_year") <= birth.year + 16
        if "award" in person.facts:
            given = person.year("award_year")
            assert person.entity("award").year("established_year") <= given
            assert death is None or given <= death.year


def test_siblings_have_names_of_their_own(world: World) -> None:
    names: dict[Entity, list[str]] = {}
    for person in world.of_kind("person"):
        if "father" in person.facts:
            names.setdefault(person.entity("father"), []).append(person.name)
    assert any(len(siblings) > 1 for siblings in names.values())
    assert all(len(set(siblings)) == len(siblings) for siblings in names.values())


def test_most_institutions_and_battles_are_not_named_after_their_city(world: World) -> None:
    for kind in ("university", "museum", "newspaper", "club", "festival", "battle", "treaty"):
        named = [entity.entity("city").name in entity.name for entity in world.of_kind(kind)]
        assert 0.1 * len(named) <= sum(named) <= 0.6 * len(named), kind


def test_whoever_makes_or_founds_something_is_alive(world: World) -> None:
    deeds = [(kind, relation) for kind, relation in CREATOR_OF.items() if kind != "album"]
    deeds += [("battle", "commander"), ("expedition", "leader"), ("treaty", "mediator")]
    for kind, relation in deeds:
        for entity in world.of_kind(kind):
            when = year_of(entity)
            if relation in entity.facts and when is not None:
                _assert_alive(entity.entity(relation), when)
    for entity in world.entities:
        if "founder" in entity.facts:
            _assert_alive(entity.entity("founder"), entity.year("founded_year"))
        if "first_climber" in entity.facts:
            _assert_alive(entity.entity("first_climber"), entity.year("first_ascent_year"))


def _assert_alive(person: Entity, when: int) -> None:
    assert person.year("birth_date") + 22 <= when, person
    assert "death_date" not in person.facts or when < person.year("death_date"), person


def test_places_fit_together(world: World) -> None:
    for country in world.of_kind("country"):
        assert country.entity("capital").facts["country"] is country
        people = [
            city.facts["population"]
            for city in world.linked_from("country", country)
            if city.kind == "city"
        ]
        total = country.facts["population"]
        assert isinstance(total, Quantity)
        assert sum(p.amount for p in people if isinstance(p, Quantity)) < total.amount
    for city in world.of_kind("city"):
        if "river" in city.facts:
            assert city.entity("river").facts["country"] is city.facts["country"]
        if "twin_city" in city.facts:
            assert city.entity("twin_city").facts["twin_city"] is city
    for battle in world.of_kind("battle"):
        war = battle.entity("war")
        assert war.year("start_year") <= battle.year("battle_date") <= war.year("end_year")


def test_there_are_namesakes_that_mislead_and_words_to_tell_them_apart(world: World) -> None:
    misled = Counter(e.kind for e in world.entities if world.namesakes(e))
    assert misled["person"] >= 100 and misled["film"] >= 50 and misled["city"] >= 20
    rivers = {river.name.removeprefix("River ") for river in world.of_kind("river")}
    assert sum(city.name in rivers for city in world.of_kind("city")) >= 20
    unnamed = [e for e in world.entities if not any(resolve(world, m) == [e] for m in mentions(e))]
    assert len(unnamed) <= 5
    assert not any(entity.kind in (*WORKS, "person", "city") for entity in unnamed)


@pytest.mark.full
def test_every_fact_is_told(world: World, library: Library) -> None:
    silent = ("gender", "adjective")
    for entity in world.entities:
        for relation in entity.facts:
            if relation not in silent:
                assert (entity.number, relation) in library.stated, (entity, relation)


@pytest.mark.full
def test_facts_are_told_in_other_documents_too(world: World, library: Library) -> None:
    elsewhere = sum(
        any(library.passages[number].document_id != entity for number in numbers)
        for (entity, _), numbers in library.stated.items()
    )
    assert elsewhere >= 10_000


def test_every_wording_has_three_different_questions() -> None:
    tables = [words.ask for words in (*WORDING.values(), *BACKWARD.values())]
    tables += [*JOINS.values()]
    tables += [row[2] for row in SAMENESS]
    for questions in tables:
        assert len(set(questions)) == 3, questions
