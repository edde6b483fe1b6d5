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
)
from agentgym_envs.sites.gitlab.fields import ForgeFields
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
    return context.render("milestones.html", project=project, rows=rows)


@SITE.get("/~{owner}/{slug}/milestones/new", signed_in=True)
def new_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show an empty form."""
    project = managed(context, owner, slug, "Reporter")
    return _form(ForgeFields(context), project, None)


@SITE.post("/~{owner}/{slug}/milestones/new", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Create a milestone."""
    project = managed(context, owner, slug, "Reporter")
    row, fields = _read(context, project, 0)
    if fields.errors:
        return _form(fields, project, None)
    number = context.insert("milestones", project_id=project.id, **row)
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
    return context.render("milestone.html", project=project, milestone=milestone, issues=issues)


@SITE.get("/~{owner}/{slug}/milestones/{number}/edit", signed_in=True)
def edit_form(context: RequestContext, owner: str, slug: str, number: str) -> Response:
    """Show a milestone in a form."""
    project = managed(context, owner, slug, "Reporter")
    milestone = numbered(context, _ONE, project, number)
    values = {field: milestone[field] or "" for field in _FIELDS}
    return _form(ForgeFields(context, values), project, milestone)


@SITE.post("/~{owner}/{slug}/milestones/{number}/edit", signed_in=True)
def save(context: RequestContext, owner: str, slug: str, number: str) -> Response:
    """Change a milestone."""
    project = managed(context, owner, slug, "Reporter")
    milestone = numbered(context, _ONE, project, number)
    row, fields = _read(context, project, milestone["id"])
    if fields.errors:
        return _form(fields, project, milestone)
    context.update("milestones", milestone["id"], **row)
    context.flash("The milestone has been saved.")
    return context.redirect(f"{project.path}/milestones/{milestone['id']}")


@SITE.post("/~{owner}/{slug}/milestones/{number}/state", signed_in=True)
def set_state(context: RequestContext, owner: str, slug: str, number: str) -> Response:
    """Close a milestone, or open it again."""
    project = managed(context, owner, slug, "Reporter")
    milestone = numbered(context, _ONE, project, number)
    state = "open" if context.field("state") == "open" else "closed"
    context.update("milestones", milestone["id"], state=state)
    context.flash(
        "The milestone is closed." if state == "closed" else "The milestone is open again."
    )
    return context.redirect(f"{project.path}/milestones/{milestone['id']}")


def _read(
    context: RequestContext, project: Project, own_id: int
) -> tuple[dict[str, str | None], ForgeFields]:
    fields = ForgeFields(context)
    row = {
        "title": fields.text("title", "a title"),
        "description": fields.prose("description"),
        "starts_on": fields.optional_day("starts_on"),
        "due_on": fields.optional_day("due_on"),
    }
    if context.row(
        "SELECT 1 FROM milestones WHERE project_id = ? AND title = ? AND id <> ?",
        *(project.id, row["title"], own_id),
    ):
        fields.errors["title"] = "There is such a milestone already."
    if row["starts_on"] and row["due_on"] and row["due_on"] < row["starts_on"]:
        fields.errors["due_on"] = "This must not lie before the first day."
    return row, fields


def _form(fields: ForgeFields, project: Project, milestone: sqlite3.Row | None) -> Response:
    return fields.page("milestone_edit.html", project=project, milestone=milestone)
