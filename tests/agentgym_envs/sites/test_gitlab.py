from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urljoin

import pytest
from lxml import html

from agentgym_envs.browsing.text.fetch import Answer
from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.gitlab.prose import prose
from agentgym_envs.sites.people import AGENT, PASSWORD
from agentgym_envs.sites.state import NOW
from tests.agentgym_envs.sites.yard import ORIGIN, OWN, Visitor, text


@pytest.fixture
def me() -> Iterator[Visitor]:
    visitor = Visitor()
    yield visitor
    visitor.state.close()


@pytest.fixture
def stranger() -> Iterator[Visitor]:
    visitor = Visitor(0)
    yield visitor
    visitor.state.close()


# Content ------------------------------------------------------------------------------------------


def test_the_content_is_large_and_the_database_small(me: Visitor) -> None:
    least = {"projects": 90, "commits": 5000, "issues": 1200, "merge_requests": 400, "users": 200}
    for table, number in least.items():
        assert me.value(f"SELECT count(*) FROM {table}") >= number
    assert len(open_content().database("gitlab")) < 4_000_000


def test_the_agent_is_user_one_and_owns_eight_projects(me: Visitor) -> None:
    row = me.db.execute("SELECT username, password FROM users WHERE id = 1").fetchone()
    assert tuple(row) == (AGENT.username, PASSWORD)
    assert me.value("SELECT count(*) FROM projects WHERE owner_id = 1") == 8


def test_nothing_happens_after_now_or_before_its_cause(me: Visitor) -> None:
    for table in ("commits", "issues", "merge_requests", "notes", "members", "todos", "projects"):
        column = "joined_at" if table == "members" else "created_at"
        assert str(me.value(f"SELECT max({column}) FROM {table}")) < NOW
    assert me.value("SELECT count(*) FROM issues WHERE closed_at < created_at") == 0
    assert me.value("SELECT count(*) FROM merge_requests WHERE finished_at < created_at") == 0
    assert me.value("SELECT count(*) FROM commits c JOIN projects p ON p.id = c.project_id "
                    "WHERE c.created_at < p.created_at") == 0  # fmt: skip


def test_counts_and_references_agree(me: Visitor) -> None:
    wrong = "SELECT count(*) FROM projects p WHERE star_count <> " \
            "(SELECT count(*) FROM stars s WHERE s.project_id = p.id)"  # fmt: skip
    assert me.value(wrong) == 0
    assert me.db.execute("PRAGMA foreign_key_check").fetchall() == []
    assert me.value("SELECT count(DISTINCT name) FROM projects") == 90
    assert me.value("SELECT count(DISTINCT sha) = count(*) FROM commits") == 1
    assert (
        me.value(
            "SELECT count(*) FROM merge_requests r WHERE state = 'open' AND NOT EXISTS (SELECT 1 "
            "FROM branches b WHERE b.project_id = r.project_id AND b.name = r.source_branch)"
        )
        == 0
    )


# Pages --------------------------------------------------------------------------------------------


def links(answer: Answer) -> list[str]:
    tree = html.fromstring(answer.body)
    return [urljoin(ORIGIN, href) for href in tree.xpath("//a/@href")]


def test_every_link_leads_somewhere_and_every_page_has_one_heading(me: Visitor) -> None:
    kinds: dict[str, int] = {}
    waiting, seen = [f"{ORIGIN}/"], set()
    while waiting:
        url = waiting.pop(0)
        answer = me.get(url)
        assert answer.status == 200, url
        tree = html.fromstring(answer.body)
        assert len(tree.xpath("//h1")) == 1, url
        assert not tree.xpath("//script | //iframe | //details | //a[not(@href)]"), url
        ids = tree.xpath("//@id")
        assert len(ids) == len(set(ids)), url
        for control in tree.xpath("//input[@type!='hidden'] | //select | //textarea"):
            is_labelled = tree.xpath("//label[@for=$id]", id=control.get("id") or "-")
            assert is_labelled or control.get("aria-label"), (url, control.get("name"))
        for link in links(answer):
            kind = re.sub(r"\d+|[0-9a-f]{40}", "#", re.sub(r"~[^/?]+(/[^/?]+)?", "~", link))
            if link not in seen and kinds.get(kind, 0) < 1:
                kinds[kind] = kinds.get(kind, 0) + 1
                seen.add(link)
                waiting.append(link)
    assert len(seen) > 60


@pytest.mark.parametrize(
    "path",
    ["/~nobody", "/~mira.halden/nothing", f"{OWN}/issues/9999", f"{OWN}/issues/{'9' * 5000}",
     f"{OWN}/issues/-1", f"{OWN}/merges/x", f"{OWN}/file/none.txt", f"{OWN}/tree/none",
     f"{OWN}/tree?branch=none", f"{OWN}/commit/abc", f"{OWN}/milestones/0", f"{OWN}/members/nobody",
     "/nowhere"],
)  # fmt: skip
def test_what_is_not_there_is_not_found(me: Visitor, path: str) -> None:
    answer = me.get(path)
    assert answer.status == 404 and "Something is missing" in text(answer)


def test_commits_are_filtered_by_author_and_day(me: Visitor) -> None:
    project, author = me.db.execute(
        "SELECT project_id, author_id FROM commits c JOIN projects p ON p.id = c.project_id "
        "WHERE p.name = 'Seedbank' AND branch = 'main' GROUP BY 1, 2 ORDER BY count(*) DESC LIMIT 1"
    ).fetchone()
    number = me.value(
        "SELECT count(*) FROM commits WHERE project_id = ? AND author_id = ? AND branch = 'main' "
        "AND date(created_at) BETWEEN '2025-06-01' AND '2025-12-31'",
        project,
        author,
    )
    query = f"author={author}&since=2025-06-01&until=2025-12-31"
    assert f"{number} commit" in text(me.get(f"{OWN}/commits?{query}"))
    wrong = me.get(f"{OWN}/commits?since=31.12.2025")
    assert wrong.status == 200 and "Write the day as YYYY-MM-DD" in text(wrong)


def test_issue_filters_agree_with_the_database(me: Visitor) -> None:
    project = me.value("SELECT id FROM projects WHERE name = 'Seedbank'")
    number = me.value(
        "SELECT count(*) FROM issues WHERE project_id = ? AND state = 'closed' "
        "AND assignee_id IS NULL",
        project,
    )
    assert f"{number} issue" in text(me.get(f"{OWN}/issues?state=closed&assignee=none"))
    newest = html.fromstring(me.get(f"{OWN}/issues?sort=oldest").body)
    first = newest.xpath("//ul[@aria-label='Issues']/li[1]/a[1]/text()")[0]
    assert first == me.value(
        "SELECT title FROM issues WHERE project_id = ? AND state = 'open' ORDER BY created_at",
        project,
    )


def test_search_finds_projects_issues_and_people(me: Visitor) -> None:
    assert "Seedbank" in text(me.get("/search?q=seedb"))
    title = me.value("SELECT i.title FROM issues i JOIN projects p ON p.id = i.project_id "
                     "WHERE p.visibility = 'public' AND NOT confidential")  # fmt: skip
    assert str(title) in text(me.get(f"/search?scope=issues&q={title}"))
    assert "mira.halden" in text(me.get("/search?scope=people&q=mira halden"))


# Who may do what ----------------------------------------------------------------------------------


def test_signing_in_takes_the_right_password(stranger: Visitor) -> None:
    wrong = stranger.post("/login", username=AGENT.username, password="guess")
    assert wrong.status == 422 and "do not match" in text(wrong)
    right = stranger.post("/login", username=AGENT.email, password=PASSWORD, next="/todos")
    assert "You are signed in." in text(right) and "To-dos" in text(right)
    stranger.post("/logout")
    assert stranger.get("/todos").header("location") == "/login?next=/todos"


@pytest.mark.parametrize("path", ["//evil.test", "/\\evil.test", "http://evil.test", "/a\r\nb", ""])
def test_signing_in_leads_nowhere_else(stranger: Visitor, path: str) -> None:
    form = [("username", AGENT.username), ("password", PASSWORD), ("next", path)]
    assert stranger.get("/login", form).header("location") == "/"


def test_private_projects_are_seen_by_members_only(me: Visitor, stranger: Visitor) -> None:
    own, closed, inside = (me.path_of(n) for n in ("Hive Monitor", "Election Maps", "Log Lake"))
    assert [me.get(path).status for path in (own, closed, inside)] == [200, 404, 200]
    assert [stranger.get(path).status for path in (own, closed, inside)] == [404, 404, 404]
    assert "0 results" in text(me.get("/search?q=Election Maps"))
    assert "0 projects" in text(stranger.get("/explore?q=Hive Monitor"))


def test_confidential_issues_are_hidden_from_outsiders(me: Visitor) -> None:
    row = me.db.execute(
        "SELECT i.iid, i.title, p.name FROM issues i JOIN projects p ON p.id = i.project_id "
        "WHERE i.confidential AND p.visibility = 'public' AND i.author_id <> 1 AND p.id NOT IN "
        "(SELECT project_id FROM members WHERE user_id = 1)"
    ).fetchone()
    path = me.path_of(row["name"])
    assert me.get(f"{path}/issues/{row['iid']}").status == 404
    assert row["title"] not in text(me.get(f"{path}/issues?state=all&q={row['title']}"))


@pytest.mark.parametrize("role", ["", "Guest", "Reporter"])
def test_labels_and_milestones_count_the_issues_that_their_pages_show(
    me: Visitor, role: str
) -> None:
    row = me.db.execute(
        "SELECT p.id AS project, p.name, i.milestone_id, l.id AS label, l.name AS label_name "
        "FROM issues i JOIN projects p ON p.id = i.project_id "
        "JOIN issue_labels x ON x.issue_id = i.id JOIN labels l ON l.id = x.label_id "
        "WHERE i.confidential AND i.state = 'open' AND i.milestone_id AND i.author_id <> 1 "
        "AND p.visibility = 'public'"
    ).fetchone()
    me.db.execute("DELETE FROM members WHERE project_id = ? AND user_id = 1", [row["project"]])
    if role:
        me.db.execute("INSERT INTO members VALUES (?, 1, ?, NULL, ?)", [row["project"], role, NOW])
    path = me.path_of(row["name"])
    milestone = me.get(f"{path}/milestones/{row['milestone_id']}")
    shown = len(html.fromstring(milestone.body).xpath("//ul[@aria-label='Issues']/li/a"))
    expected = "SELECT count(*) FROM issues WHERE milestone_id = ?"
    if role != "Reporter":
        expected += " AND NOT confidential"
    assert shown == me.value(expected, row["milestone_id"])
    milestones = html.fromstring(me.get(f"{path}/milestones").body)
    (item,) = milestones.xpath(f"//li[.//a[contains(@href, '/milestones/{row['milestone_id']}')]]")
    assert f" of {shown} issue" in item.text_content()

    issues = me.get(f"{path}/issues?label={row['label']}")
    shown = len(html.fromstring(issues.body).xpath("//ul[@aria-label='Issues']/li"))
    assert f"{row['label_name']} {shown} open issue" in text(me.get(f"{path}/labels"))


@pytest.mark.parametrize(
    ("project", "path", "status"),
    [("Signal Box", "/labels", 403), ("Rail Delays", "/labels", 422),
     ("Rail Delays", "/branches", 403), ("Beacon Desk", "/branches", 422),
     ("Beacon Desk", "/members", 403), ("Ledgerline", "/members", 422),
     ("Ledgerline", "/archive", 403), ("Tabula", "/settings", 403),
     ("Seedbank", "/settings", 422)],
)  # fmt: skip
def test_roles_limit_what_one_may_change(me: Visitor, project: str, path: str, status: int) -> None:
    assert me.post(f"{me.path_of(project)}{path}", name="").status == status


def test_archived_projects_cannot_be_changed(me: Visitor) -> None:
    assert "archived" in text(me.post(f"{OWN}/archive"))
    for path in ("/new-issue", "/new-file", "/new-merge", "/milestones/new"):
        assert me.get(f"{OWN}{path}").status == 403
    assert "active again" in text(me.post(f"{OWN}/archive", undo="1"))
    assert me.get(f"{OWN}/new-issue").status == 200


# Prose --------------------------------------------------------------------------------------------


def test_prose_writes_marks_as_html_and_everything_else_as_text() -> None:
    written = prose("# Title\ntext\n\n- one\n- `two`\n\n<b>no</b> **yes**")
    assert "<h2>Title</h2>" in written and "<p>text</p>" in written
    assert "<ul><li>one</li><li><code>two</code></li></ul>" in written
    assert "&lt;b&gt;no&lt;/b&gt; <strong>yes</strong>" in written
    assert prose("") == ""
