"""Other honest ways to do the code host's tasks than their experts', and near misses."""

from __future__ import annotations

from agentgym_envs.sites.names import ORIGINS
from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging import gitlab_issue_ways as issues
from tests.worlds.tasks.judging.forms import fill
from tests.worlds.tasks.judging.gitlab_damage import SITE, Moves, form
from tests.worlds.tasks.judging.mistaking import another_tasks, with_another
from tests.worlds.tasks.judging.verdicts import Row, changing
from worlds.tasks.gitlab.steps import apply, cells, open_part, open_project
from worlds.tasks.screen import Screen
from worlds.tasks.template import Case, Solution


def invite_by_email(case: Case, screen: Screen) -> Moves:
    """The address in place of the user name."""
    sql = "SELECT email FROM users WHERE name = ?"
    email = WORLD.value(SITE, sql, case.values["person"])
    yield from open_part(screen, case.values["project"], "Members")
    fields = {"Role": case.values["role"], "Access ends on": case.notes["until"]}
    yield from fill(screen, {"User name or e-mail": email.upper(), **fields})
    yield screen.click("button", "Invite")


def invite_and_change(case: Case, screen: Screen) -> Moves:
    """As a developer for ever, and then as what is wanted."""
    sql = "SELECT username FROM users WHERE name = ?"
    username = WORLD.value(SITE, sql, case.values["person"])
    yield from open_part(screen, case.values["project"], "Members")
    yield screen.fill("textbox", "User name or e-mail", f"@{username}")
    yield screen.click("button", "Invite")
    yield screen.click("link", f"Change {case.values['person']}")
    fields = {"Role": case.values["role"], "Access ends on": case.notes["until"]}
    yield from fill(screen, fields)
    yield screen.click("button", "Save member")


def profile_in_two_steps(case: Case, screen: Screen) -> Moves:
    """The town first, by the form's address."""
    yield from form("profile", "Save profile", {"Location": case.values["town"]})(screen)
    yield screen.fill("textbox", "Status", f" {case.values['status']}  ")
    yield screen.click("button", "Save profile")


def show_in_two_steps(case: Case, screen: Screen) -> Moves:
    """The new topic first in the list, and the visibility last."""
    yield from open_part(screen, case.values["project"], "Settings")
    topics = case.notes["topics"].upper().split(", ")
    yield screen.fill("textbox", "Topics", ",".join(reversed(topics)))
    yield screen.click("button", "Save settings")
    yield screen.choose("Visibility", case.values["visibility"].capitalize())
    yield screen.click("button", "Save settings")


def show_and_add(case: Case, screen: Screen) -> Moves:
    """The visibility by itself, and then the topic between the others."""
    yield from open_part(screen, case.values["project"], "Settings")
    yield screen.choose("Visibility", case.values["visibility"].capitalize())
    yield screen.click("button", "Save settings")
    *others, new = case.notes["topics"].split(", ")
    yield screen.fill("textbox", "Topics", ", ".join([*others[:1], new, *others[1:], new]))
    yield screen.click("button", "Save settings")


def fork_and_rename(case: Case, screen: Screen) -> Moves:
    """As the form proposes, and then by its settings."""
    yield from open_project(screen, case.values["project"])
    yield screen.click("link", "Fork")
    yield screen.click("button", "Fork project")
    yield screen.click("link", "Settings")
    visibility = case.values["visibility"].capitalize()
    yield from fill(screen, {"Name": case.values["name"], "Visibility": visibility})
    yield screen.click("button", "Save settings")


def fork_by_address(case: Case, screen: Screen) -> Moves:
    """The visibility before the name."""
    yield from open_project(screen, case.values["project"])
    yield screen.go(f"{screen.url}/fork")
    yield screen.choose("Visibility", case.values["visibility"].capitalize())
    yield screen.fill("textbox", "Name of your fork", case.values["name"], enter=True)


def start_and_open(case: Case, screen: Screen) -> Moves:
    """Private at first, and its people in the other order."""
    fields = {"Project name": case.values["name"], "Licence": case.values["licence"]}
    begin = form("new", "Create project", {**fields, "Begin with a README": ""})
    yield from begin(screen)
    yield screen.click("link", "Members")
    for who in ("second", "first"):
        role = case.values[f"{who}_role"]
        yield from fill(screen, {"User name or e-mail": case.values[who], "Role": role})
        yield screen.click("button", "Invite")
    yield screen.click("link", "Settings")
    yield screen.choose("Visibility", case.values["visibility"].capitalize())
    yield screen.click("button", "Save settings")


def roles_from_below(case: Case, screen: Screen) -> Moves:
    """The last one of the table first."""
    yield from open_part(screen, case.values["project"], "Members")
    names = [row[0] for row in cells(screen) if row[1] == case.values["old"]]
    for name in reversed(names):
        yield screen.click("link", f"Change {name}")
        yield screen.choose("Role", case.values["new"])
        yield screen.click("button", "Save member")


def approve_from_the_oldest(case: Case, screen: Screen) -> Moves:
    """In the other order, without filters, and one of them twice."""
    name, column = case.values["person"], case.values["relation"]
    person = "author" if column == "opened" else "reviewer"
    sql = (
        f"SELECT r.title FROM merge_requests r JOIN users u ON u.id = r.{person}_id "
        "JOIN projects p ON p.id = r.project_id WHERE u.name = ? AND p.name = ? "
        "AND r.state = 'open' ORDER BY r.id"
    )
    titles = [row["title"] for row in WORLD.rows(SITE, sql, name, case.values["project"])]
    yield from open_part(screen, case.values["project"], "Merge requests")
    yield from apply(screen, {"Sort by": "Oldest"})
    while not screen.has("link", titles[0]):
        yield screen.click("link", "Next")
    for title in titles:
        yield screen.click("link", title)
        yield screen.click("button", "Approve")
        yield screen.click("button", "Take approval back")
        yield screen.click("button", "Approve")
        yield screen.click("link", "Merge requests")
        yield from apply(screen, {"Sort by": "Oldest"})


def todos_unfiltered(case: Case, screen: Screen) -> Moves:
    """One after the other, from the whole list of one project."""
    reason = case.values["which"].split('"')[1:2]
    yield screen.go(f"{ORIGINS[SITE]}/todos")
    while True:
        yield from apply(screen, {"Project": case.values["project"]})
        fitting = [
            node
            for node in screen.below(screen.find("list", "To-dos"), "listitem")
            if not reason or any(reason[0] in inner.name for inner, _ in node.walk())
        ]
        buttons = [button for node in fitting for button in screen.below(node, "button")]
        if not buttons:
            break
        yield screen.click_node(buttons[-1])


_WAYS: dict[int, tuple[Solution, ...]] = {
    102: (issues.create_bare_issue, issues.create_issue_by_address),
    103: (issues.close_from_the_oldest, issues.close_and_correct),
    105: (invite_by_email, invite_and_change),
    106: (profile_in_two_steps,),
    107: (show_in_two_steps, show_and_add),
    109: (issues.plan_bare_milestone,),
    113: (fork_and_rename, fork_by_address),
    114: (start_and_open,),
    116: (roles_from_below,),
    118: (todos_unfiltered,),
    119: (issues.comment_and_reopen, issues.reopen_by_address),
    121: (approve_from_the_oldest,),
    123: (issues.postpone_from_the_list,),
    129: (issues.take_by_the_form, issues.take_and_correct),
    187: (issues.plan_in_two_steps,),
}
WAYS: list[Row] = [(n, way.__name__, way) for n, ways in _WAYS.items() for way in ways]
NEAR_MISSES: list[Row] = [
    *((number, "another task's", another_tasks(number)) for number in changing(SITE)),
    *((number, "another task's besides", with_another(number)) for number in changing(SITE)),
]
