"""The forum's tasks are worth 1 done in any honest way, and 0 with anything done besides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

import pytest

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.actions import parse_action
from agentgym_envs.webarena.sites.people import AGENT, PASSWORD
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.reddit.steps import open_post
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution
from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging.verdicts import (
    Damage,
    after,
    changing,
    each_with_every,
    in_turn_with,
    reading,
    some,
    verdict,
)

HOME = "http://reddit.test"
ME = 1
REGISTERING = 143
CHANGING, READING = changing("reddit"), reading("reddit")


def first_id(query: str) -> int:
    """Return the first id of a query, as `posts WHERE user_id = 1`."""
    number: int = WORLD.value("reddit", f"SELECT id FROM {query} LIMIT 1")
    return number


# Damage -----------------------------------------------------------------------------------------


def doing(
    path: str, *clicks: tuple[str, str], fields: Mapping[str, str] | None = None, then: str = ""
) -> Damage:
    """Return a damage: open a page, click links or buttons, fill fields, press a button."""

    def damage(screen: Screen) -> Iterator[ExpertMove]:
        yield screen.go(HOME + path)
        for role, name in clicks:
            yield screen.click_node(screen.starting(role, name))
        for name, text in (fields or {}).items():
            yield screen.fill("textbox", name, text)
        if then:
            yield screen.click("button", then)

    return damage


POST = first_id(
    "posts p WHERE user_id <> 1 AND num_comments > 1 AND NOT is_locked AND NOT EXISTS "
    "(SELECT 1 FROM post_votes v WHERE v.post_id = p.id)"
)
VOTED = first_id(
    "posts p WHERE EXISTS (SELECT 1 FROM post_votes v WHERE v.post_id = p.id AND v.value = 1)"
)
SAVED = first_id("posts p WHERE EXISTS (SELECT 1 FROM saved_posts s WHERE s.post_id = p.id)")
MINE = first_id("posts WHERE user_id = 1")
MODERATED = first_id(
    "posts p WHERE NOT is_locked AND EXISTS (SELECT 1 FROM moderators m "
    "WHERE m.user_id = 1 AND m.forum_id = p.forum_id)"
)
COMMENT = first_id(
    "comments c WHERE user_id <> 1 AND NOT EXISTS "
    "(SELECT 1 FROM comment_votes v WHERE v.comment_id = c.id)"
)
MY_COMMENT = first_id("comments WHERE user_id = 1")
FOLLOWED = "JOIN subscriptions s ON s.forum_id = f.id AND s.user_id = 1"
FORUM = WORLD.value("reddit", f"SELECT f.name FROM forums f {FOLLOWED} ORDER BY f.id")
UNFOLLOWED = [
    row["title"]
    for row in WORLD.rows(
        "reddit",
        f"SELECT title FROM forums WHERE id NOT IN (SELECT f.id FROM forums f {FOLLOWED}) "
        "ORDER BY id DESC",
    )
]
OTHER_FORUM = WORLD.value("reddit", "SELECT name FROM forums WHERE title = ?", UNFOLLOWED[0])
MY_FORUM = WORLD.value(
    "reddit",
    "SELECT f.name FROM forums f JOIN moderators m ON m.forum_id = f.id WHERE m.user_id = 1",
)
STRANGER = WORLD.value("reddit", "SELECT username FROM users WHERE id = 5")
BLOCKED = WORLD.value(
    "reddit",
    "SELECT u.username FROM users u JOIN blocked_users b ON b.blocked_id = u.id ORDER BY u.id DESC",
)
NEW_PASSWORD = {"New password": "12345678", "Repeat new password": "12345678"}

DAMAGE: dict[str, Damage] = {
    "a post voted up": doing(f"/p/{POST}", ("button", "Upvote post")),
    "a post voted down": doing(f"/p/{POST}", ("button", "Downvote post")),
    "a vote taken back": doing(f"/p/{VOTED}", ("button", "Retract upvote post")),
    "a vote turned round": doing(f"/p/{VOTED}", ("button", "Downvote post")),
    "a comment voted down": doing(f"/comments/{COMMENT}", ("button", "Downvote comment by")),
    "a comment voted up": doing(f"/comments/{COMMENT}", ("button", "Upvote comment by")),
    "a post saved": doing(f"/p/{POST}", ("button", "Save post")),
    "a post no longer saved": doing(f"/p/{SAVED}", ("button", "Unsave post")),
    "a comment written": doing(
        f"/p/{POST}", fields={"Your comment": "First!"}, then="Post comment"
    ),
    "a reply written": doing(
        f"/comments/{COMMENT}", fields={"Your reply": "Me too"}, then="Post reply"
    ),
    "a comment edited": doing(
        f"/comments/{MY_COMMENT}/edit", fields={"Comment": "Never mind"}, then="Save comment"
    ),
    "a comment deleted": doing(f"/comments/{MY_COMMENT}/delete", then="Yes, delete it"),
    "a post written": doing(
        f"/c/{OTHER_FORUM}/submit",
        fields={"Title": "Hello", "Text": "There"},
        then="Publish post",
    ),
    "a post edited": doing(f"/p/{MINE}/edit", fields={"Text": "Sold."}, then="Save post"),
    "a post's title edited": doing(f"/p/{MINE}/edit", fields={"Title": "Sold"}, then="Save post"),
    "a post deleted": doing(f"/p/{MINE}/delete", then="Yes, delete it"),
    "a post locked": doing(f"/p/{MODERATED}", ("button", "Lock post")),
    "a community followed": doing(f"/c/{OTHER_FORUM}", ("button", "Subscribe")),
    "a community left": doing(f"/c/{FORUM}", ("button", "Unsubscribe")),
    "a community founded": doing(
        "/communities/new",
        fields={"Name": "no-use", "Title": "No use", "Description": "For nobody"},
        then="Create community",
    ),
    "a community's rules changed": doing(
        f"/c/{MY_FORUM}/edit", fields={"Sidebar": "No rules"}, then="Save community"
    ),
    "a community's title changed": doing(
        f"/c/{MY_FORUM}/edit", fields={"Title": "Anything goes"}, then="Save community"
    ),
    "somebody blocked": doing(f"/u/{STRANGER}", ("button", "Block")),
    "somebody unblocked": doing(f"/u/{BLOCKED}", ("button", "Unblock")),
    "a message sent": doing(
        "/messages/new", fields={"To": STRANGER, "Message": "Hello"}, then="Send message"
    ),
    "the name changed": doing("/settings", fields={"Name": "M. Halden"}, then="Save settings"),
    "the e-mail address changed": doing(
        "/settings", fields={"Email": "m@post.test"}, then="Save settings"
    ),
    "the biography changed": doing("/settings", fields={"Biography": "Gone"}, then="Save settings"),
    "the password changed": doing(
        "/settings",
        fields={"Current password": PASSWORD, **NEW_PASSWORD},
        then="Change password",
    ),
}
"""What an agent can do wrong through the forum's own forms."""


def by_mira(damage: Damage) -> Damage:
    """Return a damage that somebody who has just registered does as the forum's old user."""

    def signed_in(screen: Screen) -> Iterator[ExpertMove]:
        yield screen.click("button", "Sign out")
        yield screen.go(f"{HOME}/login")
        yield screen.fill("textbox", "User name or email", AGENT.username)
        yield screen.fill("textbox", "Password", PASSWORD, enter=True)
        yield from damage(screen)

    return signed_in


def damaged(kind: str, template: int) -> Solution:
    damage = DAMAGE[kind]
    return after(by_mira(damage) if template == REGISTERING else damage, template)


@pytest.mark.parametrize(("template", "kind"), each_with_every(CHANGING, DAMAGE))
def test_what_nobody_asked_for_spoils_a_change(template: int, kind: str) -> None:
    assert verdict(some(template), damaged(kind, template)).score == 0.0


@pytest.mark.parametrize(("template", "kind"), in_turn_with(READING, DAMAGE))
def test_what_nobody_asked_for_spoils_an_answer_and_a_page(template: int, kind: str) -> None:
    assert verdict(some(template), damaged(kind, template)).score == 0.0


def signing_in_again(screen: Screen) -> Iterator[ExpertMove]:
    yield from by_mira(lambda screen: iter(()))(screen)


MESSAGE = first_id("messages WHERE to_id = 1 AND NOT is_read")

NOISE: dict[str, Damage] = {
    "a message read: the site marks it by itself": doing(f"/messages/{MESSAGE}"),
    "notifications marked as read, as by reading them": doing(
        "/notifications", ("button", "Mark all as read")
    ),
    "signing out and in again": signing_in_again,
    "a vote given and taken back": doing(
        f"/p/{POST}", ("button", "Upvote post"), ("button", "Retract upvote post")
    ),
    "a post saved and no longer": doing(
        f"/p/{POST}", ("button", "Save post"), ("button", "Unsave post")
    ),
    "one's own comment saved as it was": doing(
        f"/comments/{MY_COMMENT}/edit", ("button", "Save comment")
    ),
}
"""What no person minds."""


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("template", [81, 88, 95])
def test_what_nobody_minds_spoils_nothing(template: int, kind: str) -> None:
    assert verdict(some(template), after(NOISE[kind], template)).score == 1.0


# Near misses ------------------------------------------------------------------------------------


def with_values(template: int, values: Mapping[str, str]) -> Solution:
    """Return the expert's way as if the task had said something else."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        yield from EXPERTS[template](Case({**case.values, **values}, case.notes), screen)

    return solution


def without_the_last_button(template: int) -> Solution:
    """Return the expert's way, stopped before the last button is pressed."""
    pressed: list[bool] = []

    def watched(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        for move in EXPERTS[template](case, screen):
            element = parse_action(move.action).element
            node = next((n for n in screen.page.nodes if n.element == element), None)
            pressed.append(node is not None and node.role == "button")
            yield move

    assert verdict(some(template), watched).score == 1.0
    last = max(place for place, is_button in enumerate(pressed) if is_button)
    return lambda case, screen: islice(EXPERTS[template](case, screen), last)


@pytest.mark.parametrize("template", CHANGING)
def test_all_but_the_last_button_is_not_enough(template: int) -> None:
    assert verdict(some(template), without_the_last_button(template)).score == 0.0


@pytest.mark.parametrize("template", CHANGING)
def test_what_another_task_asks_for_is_wrong(template: int) -> None:
    other = some(template, 1).instantiation_dict or {}
    assert verdict(some(template), with_values(template, other)).score == 0.0


def other_than(template: int, slot: str, *values: str) -> dict[str, str]:
    mine = (some(template).instantiation_dict or {}).values()
    return {slot: next(value for value in values if value not in mine)}


WRONG = [
    (81, other_than(81, "vote", "Upvote", "Downvote")),
    (83, other_than(83, "flair", "News", "Story")),
    (83, {"text": "Almost what was asked for."}),
    (84, other_than(84, "second", *UNFOLLOWED)),
    (85, {"text": "?"}),
    (87, {"text": "Almost what was asked for."}),
    (87, other_than(87, "flair", "Question", "Review")),
    (89, {"sidebar": ""}),
    (89, {"name": "some-other-name"}),
    (92, {"text": "Almost what was asked for."}),
    (93, other_than(93, "n", "two", "three")),
    (95, {"bio": ""}),
    (95, {"email": "mira100@post.test"}),
    (95, other_than(95, "username", BLOCKED, STRANGER)),
    (97, {"text": "Almost what was asked for."}),
    (98, other_than(98, "wish", "Take it back.", "Turn it into its opposite.")),
    (192, {"text": "Almost what was asked for."}),
    (143, other_than(143, "deed", "save", "upvote")),
    (143, {"password": "password-1"}),
    (143, {"email": "somebody@else.test"}),
]


@pytest.mark.parametrize(("template", "values"), WRONG, ids=str)
def test_one_wrong_value_is_wrong(template: int, values: Mapping[str, str]) -> None:
    assert verdict(some(template), with_values(template, values)).score == 0.0


def test_a_less_active_community_on_the_subject_is_wrong() -> None:
    task = some(190)
    communities = (task.notes or {})["communities"]
    scores = [
        verdict(task, with_values(83, {"community": community, "flair": "Story"})).score
        for community in communities
    ]
    assert (scores.count(1.0), scores.count(0.0)) == (1, len(communities) - 1)


def test_a_line_that_replaces_the_text_is_wrong() -> None:
    def replaced(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        yield from open_post(screen, case.values["title"])
        yield screen.click("link", "Edit post")
        yield screen.fill("textbox", "Text", case.values["text"])
        yield screen.click("button", "Save post")

    assert verdict(some(192), replaced).score == 0.0
