"""Questions that can be answered by less than they ask for, one sort after the other."""

from __future__ import annotations

import pytest

from agentgym_envs.retrieval.documents import Passage
from agentgym_envs.searchqa.questions import Hop
from worlds.searchqa.asking.searching import Searcher
from worlds.searchqa.asking.shortcuts import Shortcuts
from worlds.searchqa.asking.structure import Anchor, Back, Join, Kin, Node, Step, sole_values
from worlds.searchqa.naming import Mention
from worlds.searchqa.prose.writer import Library
from worlds.searchqa.values import Date, Entity, Quantity, Value, World, year

PEOPLE = ("Ada Kron", "Bo Lind", "Cid Lind", "Dan Hohl", "Eve Marn", "Fay Ost", "Gus Pell")


@pytest.fixture
def world() -> World:
    """Three films and their people, two battles and their cities, and a family."""
    entities: list[Entity] = []

    def make(kind: str, name: str, **facts: Value) -> Entity:
        entities.append(Entity(len(entities), kind, name, facts=dict(facts), title=name))
        return entities[-1]

    land, other = make("country", "Vald"), make("country", "Sorn")
    arn, bel, cor = (make("city", name, country=land) for name in ("Arn", "Bel", "Cor"))
    people = {name: make("person", name, occupation="actor") for name in PEOPLE}
    ada, bo, cid, dan, eve, fay, gus = people.values()
    trades = ("painter", "general", "novelist", "botanist", "singer", "jurist", "rower")
    for person, trade, home in zip(people.values(), trades, [arn, bel] * 4, strict=False):
        person.facts.update(trade=trade, birth_place=home, birth_date=Date(1900, 1, person.number))
        make("club", f"{trade} club", coach=person)
    make("film", "Red Dust", director=ada, lead_actor=bo, release_year=year(1954))
    make("film", "Blue Dust", director=ada, lead_actor=cid, release_year=year(1955))
    make("film", "Green Dust", director=eve, lead_actor=bo, release_year=year(1956))
    make("film", "Last Dust", director=eve, lead_actor=dan, release_year=year(1957))
    make("battle", "Battle of Arn", city=arn)
    make("battle", "Battle of Zud", city=bel)
    make("battle", "Battle of Gan", city=cor)
    bo.facts.update(father=cid, citizenship=land)
    cid.facts.update(father=gus, citizenship=land)
    dan.facts.update(father=eve, citizenship=land)
    eve.facts.update(father=fay, citizenship=other)
    return World(entities)


def named(world: World, name: str, *qualifiers: tuple[str, Value | int]) -> Anchor:
    (entity,) = world.named(name)
    return Anchor(Mention(name, name, qualifiers), entity.kind)


def has_shortcut(world: World, text: str, node: Node, told: dict[str, str] | None = None) -> bool:
    """Ask for the shortcuts of a tree; `told` names documents that tell facts: "Bo Lind father"."""
    passages = [Passage(e.number, e.title, e.name, e.number, 0) for e in world.entities]
    stated = {}
    for fact, document in (told or {}).items():
        name, _, relation = fact.rpartition(" ")
        stated[world.named(name)[0].number, relation] = [world.named(document)[0].number]
    values = sole_values(world, node)
    assert values is not None
    return Shortcuts(world, Library(passages, stated)).has_any(text, node, values)


def test_an_answer_that_is_named_by_what_the_question_says(world: World) -> None:
    near = {city: Back(named(world, city), "city", "battle") for city in ("Arn", "Bel")}
    assert has_shortcut(world, "Which battle was fought near Arn?", near["Arn"])
    assert not has_shortcut(world, "Which battle was fought near Bel?", near["Bel"])


def test_a_country_is_in_its_adjective(world: World) -> None:
    shortcuts = Shortcuts(world, Library([], {}))
    (land,) = world.named("Vald")
    assert shortcuts.is_in(land, ["In which country is the Valdic city of Arn?"])
    assert not shortcuts.is_in(land, ["In which country is the city of Arn?"])


def test_words_for_a_thing_that_say_what_is_asked_of_it(world: World) -> None:
    dated = named(world, "Red Dust", ("year", 1954))
    assert has_shortcut(world, "When was the film released?", Step(dated, "release_year", "film"))
    assert not has_shortcut(world, "Who directed it?", Step(dated, "director", "film"))
    plain = named(world, "Red Dust", ("kind", "film"))
    assert not has_shortcut(world, "When?", Step(plain, "release_year", "film"))


def test_one_branch_that_leads_there_alone(world: World) -> None:
    def film(director: str, actor: str) -> Join:
        branches = (named(world, director), named(world, actor))
        return Join("film", ("director", "lead_actor"), branches)

    assert not has_shortcut(world, "Which film?", film("Ada Kron", "Bo Lind"))
    assert has_shortcut(world, "Which film?", film("Eve Marn", "Dan Hohl"))


def test_a_role_that_gives_its_holders_occupation_away(world: World) -> None:
    director = Step(named(world, "Red Dust"), "director", "film")
    assert has_shortcut(world, "What did its director do?", Step(director, "trade", "person"))
    coach = Step(named(world, "painter club"), "coach", "club")
    assert not has_shortcut(world, "What does its coach do?", Step(coach, "trade", "person"))


def test_an_earlier_thing_that_has_the_answer_itself(world: World) -> None:
    father = Step(named(world, "Bo Lind"), "father", "person")
    land = Step(father, "citizenship", "person")
    assert has_shortcut(world, "Of which country was his father?", land)
    home = Step(father, "birth_place", "person")
    assert not has_shortcut(world, "Where was his father born?", home)
    world.named("Bo Lind")[0].facts["birth_place"] = world.named("Arn")[0]
    assert has_shortcut(world, "Where was his father born?", home)


def test_a_document_of_what_is_named_that_tells_a_later_step(world: World) -> None:
    director = Step(named(world, "Red Dust"), "director", "film")
    born = Step(director, "birth_date", "person")
    elsewhere = {"Ada Kron birth_date": "Ada Kron"}
    assert not has_shortcut(world, "When was the director born?", born, elsewhere)
    there = {"Ada Kron birth_date": "Red Dust"}
    assert has_shortcut(world, "When was the director born?", born, there)


def test_a_grandfather_of_the_fathers_name(world: World) -> None:
    node = Kin(named(world, "Bo Lind"), "paternal grandfather", ("father", "father"))
    assert not has_shortcut(world, "Who was the paternal grandfather?", node)
    world.named("Gus Pell")[0].aliases = ("Cid Lind",)
    assert has_shortcut(world, "Who was the paternal grandfather?", node)


def test_what_one_search_for_the_question_shows() -> None:
    texts = ["Ada Kron directed Red Dust.", "Ada Kron was born in Arn.", "Arn has 1,350 people."]
    passages = [Passage(n, f"T{n}", text, n, 0) for n, text in enumerate(texts)]
    shortcuts = Shortcuts(World([]), Library(passages, {}))
    assert shortcuts.is_found_at_once("Who directed Red Dust?", "Ada Kron", ())
    assert shortcuts.is_found_at_once("How many people has Arn?", Quantity(1350), ())
    assert not shortcuts.is_found_at_once("Who directed Red Dust?", "Bel", ())
    both = [Hop("Red Dust", (0,), "Ada Kron"), Hop("Arn", (2,), "1,350")]
    assert shortcuts.is_found_at_once("Red Dust, Arn", "yes", both)
    assert not shortcuts.is_found_at_once("Red Dust", "yes", both)


@pytest.mark.full
def test_a_search_gives_what_the_environments_own_gives() -> None:
    pytest.importorskip("bm25s")
    from agentgym_envs.retrieval import bm25
    from agentgym_envs.searchqa.world import embedded_world

    corpus, questions = embedded_world()
    ours, theirs = Searcher(corpus.passages), bm25.BM25Retriever(corpus)
    asked = [questions.question(n).text for n in questions.numbers("test")[::20]]
    same = [
        [p.passage_id for p in ours.search(text, 3)]
        == [hit.passage.passage_id for hit in theirs.search(text, 3)]
        for text in asked
    ]
    assert sum(same) >= 0.97 * len(same)
