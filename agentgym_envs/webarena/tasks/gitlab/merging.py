"""Tasks about files and merge requests."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.template_helpers import (
    DEVELOPING,
    SITE,
    apply,
    draw_project,
    items,
    one_more,
    open_part,
    open_project,
    parts_of,
    quoted,
    same,
    text_of,
)
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_REMARKS = (
    "Please add a test before we merge this.", "I tried this today and it works.",
    "Can we talk about the names tomorrow?", "Let us wait for the next release with this.",
    "Thank you, this was long overdue.", "Please rebase, there is a conflict.",
)  # fmt: skip
_MESSAGES = ("Prepare the next release", "Raise the version", "New release")


class CommentOnRequest(Template):
    """Comment on the merge request about a subject."""

    number = 110
    sites = (SITE,)
    intent = (
        'Leave the comment "{remark}" on the open merge request of {project} that is about the '
        "{part}."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a subject that one open merge request has."""
        project = draw_project(world, rng)
        part, remark = rng.choice(parts_of(project["name"])), rng.choice(_REMARKS)
        rows = world.rows(
            SITE,
            "SELECT id FROM merge_requests WHERE project_id = ? AND state = 'open' "
            "AND instr(lower(title), lower(?))",
            project["id"],
            part,
        )
        if len(rows) != 1:
            return None
        return Case(
            values={"remark": remark, "project": project["name"], "part": part},
            evaluation=changed(
                state_of(
                    SITE,
                    f"SELECT author_id FROM notes WHERE merge_request_id = {rows[0]['id']} "
                    f"AND body = {quoted(remark)}",
                    [[1]],
                ),
                one_more(world, "notes"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the one whose title speaks of it."""
        part = case.values["part"]
        yield from open_part(screen, case.values["project"], "Merge requests")
        item = next(i for i in items(screen, "Merge requests") if part in i.link.name)
        yield screen.click_node(item.link, f"This title speaks of the {part}.")
        yield screen.fill("textbox", "Your comment", case.values["remark"])
        yield screen.click("button", "Comment")
        yield screen.stop()


class RaiseVersion(Template):
    """Raise the version that a file holds."""

    number = 112
    sites = (SITE,)
    intent = (
        "Raise the version in the file VERSION of {project} to the next {kind} release (as 1.4.2 "
        'would become {example}). Commit it to the branch main with the message "{message}".'
    )
    split = "train"

    _EXAMPLES = {"major": "2.0.0", "minor": "1.5.0", "patch": "1.4.3"}

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a project in which the agent may commit."""
        project, kind = draw_project(world, rng, DEVELOPING), rng.choice(tuple(self._EXAMPLES))
        message = rng.choice(_MESSAGES)
        where = f"project_id = {project['id']} AND branch = 'main' AND path = 'VERSION'"
        version = world.value(SITE, f"SELECT content FROM files WHERE {where}").strip()
        return Case(
            values={
                "project": project["name"],
                "kind": kind,
                "example": self._EXAMPLES[kind],
                "message": message,
            },
            evaluation=changed(
                state_of(
                    SITE,
                    f"SELECT trim(content, ' ' || char(10)) FROM files WHERE {where}",
                    [[_raised(version, kind)]],
                ),
                state_of(
                    SITE,
                    "SELECT project_id, branch, message, author_id FROM commits "
                    "ORDER BY id DESC LIMIT 1",
                    [[project["id"], "main", message, 1]],
                ),
                one_more(world, "commits"),
                same(world, "SELECT count(*) FROM files"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the version, and edit the file."""
        yield from open_project(screen, case.values["project"])
        yield screen.click("link", "VERSION", "There is the file.")
        old = text_of(screen.below(screen.find("list", "Content"), "listitem")[0]).split()[-1]
        yield screen.click("link", "Edit", f"The version is {old} now.")
        new = _raised(old, case.values["kind"])
        yield screen.fill("textbox", "Content", new, f"After {old} comes {new}.")
        yield screen.fill("textbox", "Commit message", case.values["message"])
        yield screen.click("button", "Commit changes", "The target branch is main already.")
        yield screen.stop()


def _raised(version: str, kind: str) -> str:
    major, minor, patch = map(int, version.split("."))
    if kind == "major":
        return f"{major + 1}.0.0"
    return f"{major}.{minor + 1}.0" if kind == "minor" else f"{major}.{minor}.{patch + 1}"


class ApproveAll(Template):
    """Approve all open merge requests that somebody opened, or is to review."""

    number = 121
    sites = (SITE,)
    intent = "Approve every open merge request in {project} that {person} {relation}."
    split = "train"

    _RELATIONS = {"opened": "author", "is the reviewer of": "reviewer"}

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a person with one to four, none of which the agent has approved."""
        project = draw_project(world, rng, DEVELOPING)
        relation = rng.choice(tuple(self._RELATIONS))
        rows = world.rows(
            SITE,
            "SELECT u.name, group_concat(r.id) AS ids FROM merge_requests r "
            f"JOIN users u ON u.id = r.{self._RELATIONS[relation]}_id "
            "JOIN members m ON m.user_id = u.id AND m.project_id = r.project_id "
            "WHERE r.project_id = ? AND r.state = 'open' "
            "AND u.id <> 1 GROUP BY u.id HAVING count(*) <= 4 AND NOT sum(EXISTS (SELECT 1 FROM "
            "approvals a WHERE a.merge_request_id = r.id AND a.user_id = 1)) ORDER BY u.id",
            project["id"],
        )
        if not rows:
            return None
        person = rng.choice(rows)
        ids = person["ids"]
        number = len(ids.split(","))
        return Case(
            values={
                "project": project["name"],
                "person": person["name"],
                "relation": relation,
            },
            evaluation=changed(
                state_of(
                    SITE,
                    "SELECT count(*) FROM approvals WHERE user_id = 1 "
                    f"AND merge_request_id IN ({ids})",
                    [[number]],
                ),
                state_of(
                    SITE,
                    "SELECT count(*) FROM approvals",
                    [[world.value(SITE, "SELECT count(*) FROM approvals") + number]],
                ),
                same(world, "SELECT state, count(*) FROM merge_requests GROUP BY state"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """List them, and approve one after the other."""
        relation = self._RELATIONS[case.values["relation"]]
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
