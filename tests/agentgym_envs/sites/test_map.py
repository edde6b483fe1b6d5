from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

import pytest
from lxml import html

from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.people import AGENT
from agentgym_envs.sites.state import NOW
from tests.agentgym_envs.sites.traveller import ORIGIN, TOWNS, Traveller, listed, text_of

PAGES = (
    "/", "/towns", "/towns?region=highfells&transport=airport&sort=population", "/town/millbrook",
    "/region/larkwood", "/street/20", "/search", "/search?q=pharmacies+in+Millbrook",
    "/search?q=museum&day=6&wheelchair=1&sort=rating", "/search?q=Fairmarket&sort=distance",
    "/search?q=cafe&near=Fairmarket", "/search?q=Millbrook&town=Nowhere", "/place/20",
    "/place/20/reviews", "/place/20/nearby?category=Pharmacy&within=5", "/directions",
    "/directions?from=Millbrook&to=Eastwick&via=Glenmoor&mode=foot",
    "/directions?from=Fairmarket&to=Nowhere", "/distances",
    "/distances?from=Millbrook&to=Eastwick;Dunmore&mode=bicycle", "/saved", "/saved/1",
    "/saved/1/note/{saved}", "/place/20/save", "/place/20/review", "/place/20/suggest",
    "/contributions",
)  # fmt: skip
HOSTILE = ("", "' OR 1=1 --", "<script>alert(1)</script>", "\x00\x07", "ä" * 5000, "-1", "9" * 30,
           "%_%", "1e5", "🗺 " * 300, " in , in ", ";;;")  # fmt: skip


@pytest.fixture
def me() -> Traveller:
    return Traveller()


# Content ------------------------------------------------------------------------------------------


def test_the_content_is_large_and_the_database_small(me: Traveller) -> None:
    assert len(open_content().database("map")) < 4_000_000
    assert len(TOWNS) == 40 and TOWNS == sorted(TOWNS)
    assert me.value("SELECT count(*) FROM places") >= 2400
    assert me.value("SELECT min(n) FROM (SELECT count(*) n FROM places GROUP BY town_id)") >= 35
    assert me.value("SELECT count(DISTINCT phone) FROM places") == me.value(
        "SELECT count(*) FROM places"
    )


def test_the_agent_is_user_one_with_lists(me: Traveller) -> None:
    assert me.rows("SELECT username FROM users WHERE id = 1") == [(AGENT.username,)]
    assert me.value("SELECT count(*) FROM lists WHERE user_id = 1") >= 8


def test_ratings_are_the_averages_of_the_reviews(me: Traveller) -> None:
    wrong = me.rows(
        "SELECT p.id FROM places p LEFT JOIN (SELECT place_id, round(avg(rating), 1) rating,"
        " count(*) n FROM reviews GROUP BY place_id) r ON r.place_id = p.id"
        " WHERE p.rating != coalesce(r.rating, 0) OR p.num_reviews != coalesce(r.n, 0)"
    )
    assert wrong == []


def test_places_open_before_they_close(me: Traveller) -> None:
    assert me.rows("SELECT * FROM hours WHERE opens >= closes OR closes > 1440") == []


def test_nothing_happened_in_the_future(me: Traveller) -> None:
    for table in ("reviews", "saved", "lists", "suggestions"):
        assert me.value(f"SELECT max(created_at) FROM {table}") < NOW


def test_house_numbers_are_unique_on_a_street(me: Traveller) -> None:
    doubles = "SELECT 1 FROM places GROUP BY street_id, house HAVING count(*) > 1"
    assert me.rows(doubles) == []


# Search -------------------------------------------------------------------------------------------


def test_a_query_names_kind_and_town(me: Traveller) -> None:
    page = me.get("/search?q=pharmacies+in+millbrook")
    names = me.rows(
        "SELECT p.name FROM places p JOIN towns t ON t.id = p.town_id"
        " WHERE category = 'Pharmacy' AND t.name = 'Millbrook' ORDER BY p.name"
    )
    assert "Pharmacies in Millbrook" in text_of(page)
    assert [entry.partition(" Pharmacy ·")[0] for entry in listed(page)] == [n for (n,) in names]


@pytest.mark.parametrize("query", ["{name}", "{address}", "{postcode}", "{name}, {town}"])
def test_a_place_is_found_by(me: Traveller, query: str) -> None:
    (row,) = me.rows(
        "SELECT p.name, p.house || ' ' || s.name, s.postcode, t.name FROM places p"
        " JOIN streets s ON s.id = p.street_id JOIN towns t ON t.id = p.town_id WHERE p.id = 777"
    )
    values = dict(zip(("name", "address", "postcode", "town"), row, strict=True))
    places = listed(me.get(f"/search?q={quote(query.format(**values))}"))
    assert any(entry.startswith(f"{values['name']} ") for entry in places)


def test_filters_hold_together(me: Traveller) -> None:
    page = me.get("/search?category=Museum&town=Kingsreach&day=6&wheelchair=1")
    expected = me.value(
        "SELECT count(*) FROM places p JOIN towns t ON t.id = p.town_id JOIN hours h"
        " ON h.place_id = p.id AND h.day = 6 WHERE category = 'Museum' AND t.name = 'Kingsreach'"
        " AND wheelchair = 'yes'"
    )
    assert f"{expected} place" in text_of(page) and len(listed(page)) == expected
    assert all("Sunday " in entry for entry in listed(page))


def test_sorting_by_distance_needs_a_clear_place(me: Traveller) -> None:
    near = listed(me.get("/search?category=Airport&sort=distance&near=Willowmere"))
    kilometres_away = [float(entry.rsplit(" · ", 1)[1].split()[0]) for entry in near]
    assert len(near) == 5 and kilometres_away == sorted(kilometres_away)
    assert "Say from where" in text_of(me.get("/search?category=Airport&sort=distance"))
    assert "Distance from which one?" in text_of(me.get("/search?near=Fairmarket&sort=distance"))
    assert "Nothing on the map is called" in text_of(me.get("/search?near=Atlantis"))


def test_results_are_turned_page_by_page(me: Traveller) -> None:
    seen: list[str] = []
    for number in range(1, 5):
        seen += listed(me.get(f"/search?category=Bank&page={number}"))
    assert len(seen) == len(set(seen)) == 48
    assert listed(me.get("/search?category=Bank&page=999")) == listed(
        me.get("/search?category=Bank&page=7")
    )


def test_nearby_places_come_nearest_first_within_the_radius(me: Traveller) -> None:
    places = listed(me.get("/place/500/nearby?within=1"), "Nearby places")
    distances = [float(entry.rsplit(" · ", 1)[1].split()[0]) for entry in places]
    assert distances == sorted(distances) and distances[-1] <= 1


# Every page ---------------------------------------------------------------------------------------


def filled(me: Traveller, path: str) -> str:
    saved = me.value("SELECT min(place_id) FROM saved WHERE list_id = 1")
    return path.format(saved=saved)


@pytest.mark.parametrize("path", PAGES)
def test_pages_are_whole_lean_and_labelled(me: Traveller, path: str) -> None:
    answer = me.get(filled(me, path))
    assert answer.status == 200
    page = html.fromstring(answer.body)
    assert len(page.xpath("//h1")) == 1
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    labelled = set(page.xpath("//label/@for"))
    controls: Sequence[html.HtmlElement] = page.xpath(
        "//input[not(@type='hidden')] | //select | //textarea"
    )
    for control in controls:
        assert control.get("aria-label") or control.get("id") in labelled
    browser = TextBrowser(me.state)
    browser.open(ORIGIN + filled(me, path), {"map": me.cookies})
    assert len(browser.page().lines()) <= 150


@pytest.mark.parametrize("path", PAGES)
def test_links_lead_to_pages(me: Traveller, path: str) -> None:
    page = html.fromstring(me.get(filled(me, path)).body)
    links = {link for link in page.xpath("//main//a/@href | //header//a/@href")}
    for link in sorted(links)[:25]:
        assert me.get(link).status == 200, link


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_breaks_no_page(me: Traveller, text: str) -> None:
    value = quote(text)
    for path in (
        f"/search?q={value}&category={value}&town={value}&day={value}&sort={value}&near={value}",
        f"/directions?from={value}&to={value}&via={value}&mode={value}",
        f"/directions?from=Millbrook&to={value}",
        f"/distances?from=Millbrook&to={value}&mode={value}",
        f"/towns?region={value}&transport={value}&sort={value}&page={value}",
        f"/place/20/nearby?category={value}&within={value}&page={value}",
        f"/town/x{value}", f"/region/x{value}", f"/street/x{value}", f"/place/x{value}",
        f"/saved/x{value}", f"/saved/1/note/x{value}", f"/place/x{value}/save",
    ):  # fmt: skip
        answer = me.get(path)
        assert answer.status in (200, 404)
        assert "<script>" not in answer.body
    fields = [(name, text) for name in ("name", "note", "list", "rating", "body", "field", "value",
                                        "comment", "username", "password", "next")]  # fmt: skip
    for path in (
        "/saved", "/saved/1/rename", "/place/20/save", "/place/20/review", "/place/20/suggest",
        "/login", "/saved/1/remove/x", "/suggestions/x/withdraw",
    ):  # fmt: skip
        answer = me.post(path, *fields)
        assert answer.status in (200, 303, 404, 422)
        assert "<script>" not in answer.body
