"""The forum's tasks that end on a page, or begin signed out: one end is right, its like are not."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from agentgym_envs.sites.people import PASSWORD
from agentgym_envs.sites.state import NOW
from agentgym_envs.webarena.env import WebArenaEnv
from tests.worlds.tasks.arriving import WORLD, Drawn, cases, ends_at, reference
from worlds.tasks.drawing import STRIDE
from worlds.tasks.screen import Screen

HOME = "http://reddit.test"
NAVIGATION = (140, 141, 142, 144)
REGISTERING = 143


def rows(sql: str, *values: object) -> list[tuple[object, ...]]:
    return [tuple(row) for row in WORLD.rows("reddit", sql, *values)]


# Which page is right ----------------------------------------------------------------------------


def test_a_list_is_that_of_the_post_s_community_and_flair() -> None:
    sorts = {"newest": "new", "points": "top", "comments": "comments"}
    for case in cases(140):
        (post,) = rows(
            "SELECT (SELECT name FROM forums WHERE id = forum_id), flair FROM posts "
            "WHERE title = ?",
            case.values["title"],
        )
        name, flair = post
        days = {"a year": "365", "30 days": "30"}[case.values["period"]]
        (sort,) = [key for word, key in sorts.items() if word in case.values["order"]]
        parts = urlsplit(reference(case))
        assert parts.path == f"/c/{name}"
        assert dict(parse_qsl(parts.query)) == {"sort": sort, "within": days, "flair": flair}


def test_a_list_has_an_order() -> None:
    for case in cases(140):
        parts = urlsplit(reference(case))
        query = dict(parse_qsl(parts.query))
        (number,) = rows(
            "SELECT count(*) FROM posts p, forums f WHERE f.id = p.forum_id AND f.name = ? "
            "AND p.flair = ? AND julianday(?) - julianday(p.created_at) <= ?",
            parts.path.removeprefix("/c/"),
            query["flair"],
            NOW,
            int(query["within"]),
        )[0]
        assert isinstance(number, int) and number >= 2, case.values


def test_the_message_is_for_the_author_of_the_one_best_comment() -> None:
    for case in cases(141):
        comments = rows(
            "SELECT u.username FROM posts p JOIN comments c ON c.post_id = p.id "
            "JOIN users u ON u.id = c.user_id WHERE p.title = ? AND c.score = "
            "(SELECT max(score) FROM comments d WHERE d.post_id = p.id)",
            case.values["title"],
        )
        assert len(comments) == 1, case.values
        assert reference(case) == f"{HOME}/messages/new?to={comments[0][0]}"
        assert comments[0][0] != "mira.halden"


def test_the_comment_is_the_one_best_or_newest_of_somebody_s() -> None:
    measures = {"with the most points": "c.score", "that is the newest": "c.created_at"}
    for case in cases(142):
        shown = rows(
            f"SELECT {measures[case.values['which']]}, c.id, u.id FROM comments c "
            "JOIN users u ON u.id = c.user_id WHERE u.username = ? AND c.post_id IN "
            "(SELECT p.id FROM posts p JOIN forums f ON f.id = p.forum_id WHERE f.title = ?)",
            case.values["username"],
            case.values["community"],
        )
        # Moments are shown to the minute, which is as much as their first 16 characters.
        seen = [str(value)[:16] if isinstance(value, str) else value for value, *_ in shown]
        best = max(seen)  # type: ignore[type-var]
        assert seen.count(best) == 1 and len(seen) >= 2, case.values
        _, number, author = shown[seen.index(best)]
        assert reference(case) == f"{HOME}/comments/{number}" and author != 1


def test_the_post_is_the_newest_that_fits_and_not_the_newest_of_all() -> None:
    num_comments = "(SELECT count(*) FROM comments c WHERE c.post_id = p.id)"
    conditions = {
        "nobody has commented on": f"{num_comments} = 0",
        "has more than 4 comments": f"{num_comments} > 4",
        "has fewer than 0 points": "p.score < 0",
        "has more than 20 points": "p.score > 20",
    }
    for case in cases(144):
        fits = conditions[case.values["condition"]]
        listed = rows(
            f"SELECT substr(p.created_at, 1, 16), p.id, {fits} FROM posts p "
            "JOIN forums f ON f.id = p.forum_id WHERE f.title = ? AND p.flair = ?",
            case.values["community"],
            case.values["flair"],
        )
        fitting = sorted((row for row in listed if row[2]), reverse=True)
        moment, number, _ = fitting[0]
        assert all(row[0] != moment for row in fitting[1:]), case.values
        assert max(str(row[0]) for row in listed) > str(moment), case.values
        assert reference(case) == f"{HOME}/p/{number}"


# What its like earn -----------------------------------------------------------------------------


def like(case: Drawn) -> list[str]:
    """List addresses of pages that differ from the right one in one respect each."""
    parts = urlsplit(reference(case))
    query = dict(parse_qsl(parts.query))
    stem, _, last = parts.path.rpartition("/")
    paths = [parts.path] if query else [f"{stem}/{int(last) + 1}", f"{stem}/{int(last) - 1}"]
    if "sort" in query:
        paths += [f"{parts.path}?{urlencode({**query, 'sort': 'hot'})}"]
        paths += [f"{parts.path}?{urlencode({**query, 'within': '7'})}"]
        paths += [f"{parts.path}?{urlencode({**query, 'flair': 'none'})}"]
        paths += [
            f"{parts.path}?{urlencode({k: query[k] for k in query if k != left})}" for left in query
        ]
        paths += [f"/c/no-such?{parts.query}", f"/search?{parts.query}"]
    if "to" in query:
        paths += [
            f"{parts.path}?to={query['to']}x",
            f"/u/{query['to']}",
            "/messages/new?to=ida.rossi",
        ]
    if not query:
        paths += [f"{stem}/{last[:-1]}", "/communities"]
    return paths


@pytest.mark.parametrize("template", NAVIGATION)
def test_a_page_like_the_right_one_earns_nothing(env: WebArenaEnv, template: int) -> None:
    for instance in (0, 23):
        case = cases(template)[instance]
        for path in like(case):
            assert ends_at(env, template, instance, HOME + path) == 0.0, (path, reference(case))


def test_the_form_s_own_address_counts_whatever_is_left_open(env: WebArenaEnv) -> None:
    """The filter's form writes what is chosen and what is not, in an order of its own."""
    path, _, query = reference(cases(140)[0]).removeprefix(HOME).partition("?")
    turned = "&".join(reversed(query.split("&")))
    assert ends_at(env, 140, 0, f"{HOME}{path}?feed=&{turned}") == 1.0


# Signed out -------------------------------------------------------------------------------------


def change(instance: int) -> dict[str, dict[str, list[dict[str, object]]]]:
    """Return what must change on the forum."""
    (way,) = cases(REGISTERING)[instance].evaluation["state_change"]
    tables: dict[str, dict[str, list[dict[str, object]]]] = way["reddit"]
    return tables


def post_of(instance: int) -> object:
    tables = change(instance)
    (done,) = (tables.get("saved_posts") or tables["post_votes"])["added"]
    return done["post_id"]


def test_who_registers_is_new_and_the_post_the_newest() -> None:
    for instance, case in enumerate(cases(REGISTERING)):
        assert not rows("SELECT 1 FROM users WHERE username = ?", case.values["username"])
        tables = change(instance)
        (account,) = tables["users"]["added"]
        names = ("username", "name", "email", "password")
        assert {name: account[name] for name in names} == {
            name: case.values[name] for name in names
        }
        newest = rows(
            "SELECT p.id FROM posts p WHERE substr(p.created_at, 1, 16) = (SELECT "
            "max(substr(q.created_at, 1, 16)) FROM posts q WHERE q.forum_id = p.forum_id) "
            "AND p.forum_id = (SELECT id FROM forums WHERE title = ?)",
            case.values["community"],
        )
        assert [(post_of(instance),)] == newest
        votes = [vote["value"] for vote in tables.get("post_votes", {}).get("added", [])]
        assert votes == {"upvote": [1], "downvote": [-1], "save": []}[case.values["deed"]]


def start_signed_out(env: WebArenaEnv, instance: int) -> Screen:
    env.reset(options={"task_id": REGISTERING * STRIDE + instance})
    screen = Screen(env.browser.page)
    assert screen.has("link", "Sign in") and not screen.has("button", "Sign out")
    return screen


@pytest.mark.parametrize("deed", ["upvote", "downvote", "save"])
def test_an_account_alone_is_not_enough(env: WebArenaEnv, deed: str) -> None:
    instance = [case.values["deed"] for case in cases(REGISTERING)].index(deed)
    rewards = []
    for left_out in (1, 2):  # nothing but `stop`; the deed as well
        start_signed_out(env, instance)
        actions = list(_expert_actions(env))
        start_signed_out(env, instance)
        for action in actions[:-left_out]:
            env.step(action)
        rewards.append(env.step("stop []")[1])
    assert rewards == [1.0, 0.0]


def _expert_actions(env: WebArenaEnv) -> Iterator[str]:
    for action in env.expert():
        yield action
        env.step(action)


def test_an_old_account_does_not_do(env: WebArenaEnv) -> None:
    """Mira could sign in and vote, but it is somebody new who shall."""
    deeds = [case.values["deed"] for case in cases(REGISTERING)]
    instance = deeds.index("upvote")
    screen = start_signed_out(env, instance)
    env.step(screen.click("link", "Sign in").action)
    env.step(screen.fill("textbox", "User name or email", "mira.halden").action)
    env.step(screen.fill("textbox", "Password", PASSWORD, enter=True).action)
    assert screen.has("button", "Sign out")
    env.step(f"goto [{HOME}/p/{post_of(instance)}]")
    button = "Upvote post" if screen.has("button", "Upvote post") else "Retract upvote post"
    *_, info = env.step(screen.click("button", button).action)
    assert info["is_valid_action"]
    assert env.step("stop []")[1] == 0.0


def test_who_is_signed_out_can_do_nothing_to_a_post(env: WebArenaEnv) -> None:
    screen = start_signed_out(env, 0)
    env.step(f"goto [{HOME}/p/{post_of(0)}]")
    names = {button.name for button in screen.all("button")}
    assert not {"Upvote post", "Downvote post", "Save post"} & names
