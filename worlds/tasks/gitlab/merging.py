"""Tasks about files and merge requests."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import (
    DEVELOPING,
    address_of,
    draw_project,
    ids_in,
    no_such,
    parts_of,
)
from worlds.tasks.gitlab.steps import (
    SITE,
    apply,
    items,
    open_part,
    open_project,
    text_of,
)
from worlds.tasks.goals import changes, impossible, row
from worlds.tasks.screen import ElementNotFound, Screen, first_of
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_REMARKS: tuple[str, ...] = WORDS["gitlab"]["review_remarks"]


_MESSAGES = ("Prepare the next release", "Raise the version", "New release")


_ABOUT = (
    "SELECT id FROM merge_requests WHERE project_id = ? AND state = 'open' "
    "AND instr(lower({columns}), lower(?))"
)


class CommentOnRequest(Template):
    """Comment on the merge request about a subject."""

    number = 110
    sites = (SITE,)
    intents = (
        'Comment "{remark}" on {project}\'s open {part} merge request.',
        'Comment "{remark}" on the open merge request of {project} about the {part}.',
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a subject that one open merge request has."""
        project = draw_project(world, dice)
        part, remark = dice.pick(parts_of(project["name"])), dice.pick(_REMARKS)
        rows = world.rows(SITE, _ABOUT.format(columns="title"), project["id"], part)
        if len(rows) != 1:
            return None
        note = row("notes", merge_request_id=rows[0]["id"], author_id=AGENT_ID, body=remark)
        values = {"remark": remark, "project": project["name"], "part": part}
        return Case(values, changes(note))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the one whose title speaks of it."""
        part = case.values["part"]
        yield from open_part(screen, case.values["project"], "Merge requests")
        item = first_of(i for i in items(screen, "Merge requests") if part in i.link.name)
        yield screen.click_node(item.link, f"This title speaks of the {part}.")
        yield screen.fill("textbox", "Your comment", case.values["remark"])
        yield screen.click("button", "Comment")
        yield screen.stop()


class CommentOnMissing(Template):
    """Comment on an open merge request about a subject that none is about."""

    number = 161
    sites = (SITE,)
    intents = CommentOnRequest.intents
    split = "test"
    is_impossible = True

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a subject that no open merge request speaks of."""
        project = draw_project(world, dice)
        part, remark = dice.pick(parts_of(project["name"])), dice.pick(_REMARKS)
        if world.rows(SITE, _ABOUT.format(columns="title || body"), project["id"], part):
            return None
        values = {"remark": remark, "project": project["name"], "part": part}
        goal = impossible(
            ("request", " mr"),
            *no_such("merge request", part),
            about=(part, project["name"]),
            pages=[f"{address_of(world, project)}/merges*"],
        )
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Search the open ones, and find none."""
        part = case.values["part"]
        yield from open_part(screen, case.values["project"], "Merge requests")
        yield from apply(screen, {"Text": part})
        if items(screen, "Merge requests"):
            raise ElementNotFound(f"there is one about the {part} after all")
        yield screen.give_up(
            f"No open merge request of {case.values['project']} is about the {part}."
        )


def raised(version: str, kind: str) -> str:
    """Return the next version: a major, minor or patch release."""
    major, minor, patch = map(int, version.split("."))
    if kind == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if kind == "minor" else f"{major}.{minor}.{patch + 1}"


class RaiseVersion(Template):
    """Raise the version that a file holds."""

    number = 112
    sites = (SITE,)
    intents = (
        'Commit a {kind} bump of {project}\'s VERSION to main: "{message}"',
        "Bump {project}'s file VERSION to the next {kind} release on main with the message "
        '"{message}".',
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project in which the agent may commit."""
        project, kind = draw_project(world, dice, DEVELOPING), dice.pick(_RELEASES)
        message = dice.pick(_MESSAGES)
        sql = "SELECT * FROM files WHERE project_id = ? AND branch = 'main' AND path = 'VERSION'"
        (file,) = world.rows(SITE, sql, project["id"])
        goal = changes(
            row("files", id=file["id"], content=f"{raised(file['content'].strip(), kind)}\n"),
            row("commits", project_id=project["id"], branch="main", message=message),
        )
        return Case({"project": project["name"], "kind": kind, "message": message}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the version, and edit the file."""
        yield from open_project(screen, case.values["project"])
        yield screen.click("link", "VERSION", "There is the file.")
        old = text_of(screen.below(screen.find("list", "Content"), "listitem")[0]).split()[-1]
        yield screen.click("link", "Edit", f"The version is {old} now.")
        new = raised(old, case.values["kind"])
        yield screen.fill("textbox", "Content", new, f"After {old} comes {new}.")
        yield screen.fill("textbox", "Commit message", case.values["message"])
        yield screen.click("button", "Commit changes", "The target branch is main already.")
        yield screen.stop()


_RELEASES = ("major", "minor", "patch")


APPROVE_ALL_RELATIONS = {"opened": "author", "is the reviewer of": "reviewer"}


class ApproveAll(Template):
    """Approve all open merge requests of an author or a reviewer."""

    number = 121
    sites = (SITE,)
    intents = (
        "Approve all open {project} merge requests {person} {relation}.",
        "Approve every open merge request in {project} that {person} {relation}.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person with one to four, none of which the agent has approved."""
        project = draw_project(world, dice, DEVELOPING)
        relation = dice.pick(tuple(APPROVE_ALL_RELATIONS))
        rows = world.rows(
            SITE,
            "SELECT u.name, group_concat(r.id) AS ids FROM merge_requests r "
            f"JOIN users u ON u.id = r.{APPROVE_ALL_RELATIONS[relation]}_id "
            "JOIN members m ON m.user_id = u.id AND m.project_id = r.project_id "
            "WHERE r.project_id = ? AND r.state = 'open' "
            "AND u.id <> 1 GROUP BY u.id HAVING count(*) <= 4 AND NOT sum(EXISTS (SELECT 1 FROM "
            "approvals a WHERE a.merge_request_id = r.id AND a.user_id = 1)) ORDER BY u.id",
            project["id"],
        )
        if not rows:
            return None
        person = dice.pick(rows)
        approvals = [
            row("approvals", merge_request_id=number, user_id=AGENT_ID) for number in ids_in(person)
        ]
        values = {"project": project["name"], "person": person["name"], "relation": relation}
        return Case(values, changes(*approvals))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """List them, and approve one after the other."""
        relation = APPROVE_ALL_RELATIONS[case.values["relation"]]
        filters = {relation.capitalize(): case.values["person"]}
        yield from open_part(screen, case.values["project"], "Merge requests")
        yield from apply(screen, filters)
        titles = [item.link.name for item in items(screen, "Merge requests")]
        for place, title in enumerate(titles):
            if place:
                yield screen.click("link", "Merge requests", "Back to the list.")
                yield from apply(screen, filters)
            yield screen.click("link", title, f"This is number {place + 1} of {len(titles)}.")
            yield screen.click("button", "Approve")
        yield screen.stop("", "All of them are approved.")
