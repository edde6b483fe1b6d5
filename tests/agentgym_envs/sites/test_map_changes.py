from __future__ import annotations

import pytest

from agentgym_envs.browsing.text.fetch import fetch
from agentgym_envs.sites.people import AGENT, PASSWORD
from agentgym_envs.sites.state import SiteState
from tests.agentgym_envs.sites.traveller import ORIGIN, Traveller, text_of


@pytest.fixture
def me() -> Traveller:
    return Traveller()


# Changes ------------------------------------------------------------------------------------------


def test_a_place_is_saved_once_and_removed(me: Traveller) -> None:
    made = me.post("/saved", ("name", "Seaside"))
    list_id = str(made.header("location")).rsplit("/", 1)[1]
    assert made.status == 303
    assert me.post("/place/20/save", ("list", list_id), ("note", "Go early")).status == 303
    again = me.post("/place/20/save", ("list", list_id), ("note", ""))
    assert again.status == 422 and "already on" in text_of(again)
    query = "SELECT place_id, note FROM saved WHERE list_id = ?"
    assert me.rows(query, list_id) == [(20, "Go early")]
    assert me.post(f"/saved/{list_id}/note/20", ("note", "Go late")).status == 303
    assert me.rows(query, list_id) == [(20, "Go late")]
    me.post(f"/saved/{list_id}/remove/20")
    assert me.rows(query, list_id) == []
    me.post(f"/saved/{list_id}/delete")
    assert me.get(f"/saved/{list_id}").status == 404


@pytest.mark.parametrize("name", ["", "weekend trips", "x" * 41])
def test_a_list_needs_a_new_short_name(me: Traveller, name: str) -> None:
    before = me.value("SELECT count(*) FROM lists")
    answer = me.post("/saved", ("name", name))
    assert answer.status == 422 and f'value="{name}"' in answer.body
    assert me.value("SELECT count(*) FROM lists") == before


def test_a_review_counts_and_can_be_taken_back(me: Traveller) -> None:
    place = me.value("SELECT id FROM places WHERE num_reviews = 0")
    assert me.post(f"/place/{place}/review", ("rating", "9")).status == 422
    me.post(f"/place/{place}/review", ("rating", "2"), ("body", "Closed early."))
    me.post(f"/place/{place}/review", ("rating", "4"), ("body", "Better now."))
    assert me.rows("SELECT rating, num_reviews FROM places WHERE id = ?", place) == [(4.0, 1)]
    assert "Better now." in text_of(me.get(f"/place/{place}"))
    me.post(f"/place/{place}/review/delete")
    assert me.rows("SELECT rating, num_reviews FROM places WHERE id = ?", place) == [(0.0, 0)]


@pytest.mark.parametrize(
    ("about", "value", "is_right"),
    [
        ("phone", "031 402 118", True), ("phone", "call me", False),
        ("website", "www.lamp.test", True), ("website", "http://lamp", False),
        ("wheelchair", "Limited", True), ("wheelchair", "perhaps", False),
        ("sunday", "09:00-12:30", True), ("sunday", "closed", True), ("sunday", "noon", False),
        ("colour", "blue", False), ("", "", False),
    ],
)  # fmt: skip
def test_a_suggestion_has_the_form_of_its_field(
    me: Traveller, about: str, value: str, is_right: bool
) -> None:
    before = me.value("SELECT count(*) FROM suggestions")
    answer = me.post("/place/9/suggest", ("field", about), ("value", value))
    assert answer.status == (303 if is_right else 422)
    assert me.value("SELECT count(*) FROM suggestions") == before + is_right


def test_only_what_is_pending_can_be_withdrawn_and_only_by_its_author(me: Traveller) -> None:
    mine = dict(me.rows("SELECT status, max(id) FROM suggestions WHERE user_id = 1 GROUP BY 1"))
    (other,) = me.rows("SELECT max(id) FROM suggestions WHERE user_id != 1")[0]
    me.post(f"/suggestions/{mine['pending']}/withdraw")
    assert me.rows("SELECT 1 FROM suggestions WHERE id = ?", mine["pending"]) == []
    settled = mine.get("accepted", mine.get("declined"))
    me.post(f"/suggestions/{settled}/withdraw")
    assert me.rows("SELECT 1 FROM suggestions WHERE id = ?", settled) == [(1,)]
    assert me.post(f"/suggestions/{other}/withdraw").status == 404


def test_nobody_touches_the_lists_of_others(me: Traveller) -> None:
    (theirs,) = me.rows("SELECT min(id) FROM lists WHERE user_id != 1")[0]
    before = me.rows("SELECT * FROM saved ORDER BY list_id, place_id")
    assert me.get(f"/saved/{theirs}").status == 404
    for action in ("delete", "rename", "remove/1", "note/1"):
        assert me.post(f"/saved/{theirs}/{action}", ("name", "x"), ("note", "x")).status == 404
    assert me.post("/place/3/save", ("list", str(theirs))).status == 422
    assert me.rows("SELECT * FROM saved ORDER BY list_id, place_id") == before


# Signing in ---------------------------------------------------------------------------------------


def test_pages_of_ones_own_ask_strangers_to_sign_in() -> None:
    state = SiteState()
    answer = fetch(state, f"{ORIGIN}/saved")
    assert (answer.status, answer.header("location")) == (303, "/login?next=/saved")
    wrong = [("username", AGENT.username), ("password", "guess"), ("next", "/saved")]
    assert fetch(state, f"{ORIGIN}/login", form=wrong).status == 422
    right = fetch(state, f"{ORIGIN}/login", form=[wrong[0], ("password", PASSWORD), wrong[2]])
    assert (right.status, right.header("location")) == (303, "/saved")


@pytest.mark.parametrize("path", ["//evil.test", "https://evil.test", "/\\evil.test", "x\r\ny"])
def test_signing_in_never_leads_elsewhere(path: str) -> None:
    form = [("username", AGENT.username), ("password", PASSWORD), ("next", path)]
    assert fetch(SiteState(), f"{ORIGIN}/login", form=form).header("location") == "/"


def test_signing_out_ends_the_session(me: Traveller) -> None:
    assert me.get("/saved").status == 200
    me.post("/logout")
    assert me.get("/saved").status == 303
