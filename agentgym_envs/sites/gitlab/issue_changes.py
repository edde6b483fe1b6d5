"""Changing issues: new, edit, close, assign, comment."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    Forbidden,
    Project,
    chosen_id,
    find_project,
    of_project,
    people_of,
    person_choices,
    refusal,
)
from agentgym_envs.sites.gitlab.issues import find_issue, issue_page, may_edit
from agentgym_envs.sites.gitlab.reading import day_error, text_error, title_error
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.todos import add_todo
from agentgym_envs.sites.web import RequestContext


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
def new_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show an empty form."""
    return _form(
        context, _open(context, owner, slug), None, Draft(title=context.field("title")), {}, 200
    )


@SITE.post("/~{owner}/{slug}/new-issue", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Open an issue."""
    project = _open(context, owner, slug)
    draft, errors = _read(context)
    if errors:
        return _form(context, project, None, draft, errors, 422)
    iid = context.value(
        "SELECT coalesce(max(iid), 0) + 1 FROM issues WHERE project_id = ?", project.id
    )
    issue = context.run(
        "INSERT INTO issues (project_id, iid, title, author_id, created_at) VALUES (?, ?, ?, ?, ?)",
        project.id, iid, draft.title, project.user_id, context.now,
    )  # fmt: skip
    _write(context, project, issue, draft, None)
    context.flash(f"Issue #{iid} has been created.")
    return context.redirect(f"{project.path}/issues/{iid}")


@SITE.get("/~{owner}/{slug}/issues/{iid}/edit", signed_in=True)
def edit_form(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show an issue in a form."""
    project, issue = _editable(context, owner, slug, iid)
    rows = context.rows("SELECT label_id FROM issue_labels WHERE issue_id = ?", issue["id"])
    draft = Draft(
        title=issue["title"],
        body=issue["body"],
        assignee=str(issue["assignee_id"] or ""),
        milestone=str(issue["milestone_id"] or ""),
        due_on=issue["due_on"] or "",
        confidential=bool(issue["confidential"]),
        labels=[str(row["label_id"]) for row in rows],
    )
    return _form(context, project, issue, draft, {}, 200)


@SITE.post("/~{owner}/{slug}/issues/{iid}/edit", signed_in=True)
def save(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Change an issue."""
    project, issue = _editable(context, owner, slug, iid)
    draft, errors = _read(context)
    if errors:
        return _form(context, project, issue, draft, errors, 422)
    _write(context, project, issue["id"], draft, issue["assignee_id"])
    context.flash("The issue has been saved.")
    return context.redirect(f"{project.path}/issues/{issue['iid']}")


@SITE.post("/~{owner}/{slug}/issues/{iid}/state", signed_in=True)
def set_state(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Close an issue, or open it again."""
    project, issue = _editable(context, owner, slug, iid)
    is_closed = context.field("state") != "open"
    context.run(
        "UPDATE issues SET state = ?, closed_at = ? WHERE id = ?",
        "closed" if is_closed else "open", context.now if is_closed else None, issue["id"],
    )  # fmt: skip
    context.flash("The issue is closed." if is_closed else "The issue is open again.")
    return context.redirect(f"{project.path}/issues/{issue['iid']}")


@SITE.post("/~{owner}/{slug}/issues/{iid}/take", signed_in=True)
def take(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Assign an issue to oneself."""
    project, issue = _editable(context, owner, slug, iid)
    if not project.allows("Reporter"):
        raise Forbidden(refusal(project, "Reporter"))
    context.run("UPDATE issues SET assignee_id = ? WHERE id = ?", project.user_id, issue["id"])
    context.flash("The issue is yours now.")
    return context.redirect(f"{project.path}/issues/{issue['iid']}")


@SITE.post("/~{owner}/{slug}/issues/{iid}/comments", signed_in=True)
def comment(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Add a comment."""
    project = _open(context, owner, slug)
    issue = find_issue(context, project, iid)
    text = context.field("body")
    error = text_error(text) if text else "Write something first."
    if error:
        return issue_page(context, project, issue, text=text, error=error)
    context.run(
        "INSERT INTO notes (issue_id, author_id, body, created_at) VALUES (?, ?, ?, ?)",
        issue["id"], project.user_id, text, context.now,
    )  # fmt: skip
    context.flash("Your comment has been added.")
    return context.redirect(f"{project.path}/issues/{issue['iid']}")


def _open(context: RequestContext, owner: str, slug: str) -> Project:
    project = find_project(context, owner, slug)
    if not project.is_open:
        raise Forbidden("This project is archived: it can be read, but not changed.")
    return project


def _editable(
    context: RequestContext, owner: str, slug: str, iid: str
) -> tuple[Project, sqlite3.Row]:
    project = find_project(context, owner, slug)
    issue = find_issue(context, project, iid)
    if not may_edit(project, issue):
        raise Forbidden(refusal(project, "Reporter"))
    return project, issue


def _read(context: RequestContext) -> tuple[Draft, dict[str, str]]:
    draft = Draft(
        title=context.field("title"),
        body=context.field("body"),
        assignee=context.field("assignee"),
        milestone=context.field("milestone"),
        due_on=context.field("due_on"),
        confidential=context.field("confidential") == "1",
        labels=context.fields("labels"),
    )
    errors = {
        "title": title_error(draft.title),
        "body": text_error(draft.body),
        "due_on": day_error(draft.due_on),
    }
    return draft, {name: error for name, error in errors.items() if error}


def _write(
    context: RequestContext, project: Project, issue: int, draft: Draft, assignee_before: int | None
) -> None:
    context.run(
        "UPDATE issues SET title = ?, body = ?, confidential = ? WHERE id = ?",
        draft.title, draft.body, int(draft.confidential), issue,
    )  # fmt: skip
    # Who only reports may not plan: the form does not offer these fields to them.
    if not project.allows("Reporter"):
        return
    assignee = chosen_id(draft.assignee, people_of(context, project))
    context.run(
        "UPDATE issues SET assignee_id = ?, milestone_id = ?, due_on = ? WHERE id = ?",
        assignee, chosen_id(draft.milestone, _milestones(context, project)), draft.due_on or None,
        issue,
    )  # fmt: skip
    context.run("DELETE FROM issue_labels WHERE issue_id = ?", issue)
    for label in _labels(context, project):
        if str(label["id"]) in draft.labels:
            context.run("INSERT INTO issue_labels VALUES (?, ?)", issue, label["id"])
    if assignee != assignee_before:
        add_todo(context, assignee, "assigned", project_id=project.id, issue_id=issue)


def _labels(context: RequestContext, project: Project) -> list[sqlite3.Row]:
    return context.rows(
        "SELECT id, name FROM labels WHERE project_id = ? ORDER BY name", project.id
    )


def _milestones(context: RequestContext, project: Project) -> list[sqlite3.Row]:
    return context.rows(
        "SELECT id, title FROM milestones WHERE project_id = ? ORDER BY title", project.id
    )


def _form(
    context: RequestContext, project: Project, issue: sqlite3.Row | None, draft: Draft,
    errors: dict[str, Any], status: int,
) -> Response:  # fmt: skip
    milestones = [(str(row["id"]), row["title"]) for row in _milestones(context, project)]
    return of_project(
        context, project, "issue_edit.html", status, issue=issue, draft=draft, errors=errors,
        assignees=person_choices(people_of(context, project), "Nobody"),
        milestones=[("", "No milestone"), *milestones], labels=_labels(context, project),
    )  # fmt: skip
