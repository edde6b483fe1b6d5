"""What statements may do: read, for so long, with the same answer every time."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from agentgym_envs.machinery.cancellation import cancel_wait
from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.state import NOW
from agentgym_envs.sql.database import LIMITS, NAMES, Database, StatementError, site_database
from agentgym_envs.sql.worker import TICK, Reader, Refusal, open_database

ROOT = Path(__file__).parents[3]


def reader_of() -> Reader:
    """Return what reads the shop in this process."""
    return Reader(open_database(open_content().database("shopping")), LIMITS, now=NOW)


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
    reader = reader_of()
    with pytest.raises(Refusal):
        reader.run(statement, 5)
    assert reader._connection.serialize() == open_content().database("shopping")
    with pytest.raises(StatementError):
        shop.run(statement, limit=5)
    assert not os.path.exists("copy.sqlite")


def doubled(form: str, behind: str = " ") -> str:
    """Return a statement that would take 30 GB before its first step."""
    names = [form.format(n) for n in range(25)]
    tables = [
        f"{new} AS{behind}(SELECT 1 x FROM {old} p, {old} q)"
        for old, new in zip(names, names[1:], strict=False)
    ]
    return f"WITH {names[0]} AS{behind}(SELECT 1 x), {', '.join(tables)} SELECT 1 FROM {names[-1]}"


LONG = "hex(zeroblob(4900))"
TOO_MUCH = "more than 64 MB of memory; narrow what it joins and reads"
TOO_MANY = "takes more than 2,000,000 steps; narrow what it joins and reads"


@pytest.mark.parametrize(
    "statement",
    [
        doubled("a{}"),
        doubled('"a{}"'),
        doubled("[a{}]"),
        doubled("`a{}`", "/**/ "),
        f"WITH RECURSIVE c(n, i) AS (SELECT '', 1 UNION SELECT {LONG} || i, i + 1 FROM c) "
        "SELECT count(*) FROM c",
        f"SELECT a.id FROM orders a, orders b ORDER BY {LONG} || a.id || b.id",
        f"SELECT {LONG} || a.id || b.id k, count(*) FROM reviews a, reviews b GROUP BY k",
    ],
)
def test_memory_is_bounded_whatever_takes_it(shop: Database, statement: str) -> None:
    with pytest.raises(StatementError, match=TOO_MUCH):
        shop.run(statement, limit=5)
    assert only(shop, "SELECT count(*) FROM orders") == 1500


def test_a_result_is_bounded_in_bytes_too(shop: Database) -> None:
    columns = ", ".join(["z"] * 1_990)
    statement = f"SELECT {columns} FROM (SELECT {LONG} z FROM orders LIMIT 1000)"
    with pytest.raises(StatementError, match="the result has more than 16 MB; read less"):
        shop.run(statement, limit=1_000)


@pytest.mark.parametrize(
    "call",
    [
        f"{LONG} || n LIKE '{'%0' * 60}%1x%'",
        f"{LONG} || n GLOB '{'*[0-9]' * 30}x'",
        f"instr({LONG}, hex(zeroblob(2400)) || n || 'x')",
        f"length(trim({LONG} || n, hex(zeroblob(400)) || 'x'))",
        f"length(replace({LONG}, hex(zeroblob(2000)) || n, 'x'))",
        f"strftime('{'%d' * 900}', n)",
        f"length(printf('{'%9d' * 300}', n))",
        "printf('%.*c', 1000000000, 'x')",
        "format('%!.1000000000g', n)",
    ],
)
def test_functions_of_long_texts_count_by_their_lengths(shop: Database, call: str) -> None:
    statement = (
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 20000) "
        f"SELECT sum({call}) FROM c"
    )
    with pytest.raises(StatementError, match=TOO_MANY):
        shop.run(statement, limit=5)


def test_where_memory_ends_does_not_depend_on_what_was_run_before() -> None:
    statement = (
        "WITH RECURSIVE c(n, i) AS (SELECT '', 1 UNION SELECT {} || i, i + 1 FROM c LIMIT {}) "
        "SELECT count(*) FROM c"
    )

    def most(database: Database) -> int:
        low, high = 100, 2_000
        while high - low > 1:
            middle = (low + high) // 2
            try:
                database.run(statement.format(LONG, middle), limit=1)
                low = middle
            except StatementError as error:
                assert "more than 8 MB of memory" in str(error)
                high = middle
        return low

    limits = LIMITS._replace(memory=8 << 20)
    first = Database(open_content().database("reddit"), limits)
    first.run("SELECT * FROM comments ORDER BY body", limit=1_000)
    with pytest.raises(StatementError):
        first.run(doubled("a{}"), limit=1)
    other = Database(open_content().database("reddit"), limits)
    assert most(first) == most(other)
    first.end_idle()
    other.end_idle()


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
        ("SELECT json_patch('{}', '{}')", r"the function json_patch\(\) is not allowed"),
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
    reader = reader_of()
    for _ in range(2):
        with pytest.raises(Refusal, match="takes more than 2,000,000 steps"):
            reader.run(statement, 5)
        assert reader.steps == LIMITS.steps + TICK
    with pytest.raises(StatementError, match=TOO_MANY):
        shop.run(statement, limit=5)
    assert only(shop, "SELECT count(*) FROM orders") == 1500


SLOW = (
    "WITH RECURSIVE z(t) AS MATERIALIZED (SELECT hex(zeroblob(4900))), "
    "c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
    f"SELECT sum({' + '.join(f'length(upper(t || n || {n}))' for n in range(200))}) FROM c, z"
)
"""For as long as its clock lets it."""


def slow_database(seconds: float) -> Database:
    limits = LIMITS._replace(steps=10**12, seconds=seconds)
    return Database(open_content().database("shopping"), limits)


def test_the_clock_is_the_last_resort() -> None:
    database = slow_database(0.5)
    with pytest.raises(StatementError, match="more than 0 seconds of the processor; read less"):
        database.run(SLOW, limit=5)
    database.end_idle()


@pytest.mark.full
def test_a_slow_statement_holds_no_other_up() -> None:
    database = slow_database(60.0)

    def run_slow() -> None:
        with suppress(StatementError):  # it is ended below
            database.run(SLOW, limit=5)

    slow = threading.Thread(target=run_slow)
    slow.start()
    until = time.monotonic() + 20
    while database._idle:
        assert time.monotonic() < until, "it did not begin"
        time.sleep(0.01)
    for _ in range(3):
        assert only(database, "SELECT count(*) FROM orders") == 1500
    assert slow.is_alive()
    for _ in range(2):  # it is tried again, for nobody says who ended it
        cancel_wait(slow)
        time.sleep(0.5)
    slow.join(20)
    assert not slow.is_alive()
    database.end_idle()


def test_a_process_that_was_killed_between_statements_is_replaced(shop: Database) -> None:
    assert only(shop, "SELECT 1") == 1
    for process in shop._idle:
        process._process.kill()
    assert only(shop, "SELECT 1") == 1


@pytest.mark.full
def test_a_busy_process_ends_soon_after_its_parent() -> None:
    script = (
        "import threading, time\n"
        "from tests.agentgym_envs.sql.test_database import SLOW, slow_database\n"
        "database = slow_database(60.0)\n"
        "print(database._idle[0]._process.pid, flush=True)\n"
        "database.run(SLOW, limit=5)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        time.sleep(0.3)
        parent.kill()
    until = time.monotonic() + 10
    while Path(f"/proc/{pid}").exists():
        assert time.monotonic() < until, "it lives on"
        time.sleep(0.05)


def test_a_forked_child_has_processes_of_its_own(shop: Database) -> None:
    assert only(shop, "SELECT 1") == 1
    pid = os.fork()
    if pid == 0:
        status = 1
        with suppress(BaseException):
            status = 0 if not shop._idle and only(shop, "SELECT 2") == 2 else 2
            shop.end_idle()
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert only(shop, "SELECT 3") == 3


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
