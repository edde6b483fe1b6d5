"""What statements may do: read, for so long, with the same answer every time."""

from __future__ import annotations

import os
import sqlite3
import threading
import time

import pytest

from agentgym_envs.sql import database as module
from agentgym_envs.sql.database import NAMES, Database, StatementError, site_database
from agentgym_envs.webarena.sites.content import open_content


@pytest.fixture
def shop() -> Database:
    return site_database("shopping")


def only(database: Database, statement: str) -> object:
    return database.run(statement, limit=5).rows[0][0]


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM orders",
        "UPDATE orders SET total = 0",
        "INSERT INTO coupons (id) VALUES (1)",
        "REPLACE INTO coupons (id) VALUES (1)",
        "CREATE TABLE mine (a)",
        "CREATE TEMP TABLE mine (a)",
        "DROP TABLE orders",
        "ALTER TABLE orders RENAME TO mine",
        "ATTACH 'other.sqlite' AS other",
        "DETACH main",
        "VACUUM",
        "VACUUM INTO 'copy.sqlite'",
        "ANALYZE",
        "REINDEX",
        "BEGIN",
        "SAVEPOINT here",
        "PRAGMA query_only = OFF",
        "PRAGMA writable_schema = ON",
        "WITH x AS (SELECT 1) DELETE FROM orders",
        "SELECT load_extension('mine')",
        "SELECT 1; DROP TABLE orders",
    ],
)
def test_nothing_is_written(shop: Database, statement: str) -> None:
    before = shop._connection.serialize()
    with pytest.raises(StatementError):
        shop.run(statement, limit=5)
    assert shop._connection.serialize() == before == open_content().database("shopping")
    assert not os.path.exists("copy.sqlite")


DOUBLED = (
    "WITH a0 AS (SELECT 1 x)"
    + "".join(f", a{n} AS (SELECT 1 x FROM a{n - 1} p, a{n - 1} q)" for n in range(1, 25))
    + " SELECT count(*) FROM a24"
)
"""It would take 30 GB before its first step."""


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DELETE FROM orders", "only one statement that reads is allowed"),
        ("PRAGMA query_only = OFF", "of the pragmas, table_info, .* are allowed, not query_only"),
        ("SELECT randomblob(9)", r"the function randomblob\(\) is not allowed"),
        ("SELECT 1; SELECT 2", "that is more than one statement"),
        ("SELECT ?", "leaves a value open"),
        ("", "there is no statement"),
        (" -- a comment", "there is no statement"),
        ("/* open", "there is no statement"),
        (";", "there is no statement"),
        ("/* a */ EXPLAIN SELECT 1", "EXPLAIN is not allowed"),
        (" ;;\ufeff EXPLAIN QUERY PLAN SELECT 1", "EXPLAIN is not allowed"),
        ("SELECT fts5_source_id()", r"the function fts5_source_id\(\) is not allowed"),
        ("SELECT 'a' LIKE hex(zeroblob(200))", "a pattern of LIKE or GLOB has more than 200 bytes"),
        ("SELECT nosuch FROM orders", "no such column: nosuch"),
        ("SELECT interrupted FROM orders", "no such column: interrupted"),
        ("SELECT 1 FROM bindings", "no such table: bindings"),
        ("SELECT printf('%.*c', 500000000, 'x')", r"more than 10,000 characters .* in printf\(\)"),
        ("SELECT printf('%099999d', 1)", r"more than 10,000 characters"),
        ("SELECT printf('%s %*d', 1, '99999', 1)", r"more than 10,000 characters"),
        ("SELECT printf('%.99999f', 1.5)", r"more than 10,000 characters"),
        (DOUBLED, "copies of one another; at most 50,000 are made"),
        ("SELECT 'a\0b'", "null character"),
        ("SELECT '\ud800'", "half a character"),
        ("SELECT date('now', 'localtime')", "localtime and utc are not allowed"),
        ("SELECT 1 " + "+ 1" * 5_000, "at most 10,000 are read"),
        ("SELECT zeroblob(1000000000)", "more than 10,000 bytes; read less at a time"),
        ("SELECT group_concat(body) FROM reviews", "more than 10,000 bytes"),
    ],
)
def test_a_refusal_says_why(shop: Database, statement: str, message: str) -> None:
    with pytest.raises(StatementError, match=message):
        shop.run(statement, limit=5)


@pytest.mark.parametrize(
    "statement",
    [
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c",
        "SELECT count(*) FROM order_items a, order_items b, order_items c",
        "SELECT a.id FROM reviews a, reviews b ORDER BY a.body || b.body LIMIT 1",
    ],
)
def test_work_is_counted_not_timed(shop: Database, statement: str) -> None:
    ticks = []
    for _ in range(2):
        start = time.process_time()
        with pytest.raises(StatementError, match="takes more than 2,000,000 steps"):
            shop.run(statement, limit=5)
        assert time.process_time() - start < 20
        ticks.append(shop._ticks)
    assert ticks[0] == ticks[1] == module.MAX_STEPS / module._TICK + 1
    assert only(shop, "SELECT count(*) FROM orders") == 1500


def test_steps_that_take_long_are_timed(shop: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A call of `instr` on long texts is one step."""
    monkeypatch.setattr(shop, "_max_seconds", 0.2)
    statement = (
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000) "
        "SELECT sum(instr(hex(zeroblob(4900)), hex(zeroblob(2400)) || n || 'x')) FROM c"
    )
    start = time.process_time()
    with pytest.raises(StatementError, match="more than 0 seconds of the processor; search less"):
        shop.run(statement, limit=5)
    assert time.process_time() - start < 5
    assert only(shop, "SELECT count(*) FROM orders") == 1500


@pytest.mark.parametrize("name", ["subsec", "subsecond"])
def test_the_clock_stands_still_in_the_words_of_newer_sqlite(shop: Database, name: str) -> None:
    """An older one knows no such words: there is no time, rather than the machine's."""
    is_known = sqlite3.sqlite_version_info >= (3, 42)
    assert only(shop, f"SELECT datetime('{name}')") == (
        "2026-03-14 09:30:00.000" if is_known else None
    )
    assert only(shop, f"SELECT date('{name}')") == ("2026-03-14" if is_known else None)


@pytest.mark.parametrize(
    ("statement", "value"),
    [
        ("SELECT printf('%.2f %05d %,d %s', 1.5, 42, 1234567, 'x')", "1.50 00042 1,234,567 x"),
        ("SELECT printf('%*d', 5, 7)", "    7"),
        ("SELECT printf('%s', 99999999)", "99999999"),
        ("SELECT printf('20260314: %d%%, %*d', 7, 3, 99999999)", "20260314: 7%, 99999999"),
        ("SELECT sum(value) FROM json_each('[1, 2]')", 3),
    ],
)
def test_what_reads_is_allowed(shop: Database, statement: str, value: object) -> None:
    assert only(shop, statement) == value


def test_tables_that_qualify_many_columns_are_copied_once_each(shop: Database) -> None:
    columns = ", ".join(f"a{{0}}.x AS x{n}, a{{0}}.x + {n}" for n in range(12))
    tables = ", ".join(
        f"a{n + 1} AS (SELECT a{n}.x, {columns.format(n)} FROM a{n})" for n in range(8)
    )
    assert only(shop, f"WITH a0(x) AS (SELECT 5), {tables} SELECT a8.x FROM a8") == 5


def test_differences_to_now_are_to_the_clock_that_stands_still(shop: Database) -> None:
    statement = "SELECT timediff('now', '2026-03-14')"
    if sqlite3.sqlite_version_info >= (3, 43):
        assert only(shop, statement) == "+0000-00-00 09:30:00.000"
    else:
        with pytest.raises(StatementError, match="no such function: timediff"):
            only(shop, statement)


def test_the_clock_stands_still(shop: Database) -> None:
    statement = (
        "SELECT date('now'), time('NOW'), datetime(), strftime('%Y-%m', 'now'), CURRENT_TIMESTAMP, "
        "CURRENT_DATE, CURRENT_TIME, julianday('now') - julianday('2026-03-14')"
    )
    (row,) = shop.run(statement, limit=1).rows
    assert row[:4] == ("2026-03-14", "09:30:00", "2026-03-14 09:30:00", "2026-03")
    assert row[4:7] == ("2026-03-14 09:30:00", "2026-03-14", "09:30:00")
    assert row[7] == pytest.approx(9.5 / 24)


def test_other_moments_are_sqlites_own(shop: Database) -> None:
    statement = "SELECT date('2026-01-31', '+1 month'), strftime('%w', '2026-03-14'), date('x')"
    assert shop.run(statement, limit=1).rows == (("2026-03-03", "6", None),)


@pytest.mark.parametrize("name", NAMES)
def test_every_schema_can_be_read(name: str) -> None:
    database = site_database(name)
    for table in database.tables:
        listed = database.run(f"PRAGMA table_info({table})", limit=99).rows
        assert [row[1] for row in listed] == [column.name for column in database.columns(table)]
        named = database.run(f"SELECT name FROM pragma_table_info('{table}')", limit=99).rows
        assert [row[0] for row in named] == [row[1] for row in listed]
    assert only(database, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'") == len(
        database.tables
    )


def test_references_name_their_column(shop: Database) -> None:
    columns = {column.name: column for column in shop.columns("order_items")}
    assert columns["id"].key == 1 and columns["id"].refers_to is None
    assert columns["order_id"].refers_to == ("orders", "id")
    members = {column.name: column for column in site_database("gitlab").columns("members")}
    assert members["user_id"].refers_to == ("users", "id")  # REFERENCES users, without a column
    assert [members[name].key for name in ("project_id", "user_id", "role")] == [1, 2, 0]


def test_only_so_many_rows_are_fetched(shop: Database) -> None:
    result = shop.run("SELECT id FROM orders ORDER BY id", limit=3)
    assert (result.columns, result.has_more) == (("id",), True)
    assert result.rows == ((1001,), (1002,), (1003,))
    assert not shop.run("SELECT id FROM orders LIMIT 3", limit=3).has_more


def test_threads_share_a_database(shop: Database) -> None:
    """One thread's work does not count for another's, and none waits for ever."""
    answers: list[object] = []

    def ask(number: int) -> None:
        if number % 4 == 0:
            with pytest.raises(StatementError, match="steps"):
                shop.run("SELECT count(*) FROM order_items a, order_items b", limit=1)
        else:
            answers.append(only(shop, f"SELECT count(*) + {number} FROM orders"))

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(map(str, answers)) == sorted(str(1500 + n) for n in range(12) if n % 4)
