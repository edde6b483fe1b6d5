"""Changing issues: new, edit, close, assign, comment."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from agentgym_envs.webarena.sites.gitlab.access import (
    Forbidden,
    Project,
    chosen_id,
    find_project,
    of_project,
    people_of,
    person_choices,
    refusal,
)
from agentgym_envs.webarena.sites.gitlab.issues import find_issue, issue_page, may_edit
from agentgym_envs.webarena.sites.gitlab.reading import day_error, text_error, title_error
from agentgym_envs.webarena.sites.gitlab.site import SITE
from agentgym_envs.webarena.sites.gitlab.todos import add_todo
from agentgym_envs.webarena.sites.web import Visit


@dataclass
class Draft:
    """What the form for an issue holds, as text."""

    title: str = ""
    body: str = ""
    assignee: str = ""
    milestone: str = ""
    due_on: str = ""
    confidential: bool = False
    labels: list[str] = field(default_factory=list)


@SITE.get("/~{owner}/{slug}/new-issue", signed_in=True)
def new_form(visit: Visit, owner: str, slug: str) -> Response:
    """Show an empty form."""
    return _form(visit, _open(visit, owner, slug), None, Draft(title=visit.field("title")), {}, 200)


@SITE.post("/~{owner}/{slug}/new-issue", signed_in=True)
def create(visit: Visit, owner: str, slug: str) -> Response:
    """Open an issue."""
    project = _open(visit, owner, slug)
    draft, errors = _read(visit)
    if errors:
        return _form(visit, project, None, draft, errors, 422)
    iid = visit.value(
        "SELECT coalesce(max(iid), 0) + 1 FROM issues WHERE project_id = ?", project.id
    )
    issue = visit.run(
        "INSERT INTO issues (project_id, iid, title, author_id, created_at) VALUES (?, ?, ?, ?, ?)",
        project.id, iid, draft.title, project.user_id, visit.now,
    )  # fmt: skip
    _write(visit, project, issue, draft, None)
    visit.flash(f"Issue #{iid} has been created.")
    return visit.redirect(f"{project.path}/issues/{iid}")


@SITE.get("/~{owner}/{slug}/issues/{iid}/edit", signed_in=True)
def edit_form(visit: Visit, owner: str, slug: str, iid: str) -> Response:
    """Show an issue in a form."""
    project, issue = _editable(visit, owner, slug, iid)
    rows = visit.rows("SELECT label_id FROM issue_labels WHERE issue_id = ?", issue["id"])
    draft = Draft(
        title=issue["title"],
        body=issue["body"],
        assignee=str(issue["assignee_id"] or ""),
        milestone=str(issue["milestone_id"] or ""),
        due_on=issue["due_on"] or "",
        confidential=bool(issue["confidential"]),
        labels=[str(row["label_id"]) for row in rows],
    )
    return _form(visit, project, issue, draft, {}, 200)


@SITE.post("/~{owner}/{slug}/issues/{iid}/edit", signed_in=True)
def save(visit: Visit, owner: str, slug: str, iid: str) -> Response:
    """Change an issue."""
    project, issue = _editable(visit, owner, slug, iid)
    draft, errors = _read(visit)
    if errors:
        return _form(visit, project, issue, draft, errors, 422)
    _write(visit, project, issue["id"], draft, issue["assignee_id"])
    visit.flash("The issue has been saved.")
    return visit.redirect(f"{project.path}/issues/{issue['iid']}")


@SITE.post("/~{owner}/{slug}/issues/{iid}/state", signed_in=True)
def set_state(visit: Visit, owner: str, slug: str, iid: str) -> Response:
    """Close an issue, or open it again."""
    project, issue = _editable(visit, owner, slug, iid)
    is_closed = visit.field("state") != "open"
    visit.run(
        "UPDATE issues SET state = ?, closed_at = ? WHERE id = ?",
        "closed" if is_closed else "open", visit.now if is_closed else None, issue["id"],
    )  # fmt: skip
    visit.flash("The issue is closed." if is_closed else "The issue is open again.")
    return visit.redirect(f"{project.path}/issues/{issue['iid']}")


@SITE.post("/~{owner}/{slug}/issues/{iid}/take", signed_in=True)
def take(visit: Visit, owner: str, slug: str, iid: str) -> Response:
    """Assign an issue to oneself."""
    project, issue = _editable(visit, owner, slug, iid)
    if not project.allows("Reporter"):
        raise Forbidden(refusal(project, "Reporter"))
    visit.run("UPDATE issues SET assignee_id = ? WHERE id = ?", project.user_id, issue["id"])
    visit.flash("The issue is yours now.")
    return visit.redirect(f"{project.path}/issues/{issue['iid']}")


@SITE.post("/~{owner}/{slug}/issues/{iid}/comments", signed_in=True)
def comment(visit: Visit, owner: str, slug: str, iid: str) -> Response:
    """Add a comment."""
    project = _open(visit, owner, slug)
    issue = find_issue(visit, project, iid)
    text = visit.field("body")
    error = text_error(text) if text else "Write something first."
    if error:
        return issue_page(visit, project, issue, text=text, error=error)
    visit.run(
        "INSERT INTO notes (issue_id, author_id, body, created_at) VALUES (?, ?, ?, ?)",
        issue["id"], project.user_id, text, visit.now,
    )  # fmt: skip
    visit.flash("Your comment has been added.")
    return visit.redirect(f"{project.path}/issues/{issue['iid']}")


def _open(visit: Visit, owner: str, slug: str) -> Project:
    project = find_project(visit, owner, slug)
    if not project.is_open:
        raise Forbidden("This project is archived: it can be read, but not changed.")
    return project


def _editable(visit: Visit, owner: str, slug: str, iid: str) -> tuple[Project, sqlite3.Row]:
    project = find_project(visit, owner, slug)
    issue = find_issue(visit, project, iid)
    if not may_edit(project, issue):
        raise Forbidden(refusal(project, "Reporter"))
    return project, issue


def _read(visit: Visit) -> tuple[Draft, dict[str, str]]:
    draft = Draft(
        title=visit.field("title"),
        body=visit.field("body"),
        assignee=visit.field("assignee"),
        milestone=visit.field("milestone"),
        due_on=visit.field("due_on"),
        confidential=visit.field("confidential") == "1",
        labels=visit.fields("labels"),
    )
    errors = {
        "title": title_error(draft.title),
        "body": text_error(draft.body),
        "due_on": day_error(draft.due_on),
    }
    return draft, {name: error for name, error in errors.items() if error}


def _write(
    visit: Visit, project: Project, issue: int, draft: Draft, assignee_before: int | None
) -> None:
    visit.run(
        "UPDATE issues SET title = ?, body = ?, confidential = ? WHERE id = ?",
        draft.title, draft.body, int(draft.confidential), issue,
    )  # fmt: skip
    # Who only reports may not plan: the form does not offer these fields to them.
    if not project.allows("Reporter"):
        return
    assignee = chosen_id(draft.assignee, people_of(visit, project))
    visit.run(
        "UPDATE issues SET assignee_id = ?, milestone_id = ?, due_on = ? WHERE id = ?",
        assignee, chosen_id(draft.milestone, _milestones(visit, project)), draft.due_on or None,
        issue,
    )  # fmt: skip
    visit.run("DELETE FROM issue_labels WHERE issue_id = ?", issue)
    for label in _labels(visit, project):
        if str(label["id"]) in draft.labels:
            visit.run("INSERT INTO issue_labels VALUES (?, ?)", issue, label["id"])
    if assignee != assignee_before:
        add_todo(visit, assignee, "assigned", project_id=project.id, issue_id=issue)


def _labels(visit: Visit, project: Project) -> list[sqlite3.Row]:
    return visit.rows("SELECT id, name FROM labels WHERE project_id = ? ORDER BY name", project.id)


def _milestones(visit: Visit, project: Project) -> list[sqlite3.Row]:
    return visit.rows(
        "SELECT id, title FROM milestones WHERE project_id = ? ORDER BY title", project.id
    )


def _form(
    visit: Visit, project: Project, issue: sqlite3.Row | None, draft: Draft,
    errors: dict[str, Any], status: int,
) -> Response:  # fmt: skip
    milestones = [(str(row["id"]), row["title"]) for row in _milestones(visit, project)]
    return of_project(
        visit, project, "issue_edit.html", status, issue=issue, draft=draft, errors=errors,
        assignees=person_choices(people_of(visit, project), "Nobody"),
        milestones=[("", "No milestone"), *milestones], labels=_labels(visit, project),
    )  # fmt: skip
