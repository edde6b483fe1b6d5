"""Where the administration's navigation tasks end: computed anew, and no other page will do."""

from __future__ import annotations

import sqlite3
from datetime import date, timedelta
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from agentgym_envs.sites.filters import MONTHS
from agentgym_envs.webarena.env import WebArenaEnv
from tests.worlds.tasks.arriving import WORLD, case_of, cases, ends_at, reference

HOME = "http://shopping-admin.test"
ADDRESS_FORM, REPORT, PRODUCT, REVIEWS = (56, 57, 58, 59)
SOME = (0, 33)
DAY = timedelta(days=1)
SPANS = {"quarter": 3, "half": 6}
ORDINALS = ("first", "second", "third", "fourth")
STARS = {
    "with fewer than 3 stars": {1, 2},
    "with 4 stars or more": {4, 5},
    "with 1 star": {1},
    **{f"with {number} stars": {number} for number in (2, 3, 4, 5)},
}
RATINGS = {"low": {1, 2}, "high": {4, 5}}


@pytest.fixture(scope="module")
def shop() -> sqlite3.Connection:
    return WORLD.database("shopping_admin")


def months_of(text: str) -> list[str]:
    """The months that an intent's words mean, written `YYYY-MM`."""
    if text.isdecimal():
        return [f"{text}-{month:02}" for month in range(1, 13)]
    words = text.removeprefix("the ").split()
    if words[0] in MONTHS:
        return [f"{words[1]}-{MONTHS.index(words[0]) + 1:02}"]
    ordinal, span, _, year = words
    first = ORDINALS.index(ordinal) * SPANS[span]
    return [f"{year}-{first + place + 1:02}" for place in range(SPANS[span])]


def last_day(month: str) -> str:
    return str((date.fromisoformat(f"{month}-28") + timedelta(days=4)).replace(day=1) - DAY)


def changed_query(url: str, **changes: str | None) -> str:
    """The address with some parameters set, or taken out by None."""
    parts = urlsplit(url)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()} | changes
    parameters = {name: value for name, value in query.items() if value is not None}
    return parts._replace(query=urlencode(parameters)).geturl()


# The references -------------------------------------------------------------------------------


def test_the_form_is_that_of_the_one_order_with_the_extreme_total(shop: sqlite3.Connection) -> None:
    orders = shop.execute("SELECT number, status, created_at, total FROM orders").fetchall()
    for case in cases(ADDRESS_FORM):
        months = months_of(case.values["period"])
        sign = 1 if case.values["extreme"] == "lowest" else -1
        result = sorted(
            (sign * order["total"], order["number"])
            for order in orders
            if order["status"] == case.values["status"] and order["created_at"][:7] in months
        )
        assert result[0][0] < result[1][0], case.values
        assert reference(case) == f"{HOME}/orders/{result[0][1]}/address"


def test_the_report_is_of_the_one_month_with_the_highest_revenue(shop: sqlite3.Connection) -> None:
    revenue = dict(
        tuple(row)
        for row in shop.execute(
            "SELECT strftime('%Y-%m', created_at), sum(total) FROM orders GROUP BY 1"
        )
    )
    paths = {"Best sellers": "best-sellers", "Customers by orders": "customers"}
    for case in cases(REPORT):
        months = sorted(months_of(case.values["period"]), key=lambda month: -revenue[month])
        assert len(months) > 1 and revenue[months[0]] > revenue[months[1]]
        parts = urlsplit(reference(case))
        assert parts.path == f"/reports/{paths[case.values['report']]}"
        assert parse_qs(parts.query) == {
            "from": [f"{months[0]}-01"],
            "to": [last_day(months[0])],
            "search": [case.values["narrowed"].split(" ", 1)[1]],
            "sort": [case.values["sorting"]],
        }


def test_the_product_is_the_one_that_stands_out_in_the_one_order(shop: sqlite3.Connection) -> None:
    orders = {"first": ("created_at", 1), "most recent": ("created_at", -1)}
    for case in cases(PRODUCT):
        column, sign = orders.get(case.values["which"], ("total", -1))
        result = shop.execute(
            f"SELECT o.id, o.{column} AS value FROM customers c JOIN orders o "
            "ON o.customer_id = c.id WHERE c.name = ?",
            (case.values["customer"],),
        ).fetchall()
        result.sort(key=lambda row: row["value"], reverse=sign < 0)
        assert result[0]["value"] != result[1]["value"], case.values
        most = "price" if "price" in case.values["what"] else "quantity"
        items = shop.execute(
            f"SELECT product_id FROM order_items WHERE order_id = ? AND {most} = "
            f"(SELECT max({most}) FROM order_items WHERE order_id = ?)",
            (result[0]["id"], result[0]["id"]),
        ).fetchall()
        assert [f"{HOME}/products/{row[0]}" for row in items] == [reference(case)]


def test_a_customer_is_asked_for_by_a_name_that_no_other_has(shop: sqlite3.Connection) -> None:
    names = [row[0] for row in shop.execute("SELECT name FROM customers")]
    assert {names.count(case.values["customer"]) for case in cases(PRODUCT)} == {1}


def test_the_page_of_reviews_exists_and_is_not_the_first(shop: sqlite3.Connection) -> None:
    reviews = shop.execute("SELECT status, rating, created_at FROM reviews").fetchall()
    for case in cases(REVIEWS):
        months = months_of(case.values["period"])
        number = sum(
            row["status"] == case.values["status"]
            and row["rating"] in STARS[case.values["rating"]]
            and row["created_at"][:7] in months
            for row in reviews
        )
        parts = urlsplit(reference(case))
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        assert (parts.path, query["status"]) == ("/reviews", case.values["status"])
        stars = RATINGS[query["rating"]] if query["rating"] in RATINGS else {int(query["rating"])}
        assert stars == STARS[case.values["rating"]]
        page = ORDINALS.index(case.values["place"]) + 1
        assert int(query["page"]) == page > 1 and number > 15 * (page - 1)
        assert (query["from"], query["to"]) == (f"{months[0]}-01", last_day(months[-1]))
        assert query["sort"] in case.values["sorting"].split()


# Other pages ----------------------------------------------------------------------------------


@pytest.mark.parametrize("instance", SOME)
def test_the_order_itself_and_another_order_s_form_do_not_score(
    env: WebArenaEnv, shop: sqlite3.Connection, instance: int
) -> None:
    right = reference(case_of(ADDRESS_FORM, instance))
    order = right.removesuffix("/address")
    last = shop.execute("SELECT max(number) FROM orders").fetchone()[0]
    for url in (order, f"{order}/ship", f"{HOME}/orders/{last}/address", f"{HOME}/orders"):
        assert url != right and ends_at(env, ADDRESS_FORM, instance, url) == 0.0, url


@pytest.mark.parametrize("instance", SOME)
def test_a_report_set_up_otherwise_does_not_score(env: WebArenaEnv, instance: int) -> None:
    right = reference(case_of(REPORT, instance))
    wrong = [changed_query(right, **{name: None}) for name in ("from", "to", "search", "sort")]
    wrong += [
        changed_query(right, **{"from": "2024-03-01"}),
        changed_query(right, to="2026-03-14"),
        changed_query(right, search="Nothing"),
        changed_query(right, sort="units"),
        right.split("?")[0],
        f"{HOME}/reports/sales-by-month?{urlsplit(right).query}",
    ]
    for url in wrong:
        assert ends_at(env, REPORT, instance, url) == 0.0, url


def test_a_product_whose_number_begins_alike_does_not_score(
    env: WebArenaEnv, shop: sqlite3.Connection
) -> None:
    ids = {str(row[0]) for row in shop.execute("SELECT id FROM products")}
    num_played = 0
    for instance, case in enumerate(cases(PRODUCT)):
        right = reference(case)
        longer = sorted(i for i in ids if f"{HOME}/products/{i}".startswith(right))[1:]
        for number in longer[:1]:
            assert ends_at(env, PRODUCT, instance, f"{HOME}/products/{number}") == 0.0
            num_played += 1
    assert num_played


@pytest.mark.parametrize("instance", SOME)
def test_another_product_of_the_order_does_not_score(
    env: WebArenaEnv, shop: sqlite3.Connection, instance: int
) -> None:
    right = reference(case_of(PRODUCT, instance))
    others = shop.execute(
        "SELECT DISTINCT b.product_id FROM order_items a JOIN order_items b "
        "ON a.order_id = b.order_id AND a.product_id <> b.product_id WHERE a.product_id = ? "
        "LIMIT 4",
        (int(right.rsplit("/", 1)[1]),),
    ).fetchall()
    for (other,) in others:
        assert ends_at(env, PRODUCT, instance, f"{HOME}/products/{other}") == 0.0
    assert others


@pytest.mark.parametrize("instance", SOME)
def test_another_page_of_the_reviews_or_another_list_does_not_score(
    env: WebArenaEnv, instance: int
) -> None:
    right = reference(case_of(REVIEWS, instance))
    names = ("status", "rating", "from", "to", "sort", "page")
    wrong = [changed_query(right, **{name: None}) for name in names]
    wrong += [changed_query(right, page="1"), changed_query(right, page="4")]
    wrong += [changed_query(right, sort="newest"), f"{HOME}/reviews?page=2", f"{HOME}/reviews"]
    for url in wrong:
        assert ends_at(env, REVIEWS, instance, url) == 0.0, url
