from __future__ import annotations

from itertools import permutations
from urllib.parse import quote

import pytest
from lxml import html

from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.map.hours import span
from agentgym_envs.sites.map.points import resolve
from agentgym_envs.sites.map.routes import (
    BICYCLE,
    CAR,
    FOOT,
    MODES,
    NO_MOTORWAYS,
    Network,
    Road,
    duration,
    find_way,
    kilometres,
    load_network,
    minutes_for,
)
from agentgym_envs.sites.state import connect
from tests.agentgym_envs.sites.traveller import ORIGIN, TOWNS, Traveller, listed, text_of


@pytest.fixture
def me() -> Traveller:
    return Traveller()


# Routes -------------------------------------------------------------------------------------------


def small_network() -> Network:
    """Four towns: a motorway 1-2-4, and lanes 1-3-4 and 2-3."""
    network = Network(
        {1: "One", 2: "Two", 3: "Three", 4: "Four"},
        {1: (0, 0), 2: (10, 0), 3: (0, 10), 4: (10, 10)},
        {number: [] for number in (1, 2, 3, 4)},
    )
    roads = (
        (1, "M1", "motorway", 1, 2, 200, 120), (2, "M1", "motorway", 2, 4, 200, 120),
        (3, "L1", "lane", 1, 3, 150, 60), (4, "L2", "lane", 3, 4, 160, 60),
        (5, "L3", "lane", 2, 3, 10, 60),
    )  # fmt: skip
    for number, name, kind, a, b, length, speed in roads:
        network.roads[a].append(Road(number, name, kind, b, length, speed))
        network.roads[b].append(Road(number, name, kind, a, length, speed))
    return network


def test_the_quickest_way_is_found_and_motorways_are_for_cars() -> None:
    network = small_network()
    database = connect(open_content().database("map"))
    one, four = (resolve(database, TOWNS[index])[0] for index in (0, 3))  # towns 1 and 4
    by_car = find_way(network, [one, four], CAR)
    assert [leg.road_id for leg in by_car.legs] == [1, 2]
    assert (by_car.km, by_car.time) == ("40.0 km", "20 min")
    avoiding = find_way(network, [one, four], NO_MOTORWAYS)
    assert [leg.road_id for leg in avoiding.legs] == [3, 4]
    assert (avoiding.km, avoiding.minutes) == ("31.0 km", 31)
    assert find_way(network, [one, four], FOOT).minutes == 180 + 192
    assert find_way(network, [one, four], BICYCLE).hectometres == 310


def test_no_chain_of_roads_is_quicker_than_the_way_found() -> None:
    network = small_network()
    database = connect(open_content().database("map"))
    points = {number: resolve(database, TOWNS[number - 1])[0] for number in (1, 2, 3, 4)}

    def along(chain: tuple[int, ...], motorways: bool) -> float:
        total = 0.0
        for here, there in zip(chain, chain[1:], strict=False):
            times = [
                minutes_for(road.hectometres, road.speed)
                for road in network.roads[here]
                if road.to == there and (motorways or road.kind != "motorway")
            ]
            total += min(times, default=float("inf"))
        return total

    for start, goal in permutations(points, 2):
        between = [number for number in points if number not in (start, goal)]
        chains = [(start, *mid, goal) for n in range(3) for mid in permutations(between, n)]
        for mode, motorways in ((CAR, True), (NO_MOTORWAYS, False)):
            best = min(along(chain, motorways) for chain in chains)
            assert find_way(network, [points[start], points[goal]], mode).minutes == best


def test_every_town_is_reached_by_every_mode_without_the_motorways() -> None:
    database = connect(open_content().database("map"))
    network = load_network(database)
    points = [resolve(database, town)[0] for town in TOWNS]
    for mode in MODES.values():
        for goal in points[1:]:
            way = find_way(network, [points[0], goal], mode)
            assert way.legs[-1].to == goal.town_id and way.minutes > 0


def test_a_way_between_places_has_a_leg_in_either_town(me: Traveller) -> None:
    database = me.state.database("map")
    network = load_network(database)
    hotels = [
        f"{name}, {town}"
        for name, town in me.rows(
            "SELECT p.name, t.name FROM places p JOIN towns t ON t.id = p.town_id"
            " WHERE category = 'Hotel' AND t.name IN ('Millbrook', 'Eastwick') ORDER BY p.id"
        )
    ]
    first, second, other = (resolve(database, hotels[index])[0] for index in (0, -1, 1))
    way = find_way(network, [first, second], CAR)
    assert way.legs[0].text.startswith("Leave ") and way.legs[-1].text.endswith(second.name)
    towns = find_way(
        network, [resolve(database, "Eastwick")[0], resolve(database, "Millbrook")[0]], CAR
    )
    assert way.minutes > towns.minutes
    if first.town_id == other.town_id:
        assert len(find_way(network, [first, other], FOOT).legs) == 1
    assert find_way(network, [first, first], CAR).legs == []


@pytest.mark.parametrize(
    ("hectometres", "speed", "expected"),
    [(1, 120, 1), (100, 60, 10), (105, 60, 11), (200, 120, 10), (9, 5, 11)],
)
def test_times_are_whole_minutes_and_at_least_one(
    hectometres: int, speed: int, expected: int
) -> None:
    assert minutes_for(hectometres, speed) == expected


def test_lengths_and_times_are_written_for_people() -> None:
    assert [kilometres(n) for n in (4, 843, 10840)] == ["0.4 km", "84.3 km", "1,084.0 km"]
    assert [duration(n) for n in (45, 60, 72)] == ["45 min", "1 h 0 min", "1 h 12 min"]
    assert [span(0, 1440), span(570, 1050)] == ["Open 24 hours", "09:30-17:30"]


# Directions ---------------------------------------------------------------------------------------


def test_ambiguous_names_are_chosen_from_a_list(me: Traveller) -> None:
    browser = TextBrowser(me.state)
    browser.open(f"{ORIGIN}/directions?from=Fairmarket&to=Eastwick", {})
    names = [node.name for node in browser.page().nodes if node.role == "link"]
    choice = next(name for name in names if name.startswith("Fairmarket, "))
    node = next(node for node in browser.page().nodes if node.name == choice)
    assert node.role == "link"
    page = me.get(f"/directions?from={quote(choice)}&to=Eastwick")
    assert f"From {choice} to Eastwick" in text_of(page)


def test_the_steps_add_up_to_the_total(me: Traveller) -> None:
    page = me.get("/directions?from=Port+Senna&to=Bellhaven&via=Glenmoor&mode=bicycle")
    legs = [entry.rsplit("(", 1)[1] for entry in listed(page, "Steps")]
    minutes = sum(int(leg.split(", ")[1].split()[0]) for leg in legs)
    length = sum(float(leg.split(" km")[0]) for leg in legs)
    assert f"Bicycle: {length:.1f} km, {duration(minutes)}" in text_of(page)


def test_a_stop_in_the_middle_never_shortens_the_way(me: Traveller) -> None:
    database = me.state.database("map")
    network = load_network(database)
    points = [resolve(database, town)[0] for town in TOWNS[:12]]
    for start, via, goal in zip(points, points[3:], points[7:], strict=False):
        direct = find_way(network, [start, goal], CAR)
        assert find_way(network, [start, via, goal], CAR).minutes >= direct.minutes


@pytest.mark.parametrize(
    ("query", "complaint"),
    [
        ("from=Millbrook", "Fill this in."),
        ("from=Millbrook&to=Atlantis", "Nothing on the map is called 'Atlantis'."),
        ("from=Millbrook&to=millbrook", "Two stops in a row are the same place."),
    ],
)
def test_directions_say_what_is_wrong(me: Traveller, query: str, complaint: str) -> None:
    assert complaint in text_of(me.get(f"/directions?{query}"))


def test_distances_agree_with_directions(me: Traveller) -> None:
    table = text_of(me.get("/distances?from=Millbrook&to=Eastwick;%20Dunmore&mode=foot"))
    for town in ("Eastwick", "Dunmore"):
        page = html.fromstring(me.get(f"/directions?from=Millbrook&to={town}").body)
        row = next(r for r in page.xpath("//table//tr") if "On foot" in r.text_content())
        _, length, time = (" ".join(cell.text_content().split()) for cell in row.xpath("./td"))
        assert f"{town} {length} {time}" in table or f"{town}{length}{time}" in table
