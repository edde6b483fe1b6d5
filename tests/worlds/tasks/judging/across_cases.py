"""The tasks across sites: damage on any of them, other ways and near misses."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.browsing.actions import parse_action
from agentgym_envs.core import ExpertMove
from tests.worlds.tasks.judging.forms import first, form
from tests.worlds.tasks.judging.mistaking import mistakes
from tests.worlds.tasks.judging.shopping_damage import (
    account_damage,
    customer_damage,
    office_damage,
)
from tests.worlds.tasks.judging.shopping_ways import then
from tests.worlds.tasks.judging.verdicts import Damage, Row
from worlds.tasks import across
from worlds.tasks.drawing import TEMPLATES
from worlds.tasks.map.steps import to_page_with
from worlds.tasks.screen import Screen
from worlds.tasks.template import Case, Solution

MAP, FORUM, CODE = "http://map.test", "http://reddit.test", "http://gitlab.test"
READING = [130]
CHANGING = [template.number for template in across.TEMPLATES if template.number not in READING]


# Damage -----------------------------------------------------------------------------------------


def damage(template: int) -> dict[str, Damage]:
    """Return the damage that the agent can do on any site, by name."""
    place = MAP + "/place/" + first("map", "SELECT id FROM places ORDER BY id DESC")
    own = "SELECT list_id FROM saved JOIN lists l ON l.id = list_id WHERE user_id = 1"
    own_list = MAP + "/saved/" + first("map", own)
    unvoted = (
        "SELECT id FROM posts p WHERE user_id != 1 AND NOT is_locked AND NOT EXISTS "
        "(SELECT 1 FROM post_votes v WHERE v.post_id = p.id AND v.user_id = 1)"
    )
    post = FORUM + "/p/" + first("reddit", unvoted)
    unfollowed = (
        "SELECT name FROM forums WHERE id NOT IN "
        "(SELECT forum_id FROM subscriptions WHERE user_id = 1)"
    )
    community = FORUM + "/c/" + first("reddit", unfollowed)
    unstarred = (
        "SELECT u.username || '/' || p.slug FROM projects p JOIN users u ON u.id = p.owner_id "
        "WHERE p.visibility = 'public' AND NOT archived AND p.id NOT IN "
        "(SELECT project_id FROM stars WHERE user_id = 1)"
    )
    project = CODE + "/~" + first("gitlab", unstarred)
    stranger = (
        "SELECT username FROM users WHERE id != 1 AND id NOT IN "
        "(SELECT followed_id FROM follows WHERE follower_id = 1)"
    )
    developer = CODE + "/~" + first("gitlab", stranger)
    return {
        "map: a place saved": form(f"{place}/save", "Save place"),
        "map: a place no longer saved": form(own_list, "Remove "),
        "map: a list renamed": form(own_list, "Rename list", {"Name of the list": "Old"}),
        "map: a list deleted": form(own_list, "Delete list"),
        "map: a list made": form(
            f"{MAP}/saved", "Create list", {"Name of the new list": "Nothing"}
        ),
        "map: a review": form(f"{place}/review", "Post review", {"Rating": "1 star"}),
        "map: a suggestion": form(
            f"{place}/suggest",
            "Send suggestion",
            {"What is wrong": "Phone", "Correct value": "031 402 118"},
        ),
        "forum: a vote": form(post, "Upvote post"),
        "forum: a post kept": form(post, "Save post"),
        "forum: a comment": form(post, "Post comment", {"Your comment": "First!"}),
        "forum: a post": form(
            f"{community}/submit", "Publish post", {"Title": "Hello", "Text": "There"}
        ),
        "forum: a message": form(
            f"{FORUM}/messages/new", "Send message", {"To": "juno.drummond", "Message": "Hello"}
        ),
        "forum: a community followed": form(community, "Subscribe"),
        "forum: another name": form(f"{FORUM}/settings", "Save settings", {"Name": "Mira H"}),
        "code: a star": form(project, "Star"),
        "code: somebody followed": form(developer, "Follow"),
        "code: an issue": form(f"{project}/new-issue", "Create issue", {"Title": "Help"}),
        "code: a comment": form(f"{project}/issues/1", "Comment", {"Your comment": "Me too"}),
        "code: another biography": form(f"{CODE}/profile", "Save", {"About you": "Gone"}),
        "code: a project": form(f"{CODE}/new", "Create project", {"Project name": "Waste"}),
        "shop: something ordered": customer_damage()["something ordered"],
        "shop: an order cancelled": account_damage()["an order cancelled"],
        "shop: another e-mail address": customer_damage()["another e-mail address"],
        "shop: a customer's group": office_damage()["a customer's group"],
        "shop: an order's comment": office_damage()["an order's comment"],
    }


ELSEWHERE: list[tuple[int, str]] = [
    (3, "shop"), (20, "shop"), (14, "shop"), (31, "shop"), (56, "shop"), (40, "shop"),
    (60, "map"), (77, "map"), (65, "map"), (80, "forum"), (141, "forum"), (84, "forum"),
    (100, "code"), (125, "code"), (106, "code"),
]  # fmt: skip
"""Of each site questions, pages and changes, which damage on the other sites spoils."""


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
        for move in TEMPLATES[template].solve(case, screen):
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


WAYS: list[Row] = [
    (131, "the text later", later(131, "Text", "Edit post", "Save post")),
    (131, "the title later", later(131, "Title", "Edit post", "Save post")),
    (132, "the title later", later(132, "Title", "Edit issue", "Save changes")),
    (132, "the total later", later(132, "Description", "Edit issue", "Save changes")),
    (133, "other groups first", then(TEMPLATES[133].solve, choose_other_groups)),
    (134, "starred twice", then(TEMPLATES[134].solve, star_again)),
    (136, "saved twice", then(TEMPLATES[136].solve, save_again)),
]

# A place is one of a town.
NEAR_MISSES: list[Row] = mistakes(CHANGING, {131: ("place", "town")})
