"""Whole databases are compared: what is asked for must have changed, and nothing else."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentgym_envs.sites.names import DATABASES
from agentgym_envs.sites.state import SiteState
from agentgym_envs.webarena.evaluators import build_evaluators, state_change
from agentgym_envs.webarena.evaluators.database_tables import compared_tables
from agentgym_envs.webarena.evaluators.state_change import record_change
from agentgym_envs.webarena.evaluators.verdict import Verdict
from tests.agentgym_envs.webarena.still import ending

Change = Callable[[SiteState], None]


@pytest.fixture
def state() -> Iterator[SiteState]:
    made = SiteState(signed_in=dict.fromkeys(DATABASES, 1))
    yield made
    made.close()


def run(state: SiteState, site: str, *statements: str) -> None:
    for statement in statements:
        state.database(site).execute(statement)
    state.database(site).commit()


def verdict(state: SiteState, *ways: dict[str, Any]) -> Verdict:
    evaluation = {"eval_types": ["state_change"], "state_change": json.loads(json.dumps(ways))}
    (evaluate,) = build_evaluators(evaluation)
    return evaluate(ending(state=state))


def after(*statements: str, site: str = "shopping") -> SiteState:
    state = SiteState(signed_in=dict.fromkeys(DATABASES, 1))
    run(state, site, *statements)
    return state


CANCEL = "UPDATE orders SET status = 'cancelled' WHERE id = 1007"
CANCELLED = {"shopping": {"orders": {"changed": [{"id": 1007, "status": "cancelled"}]}}}


def test_an_untouched_site_has_not_changed(state: SiteState) -> None:
    for site in DATABASES:
        state.database(site)
    assert verdict(state, {}) == Verdict(1.0)
    assert verdict(state, CANCELLED).score == 0.0


@pytest.mark.parametrize("site", sorted(DATABASES))
def test_tables_are_compared_once_anything_was_written(
    state: SiteState, site: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[str] = []
    compare = state_change.database_changes

    def noted(*args: Any) -> Any:
        compared.extend(each.name for each in args[2])
        return compare(*args)

    monkeypatch.setattr(state_change, "database_changes", noted)
    name, db = DATABASES[site], state.database(site)
    db.execute("SELECT count(*) FROM sessions")
    assert state_change.current_changes(state) == {} and not compared
    tables = compared_tables(name, db)
    first, *_, last = tables
    run(state, site, "PRAGMA foreign_keys = OFF", f'DELETE FROM "{last}"')  # truncates
    assert state_change.current_changes(state)[name][last].before and compared == [last]
    db.cursor().execute(f'DELETE FROM "{first}"')  # not through the connection
    assert set(state_change.current_changes(state)[name]) == {first, last}
    assert compared[1:] == list(tables)


def test_what_a_trigger_or_a_cascade_writes_is_compared(state: SiteState) -> None:
    db = state.database("gitlab")
    db.executescript("CREATE TEMP TABLE t (a); CREATE TEMP TRIGGER w AFTER INSERT ON t BEGIN "
                     "UPDATE issues SET title = 'x' WHERE id = 1; END;")  # fmt: skip
    assert db.written_tables() == frozenset()
    db.execute("INSERT INTO t VALUES (?)", (1,))
    assert db.written_tables() == {"t", "issues"}
    assert list(state_change.current_changes(state)["gitlab"]) == ["issues"]
    run(state, "reddit", "DELETE FROM posts WHERE id = (SELECT post_id FROM comments LIMIT 1)")
    changed = set(state_change.current_changes(state)["reddit"])
    assert changed == _differing(state, "reddit") == {"posts", "comments"}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE issues SET title = 'x' WHERE id = 1 RETURNING id",
        "INSERT OR REPLACE INTO stars VALUES (1, 1)",
        "WITH one AS (SELECT 1 AS id) DELETE FROM stars WHERE user_id IN (SELECT id FROM one)",
        "INSERT OR FAIL INTO stars SELECT 1, id FROM projects ORDER BY id DESC",
    ],
)
def test_no_statement_that_writes_passes_unseen(state: SiteState, statement: str) -> None:
    db = state.database("gitlab")
    try:
        db.execute(statement).fetchall()
    except sqlite3.IntegrityError:  # OR FAIL leaves what it has written until then
        assert db.written_tables() is None
    changed = set(state_change.current_changes(state)["gitlab"])
    assert changed == _differing(state, "gitlab") != set()


def _differing(state: SiteState, site: str) -> set[str]:
    """Name the tables whose rows are not those of an untouched database."""
    now, then = state.database(site), SiteState().database(site)
    return {
        name
        for name in compared_tables(site, now)
        if {*map(tuple, now.execute(f'SELECT * FROM "{name}"'))}
        != {*map(tuple, then.execute(f'SELECT * FROM "{name}"'))}
    }


def test_what_is_asked_for_alone_is_right(state: SiteState) -> None:
    run(state, "shopping", CANCEL)
    assert verdict(state, CANCELLED) == Verdict(1.0)
    run(state, "shopping", "UPDATE orders SET status = 'cancelled' WHERE id = 1010")
    assert verdict(state, CANCELLED) == Verdict(
        0.0, ("too much: orders id 1010 changed to status 'cancelled'",)
    )


def test_a_change_to_another_site_is_too_much(state: SiteState) -> None:
    run(state, "shopping", CANCEL)
    run(state, "gitlab", "UPDATE projects SET archived = 1 WHERE id = 1")
    (reason,) = verdict(state, CANCELLED).reasons
    assert reason == "too much: projects id 1 changed to archived 1"


def test_what_is_missing_and_what_is_wrong_are_said(state: SiteState) -> None:
    run(state, "shopping", "UPDATE orders SET status = 'on hold' WHERE id = 1007")
    assert verdict(state, CANCELLED).reasons == (
        "missing: orders id 1007 changed to status 'cancelled'",
        "too much: orders id 1007 changed to status 'on hold'",
    )
    assert (
        verdict(after("DELETE FROM wishlist_items WHERE id = 3"), {})
        .reasons[0]
        .startswith("too much: wishlist_items id 3 (customer_id 1, ")
    )
    removed = {"shopping": {"wishlist_items": {"removed": [{"id": 3}]}}}
    assert verdict(after(), removed).reasons[0].startswith("missing: wishlist_items id 3 (")
    added = {"shopping": {"cart_items": {"added": [{"product_id": 5, "quantity": 2}]}}}
    assert verdict(after(), added).reasons == (
        "missing: a new row in cart_items with product_id 5, quantity 2",
    )


def test_of_several_ways_one_is_enough_and_the_nearest_is_told(state: SiteState) -> None:
    other = {"shopping": {"orders": {"changed": [{"id": 1009, "status": "cancelled"}]}}}
    run(state, "shopping", CANCEL)
    assert verdict(state, other, CANCELLED).score == 1.0
    run(state, "shopping", "UPDATE orders SET status = 'refunded' WHERE id = 1009")
    (reason,) = verdict(state, CANCELLED, {}).reasons
    assert reason == "too much: orders id 1009 changed to status 'refunded'"


# New rows -------------------------------------------------------------------------------------

_ORDER = (
    "INSERT INTO orders SELECT {id}, 'N-{id}', 1, 'pending', '2026-03-14 09:30:00', name, street, "
    "town, postcode, phone, 'Express delivery', 0, 'Bank transfer', NULL, 0, 1, {total} "
    "FROM orders WHERE id = 1007"
)
_ITEM = (
    "INSERT INTO order_items (order_id, product_id, name, sku, price, quantity) "
    "VALUES ({id}, {product}, 'thing', 'sku', 1, 1)"
)


def two_orders(first: int, second: int, *, swapped: bool = False) -> SiteState:
    products = (6, 5) if swapped else (5, 6)
    return after(
        _ORDER.format(id=first, total=100),
        _ORDER.format(id=second, total=200),
        _ITEM.format(id=first, product=products[0]),
        _ITEM.format(id=second, product=products[1]),
    )


def test_neither_ids_nor_the_order_of_writing_matter() -> None:
    way = record_change(two_orders(9001, 9002))
    assert "id" not in way["shopping"]["orders"]["added"][0]
    for state in (two_orders(9001, 9002), two_orders(9005, 9003), two_orders(7777, 9999)):
        assert verdict(state, way) == Verdict(1.0)
    assert verdict(two_orders(9002, 9001, swapped=True), way).score == 0.0


def test_a_row_that_takes_a_free_id_again_is_the_same_as_a_new_one() -> None:
    last = "(SELECT max(id) FROM wishlist_items)"
    insert = (
        "INSERT INTO wishlist_items (id, customer_id, product_id, comment) "
        "SELECT {}, 1, 3, '' FROM wishlist_items LIMIT 1"
    )
    highest = after().database("shopping").execute(f"SELECT {last}").fetchone()[0]
    delete = f"DELETE FROM wishlist_items WHERE id = {highest}"
    clear = "DELETE FROM wishlist_items WHERE customer_id = 1 AND product_id = 3"
    reused = after(clear, delete, insert.format(highest))
    fresh = after(clear, insert.format(highest + 1), delete)
    assert record_change(reused) != record_change(fresh)
    for state in (reused, fresh):
        assert verdict(state, record_change(reused)) == Verdict(1.0)
        assert verdict(state, record_change(fresh)) == Verdict(1.0)


def test_a_row_may_be_removed_and_made_again(state: SiteState) -> None:
    way = {"shopping": {"addresses": {"changed": [{"id": 2, "street": "1 New Street"}]}}}
    columns = "customer_id, name, street, town, postcode, phone, is_default"
    run(
        state,
        "shopping",
        f"INSERT INTO addresses ({columns}) SELECT customer_id, name, '1 New Street', town, "
        "postcode, phone, is_default FROM addresses WHERE id = 2",
        "DELETE FROM addresses WHERE id = 2",
    )
    assert verdict(state, way) == Verdict(1.0)


def test_two_equal_new_rows_are_not_one() -> None:
    note = (
        "INSERT INTO notes (issue_id, author_id, body, created_at) "
        "VALUES (5, 1, 'Thank you', '2026-03-14 09:30:00')"
    )
    way = record_change(after(note, site="gitlab"))
    assert verdict(after(note, site="gitlab"), way).score == 1.0
    assert verdict(after(note, note, site="gitlab"), way).score == 0.0
    assert verdict(after(site="gitlab"), way).score == 0.0


def test_the_same_change_to_another_row_of_equal_content_is_wrong() -> None:
    alike = (
        "SELECT min(id), max(id) FROM todos WHERE state = 'pending' GROUP BY user_id "
        "HAVING count(*) > 1"
    )
    first, second = after(site="gitlab").database("gitlab").execute(alike).fetchone()
    done = "UPDATE todos SET state = 'done' WHERE id = {}"
    way = record_change(after(done.format(first), site="gitlab"))
    assert verdict(after(done.format(second), site="gitlab"), way).score == 0.0


# What is compared, and how ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "score"),
    [
        ("“Ready”  to go - it's\nhere ", 1.0),
        ('"Ready" to go — it’s here', 1.0),
        ("Ready to go - it's here", 0.0),
        ("", 0.0),
    ],
)
def test_white_space_and_typography_of_texts_do_not_matter(body: str, score: float) -> None:
    def sent(text: str) -> SiteState:
        state = after(site="reddit")
        state.database("reddit").execute(
            "INSERT INTO messages (from_id, to_id, body, created_at) VALUES (1, 2, ?, 'now')",
            (text,),
        )
        return state

    way = record_change(sent('"Ready" to go - it\'s here'))
    assert verdict(sent(body), way).score == score


def test_a_text_may_be_asked_to_include_words_or_to_be_any(state: SiteState) -> None:
    run(
        state,
        "reddit",
        "INSERT INTO messages (from_id, to_id, body, created_at) "
        "VALUES (1, 2, 'The lamp is  $40 and blue.', 'now')",
    )
    loosely = {"messages.body": {"includes": ["$40", "Blue"]}, "messages.created_at": None}
    way = record_change(state, loosely=loosely)
    assert way["reddit"]["messages"]["added"][0] == {
        "from_id": 1, "to_id": 2, "body": {"includes": ["$40", "Blue"]},
    }  # fmt: skip
    assert verdict(state, way).score == 1.0
    run(state, "reddit", "UPDATE messages SET body = 'It is blue.' WHERE id = last_insert_rowid()")
    assert verdict(state, way).score == 0.0


def test_letters_case_matters_but_in_addresses_and_codes() -> None:
    customer = "UPDATE customers SET {} = '{}' WHERE id = 1"
    way = record_change(after(customer.format("email", "new@post.test")))
    assert verdict(after(customer.format("email", "New@Post.test")), way).score == 1.0
    way = record_change(after("UPDATE users SET username = upper(username) WHERE id = 1",
                              site="reddit"))  # fmt: skip
    assert way["reddit"]["users"]["changed"][0]["id"] == 1


@pytest.mark.parametrize(
    ("site", "statement"),
    [
        ("shopping", "UPDATE sessions SET flash = 'x'"),
        ("shopping", "INSERT INTO checkouts (customer_id, address_id) VALUES (1, 2)"),
        ("gitlab", "UPDATE projects SET updated_at = '2026-03-14 09:30:00'"),
        ("reddit", "UPDATE messages SET is_read = 1"),
        ("reddit", "DELETE FROM sessions"),
    ],
)
def test_declared_noise_is_no_change(site: str, statement: str) -> None:
    assert verdict(after(statement, site=site), {}) == Verdict(1.0)


def test_a_coupon_that_was_applied_is_a_change() -> None:
    coupon = "INSERT INTO checkouts (customer_id, address_id, coupon) VALUES (1, 2, 'TEA')"
    assert record_change(after(coupon)) == {
        "shopping": {"checkouts": {"added": [{"customer_id": 1, "coupon": "TEA"}]}}
    }


@pytest.mark.parametrize("site", sorted(set(DATABASES.values())))
def test_every_column_that_is_not_declared_as_noise_is_compared(site: str) -> None:
    untouched = after(site=site)
    for name, table in compared_tables(site, untouched.database(site)).items():
        row = untouched.database(site).execute(f'SELECT * FROM "{name}" LIMIT 1').fetchone()
        for column in table.columns if row is not None and not table.only else ():
            state = after("PRAGMA foreign_keys = OFF", site=site)
            run(state, site, "PRAGMA ignore_check_constraints = ON")
            value = f"{row[column]} x" if isinstance(row[column], str) else 987654
            where = " AND ".join(f'"{one}" = ?' for one in table.key)
            state.database(site).execute(
                f'UPDATE "{name}" SET "{column}" = ? WHERE {where}',
                (value, *(row[one] for one in table.key)),
            )
            assert list(record_change(state)[site]) == [name], (name, column)
            state.close()


# Bad input, and speed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ways", "message"),
    [
        ([], r"\[\{\}\] where nothing may change"),
        (None, "must be a list"),
        ([1], "an alternative"),
        ([{"shopping_admin": {}}], "unknown database 'shopping_admin'; allowed: gitlab, map"),
        ([{"shopping": {"orders": {"altered": []}}}], "must have the form"),
        ([{"shopping": {"orders": {"added": ["row"]}}}], "must have the form"),
        ([{"shopping": []}], "must have the form"),
    ],
)
def test_another_form_is_refused_at_once(ways: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_evaluators({"eval_types": ["state_change"], "state_change": ways})


@pytest.mark.parametrize(
    ("way", "message"),
    [
        ({"shopping": {"kittens": {"added": [{}]}}}, r"no tables \['kittens'\]"),
        ({"shopping": {"orders": {"removed": [{"id": 0}]}}}, r"orders has no row \(0,\)"),
        ({"shopping": {"orders": {"changed": [{"status": "x"}]}}}, "needs"),
    ],
)
def test_a_task_that_does_not_fit_the_site_is_refused(
    state: SiteState, way: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        verdict(state, way)


def test_sites_of_somebody_else_s_are_refused() -> None:
    (evaluate,) = build_evaluators({"eval_types": ["state_change"], "state_change": [{}]})
    with pytest.raises(ValueError, match="embedded sites"):
        evaluate(ending())


@pytest.mark.parametrize("site", sorted(set(DATABASES.values())))
def test_an_ending_is_judged_within_thirty_milliseconds(site: str) -> None:
    state = after("UPDATE sessions SET flash = 'x'", site=site)
    verdict(state, {})
    spent = []
    for _ in range(5):
        start = time.process_time()  # other programs' time does not count
        verdict(state, {})
        spent.append(time.process_time() - start)
    assert min(spent) < 0.030


TOTAL = {"type": "currency", "value": "$289.19"}
HOURS = {"type": "list", "of": [{"type": "time", "value": t} for t in ("09:00", "17:30")]}
PHONE = {"type": "identifier", "value": "018 828 359"}


@pytest.mark.parametrize(
    ("value", "right", "wrong"),
    [
        (
            TOTAL,
            ("$289.19", "289.19", "289.190", "$289.19 ", "289.19 dollars", "USD 289.19"),
            ("$289.91", "€289.19", "$289", "289.19 or 289.20", "about $289.19", "289.19 km", "",
             "The total of the order is $289.19"),
        ),
        (
            HOURS,
            ("09:00-17:30", "9:00 - 17:30", "09:00 – 17:30", "9:00 am - 5:30 pm", "9.00-17.30"),
            ("09:00", "17:30-09:00", "09:00-17:00", "09:00-17:30 and 18:00-19:00", "closed"),
        ),
        (
            PHONE,
            ("018 828 359", "018828359", "018-828-359"),
            ("018 828 358", "018 828 359 1", "018 828 359, 018 828 360", "Phone of the school: "),
        ),
    ],
)  # fmt: skip
def test_a_value_in_a_text_is_compared_as_a_typed_answer(
    state: SiteState, value: dict[str, Any], right: tuple[str, ...], wrong: tuple[str, ...]
) -> None:
    way = {"gitlab": {"issues": {"changed": [{"id": 1, "body": value}]}}}
    for text in (*right, *wrong):
        state.database("gitlab").execute("UPDATE issues SET body = ? WHERE id = 1", (text,))
        assert verdict(state, way).score == float(text in right), text


@pytest.mark.parametrize(
    ("table", "column", "value", "right", "wrong"),
    [
        ("customers", "phone", "0555 469 2182", ("0555-469-2182", "05554692182"), ("0555 469",)),
        ("addresses", "phone", "0555 469 2182", ("0555.469.2182",), ("0555 469 2183", "")),
        ("addresses", "postcode", "27063", (" 27063", "27 063"), ("27063 Millbrook", "2706")),
        ("shipments", "tracking_number", "BR24743169", ("br 24743169",), ("BR24743168", "")),
    ],
)
def test_codes_are_compared_by_their_signs(
    state: SiteState,
    table: str,
    column: str,
    value: str,
    right: tuple[str, ...],
    wrong: tuple[str, ...],
) -> None:
    number = state.database("shopping").execute(f"SELECT min(id) FROM {table}").fetchone()[0]
    way = {"shopping": {table: {"changed": [{"id": number, column: value}]}}}
    for text in (value, *right, *wrong):
        sql = f"UPDATE {table} SET {column} = ? WHERE id = ?"
        state.database("shopping").execute(sql, (text, number))
        assert verdict(state, way).score == float(text not in wrong), text
