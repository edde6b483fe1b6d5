"""Other honest ways to do the code host's tasks about issues than their experts'."""

from __future__ import annotations

from urllib.parse import quote

from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging.forms import fill
from tests.worlds.tasks.judging.gitlab_damage import SITE, Moves, form
from worlds.tasks.gitlab.steps import apply, items, open_part, open_project
from worlds.tasks.screen import Screen
from worlds.tasks.template import Case


def create_bare_issue(case: Case, screen: Screen) -> Moves:
    """The title first, the rest by editing."""
    yield from open_part(screen, case.values["project"], "Issues")
    yield screen.click("link", "New issue")
    yield screen.fill("textbox", "Title", case.values["title"])
    yield screen.click("button", "Create issue")
    yield screen.click("link", "Edit issue")
    yield from _plan_issue(case, screen)
    yield screen.click("button", "Save changes")


def create_issue_by_address(case: Case, screen: Screen) -> Moves:
    """The address fills in the title."""
    yield from open_project(screen, case.values["project"])
    yield screen.go(f"{screen.url}/new-issue?title={quote(case.values['title'])}")
    yield from _plan_issue(case, screen)
    yield screen.click("button", "Create issue")


def _plan_issue(case: Case, screen: Screen) -> Moves:
    yield screen.click("checkbox", case.values["label"])
    fields = {"Due date": case.notes["due"], "Assignee": case.values["person"]}
    yield from fill(screen, fields)


def close_from_the_oldest(case: Case, screen: Screen) -> Moves:
    """Down the filtered list of issues."""
    yield from open_part(screen, case.values["project"], "Issues")
    yield from apply(screen, {"Label": case.values["label"], "Sort by": "Oldest"})
    links = [item.link for item in items(screen, "Issues")]
    yield from _each(screen, [link.name for link in links], "Close issue")


def close_and_correct(case: Case, screen: Screen) -> Moves:
    """A wrong one is closed first, and reopened."""
    yield from open_part(screen, case.values["project"], "Issues")
    listed = screen.url
    wrong = next(i for i in items(screen, "Issues") if case.values["label"] not in i.text)
    yield screen.click_node(wrong.link)
    yield screen.click("button", "Close issue")
    yield screen.click("button", "Reopen issue")
    yield screen.go(listed)
    yield from close_from_the_oldest(case, screen)


def _each(screen: Screen, names: list[str], button: str) -> Moves:
    """Press the same button on all that a list links to."""
    listed = screen.url
    for name in names:
        yield screen.click("link", name)
        yield screen.click("button", button)
        yield screen.go(listed)


def plan_bare_milestone(case: Case, screen: Screen) -> Moves:
    """The title first, then the issue, then the days."""
    values = case.values
    yield from open_part(screen, values["project"], "Milestones")
    yield screen.click("link", "New milestone")
    yield screen.fill("textbox", "Title", values["title"])
    yield screen.click("button", "Create milestone")
    milestone = screen.url
    yield screen.click("link", "Issues")
    yield from apply(screen, {"Text": values["issue"]})
    yield screen.click("link", values["issue"])
    yield screen.click("link", "Edit issue")
    yield screen.choose("Milestone", values["title"])
    yield screen.click("button", "Save changes")
    yield screen.go(f"{milestone}/edit")
    yield from fill(screen, {"Due date": case.notes["last"], "Start date": case.notes["first"]})
    yield screen.click("button", "Save changes")


def comment_and_reopen(case: Case, screen: Screen) -> Moves:
    """The comment first."""
    yield from open_part(screen, case.values["project"], "Issues")
    yield from apply(screen, {"State": "All", "Sort by": "Recently closed"})
    yield screen.click_node(items(screen, "Issues")[0].link)
    yield screen.fill("textbox", "Your comment", case.values["remark"])
    yield screen.click("button", "Comment")
    yield screen.click("button", "Reopen issue")


def reopen_by_address(case: Case, screen: Screen) -> Moves:
    """The comment is written where the issue's address leads."""
    sql = (
        "SELECT i.iid FROM issues i JOIN projects p ON p.id = i.project_id "
        "WHERE p.name = ? ORDER BY i.closed_at DESC"
    )
    iid = WORLD.value(SITE, sql, case.values["project"])
    yield from open_project(screen, case.values["project"])
    yield screen.go(f"{screen.url}/issues/{iid}")
    yield screen.click("button", "Reopen issue")
    yield screen.fill("textbox", "Your comment", f"  {case.values['remark']}")
    yield screen.click("button", "Comment")


def postpone_from_the_list(case: Case, screen: Screen) -> Moves:
    """Down the list of issues that the milestone filters."""
    yield from open_part(screen, case.values["project"], "Issues")
    yield from apply(screen, {"Milestone": case.values["milestone"], "Sort by": "Oldest"})
    listed = screen.url
    for name in [item.link.name for item in items(screen, "Issues")]:
        yield screen.click("link", name)
        yield screen.go(f"{screen.url}/edit")
        yield screen.fill("textbox", "Due date", case.notes["due"], enter=True)
        yield screen.go(listed)


def plan_in_two_steps(case: Case, screen: Screen) -> Moves:
    """The label first, then the day by the form's address, from another page."""
    issue = screen.url
    yield screen.click("link", "Edit issue")
    yield screen.click("checkbox", case.values["label"])
    yield screen.click("button", "Save changes")
    yield screen.click("link", "Issues")
    yield screen.go(f"{issue}/edit")
    yield screen.fill("textbox", "Due date", case.notes["due"], enter=True)


def take_by_the_form(case: Case, screen: Screen) -> Moves:
    """By editing the issue, after signing in with the e-mail address."""
    values = case.values
    sql = "SELECT name, email FROM users WHERE username = ?"
    ((name, email),) = WORLD.rows(SITE, sql, values["username"])
    account = {"User name or email": email, "Password": values["password"]}
    yield from form("login", "Sign in", account)(screen)
    yield from open_part(screen, values["project"], "Issues")
    yield from apply(screen, {"Assignee": "Nobody", "Sort by": values["age"].capitalize()})
    yield screen.click_node(items(screen, "Issues")[0].link)
    yield screen.click("link", "Edit issue")
    yield screen.choose("Assignee", name)
    yield screen.click("button", "Save changes")


def take_and_correct(case: Case, screen: Screen) -> Moves:
    """A wrong one is taken first, and given back."""
    values = case.values
    account = {"User name or email": values["username"], "Password": values["password"]}
    yield from form("login", "Sign in", account)(screen)
    yield from open_part(screen, values["project"], "Issues")
    listed = screen.url
    yield from apply(screen, {"Assignee": "Nobody", "Sort by": values["age"].capitalize()})
    right, wrong = (item.link.name for item in items(screen, "Issues")[:2])
    yield screen.click("link", wrong)
    yield screen.click("button", "Assign to me")
    yield screen.click("link", "Edit issue")
    yield screen.choose("Assignee", "Nobody")
    yield screen.click("button", "Save changes")
    yield screen.go(listed)
    yield from apply(screen, {"Text": right})
    yield screen.click("link", right)
    yield screen.click("button", "Assign to me")
