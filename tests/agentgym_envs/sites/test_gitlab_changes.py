from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest

from agentgym_envs.sites.state import NOW
from tests.agentgym_envs.sites.yard import OWN, Visitor, text

HOSTILE = ("", "' OR 1=1 --", "<script>alert(1)</script>", "\x00\x07", "ä" * 600, "-1", "9" * 30,
           "%_%\\", "../../etc/passwd", "🗺 " * 300, "1e5", "a/b")  # fmt: skip


@pytest.fixture
def me() -> Iterator[Visitor]:
    visitor = Visitor()
    yield visitor
    visitor.state.close()


def test_an_issue_is_opened_edited_closed_and_commented(me: Visitor) -> None:
    label = me.value("SELECT l.id FROM labels l JOIN projects p ON p.id = l.project_id "
                     "WHERE p.name = 'Seedbank' AND l.name = 'bug'")  # fmt: skip
    wrong = me.post(f"{OWN}/new-issue", title="", body="kept", due_on="tomorrow")
    assert wrong.status == 422 and "Enter a title." in text(wrong)
    assert "kept" in wrong.body and "tomorrow" in wrong.body and "YYYY-MM-DD" in text(wrong)
    page = me.post(f"{OWN}/new-issue", title="New one", assignee="1", labels=[str(label), "7"])
    assert "New one" in text(page) and "bug" in text(page)
    issue = me.db.execute("SELECT * FROM issues ORDER BY id DESC LIMIT 1").fetchone()
    assert (issue["title"], issue["assignee_id"], issue["state"]) == ("New one", 1, "open")
    path = f"{OWN}/issues/{issue['iid']}"
    assert "Closed" in text(me.post(f"{path}/state", state="closed"))
    assert me.value("SELECT closed_at FROM issues WHERE id = ?", issue["id"]) == NOW
    assert me.post(f"{path}/comments", body=" ").status == 422
    assert "A <b>remark</b>" in text(me.post(f"{path}/comments", body="A <b>remark</b>"))
    me.post(f"{path}/edit", title="Other", due_on="2026-05-01")
    changed = me.db.execute("SELECT * FROM issues WHERE id = ?", (issue["id"],)).fetchone()
    assert (changed["title"], changed["due_on"], changed["assignee_id"]) == (
        "Other", "2026-05-01", None,
    )  # fmt: skip


def test_outsiders_report_but_do_not_plan(me: Visitor) -> None:
    path = me.path_of("Tabula")
    member = me.value("SELECT user_id FROM members m JOIN projects p ON p.id = m.project_id "
                      "WHERE p.name = 'Tabula'")  # fmt: skip
    page = me.get(f"{path}/new-issue")
    assert "Assignee" not in text(page)
    me.post(f"{path}/new-issue", title="From outside", assignee=str(member))
    assert me.value("SELECT assignee_id FROM issues WHERE title = 'From outside'") is None


def test_a_file_is_edited_on_a_new_branch_and_merged(me: Visitor) -> None:
    old = me.value(
        "SELECT content FROM files f JOIN projects p ON p.id = f.project_id "
        "WHERE p.name = 'Seedbank' AND path = 'VERSION' AND branch = 'main'"
    )
    page = me.post(f"{OWN}/edit/VERSION", content="9.9.9", message="Jump", target="jump")
    assert "9.9.9" in text(page) and "Committed to jump." in text(page)
    assert str(old).strip() in text(me.get(f"{OWN}/file/VERSION"))
    request = me.post(f"{OWN}/new-merge", source="jump", target="main", title="Jump ahead")
    assert "Jump ahead" in text(request) and "jump into main" in text(request)
    iid = me.value("SELECT max(iid) FROM merge_requests r JOIN projects p ON p.id = r.project_id "
                   "WHERE p.name = 'Seedbank'")  # fmt: skip
    changes = text(me.get(f"{OWN}/merges/{iid}/changes"))
    assert "+ 9.9.9" in changes and f"- {str(old).strip()}" in changes
    assert "Merged into main." in text(me.post(f"{OWN}/merges/{iid}/merge"))
    assert "9.9.9" in text(me.get(f"{OWN}/file/VERSION"))
    assert "Jump" in text(me.get(f"{OWN}/commits"))
    assert me.get(f"{OWN}/tree?branch=jump").status == 404


@pytest.mark.parametrize("path", ["", "../up", "/root", "a//b", "VERSION", "docs", "a b", "."])
def test_a_new_file_needs_a_free_and_plain_path(me: Visitor, path: str) -> None:
    answer = me.post(f"{OWN}/new-file", path=path, content="x", message="Add", target="main")
    assert answer.status == 422


def test_the_default_branch_cannot_be_merged_away_or_deleted(me: Visitor) -> None:
    other = me.value("SELECT b.name FROM branches b JOIN projects p ON p.id = b.project_id "
                     "WHERE p.name = 'Seedbank' AND b.name <> 'main'")  # fmt: skip
    answer = me.post(f"{OWN}/new-merge", source="main", target=str(other), title="Back")
    assert answer.status == 422 and "cannot be merged away" in text(answer)
    assert "cannot be deleted" in text(me.post(f"{OWN}/branches/delete", name="main"))
    assert "open merge request needs" in text(me.post(f"{OWN}/branches/delete", name=str(other)))


def test_a_merge_request_is_approved_once_and_closed(me: Visitor) -> None:
    row = me.db.execute(
        "SELECT r.id, r.iid FROM merge_requests r JOIN projects p ON p.id = r.project_id "
        "WHERE p.name = 'Seedbank' AND r.state = 'open' AND r.id NOT IN "
        "(SELECT merge_request_id FROM approvals WHERE user_id = 1)"
    ).fetchone()
    path = f"{OWN}/merges/{row['iid']}"
    for _ in range(2):
        me.post(f"{path}/approve")
    count = "SELECT count(*) FROM approvals WHERE merge_request_id = ? AND user_id = 1"
    assert me.value(count, row["id"]) == 1
    me.post(f"{path}/approve", undo="1")
    assert me.value(count, row["id"]) == 0
    assert "Reopen request" in text(me.post(f"{path}/state", state="closed"))
    assert "cannot be merged" in text(me.post(f"{path}/merge"))


def test_members_come_change_and_go(me: Visitor) -> None:
    name, username, email = me.db.execute(
        "SELECT name, username, email FROM users WHERE id NOT IN (SELECT user_id FROM members m "
        "JOIN projects p ON p.id = m.project_id WHERE p.name = 'Seedbank')"
    ).fetchone()
    path = f"{OWN}/members"
    for who, role, until in ((username, "Owner", ""), ("nobody", "Guest", ""),
                             (username, "Guest", "2020-01-01")):  # fmt: skip
        assert me.post(path, who=who, role=role, expires_on=until).status == 422
    assert f"{name} is now a Guest." in text(me.post(path, who=email, role="Guest"))
    assert me.post(path, who=username, role="Guest").status == 422
    me.post(f"{path}/{username}", role="Maintainer", expires_on="2026-12-24")
    row = (
        "SELECT role || expires_on FROM members m JOIN users u ON u.id = m.user_id "
        "JOIN projects p ON p.id = m.project_id WHERE username = ? AND p.name = 'Seedbank'"
    )
    assert me.value(row, username) == "Maintainer2026-12-24"
    me.post(f"{path}/{username}/remove")
    assert me.value(row, username) is None
    assert me.post(f"{path}/mira.halden/remove").status == 404  # the owner stays


def test_a_fork_has_the_files_and_commits_of_its_origin(me: Visitor) -> None:
    path = me.path_of("Tabula")
    answer = me.post(f"{path}/fork", name="My Table", visibility="private")
    assert "This is your fork of Tabula." in text(answer) and "Forked from Tabula" in text(answer)
    for table in ("files", "commits"):
        numbers = me.db.execute(
            f"SELECT count(*) FROM {table} t JOIN projects p ON p.id = t.project_id "
            "WHERE t.branch = 'main' AND p.name IN ('Tabula', 'My Table') GROUP BY p.id"
        ).fetchall()
        assert numbers[0][0] == numbers[1][0] > 5
    assert me.post(f"{path}/fork", name="My Table", visibility="private").status == 422
    inside = me.post(f"{me.path_of('Log Lake')}/fork", name="Open Lake", visibility="public")
    assert inside.status == 422 and "cannot be more open" in text(inside)


def test_a_new_project_begins_as_it_was_asked_for(me: Visitor) -> None:
    for name in ("", "!!!", "Followers", "Seedbank"):
        assert me.post("/new", name=name, visibility="private").status == 422
    assert me.post("/new", name="Fine", visibility="secret").status == 422
    assert me.post("/new", name="Fine", visibility="public", licence="Mine").status == 422
    page = me.post("/new", name="Fine One", visibility="public", licence="GNU GPL v3", readme="1")
    assert "LICENSE" in text(page) and "README.md" in text(page)
    assert "This project is empty." in text(me.post("/new", name="Bare", visibility="internal"))
    assert me.get("/~mira.halden/bare/commits").status == 200


def test_stars_follows_and_todos_can_be_taken_back(me: Visitor) -> None:
    path = me.path_of("Tabula")
    stars = "SELECT star_count FROM projects WHERE name = 'Tabula'"
    me.post(f"{path}/star", remove="1")
    before = me.value(stars)
    for _ in range(2):
        me.post(f"{path}/star")
    assert me.value(stars) == before + 1
    me.post(f"{path}/star", remove="1")
    assert me.value(stars) == before
    person = me.value("SELECT username FROM users WHERE id = 7")
    assert "You follow" in text(me.post(f"/~{person}/follow"))
    assert "You no longer follow" in text(me.post(f"/~{person}/follow", stop="1"))
    assert "cannot follow yourself" in text(me.post("/~mira.halden/follow"))
    todo = me.value("SELECT id FROM todos WHERE state = 'pending'")
    me.post(f"/todos/{todo}/state", state="done")
    assert me.value("SELECT state FROM todos WHERE id = ?", todo) == "done"
    assert me.post("/todos/99999/state").status == 404


def test_milestones_and_labels_refuse_what_makes_no_sense(me: Visitor) -> None:
    path = f"{OWN}/milestones/new"
    answer = me.post(path, title="Late", starts_on="2026-05-02", due_on="2026-05-01")
    assert answer.status == 422 and "must not lie before" in text(answer)
    page = me.post(path, title="Fine", starts_on="2026-05-01", due_on="2026-05-02")
    assert "from 1 May 2026 until 2 May 2026" in text(page)
    assert me.post(path, title="Fine").status == 422
    assert me.post(f"{OWN}/labels", name="bug", colour="#000000").status == 422
    assert me.post(f"{OWN}/labels", name="new", colour="red").status == 422
    assert "has been created" in text(me.post(f"{OWN}/labels", name="new", colour="#00ff00"))


def test_settings_and_profile_are_saved(me: Visitor) -> None:
    me.post(f"{OWN}/settings", name="Seedbank", description="", visibility="private",
            topics="A,  b c , a")  # fmt: skip
    row = me.db.execute("SELECT topics, visibility FROM projects WHERE name = 'Seedbank'")
    assert tuple(row.fetchone()) == ("a, b c", "private")
    assert me.post("/profile", name="", status_text="x" * 999).status == 422
    page = me.post("/profile", name="Mira Halden", status_text="Away", location="Ashmere", bio="")
    assert "Your profile has been saved." in text(page)
    assert "Status: Away" in text(me.get("/~mira.halden"))


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_input_breaks_a_page(me: Visitor, hostile: str) -> None:
    urls = ("/", "/explore", "/search", "/todos", f"{OWN}/commits", f"{OWN}/issues",
            f"{OWN}/merges", f"{OWN}/tree", "/~mira.halden")  # fmt: skip
    names = ("q", "sort", "page", "state", "label", "assignee", "author", "milestone", "reviewer",
             "since", "until", "topic", "scope", "action", "project")  # fmt: skip
    for url in urls:
        for query in ({"branch": hostile}, dict.fromkeys(names, hostile)):
            assert me.get(f"{url}?{urlencode(query)}").status in (200, 404)
    fields = dict.fromkeys(
        ("title", "body", "name", "path", "content", "message", "target", "source", "who", "role",
         "expires_on", "due_on", "starts_on", "assignee", "labels", "milestone", "visibility",
         "topics", "licence", "colour", "status_text", "next", "password", "label"), hostile
    )  # fmt: skip
    for path in (
        "/login", "/new", "/profile", f"{OWN}/new-issue", f"{OWN}/issues/1/edit",
        f"{OWN}/issues/1/comments", f"{OWN}/merges/1/comments", f"{OWN}/merges/1/edit",
        f"{OWN}/new-merge", f"{OWN}/new-file", f"{OWN}/edit/VERSION", f"{OWN}/branches",
        f"{OWN}/branches/delete", f"{OWN}/members", f"{OWN}/labels", f"{OWN}/labels/delete",
        f"{OWN}/milestones/new", f"{OWN}/settings", f"{OWN}/fork",
    ):  # fmt: skip
        assert me.post(path, **fields).status in (200, 403, 404, 422), path
    for path in ("/", OWN, f"{OWN}/issues", f"{OWN}/issues/1", f"{OWN}/file/VERSION"):
        answer = me.get(path)
        assert answer.status == 200 and "<script>" not in answer.body
