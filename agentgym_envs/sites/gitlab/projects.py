"""Projects: the overview, starring, forking and creating one, and its settings."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.forms import as_options
from agentgym_envs.sites.gitlab.access import (
    VISIBILITIES,
    VISIBILITY_CHOICES,
    Project,
    find_project,
    managed,
    touch,
)
from agentgym_envs.sites.gitlab.fields import ForgeFields, is_slug, slug_from
from agentgym_envs.sites.gitlab.licences import LICENCE, LICENCES, fill_slots
from agentgym_envs.sites.gitlab.profiles import RESERVED
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import (
    add_branch,
    add_commit,
    branch_files,
    branch_names,
    find_branch,
    listing,
    write_file,
)
from agentgym_envs.sites.web import Forbidden, RequestContext


@SITE.get("/~{owner}/{slug}")
def overview(context: RequestContext, owner: str, slug: str) -> Response:
    """Show a project: numbers, files, README."""
    project = find_project(context, owner, slug)
    branch = find_branch(context, project)
    files = branch_files(context, project, branch)
    counts = context.row(
        "SELECT (SELECT count(*) FROM commits WHERE project_id = p.id AND branch = ?) AS commits, "
        "(SELECT count(*) FROM branches WHERE project_id = p.id) AS branches, "
        "(SELECT count(*) FROM projects WHERE forked_from = p.id) AS forks, "
        "(SELECT count(*) FROM members WHERE project_id = p.id) AS members "
        "FROM projects p WHERE p.id = ?",
        project.branch,
        project.id,
    )
    origin = context.row(
        "SELECT p.name, '/~' || u.username || '/' || p.slug AS path FROM projects p "
        "JOIN users u ON u.id = p.owner_id WHERE p.id = ?",
        project.row["forked_from"],
    )
    is_starred = context.row(
        "SELECT 1 FROM stars WHERE user_id = ? AND project_id = ?", project.user_id, project.id
    )
    readme = next((row["content"] for row in files if row["path"] == "README.md"), "")
    return context.render(
        "overview.html", project=project, branch=branch, branches=branch_names(context, project),
        entries=listing(files, ""), readme=readme, counts=counts, origin=origin,
        is_starred=is_starred is not None,
    )  # fmt: skip


@SITE.post("/~{owner}/{slug}/star", signed_in=True)
def star(context: RequestContext, owner: str, slug: str) -> Response:
    """Star a project, or take the star back."""
    project = find_project(context, owner, slug)
    if context.field("remove"):
        context.run(
            "DELETE FROM stars WHERE user_id = ? AND project_id = ?", project.user_id, project.id
        )
    else:
        context.run("INSERT OR IGNORE INTO stars VALUES (?, ?)", project.user_id, project.id)
    context.run(
        "UPDATE projects SET star_count = "
        "(SELECT count(*) FROM stars WHERE project_id = projects.id) WHERE id = ?",
        project.id,
    )
    context.flash(
        "The star is gone." if context.field("remove") else f"You starred {project.name}."
    )
    return context.redirect(project.path)


@SITE.get("/~{owner}/{slug}/fork", signed_in=True)
def fork_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Ask for the fork's name and visibility."""
    project = find_project(context, owner, slug)
    return _settings(ForgeFields(context, project.row), project, "fork.html")


@SITE.post("/~{owner}/{slug}/fork", signed_in=True)
def fork(context: RequestContext, owner: str, slug: str) -> Response:
    """Copy a project into the visitor's own space."""
    project = find_project(context, owner, slug)
    fields = ForgeFields(context)
    name = _new_name(fields)
    visibility = fields.choice("visibility", VISIBILITIES, "Choose who may see the fork.")
    allowed = VISIBILITIES[: VISIBILITIES.index(project.row["visibility"]) + 1]
    if visibility in VISIBILITIES and visibility not in allowed:
        fields.errors["visibility"] = "A fork cannot be more open than what it comes from."
    if fields.errors:
        return _settings(fields, project, "fork.html")
    slug = slug_from(name)
    new = context.run(
        "INSERT INTO projects (owner_id, slug, name, description, visibility, licence, topics, "
        "default_branch, forked_from, created_at, updated_at) SELECT ?, ?, ?, description, ?, "
        "licence, topics, default_branch, id, ?, ? FROM projects WHERE id = ?",
        project.user_id, slug, name, visibility, context.now, context.now, project.id,
    )  # fmt: skip
    _add_owner(context, new)
    _copy_repository(context, project.id, new, project.branch)
    context.flash(f"This is your fork of {project.name}.")
    assert context.user is not None
    return context.redirect(f"/~{context.user['username']}/{slug}")


def _new_name(fields: ForgeFields) -> str:
    """Read the name of a new project of the visitor's."""
    name = fields.text("name", "a name")
    slug = slug_from(name)
    if fields.errors:
        return name
    if not is_slug(slug) or slug in RESERVED:
        fields.errors["name"] = (
            "This name cannot be written in an address; use some letters a to z."
        )
    elif fields.context.row(
        "SELECT 1 FROM projects WHERE owner_id = ? AND slug = ?", fields.context.user_id, slug
    ):
        fields.errors["name"] = "You already have a project of this name."
    return name


def _add_owner(context: RequestContext, project: int) -> None:
    """Make the visitor the owner of a new project."""
    context.insert(
        "members", project_id=project, user_id=context.user_id, role="Owner",
        joined_at=context.now,
    )  # fmt: skip


def _copy_repository(context: RequestContext, old: int, new: int, branch: str) -> None:
    context.run(
        "INSERT INTO branches (project_id, name, author_id, created_at) "
        "SELECT ?, name, author_id, created_at FROM branches WHERE project_id = ? AND name = ?",
        new, old, branch,
    )  # fmt: skip
    last = context.value("SELECT max(id) FROM commits")
    # Copied in the old order, so that equal commits find each other by their names.
    context.run(
        "INSERT INTO commits (project_id, branch, sha, author_id, message, created_at) "
        "SELECT ?, branch, sha, author_id, message, created_at FROM commits "
        "WHERE project_id = ? AND branch = ? ORDER BY id",
        new, old, branch,
    )  # fmt: skip
    context.run(
        "INSERT INTO files (project_id, branch, path, content, commit_id) "
        "SELECT n.project_id, f.branch, f.path, f.content, n.id FROM files f "
        "JOIN commits o ON o.id = f.commit_id "
        "JOIN commits n ON n.project_id = ? AND n.sha = o.sha AND n.id > ? "
        "WHERE f.project_id = ? AND f.branch = ?",
        new, last, old, branch,
    )  # fmt: skip


@SITE.get("/new", signed_in=True)
def new_form(context: RequestContext) -> Response:
    """Show the empty form."""
    return _new_form(ForgeFields(context, {"visibility": "private"}))


@SITE.post("/new", signed_in=True)
def create(context: RequestContext) -> Response:
    """Create a project, with a README and a licence if wished."""
    assert context.user is not None
    fields = ForgeFields(context)
    _new_name(fields)
    fields.text("description", least=0)
    fields.choice("visibility", VISIBILITIES, "Choose who may see the project.")
    fields.choice("licence", ("", *LICENCES), "Choose one of the licences, or none.")
    fields.is_ticked("readme")
    values = fields.values
    if fields.errors:
        return _new_form(fields)
    slug = slug_from(values["name"])
    number = context.insert(
        "projects", owner_id=context.user_id, slug=slug, name=values["name"],
        description=values["description"], visibility=values["visibility"],
        licence=values["licence"] or None, created_at=context.now, updated_at=context.now,
    )  # fmt: skip
    _add_owner(context, number)
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


def _new_form(fields: ForgeFields) -> Response:
    return fields.page(
        "new_project.html",
        visibilities=VISIBILITY_CHOICES,
        licences=as_options(LICENCES, "No licence"),
    )


@SITE.get("/~{owner}/{slug}/settings", signed_in=True)
def settings_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show the form.

    Raises:
        Forbidden: the visitor's role is below Maintainer.
    """
    project = find_project(context, owner, slug)
    if not project.ranks("Maintainer"):
        raise Forbidden(project.refusal("Maintainer"))
    return _settings(ForgeFields(context, project.row), project, "settings.html")


@SITE.post("/~{owner}/{slug}/settings", signed_in=True)
def save_settings(context: RequestContext, owner: str, slug: str) -> Response:
    """Change name, description, visibility and topics."""
    project = managed(context, owner, slug, "Maintainer")
    fields = ForgeFields(context)
    values = {
        "name": fields.text("name", "a name"),
        "description": fields.text("description", least=0),
        "visibility": fields.choice("visibility", VISIBILITIES, "Choose who may see the project."),
        "topics": fields.text("topics", least=0),
    }
    if fields.errors:
        return _settings(fields, project, "settings.html")
    topics = [" ".join(topic.lower().split()) for topic in values["topics"].split(",")]
    values["topics"] = ", ".join(dict.fromkeys(filter(None, topics)))
    context.update("projects", project.id, **values)
    touch(context, project)
    context.flash("The settings have been saved.")
    return context.redirect(f"{project.path}/settings")


@SITE.post("/~{owner}/{slug}/archive", signed_in=True)
def archive(context: RequestContext, owner: str, slug: str) -> Response:
    """Archive a project, or bring it back.

    Raises:
        Forbidden: the visitor is not the project's owner.
    """
    project = find_project(context, owner, slug)
    if not project.ranks("Owner"):
        raise Forbidden(f"Only the owner may archive {project.name}.")
    archived = 0 if context.field("undo") else 1
    context.update("projects", project.id, archived=archived)
    context.flash("The project is archived." if archived else "The project is active again.")
    return context.redirect(f"{project.path}/settings")


def _settings(fields: ForgeFields, project: Project, page: str) -> Response:
    return fields.page(page, project=project, visibilities=VISIBILITY_CHOICES)
