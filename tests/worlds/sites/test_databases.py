from __future__ import annotations

import re
import sqlite3

import pytest

from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.state import Database
from worlds.sites.databases import NAMES, make_database
from worlds.sites.reddit.topics import TOPICS
from worlds.sites.setting import Setting
from worlds.sites.shopping.reviews import ASPECTS


def opened(content: bytes) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", factory=Database)
    connection.deserialize(content)
    return connection


def number_of_rows(content: bytes) -> int:
    database = opened(content)
    tables = database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    return sum(
        database.execute(f'SELECT count(*) FROM "{table}"').fetchone()[0] for (table,) in tables
    )


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_a_database_is_made_again_byte_for_byte_and_another_seed_makes_another(name: str) -> None:
    assert make_database(name, Setting()) == open_content().database(name)
    assert make_database(name, Setting(seed=1)) != open_content().database(name)


@pytest.mark.parametrize("name", NAMES)
def test_the_bytes_name_no_version_of_sqlite_and_count_no_changes(name: str) -> None:
    content = open_content().database(name)
    assert content[24:28] == bytes(4) and content[92:100] == bytes(8)


@pytest.mark.parametrize("name", NAMES)
def test_a_fresh_world_has_as_many_rows_and_whole_references(name: str) -> None:
    content = make_database(name, Setting(seed=3))
    assert number_of_rows(content) == pytest.approx(
        number_of_rows(open_content().database(name)), rel=0.15
    )
    assert opened(content).execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.full
@pytest.mark.parametrize("name", NAMES)
def test_a_world_of_twice_the_scale_has_about_twice_the_rows(name: str) -> None:
    content = make_database(name, Setting(scale=2))
    assert number_of_rows(content) == pytest.approx(
        2 * number_of_rows(open_content().database(name)), rel=0.3
    )


def test_people_differ_by_seed_but_for_the_agent() -> None:
    shipped, fresh = Setting().people, Setting(seed=1).people
    assert len(shipped) == len(fresh) == len({person.name for person in fresh}) == 400
    assert shipped[0] == fresh[0] and shipped[1:] != fresh[1:]
    assert len({person.username for person in Setting(scale=10).people}) == 4000


@pytest.mark.parametrize("scale", [0, 11])
def test_a_scale_that_the_words_do_not_reach_is_refused(scale: int) -> None:
    with pytest.raises(ValueError, match=f"scale must be from 1 to 10, got {scale}"):
        Setting(scale=scale)


@pytest.mark.parametrize("aspect", sorted(ASPECTS))
def test_what_is_said_of_an_aspect_names_it(aspect: str) -> None:
    for sentence in (*ASPECTS[aspect][0], *ASPECTS[aspect][1]):
        assert re.search(rf"\b{aspect}\b", sentence, re.IGNORECASE), sentence


def test_a_review_fits_its_rating() -> None:
    praise = [sentence for good, _ in ASPECTS.values() for sentence in good]
    shop = opened(open_content().database("shopping"))
    for rating, body in shop.execute("SELECT rating, body FROM reviews WHERE rating IN (1, 5)"):
        assert any(sentence in body for sentence in praise) == (rating == 5)


def test_topics_have_names_of_their_own() -> None:
    assert len({each.name for each in TOPICS}) == len({each.title for each in TOPICS}) == 42
