"""The map's navigation tasks: the one right page, and no other, ends them."""

from __future__ import annotations

from math import dist
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from agentgym_envs.sites.map.categories import BY_NAME
from agentgym_envs.sites.map.hours import DAYS
from agentgym_envs.webarena.env import WebArenaEnv
from tests.worlds.tasks.arriving import Drawn, case_of, cases, ends_at, reference
from worlds.tasks.template import World

ROUTE, NEAR, HOURS = 77, 78, 79
SOME = (0, 17, 38)
HOME = "http://map.test"
KINDS = {category.plural.lower(): category.name for category in BY_NAME.values()}
KM = {"500 m": ("0.5", 0.5), "1 km": ("1", 1.0), "5 km": ("5", 5.0), "20 km": ("20", 20.0),
      "40 km": ("40", 40.0)}  # fmt: skip
MODES = {
    "by bicycle": {"mode": "bicycle"},
    "on foot": {"mode": "foot"},
    "by car without motorways": {"mode": "car", "no_motorways": "1"},
}


def parts(case: Drawn) -> tuple[str, dict[str, str]]:
    """Return the reference's path and parameters."""
    split = urlsplit(reference(case))
    return split.path, {name: value for name, (value,) in parse_qs(split.query).items()}


# The reference is the right page ------------------------------------------------------------------


def test_the_route_leads_to_the_town_that_stands_out(world: World) -> None:
    columns = {
        "with the most inhabitants": ("population", max),
        "with the fewest inhabitants": ("population", min),
        "at the highest elevation": ("elevation", max),
        "at the lowest elevation": ("elevation", min),
    }
    for case in cases(ROUTE):
        column, extreme = columns[case.values["feature"]]
        sizes = {
            row["name"]: row[column]
            for row in world.rows(
                "map",
                "SELECT * FROM towns WHERE region_id IN (SELECT id FROM regions WHERE name = ?)",
                case.values["region"],
            )
        }
        (goal,) = [name for name, size in sizes.items() if size == extreme(sizes.values())]
        expected = {"from": case.values["start"], "via": case.values["via"], "to": goal}
        assert len(set(expected.values())) == 3
        assert parts(case) == ("/directions", expected | MODES[case.values["mode"]])


def test_the_places_are_near_the_one_that_alone_is_rated_best(world: World) -> None:
    for case in cases(NEAR):
        mean = "(SELECT round(avg(rating), 1) FROM reviews WHERE place_id = p.id)"
        rated = world.rows(
            "map",
            f"SELECT p.id, p.x, p.y, {mean} mean FROM places p WHERE category = ?"
            " AND town_id = (SELECT id FROM towns WHERE name = ?)",
            *(case.values["other"].capitalize(), case.values["town"]),
        )
        highest = max(row["mean"] or 0 for row in rated)
        (best,) = [row for row in rated if row["mean"] == highest]
        kind, (within, reach) = KINDS[case.values["kinds"]], KM[case.values["radius"]]
        path, query = parts(case)
        assert path == f"/place/{best['id']}/nearby"
        assert query == {"category": kind, "within": within}
        rows = world.rows("map", "SELECT id, x, y FROM places WHERE category = ?", kind)
        here = (best["x"], best["y"])
        lengths = [dist(here, (r["x"], r["y"])) for r in rows if r["id"] != best["id"]]
        # A second page would have an address that passes, too.
        assert 1 <= sum(length <= reach for length in lengths) <= 10
        assert sum(n <= reach for n in lengths) != sum(n <= 2 for n in lengths)


def test_no_other_place_with_full_access_is_open_as_long(world: World) -> None:
    for case in cases(HOURS):
        values = (
            KINDS[case.values["kinds"]],
            case.values["town"],
            DAYS.index(case.values["day"]),
        )
        rows = world.rows(
            "map",
            "SELECT h.place_id, h.opens, h.closes, p.wheelchair = 'yes' good FROM hours h"
            " JOIN places p ON p.id = h.place_id AND p.category = ?"
            " JOIN towns t ON t.id = p.town_id AND t.name = ? WHERE h.day = ?",
            *values,
        )
        column, extreme = {"opens first": ("opens", min), "closes last": ("closes", max)}[
            case.values["feature"]
        ]
        best = extreme(row[column] for row in rows if row["good"])
        (right,) = [row["place_id"] for row in rows if row["good"] and row[column] == best]
        assert any(extreme(row[column], best) == row[column] for row in rows if not row["good"])
        assert all(row["closes"] < 1440 for row in rows) and sum(row["good"] for row in rows) >= 2
        assert reference(case) == f"{HOME}/place/{right}"


# It alone passes ----------------------------------------------------------------------------------


@pytest.mark.parametrize("instance", SOME)
def test_another_route_does_not_pass(env: WebArenaEnv, instance: int) -> None:
    case = case_of(ROUTE, instance)
    path, right = parts(case)
    other = next(town for town in ("Millbrook", "Eastwick") if town not in right.values())
    without_via = {name: value for name, value in right.items() if name != "via"}
    wrong = [
        {},
        without_via,
        {**without_via, "via": other},
        {**right, "to": other},
        {**right, "from": right["to"], "to": right["from"]},
        {**right, "via": right["to"], "to": right["via"]},
        *({**right, "mode": mode} for mode in ("car", "bicycle", "foot") if mode != right["mode"]),
    ]
    if right["mode"] == "car":
        wrong += [{name: value for name, value in right.items() if name != "no_motorways"}]
    for query in wrong:
        assert ends_at(env, ROUTE, instance, f"{HOME}{path}?{urlencode(query)}") == 0.0, query
    # Neither the order nor what is left blank counts.
    for query in ({**right, "extra": ""}, dict(sorted(right.items()))):
        assert ends_at(env, ROUTE, instance, f"{HOME}{path}?{urlencode(query)}") == 1.0


@pytest.mark.parametrize("instance", SOME)
def test_other_places_near_or_elsewhere_do_not_pass(env: WebArenaEnv, instance: int) -> None:
    case = case_of(NEAR, instance)
    path, right = parts(case)
    number = path.split("/")[2]
    query = urlencode(right)
    other_kind = "School" if right["category"] != "School" else "Bank"
    for wrong in (
        path,
        f"/place/{number}",
        f"{path}?category={right['category']}".replace(" ", "+"),
        f"{path}?{urlencode({**right, 'within': '2'})}",
        f"{path}?{urlencode({**right, 'category': other_kind})}",
        f"/place/{number}0/nearby?{query}",
        f"/place/1{number}/nearby?{query}",
        f"/place/{number[:-1] or '9'}/nearby?{query}",
        f"/search?{query}&town={case.values['town']}".replace(" ", "+"),
    ):
        assert ends_at(env, NEAR, instance, HOME + wrong) == 0.0, wrong


@pytest.mark.parametrize("instance", SOME)
def test_another_place_s_page_and_its_further_pages_do_not_pass(
    env: WebArenaEnv, world: World, instance: int
) -> None:
    case = case_of(HOURS, instance)
    path, _ = parts(case)
    number = int(path.split("/")[2])
    kind = KINDS[case.values["kinds"]]
    others = world.rows(
        "map",
        "SELECT id FROM places WHERE category = ? AND id != ? AND town_id ="
        " (SELECT town_id FROM places WHERE id = ?)",
        *(kind, number, number),
    )
    for wrong in (
        *(f"/place/{row['id']}" for row in others),
        *(f"{path}{digit}" for digit in (0, 5)),
        *(f"{path}/{page}" for page in ("nearby", "review", "suggest", "save")),
        f"/search?category={kind}&town={case.values['town']}".replace(" ", "+"),
    ):
        assert ends_at(env, HOURS, instance, HOME + wrong) == 0.0, wrong
