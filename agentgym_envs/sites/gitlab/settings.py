"""A project's settings: what it is called, who may see it, archiving."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    VISIBILITIES,
    VISIBILITY_CHOICES,
    Forbidden,
    Project,
    find_project,
    managed,
    of_project,
    refusal,
    touch,
)
from agentgym_envs.sites.gitlab.reading import MAX_TITLE, title_error
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.web import RequestContext

_FIELDS = ("name", "description", "visibility", "topics")


@SITE.get("/~{owner}/{slug}/settings", signed_in=True)
def settings_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show the form."""
    project = find_project(context, owner, slug)
    if not project.ranks("Maintainer"):
        raise Forbidden(refusal(project, "Maintainer"))
    return _form(context, project, {field: project.row[field] for field in _FIELDS}, {}, 200)


@SITE.post("/~{owner}/{slug}/settings", signed_in=True)
def save_settings(context: RequestContext, owner: str, slug: str) -> Response:
    """Change name, description, visibility and topics."""
    project = managed(context, owner, slug, "Maintainer")
    values = {field: context.form.get(field, "").strip() for field in _FIELDS}
    errors = {"name": title_error(values["name"], "a name")}
    for field in ("description", "topics"):
        errors[field] = f"At most {MAX_TITLE} characters." if len(values[field]) > MAX_TITLE else ""
    if values["visibility"] not in VISIBILITIES:
        errors["visibility"] = "Choose who may see the project."
    errors = {field: error for field, error in errors.items() if error}
    if errors:
        return _form(context, project, values, errors, 422)
    topics = [" ".join(topic.lower().split()) for topic in values["topics"].split(",")]
    context.run(
        "UPDATE projects SET name = ?, description = ?, visibility = ?, topics = ? WHERE id = ?",
        values["name"], values["description"], values["visibility"],
        ", ".join(dict.fromkeys(filter(None, topics))), project.id,
    )  # fmt: skip
    touch(context, project)
    context.flash("The settings have been saved.")
    return context.redirect(f"{project.path}/settings")


@SITE.post("/~{owner}/{slug}/archive", signed_in=True)
def archive(context: RequestContext, owner: str, slug: str) -> Response:
    """Archive a project, or bring it back."""
    project = find_project(context, owner, slug)
    if not project.ranks("Owner"):
        raise Forbidden(f"Only the owner may archive {project.name}.")
    archived = 0 if context.field("undo") else 1
    context.run("UPDATE projects SET archived = ? WHERE id = ?", archived, project.id)
    context.flash("The project is archived." if archived else "The project is active again.")
    return context.redirect(f"{project.path}/settings")


def _form(
    context: RequestContext,
    project: Project,
    values: dict[str, str],
    errors: dict[str, str],
    status: int,
) -> Response:
    return of_project(
        context, project, "settings.html", status, values=values, errors=errors,
        visibilities=VISIBILITY_CHOICES,
    )  # fmt: skip
