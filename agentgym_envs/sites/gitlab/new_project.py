"""Creating a project."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    VISIBILITIES,
    VISIBILITY_CHOICES,
    find_project,
)
from agentgym_envs.sites.gitlab.licences import LICENCE, LICENCES, fill_slots
from agentgym_envs.sites.gitlab.projects import add_owner, name_errors
from agentgym_envs.sites.gitlab.reading import MAX_TITLE, slug_from
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import add_branch, add_commit, write_file
from agentgym_envs.sites.web import RequestContext

_FIELDS = ("name", "description", "visibility", "licence", "readme")


@SITE.get("/new", signed_in=True)
def new_form(context: RequestContext) -> Response:
    """Show the empty form."""
    values = dict.fromkeys(_FIELDS, "") | {"visibility": "private"}
    return _form(context, values, {}, 200)


@SITE.post("/new", signed_in=True)
def create(context: RequestContext) -> Response:
    """Create a project, with a README and a licence if wished."""
    assert context.user is not None
    values = {field: context.field(field) for field in _FIELDS}
    errors = name_errors(context, values["name"])
    if values["visibility"] not in VISIBILITIES:
        errors["visibility"] = "Choose who may see the project."
    if values["licence"] not in ("", *LICENCES):
        errors["licence"] = "Choose one of the licences, or none."
    if len(values["description"]) > MAX_TITLE:
        errors["description"] = f"At most {MAX_TITLE} characters."
    if errors:
        return _form(context, values, errors, 422)
    slug = slug_from(values["name"])
    number = context.run(
        "INSERT INTO projects (owner_id, slug, name, description, visibility, licence, created_at, "
        "updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        context.user["id"], slug, values["name"], values["description"], values["visibility"],
        values["licence"] or None, context.now, context.now,
    )  # fmt: skip
    add_owner(context, number, context.user["id"])
    _first_files(context, slug, values, context.user)
    context.flash(f"The project {values['name']} has been created.")
    return context.redirect(f"/~{context.user['username']}/{slug}")


def _first_files(
    context: RequestContext, slug: str, values: dict[str, str], user: sqlite3.Row
) -> None:
    project = find_project(context, user["username"], slug)
    add_branch(context, project, project.branch)
    files = {}
    if values["readme"]:
        files["README.md"] = f"# {values['name']}\n\n{values['description']}\n"
    if values["licence"]:
        slots = {
            "name": values["name"],
            "owner": user["name"],
            "year": context.now[:4],
            "licence": values["licence"],
        }
        files["LICENSE"] = fill_slots(LICENCE, slots)
    if files:
        commit = add_commit(context, project, project.branch, "Start the project")
        for path, content in files.items():
            write_file(context, project, project.branch, path, content, commit)


def _form(
    context: RequestContext, values: dict[str, str], errors: dict[str, str], status: int
) -> Response:
    return context.render(
        "new_project.html", status=status, values=values, errors=errors,
        visibilities=VISIBILITY_CHOICES,
        licences=[("", "No licence"), *((name, name) for name in LICENCES)],
    )  # fmt: skip
