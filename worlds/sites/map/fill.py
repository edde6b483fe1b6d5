"""Fills the map's database: regions, towns, roads, streets, places and the community."""

from __future__ import annotations

import sqlite3

from agentgym_envs.sites.map.categories import BY_NAME
from agentgym_envs.sites.map.geography import latitude, longitude, slug
from agentgym_envs.sites.map.points import search_words
from worlds.sites.map.community import fill_community
from worlds.sites.map.geography import REGIONS, TOWN_SITES, TownSite
from worlds.sites.map.places import Place, furnish
from worlds.sites.map.roads import lay_roads
from worlds.sites.map.streets import Street, lay_out
from worlds.sites.setting import Setting


def fill(connection: sqlite3.Connection, setting: Setting) -> None:
    """Fill the empty tables."""
    dice = setting.dice("map")
    _regions_and_towns(connection)
    connection.executemany(
        "INSERT INTO roads (name, kind, town_a, town_b, hectometres, speed)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        [
            (road.name, road.kind, road.ends[0] + 1, road.ends[1] + 1, road.hectometres, road.speed)
            for road in lay_roads(setting.dice("roads"))
        ],
    )
    phones: set[str] = set()
    for number, town in enumerate(TOWN_SITES, 1):
        streets = lay_out(town, _prefix(number, town), dice, setting.scale)
        street_ids = _add_streets(connection, number, streets)
        for place in furnish(town, f"0{10 + number}", streets, phones, dice, setting.scale):
            _add_place(connection, number, town, streets, street_ids, place)
    fill_community(connection, dice, setting)


def _prefix(number: int, town: TownSite) -> str:
    return f"{town.region + 1}{number:02}"


def _regions_and_towns(connection: sqlite3.Connection) -> None:
    connection.executemany(
        "INSERT INTO regions (name, slug, about, capital, colour) VALUES (?, ?, ?, ?, ?)",
        [(r.name, slug(r.name), r.about, r.capital, r.colour) for r in REGIONS],
    )
    connection.executemany(
        "INSERT INTO towns (name, slug, region_id, x, y, latitude, longitude, population,"
        " elevation, has_airport, has_railway, postcode)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(t.name, slug(t.name), t.region + 1, t.x, t.y, latitude(t.y), longitude(t.x)),
                *(t.population, t.elevation, int(t.has_airport), int(t.has_railway)),
                f"{_prefix(number, t)}00",
            )
            for number, t in enumerate(TOWN_SITES, 1)
        ],
    )


def _add_streets(connection: sqlite3.Connection, town_id: int, streets: list[Street]) -> list[int]:
    sql = (
        "INSERT INTO streets (town_id, name, postcode, x1, y1, x2, y2) VALUES (?, ?, ?, ?, ?, ?, ?)"
    )
    return [
        connection.execute(sql, (town_id, s.name, s.postcode, *s.start, *s.end)).lastrowid or 0
        for s in streets
    ]


def _add_place(
    connection: sqlite3.Connection,
    town_id: int,
    town: TownSite,
    streets: list[Street],
    street_ids: list[int],
    place: Place,
) -> None:
    street = streets[place.street]
    category = BY_NAME[place.category]
    kinds = f"{category.name} {category.plural} {place.cuisine} {' '.join(category.others)}"
    address = f"{place.house} {street.name} {street.postcode} {town.name}"
    place_id = connection.execute(
        "INSERT INTO places (town_id, street_id, house, name, category, cuisine, price, x, y,"
        " phone, website, wheelchair, words) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(town_id, street_ids[place.street], place.house, place.name, place.category),
            *(place.cuisine, place.price, *street.house(place.house), place.phone, place.website),
            *(place.wheelchair, search_words(place.name, kinds, address)),
        ),
    ).lastrowid
    connection.executemany(
        "INSERT INTO facts (place_id, name, value) VALUES (?, ?, ?)",
        [(place_id, *fact) for fact in place.facts],
    )
    connection.executemany(
        "INSERT INTO hours (place_id, day, opens, closes) VALUES (?, ?, ?, ?)",
        [(place_id, day, *span) for day, span in place.week.items()],
    )
