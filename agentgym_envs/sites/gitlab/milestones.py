"""The milestones of a project."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    VISIBLE_ISSUE,
    Project,
    find_project,
    managed,
    numbered,
    of_project,
)
from agentgym_envs.sites.gitlab.reading import day_error, text_error, title_error
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.web import RequestContext

_FIELDS = ("title", "description", "starts_on", "due_on")
_ONE = "SELECT * FROM milestones WHERE project_id = ? AND id = ?"


@SITE.get("/~{owner}/{slug}/milestones")
def milestone_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the milestones with how far they are."""
    project = find_project(context, owner, slug)
    rows = context.rows(
        "SELECT m.*, count(i.id) AS total, coalesce(sum(i.state = 'closed'), 0) AS done "
        "FROM milestones m LEFT JOIN issues i ON i.milestone_id = m.id "
        f"AND {VISIBLE_ISSUE} WHERE m.project_id = ? "
        "GROUP BY m.id ORDER BY m.state = 'closed', m.due_on, m.id",
        *project.issue_rights,
        project.id,
    )
    return of_project(context, project, "milestones.html", rows=rows)


@SITE.get("/~{owner}/{slug}/milestones/new", signed_in=True)
def new_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show an empty form."""
    project = managed(context, owner, slug, "Reporter")
    return _form(context, project, None, dict.fromkeys(_FIELDS, ""), {}, 200)


@SITE.post("/~{owner}/{slug}/milestones/new", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Create a milestone."""
    project = managed(context, owner, slug, "Reporter")
    values, errors = _read(context, project, 0)
    if errors:
        return _form(context, project, None, values, errors, 422)
    number = context.run(
        "INSERT INTO milestones (project_id, title, description, starts_on, due_on) "
        "VALUES (?, ?, ?, ?, ?)",
        project.id, values["title"], values["description"], values["starts_on"] or None,
        values["due_on"] or None,
    )  # fmt: skip
    context.flash("The milestone has been created.")
    return context.redirect(f"{project.path}/milestones/{number}")


@SITE.get("/~{owner}/{slug}/milestones/{number}")
def show(context: RequestContext, owner: str, slug: str, number: str) -> Response:
    """Show a milestone with its issues."""
    project = find_project(context, owner, slug)
    milestone = numbered(context, _ONE, project, number)
    issues = context.rows(
        "SELECT i.iid, i.title, i.state, i.due_on FROM issues i WHERE i.milestone_id = ? "
        f"AND {VISIBLE_ISSUE} ORDER BY i.state = 'closed', i.iid DESC LIMIT 40",
        milestone["id"],
        *project.issue_rights,
    )
    return of_project(context, project, "milestone.html", milestone=milestone, issues=issues)


@SITE.get("/~{owner}/{slug}/milestones/{number}/edit", signed_in=True)
def edit_form(context: RequestContext, owner: str, slug: str, number: str) -> Response:
    """Show a milestone in a form."""
    project = managed(context, owner, slug, "Reporter")
    milestone = numbered(context, _ONE, project, number)
    values = {field: milestone[field] or "" for field in _FIELDS}
    return _form(context, project, milestone, values, {}, 200)


@SITE.post("/~{owner}/{slug}/milestones/{number}/edit", signed_in=True)
def save(context: RequestContext, owner: str, slug: str, number: str) -> Response:
    """Change a milestone."""
    project = managed(context, owner, slug, "Reporter")
    milestone = numbered(context, _ONE, project, number)
    values, errors = _read(context, project, milestone["id"])
    if errors:
        return _form(context, project, milestone, values, errors, 422)
    context.run(
        "UPDATE milestones SET title = ?, description = ?, starts_on = ?, due_on = ? WHERE id = ?",
        values["title"], values["description"], values["starts_on"] or None,
        values["due_on"] or None, milestone["id"],
    )  # fmt: skip
    context.flash("The milestone has been saved.")
    return context.redirect(f"{project.path}/milestones/{milestone['id']}")


@SITE.post("/~{owner}/{slug}/milestones/{number}/state", signed_in=True)
def set_state(context: RequestContext, owner: str, slug: str, number: str) -> Response:
    """Close a milestone, or open it again."""
    project = managed(context, owner, slug, "Reporter")
    milestone = numbered(context, _ONE, project, number)
    state = "open" if context.field("state") == "open" else "closed"
    context.run("UPDATE milestones SET state = ? WHERE id = ?", state, milestone["id"])
    context.flash(
        "The milestone is closed." if state == "closed" else "The milestone is open again."
    )
    return context.redirect(f"{project.path}/milestones/{milestone['id']}")


def _read(
    context: RequestContext, project: Project, number: int
) -> tuple[dict[str, str], dict[str, str]]:
    values = {field: context.form.get(field, "").strip() for field in _FIELDS}
    errors = {
        "title": title_error(values["title"]),
        "description": text_error(values["description"]),
        "starts_on": day_error(values["starts_on"]),
        "due_on": day_error(values["due_on"]),
    }
    if context.row(
        "SELECT 1 FROM milestones WHERE project_id = ? AND title = ? AND id <> ?",
        project.id,
        values["title"],
        number,
    ):
        errors["title"] = "There is such a milestone already."
    is_dated = values["starts_on"] and values["due_on"] and not errors["due_on"]
    if is_dated and not errors["starts_on"] and values["due_on"] < values["starts_on"]:
        errors["due_on"] = "This must not lie before the first day."
    return values, {field: error for field, error in errors.items() if error}


def _form(
    context: RequestContext, project: Project, milestone: sqlite3.Row | None,
    values: dict[str, str], errors: dict[str, str], status: int,
) -> Response:  # fmt: skip
    return of_project(
        context, project, "milestone_edit.html", status, milestone=milestone, values=values,
        errors=errors,
    )  # fmt: skip
