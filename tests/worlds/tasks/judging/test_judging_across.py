"""The tasks across sites: the state of every site counts, whichever of them a task is about."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.actions import parse_action
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.map.steps import to_page_with
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution
from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging.mistaking import mistaken, slots, unfinished
from tests.worlds.tasks.judging.shopping_damage import (
    AGENT_ALONE,
    ANYBODY,
    THROUGH_OFFICE,
    submitting,
)
from tests.worlds.tasks.judging.shopping_ways import then
from tests.worlds.tasks.judging.verdicts import Damage, after, answering, some, verdict
from worlds.tasks.across import TEMPLATES

MAP, FORUM, CODE = "http://map.test", "http://reddit.test", "http://gitlab.test"
READING = [130]
CHANGING = [template.number for template in TEMPLATES if template.number not in READING]


def first(site: str, sql: str) -> str:
    """Return the first value of a query."""
    return str(WORLD.value(site, f"SELECT {sql} LIMIT 1"))


# Damage -----------------------------------------------------------------------------------------

PLACE = MAP + "/place/" + first("map", "id FROM places ORDER BY id DESC")
LIST = MAP + "/saved/" + first("map", "list_id FROM saved JOIN lists l ON l.id = list_id "
                               "WHERE user_id = 1")  # fmt: skip
POST = FORUM + "/p/" + first(
    "reddit", "id FROM posts p WHERE user_id != 1 AND NOT is_locked AND NOT EXISTS "
    "(SELECT 1 FROM post_votes v WHERE v.post_id = p.id AND v.user_id = 1)",
)  # fmt: skip
COMMUNITY = FORUM + "/c/" + first(
    "reddit", "name FROM forums WHERE id NOT IN "
    "(SELECT forum_id FROM subscriptions WHERE user_id = 1)",
)  # fmt: skip
PROJECT = CODE + "/~" + first(
    "gitlab", "u.username || '/' || p.slug FROM projects p JOIN users u ON u.id = p.owner_id "
    "WHERE p.visibility = 'public' AND NOT archived AND p.id NOT IN "
    "(SELECT project_id FROM stars WHERE user_id = 1)",
)  # fmt: skip
DEVELOPER = CODE + "/~" + first(
    "gitlab", "username FROM users WHERE id != 1 AND id NOT IN "
    "(SELECT followed_id FROM follows WHERE follower_id = 1)",
)  # fmt: skip

DAMAGE: dict[str, Damage] = {
    "map: a place saved": submitting(f"{PLACE}/save", "Save place"),
    "map: a place no longer saved": submitting(LIST, "Remove "),
    "map: a list renamed": submitting(LIST, "Rename list", {"Name of the list": "Old"}),
    "map: a list deleted": submitting(LIST, "Delete list"),
    "map: a list made": submitting(
        f"{MAP}/saved", "Create list", {"Name of the new list": "Nothing"}
    ),
    "map: a review": submitting(f"{PLACE}/review", "Post review", {"Rating": "1 star"}),
    "map: a suggestion": submitting(
        f"{PLACE}/suggest",
        "Send suggestion",
        {"What is wrong": "Phone", "Correct value": "031 402 118"},
    ),
    "forum: a vote": submitting(POST, "Upvote post"),
    "forum: a post kept": submitting(POST, "Save post"),
    "forum: a comment": submitting(POST, "Post comment", {"Your comment": "First!"}),
    "forum: a post": submitting(
        f"{COMMUNITY}/submit", "Publish post", {"Title": "Hello", "Text": "There"}
    ),
    "forum: a message": submitting(
        f"{FORUM}/messages/new", "Send message", {"To": "juno.drummond", "Message": "Hello"}
    ),
    "forum: a community followed": submitting(COMMUNITY, "Subscribe"),
    "forum: another name": submitting(f"{FORUM}/settings", "Save settings", {"Name": "Mira H"}),
    "code: a star": submitting(PROJECT, "Star"),
    "code: somebody followed": submitting(DEVELOPER, "Follow"),
    "code: an issue": submitting(f"{PROJECT}/new-issue", "Create issue", {"Title": "Help"}),
    "code: a comment": submitting(f"{PROJECT}/issues/1", "Comment", {"Your comment": "Me too"}),
    "code: another biography": submitting(f"{CODE}/profile", "Save", {"About you": "Gone"}),
    "code: a project": submitting(f"{CODE}/new", "Create project", {"Project name": "Waste"}),
    "shop: something ordered": ANYBODY["something ordered"],
    "shop: an order cancelled": AGENT_ALONE["an order cancelled"],
    "shop: another e-mail address": ANYBODY["another e-mail address"],
    "shop: a customer's group": THROUGH_OFFICE["a customer's group"],
    "shop: an order's comment": THROUGH_OFFICE["an order's comment"],
}


@pytest.mark.parametrize(
    ("number", "damage"),
    [
        # Every damage to three or four tasks, five to every task; the rest is slow.
        pytest.param(
            number, damage,
            marks=() if (place + kind) % 3 == 0 else pytest.mark.slow,
        )
        for place, number in enumerate(CHANGING)
        for kind, damage in enumerate(DAMAGE)
    ],
)  # fmt: skip
def test_what_is_done_besides_undoes_the_task(number: int, damage: str) -> None:
    assert verdict(some(number), after(DAMAGE[damage], number)).score == 0.0


@pytest.mark.parametrize("damage", list(DAMAGE)[::5])
@pytest.mark.parametrize("number", READING)
def test_nothing_may_change_where_a_task_reads(number: int, damage: str) -> None:
    assert verdict(some(number), after(DAMAGE[damage], number)).score == 0.0


ELSEWHERE = [
    # Of each site a question, a page and a change, with damage on all sites but its own.
    (number, damage)
    for place, (number, site) in enumerate(
        [(3, "shop"), (20, "shop"), (14, "shop"), (31, "shop"), (56, "shop"), (40, "shop"),
         (60, "map"), (77, "map"), (65, "map"), (80, "forum"), (141, "forum"), (84, "forum"),
         (100, "code"), (125, "code"), (106, "code")]
    )
    for damage in [kind for kind in DAMAGE if not kind.startswith(site)][place % 4 :: 4]
]  # fmt: skip


@pytest.mark.parametrize(("number", "damage"), ELSEWHERE)
def test_what_is_done_on_a_site_that_a_task_is_not_about_counts(number: int, damage: str) -> None:
    assert verdict(some(number), after(DAMAGE[damage], number)).score == 0.0


# Ways -------------------------------------------------------------------------------------------


def later(template: int, label: str, *edit: str) -> Solution:
    """Return the expert's way with a field filled in wrongly, and corrected where it shows.

    Args:
        template: its number.
        label: of the field.
        edit: the link to the form, and the button that saves it.
    """

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        text = ""
        for move in EXPERTS[template](case, screen):
            action, fields = parse_action(move.action), screen.all("textbox", label)
            if action.kind == "type" and fields and fields[0].element == action.element:
                text = action.text
                yield screen.fill("textbox", label, "To be written")
            elif action.kind == "stop":
                yield screen.click("link", edit[0])
                yield screen.fill("textbox", label, f" {text} ")
                yield screen.click("button", edit[1])
                yield move
            else:
                yield move

    return solution


def choose_other_groups(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Try the other groups, and choose the right one again."""
    for group in sorted(("General", "Retailer", "Wholesale"), key=case.values["group"].__eq__):
        yield screen.choose("Customer group", group)
        yield screen.click("button", "Save group")


def star_again(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Take the star back and give it once more."""
    yield screen.click("button", "Unstar")
    yield screen.click("button", "Star")


def save_again(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Take the place off the list, and save it once more with a note that is removed."""
    place, name = screen.url, screen.all("heading")[0].name
    yield screen.go(f"{MAP}/saved")
    yield screen.click("link", case.values["list"])
    of_list = screen.url
    yield from to_page_with(screen, "link", name)
    yield screen.click_node(screen.starting("button", f"Remove {name}"))
    yield screen.go(f"{place}/save")
    yield screen.choose("List", case.values["list"])
    yield screen.fill("textbox", "Note (optional)", "Soon")
    yield screen.click("button", "Save place")
    yield screen.go(of_list)
    yield from to_page_with(screen, "link", name)
    yield screen.click_node(screen.starting("link", f"Edit the note on {name}"))
    yield screen.fill("textbox", "Note", "")
    yield screen.click("button", "Save note")


WAYS: list[tuple[int, str, Solution]] = [
    (131, "the text later", later(131, "Text", "Edit post", "Save post")),
    (131, "the title later", later(131, "Title", "Edit post", "Save post")),
    (132, "the title later", later(132, "Title", "Edit issue", "Save changes")),
    (132, "the total later", later(132, "Description", "Edit issue", "Save changes")),
    (133, "other groups first", then(EXPERTS[133], choose_other_groups)),
    (134, "starred twice", then(EXPERTS[134], star_again)),
    (136, "saved twice", then(EXPERTS[136], save_again)),
]


@pytest.mark.parametrize(("number", "way", "solution"), WAYS)
def test_another_honest_way_is_as_good(number: int, way: str, solution: Solution) -> None:
    result = verdict(some(number), solution)
    assert result.score == 1.0, (way, result.reasons)


# A place is one of a town.
PAIRS = {131: ("place", "town")}


@pytest.mark.parametrize(
    ("number", "wrong"),
    [(n, each) for n in CHANGING for each in slots(n, *[PAIRS[n]] if n in PAIRS else [])],
)
def test_one_thing_mistaken_is_wrong(number: int, wrong: tuple[str, ...]) -> None:
    assert verdict(some(number), mistaken(number, *wrong)).score == 0.0


@pytest.mark.parametrize("number", CHANGING)
def test_the_last_step_counts(number: int) -> None:
    assert verdict(some(number), unfinished(number)).score == 0.0


# Answers ----------------------------------------------------------------------------------------


def _minutes(instance: int = 0) -> int:
    return int(some(130, instance).eval["typed_answer"]["value"].split()[0])


@pytest.mark.parametrize(
    "answer", ["{n}", "{n} minutes", "{n} min", "{h} h {m} min", "The drive takes {n} minutes."]
)
def test_a_right_duration_in_other_words_is_right(answer: str) -> None:
    n = _minutes()
    text = answer.format(n=n, h=n // 60, m=n % 60)
    assert verdict(some(130), answering(text, 130)).score == 1.0, text


@pytest.mark.parametrize("answer", ["{next}", "{n} km", "{n} hours", "about {n}", "{n} or {next}"])
def test_a_wrong_duration_is_wrong(answer: str) -> None:
    text = answer.format(n=_minutes(), next=_minutes() + 1)
    assert verdict(some(130), answering(text, 130)).score == 0.0, text
