"""The forum: what can be done on its pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from agentgym_envs.sites.people import AGENT, PASSWORD
from tests.agentgym_envs.sites.forum_visitor import Visitor


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


def test_votes_count_once_and_can_be_taken_back(agent: Visitor) -> None:
    post = agent.value(
        "SELECT min(id) FROM posts WHERE user_id <> 1 "
        "AND id NOT IN (SELECT post_id FROM post_votes)"
    )
    score = f"SELECT score FROM posts WHERE id = {post}"
    before = agent.value(score)
    assert isinstance(before, int)
    for value, change in (("1", 1), ("1", 1), ("-1", -1), ("0", 0), ("0", 0)):
        agent.post(f"/p/{post}/vote", value=value)
        assert agent.value(score) == before + change
    assert agent.value(f"SELECT count(*) FROM post_votes WHERE post_id = {post}") == 0


def test_nobody_votes_for_themselves(agent: Visitor) -> None:
    own = agent.value("SELECT min(id) FROM posts WHERE user_id = 1")
    comment = agent.value("SELECT min(id) FROM comments WHERE user_id = 1")
    assert agent.post(f"/p/{own}/vote", value="1").status == 403
    assert agent.post(f"/comments/{comment}/vote", value="1").status == 403


def test_a_vote_leads_back_to_the_page_it_came_from(agent: Visitor) -> None:
    post = agent.value("SELECT min(id) FROM posts WHERE user_id <> 1")
    answer = agent.post(f"/p/{post}/vote", value="1", next="/c/books?page=2")
    assert answer.header("location") == "/c/books?page=2"
    for bad in ("//evil.test/", "http://evil.test/", "/\\evil.test", f"/p/{post}/vote"):
        answer = agent.post(f"/p/{post}/vote", value="1", next=bad)
        assert answer.header("location") == f"/p/{post}"


def test_a_post_is_published_edited_and_deleted(agent: Visitor) -> None:
    answer = agent.post(
        "/c/books/submit", title="  A  title ", body="One\r\n\r\nTwo", flair="Story"
    )
    path = str(answer.header("location"))
    page = agent.get(path).body
    assert "<h1>A title</h1>" in page and "<p>One</p><p>Two</p>" in page
    agent.post(f"{path}/edit", title="Other", body="", url="http://a.test/b", flair="")
    page = agent.get(path).body
    assert "<h1>Other</h1>" in page and 'href="http://a.test/b"' in page and "(edited)" in page
    assert "Yes, delete it" in agent.get(f"{path}/delete").body
    agent.post(f"{path}/delete")
    assert agent.get(path).status == 404


@pytest.mark.parametrize(
    ("form", "complaint"),
    [
        ({"body": "x"}, "Give the post a title."),
        ({"title": "x"}, "Write a text, or give a link above."),
        ({"title": "x", "url": "javascript:alert(1)"}, "Write a whole address"),
        ({"title": "x", "url": "http://[bad"}, "Write a whole address"),
        ({"title": "x" * 201, "body": "x"}, "Use at most 200 characters"),
        ({"title": "x", "body": "x", "flair": "Nonsense"}, "Choose one of the kinds."),
    ],
)
def test_a_wrong_post_is_shown_again(agent: Visitor, form: dict[str, str], complaint: str) -> None:
    before = agent.value("SELECT count(*) FROM posts")
    answer = agent.post("/submit", community="books", **form)
    assert answer.status == 422 and complaint in answer.body
    assert agent.value("SELECT count(*) FROM posts") == before
    assert form.get("title", "")[:100] in answer.body


def test_a_post_needs_a_community(agent: Visitor) -> None:
    assert "Choose a community." in agent.post("/submit", title="x", body="x").body


def test_others_posts_and_comments_stay_as_they_are(agent: Visitor) -> None:
    post = agent.value("SELECT min(id) FROM posts WHERE user_id <> 1")
    comment = agent.value("SELECT min(id) FROM comments WHERE user_id <> 1")
    for path in (f"/p/{post}", f"/comments/{comment}"):
        for what in ("edit", "delete"):
            assert agent.get(f"{path}/{what}").status == 403
            assert agent.post(f"{path}/{what}", title="x", body="x").status == 403


def test_a_reply_is_shown_below_what_it_answers_and_tells_its_author(agent: Visitor) -> None:
    comment = agent.value(
        "SELECT min(c.id) FROM comments c JOIN posts p ON p.id = c.post_id "
        "WHERE c.user_id <> 1 AND NOT p.is_locked"
    )
    author = agent.value(f"SELECT user_id FROM comments WHERE id = {comment}")
    heard = f"SELECT count(*) FROM notifications WHERE user_id = {author}"
    agent.post(f"/comments/{comment}", body="A reply of mine")
    assert agent.value(heard) == 1
    assert agent.value("SELECT parent_id FROM comments ORDER BY id DESC LIMIT 1") == comment
    assert "A reply of mine" in agent.get(f"/comments/{comment}").body
    assert "Write something first." in agent.post(f"/comments/{comment}", body=" ").body


def test_a_deleted_comment_keeps_its_replies(agent: Visitor) -> None:
    post = agent.value("SELECT max(id) FROM posts WHERE NOT is_locked")
    agent.post(f"/p/{post}/comments", body="First of all")
    first = agent.value("SELECT max(id) FROM comments")
    agent.post(f"/comments/{first}", body="Second to that")
    agent.post(f"/comments/{first}/delete")
    page = agent.get(f"/p/{post}?sort=new").body
    assert "First of all" not in page and "Second to that" in page and "[deleted]" in page
    assert agent.get(f"/comments/{first}/edit").status == 404
    assert agent.post(f"/comments/{first}", body="x").status == 403


def test_deep_threads_stay_within_bounds(agent: Visitor) -> None:
    post = agent.value("SELECT max(id) FROM posts WHERE NOT is_locked")
    agent.post(f"/p/{post}/comments", body="The start")
    for _ in range(40):
        last = agent.value("SELECT max(id) FROM comments")
        agent.post(f"/comments/{last}", body="Deeper")
    page = agent.get(f"/p/{post}?sort=new").body
    assert page.count("<p>Deeper</p>") == 40
    assert page.count('aria-label="Replies to') <= 13


def test_a_locked_post_takes_no_comments(agent: Visitor) -> None:
    post = agent.value(
        "SELECT max(id) FROM posts WHERE forum_id IN "
        "(SELECT forum_id FROM moderators WHERE user_id = 1) AND NOT is_locked"
    )
    agent.post(f"/p/{post}/lock", value="1")
    assert agent.post(f"/p/{post}/comments", body="x").status == 403
    agent.post(f"/p/{post}/lock", value="0")
    assert agent.post(f"/p/{post}/comments", body="x").status == 303
    other = agent.value(
        "SELECT max(id) FROM posts WHERE forum_id NOT IN "
        "(SELECT forum_id FROM moderators WHERE user_id = 1)"
    )
    assert agent.post(f"/p/{other}/lock", value="1").status == 403


def test_a_community_is_created_and_changed_by_its_moderator(agent: Visitor) -> None:
    form = {"name": "old-maps", "title": "Old maps", "description": "Maps.", "sidebar": "Be kind."}
    assert agent.post("/communities/new", **form).header("location") == "/c/old-maps"
    page = agent.get("/c/old-maps").body
    assert "1 member," in page and "Unsubscribe" in page and "Be kind." in page
    agent.post("/c/old-maps/edit", title="Older maps", description="Maps.", sidebar="")
    assert "<h1>Older maps</h1>" in agent.get("/c/old-maps").body
    assert agent.get("/c/books/edit").status == 403
    assert "This name is taken." in agent.post("/communities/new", **form).body
    wrong = agent.post("/communities/new", **(form | {"name": "Old Maps!"}))
    assert "small letters" in wrong.body and 'value="Old Maps!"' in wrong.body


def test_following_and_leaving(agent: Visitor) -> None:
    mine = "SELECT count(*) FROM subscriptions WHERE user_id = 1"
    before = agent.value(mine)
    assert isinstance(before, int)
    agent.post("/c/astronomy/subscribe", value="1")
    agent.post("/c/astronomy/subscribe", value="1")
    assert agent.value(mine) == before + 1
    agent.post("/c/astronomy/subscribe", value="0")
    assert agent.value(mine) == before


def test_blocking_clears_the_front_page_and_stops_messages(agent: Visitor) -> None:
    name = re.findall(r'by <a href="/u/([^"]+)"', agent.get("/").body)[0]
    agent.post(f"/u/{name}/block", value="1")
    assert f'by <a href="/u/{name}"' not in agent.get("/").body
    answer = agent.post("/messages/new", to=name, body="Hello")
    assert "You have blocked this user." in answer.body
    agent.post(f"/u/{name}/block", value="0")
    assert agent.post("/messages/new", to=name, body="Hello").status == 303
    assert agent.post(f"/u/{AGENT.username}/block", value="1").status == 403


def test_a_message_is_read_by_its_partners_only(agent: Visitor) -> None:
    unread = agent.value("SELECT max(id) FROM messages WHERE to_id = 1 AND NOT is_read")
    assert "Message from" in agent.get(f"/messages/{unread}").body
    assert agent.value(f"SELECT is_read FROM messages WHERE id = {unread}") == 1
    agent.cookies["session"] = agent.state.sign_in("reddit", 299)
    assert agent.get(f"/messages/{unread}").status == 404


def test_saved_posts_are_listed_until_unsaved(agent: Visitor) -> None:
    agent.post("/p/5/save", value="1")
    title = agent.value("SELECT title FROM posts WHERE id = 5")

    def saved() -> str:
        return "".join(agent.get(f"/saved?page={page}").body for page in (1, 2, 3))

    assert str(title) in saved()
    agent.post("/p/5/save", value="0")
    assert str(title) not in saved()


def test_notifications_can_be_read(agent: Visitor) -> None:
    assert "New: " in agent.get("/notifications").body
    agent.post("/notifications/read")
    page = agent.get("/notifications").body
    assert "New: " not in page and "Notifications (0)" in page


# Accounts -------------------------------------------------------------------------------------


def test_log_in_and_out(stranger: Visitor) -> None:
    wrong = stranger.post("/login", username=AGENT.username, password="nonsense")
    assert wrong.status == 422 and "do not match" in wrong.body and AGENT.username in wrong.body
    right = stranger.post("/login", username=AGENT.username, password=PASSWORD, next="/messages")
    assert right.header("location") == "/messages"
    assert stranger.get("/messages").status == 200
    stranger.post("/logout")
    assert stranger.get("/messages").status == 303


def test_registering_signs_in(stranger: Visitor) -> None:
    form = {"username": "newcomer", "name": "New Comer", "email": "new@post.test"}
    words = {"password": "long-enough", "repeat": "long-enough"}
    short = stranger.post("/register", **form, password="short", repeat="other")
    assert "at least 8 characters" in short.body and "passwords differ" in short.body
    assert stranger.post("/register", **form, **words).status == 303
    assert "newcomer" in stranger.get("/settings").body
    again = stranger.post("/register", **(form | {"username": AGENT.username}), **words)
    assert "This user name is taken." in again.body


def test_settings_are_checked_and_kept(agent: Visitor) -> None:
    wrong = agent.post("/settings", name="", email="nowhere", bio="b" * 501)
    for complaint in ("Tell us a name.", "Write a whole address", "at most 500 characters"):
        assert complaint in wrong.body
    agent.post("/settings", name="Mira H.", email="m@post.test", bio="Reads.")
    page = agent.get(f"/u/{AGENT.username}").body
    assert "Mira H." in page and "<p>Reads.</p>" in page


def test_the_password_changes_with_the_old_one_only(agent: Visitor) -> None:
    new = {"password": "battery-staple", "repeat": "battery-staple"}
    assert "This is not your password." in agent.post("/settings/password", **new).body
    assert agent.post("/settings/password", current=PASSWORD, **new).status == 303
    assert agent.value("SELECT password FROM users WHERE id = 1") == "battery-staple"
