"""The labels of a project."""

from __future__ import annotations

import re

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    VISIBLE_ISSUE,
    Project,
    find_project,
    managed,
)
from agentgym_envs.sites.gitlab.fields import ForgeFields
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.web import RequestContext

MAX_NAME = 40
DEFAULT_COLOUR = "#4a5568"


@SITE.get("/~{owner}/{slug}/labels")
def label_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the labels."""
    fields = ForgeFields(context, {"colour": DEFAULT_COLOUR})
    return _list(fields, find_project(context, owner, slug))


@SITE.post("/~{owner}/{slug}/labels", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Create a label."""
    project = managed(context, owner, slug, "Reporter")
    fields = ForgeFields(context)
    name = fields.values["name"] = context.field("name")
    colour = fields.values["colour"] = context.field("colour") or DEFAULT_COLOUR
    if not name or len(name) > MAX_NAME:
        fields.errors["name"] = f"Enter a name of at most {MAX_NAME} characters."
    elif context.row("SELECT 1 FROM labels WHERE project_id = ? AND name = ?", project.id, name):
        fields.errors["name"] = "There is such a label already."
    if not re.fullmatch("#[0-9a-fA-F]{6}", colour):
        fields.errors["colour"] = "Write the colour as # and six digits, such as #2b6cb0."
    if fields.errors:
        return _list(fields, project)
    context.insert("labels", project_id=project.id, name=name, colour=colour)
    context.flash("The label has been created.")
    return context.redirect(f"{project.path}/labels")


@SITE.post("/~{owner}/{slug}/labels/delete", signed_in=True)
def delete(context: RequestContext, owner: str, slug: str) -> Response:
    """Delete a label and take it off all issues."""
    project = managed(context, owner, slug, "Reporter")
    label = context.find(
        "There is no such label.",
        "SELECT * FROM labels WHERE project_id = ? AND id = ?",
        *(project.id, context.number("label")),
    )
    context.run("DELETE FROM issue_labels WHERE label_id = ?", label["id"])
    context.run("DELETE FROM labels WHERE id = ?", label["id"])
    context.flash(f"The label {label['name']} has been deleted.")
    return context.redirect(f"{project.path}/labels")


def _list(fields: ForgeFields, project: Project) -> Response:
    rows = fields.context.rows(
        "SELECT l.*, (SELECT count(*) FROM issue_labels x JOIN issues i ON i.id = x.issue_id "
        f"WHERE x.label_id = l.id AND i.state = 'open' AND {VISIBLE_ISSUE}) AS num_open "
        "FROM labels l WHERE l.project_id = ? ORDER BY l.name",
        *project.issue_rights,
        project.id,
    )
    return fields.page("labels.html", project=project, rows=rows)
