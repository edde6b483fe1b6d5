"""The forum: its content, its pages and its lists."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from urllib.parse import urljoin

import pytest

from agentgym_envs.browsing.text.fetch import Answer
from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.people import AGENT, PASSWORD
from agentgym_envs.sites.reddit.heat import heat
from agentgym_envs.sites.state import NOW, connect
from tests.agentgym_envs.sites.forum_visitor import Visitor

HOSTILE = (
    "x" * 30_000,
    "a\0b\x07",
    "-1",
    "9" * 40,
    "'; DROP TABLE posts; --",
    "<b>&",
    "\u202e é 漢",
)


@pytest.fixture
def agent() -> Iterator[Visitor]:
    visitor = Visitor()
    yield visitor
    visitor.state.close()


@pytest.fixture
def stranger() -> Iterator[Visitor]:
    visitor = Visitor(user_id=None)
    yield visitor
    visitor.state.close()


# Content --------------------------------------------------------------------------------------


def test_the_content_is_large_and_the_database_small() -> None:
    data = open_content().database("reddit")
    assert len(data) < 4_000_000
    database = connect(data)
    for table, least in (("forums", 40), ("posts", 1500), ("comments", 6000), ("users", 250)):
        assert database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] >= least
    doubles = "SELECT count(*) - count(DISTINCT title) FROM posts"
    assert database.execute(doubles).fetchone()[0] == 0
    database.close()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT count(*) FROM posts p WHERE num_comments <> "
        "(SELECT count(*) FROM comments c WHERE c.post_id = p.id)",
        "SELECT count(*) FROM comments c JOIN comments a ON a.id = c.parent_id "
        "WHERE a.post_id <> c.post_id OR a.id >= c.id OR a.created_at > c.created_at",
        "SELECT count(*) FROM comments c JOIN posts p ON p.id = c.post_id "
        "WHERE c.created_at < p.created_at",
        f"SELECT count(*) FROM posts WHERE created_at > '{NOW}'",
        f"SELECT count(*) FROM comments WHERE created_at > '{NOW}'",
        "SELECT count(*) FROM posts a JOIN posts b ON b.id = a.id + 1 "
        "WHERE b.created_at < a.created_at",
        "SELECT count(*) FROM post_votes v JOIN posts p ON p.id = v.post_id "
        "WHERE p.user_id = v.user_id",
        "SELECT count(*) FROM posts WHERE body LIKE '%{%' OR title LIKE '%{%'",
        "SELECT count(*) FROM comments WHERE body LIKE '%{%'",
        "SELECT count(*) FROM posts WHERE url IS NULL AND body = ''",
        "SELECT count(*) FROM forums f WHERE NOT EXISTS "
        "(SELECT 1 FROM moderators m WHERE m.forum_id = f.id AND m.user_id = f.created_by)",
    ],
)
def test_the_content_is_consistent(agent: Visitor, query: str) -> None:
    assert agent.value(query) == 0


def test_the_agent_is_the_first_user(agent: Visitor) -> None:
    query = "SELECT username || ' ' || password FROM users WHERE id = 1"
    assert agent.value(query) == f"{AGENT.username} {PASSWORD}"


def test_age_cools_a_post_and_votes_heat_it() -> None:
    day_before = "2026-03-13 09:30:00"
    assert heat(10, NOW) > heat(10, day_before) > heat(5, day_before) > 0 > heat(-1, NOW)


# Pages ----------------------------------------------------------------------------------------


def _paths(answer: Answer, base: str) -> list[str]:
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', answer.body)]
    return [urljoin(base, link) for link in links if not link.startswith(("http", "/static"))]


@pytest.mark.parametrize("user_id", [1, None])
def test_every_link_leads_to_a_page(user_id: int | None) -> None:
    visitor = Visitor(user_id=user_id)
    waiting, seen, times = ["/"], {"/"}, dict[str, int]()
    while waiting:
        path = waiting.pop(0)
        kind = re.sub(r"\d+", "N", re.sub(r"^/([cu])/[^/?]+", r"/\1/X", path))
        times[kind] = times.get(kind, 0) + 1
        if times[kind] > 3:
            continue
        answer = visitor.get(path)
        assert answer.status == 200, path
        assert answer.body.count("<h1>") == 1, path
        new = [link for link in _paths(answer, path) if link not in seen]
        seen.update(new)
        waiting += new
    assert len(times) > (40 if user_id else 20)


@pytest.mark.parametrize(
    "path",
    [
        *("/c/nowhere", "/u/nobody", "/p/999999", "/p/0", "/p/x", "/p/-1", "/p/" + "9" * 5000),
        *("/comments/999999", "/comments/x", "/messages/999999", "/search?q=a&in=nowhere"),
        *("/p/1/vote", "/nothing/here", "/c/gardening/subscribe"),
    ],
)
def test_what_does_not_exist_says_so(agent: Visitor, path: str) -> None:
    answer = agent.get(path)
    assert answer.status in (404, 405)
    assert "Something is missing" in answer.body


@pytest.mark.parametrize(
    "path",
    ["/submit", "/messages", "/settings", "/notifications", "/saved", "/c/books/submit"],
)
def test_what_is_private_asks_for_the_password(stranger: Visitor, path: str) -> None:
    answer = stranger.get(path)
    assert (answer.status, answer.header("location")) == (303, f"/login?next={path}")


@pytest.mark.parametrize(
    "path",
    ["/p/2/vote", "/comments/2/vote", "/p/2/comments", "/c/books/subscribe", "/u/ada.dahl/block"],
)
def test_strangers_change_nothing(stranger: Visitor, path: str) -> None:
    assert str(stranger.post(path, value="1", body="x").header("location")).startswith("/login")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_input_is_answered(agent: Visitor, text: str) -> None:
    for path in (
        "/submit",
        "/settings",
        "/messages/new",
        "/communities/new",
        "/register",
        "/login",
    ):
        names = ("title", "body", "url", "flair", "community", "name", "email", "to", "username")
        answer = agent.post(path, **dict.fromkeys((*names, "password", "next", "bio"), text))
        assert answer.status in (200, 303, 422), path
    for name in ("sort", "within", "flair", "page", "feed", "kind", "q"):
        for page in ("/", "/communities", "/c/books", "/p/3", "/search"):
            query = {"q": "tea", name: text}
            pairs = "&".join(f"{key}={_quoted(value)}" for key, value in query.items())
            assert agent.get(f"{page}?{pairs}").status == 200
    for path in ("/p/2/vote", "/comments/2/vote"):
        assert agent.post(path, value=text).status in (303, 403)


def _quoted(text: str) -> str:
    return "".join(f"%{byte:02x}" for byte in text.encode())


# Lists ----------------------------------------------------------------------------------------


def _titles(answer: Answer) -> list[str]:
    return [html.unescape(t) for t in re.findall(r'<h2><a href="/p/\d+">([^<]+)', answer.body)]


def _asked(visitor: Visitor, query: str) -> list[str]:
    return [row[0] for row in visitor.state.database("reddit").execute(query)]


@pytest.mark.parametrize(
    ("parameters", "condition", "order"),
    [
        ("sort=new", "1", "id DESC"),
        ("sort=top", "1", "score DESC, id DESC"),
        ("sort=comments", "1", "num_comments DESC, id DESC"),
        ("sort=top&within=365", "created_at >= '2025-03-14 09:30:00'", "score DESC, id DESC"),
        ("sort=new&flair=Review", "flair = 'Review'", "id DESC"),
    ],
)
def test_a_community_is_sorted_and_filtered(
    agent: Visitor, parameters: str, condition: str, order: str
) -> None:
    query = (
        "SELECT title FROM posts WHERE forum_id = (SELECT id FROM forums WHERE name = 'hiking') "
        f"AND {condition} ORDER BY {order}"
    )
    titles = _titles(agent.get(f"/c/hiking?{parameters}"))
    assert titles == _asked(agent, query)[:10] and titles
    second = _titles(agent.get(f"/c/hiking?{parameters}&page=2"))
    assert second == (_asked(agent, query)[10:20] or titles)


def test_the_subscribed_feed_holds_followed_communities_only(agent: Visitor) -> None:
    body = agent.get("/?feed=subscribed&sort=new").body
    forums = set(re.findall(r'in <a href="/c/([^"]+)"', body))
    followed = _asked(
        agent,
        "SELECT name FROM forums JOIN subscriptions ON forum_id = id WHERE user_id = 1",
    )
    assert forums and forums <= set(followed)


def test_a_search_finds_all_words(agent: Visitor) -> None:
    body = agent.get("/search?q=MILKY+way").body
    assert _titles(agent.get("/search?q=MILKY+way"))
    number = agent.value(
        "SELECT count(*) FROM posts WHERE title || ' ' || body LIKE '%milky%' "
        "AND title || ' ' || body LIKE '%way%'"
    )
    assert f"{number} result" in body
    assert "0 results" in agent.get("/search?q=no-such-word-anywhere").body


def test_a_search_can_stay_within_a_community(agent: Visitor) -> None:
    every = agent.value(
        "SELECT count(*) FROM posts WHERE instr(lower(title || ' ' || body), 'winter') "
        "AND forum_id = (SELECT id FROM forums WHERE name = 'cycling')"
    )
    assert f"{every} result" in agent.get("/search?q=winter&in=cycling").body
