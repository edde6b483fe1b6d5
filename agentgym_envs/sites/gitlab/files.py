"""Folders, files and branches of a project. Each change is a commit."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import Project, find_project, managed
from agentgym_envs.sites.gitlab.fields import MAX_TEXT, ForgeFields, is_branch, is_path
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import (
    add_branch,
    add_commit,
    branch_files,
    branch_names,
    find_branch,
    find_file,
    listing,
    write_file,
)
from agentgym_envs.sites.web import NotFound, RequestContext

ROLE = "Developer"


@SITE.get("/~{owner}/{slug}/tree")
def root(context: RequestContext, owner: str, slug: str) -> Response:
    """List the top folder."""
    return folder(context, owner, slug, "")


@SITE.get("/~{owner}/{slug}/tree/{path:path}")
def folder(context: RequestContext, owner: str, slug: str, path: str) -> Response:
    """List a folder.

    Raises:
        NotFound: the branch has no such folder.
    """
    project = find_project(context, owner, slug)
    branch = find_branch(context, project)
    path = path.strip("/")
    entries = listing(branch_files(context, project, branch), path)
    if path and not entries:
        raise NotFound(f"There is no folder {path!r:.140} on this branch.")
    return context.render(
        "folder.html", project=project, branch=branch, branches=branch_names(context, project),
        path=path, entries=entries, parents=_parents(path),
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/file/{path:path}")
def show_file(context: RequestContext, owner: str, slug: str, path: str) -> Response:
    """Show a file."""
    project = find_project(context, owner, slug)
    branch = find_branch(context, project)
    file = find_file(context, project, branch, path)
    lines = file["content"].splitlines()
    return context.render(
        "file.html", project=project, branch=branch, branches=branch_names(context, project),
        file=file, lines=lines, parents=_parents(path), size=len(file["content"].encode()),
    )  # fmt: skip


def _parents(path: str) -> list[tuple[str, str]]:
    """List the folders above a path as (name, path)."""
    names = path.split("/")[:-1]
    return [(name, "/".join(names[: place + 1])) for place, name in enumerate(names)]


@SITE.get("/~{owner}/{slug}/edit/{path:path}", signed_in=True)
def edit_form(context: RequestContext, owner: str, slug: str, path: str) -> Response:
    """Show a file in a form."""
    project = managed(context, owner, slug, ROLE)
    branch = find_branch(context, project)
    file = find_file(context, project, branch, path)
    draft = {"content": file["content"], "message": f"Update {path}", "target": branch}
    return _form(ForgeFields(context, draft | {"path": path}), project, branch, is_new=False)


@SITE.post("/~{owner}/{slug}/edit/{path:path}", signed_in=True)
def save(context: RequestContext, owner: str, slug: str, path: str) -> Response:
    """Commit the changed file."""
    project = managed(context, owner, slug, ROLE)
    branch = find_branch(context, project)
    find_file(context, project, branch, path)
    return _commit(context, project, branch, path, is_new=False)


@SITE.get("/~{owner}/{slug}/new-file", signed_in=True)
def new_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show an empty form for a file. `path` may name its folder."""
    project = managed(context, owner, slug, ROLE)
    branch = find_branch(context, project)
    draft = {"path": context.field("path"), "message": "Add a file", "target": branch}
    return _form(ForgeFields(context, draft), project, branch, is_new=True)


@SITE.post("/~{owner}/{slug}/new-file", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Commit the new file."""
    project = managed(context, owner, slug, ROLE)
    branch = find_branch(context, project)
    return _commit(context, project, branch, context.field("path"), is_new=True)


def _commit(
    context: RequestContext, project: Project, branch: str, path: str, *, is_new: bool
) -> Response:
    fields = ForgeFields(context, {"path": path})
    content = context.form.get("content", "").replace("\r\n", "\n")
    if content and not content.endswith("\n"):
        content += "\n"
    fields.values["content"] = content
    if len(content) > MAX_TEXT:
        fields.errors["content"] = fields.too_long.format(most=MAX_TEXT)
    message = fields.text("message", "a commit message")
    target = fields.typed("target")["target"]
    if not is_branch(target):
        fields.errors["target"] = "Enter the name of a branch."
    if is_new and not is_path(path):
        fields.errors["path"] = (
            "Write a path such as docs/start.md: letters, digits, dots, - and _."
        )
    elif is_new:
        paths = {row["path"] for row in branch_files(context, project, branch)}
        if path in paths:
            fields.errors["path"] = "There is such a file already."
        elif any(other.startswith(f"{path}/") for other in paths):
            fields.errors["path"] = "There is a folder of this name."
    if fields.errors:
        return _form(fields, project, branch, is_new=is_new)
    if target not in branch_names(context, project):
        add_branch(context, project, target)
    write_file(
        context, project, target, path, content, add_commit(context, project, target, message)
    )
    context.flash(f"Committed to {target}.")
    query = "" if target == project.branch else f"?branch={target}"
    return context.redirect(f"{project.path}/file/{path}{query}")


def _form(fields: ForgeFields, project: Project, branch: str, *, is_new: bool) -> Response:
    return fields.page("edit_file.html", project=project, branch=branch, is_new=is_new)


@SITE.get("/~{owner}/{slug}/branches")
def branch_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the branches."""
    return _branches(ForgeFields(context), find_project(context, owner, slug))


@SITE.post("/~{owner}/{slug}/branches", signed_in=True)
def create_branch(context: RequestContext, owner: str, slug: str) -> Response:
    """Create a branch from the default one."""
    project = managed(context, owner, slug, "Developer")
    fields = ForgeFields(context)
    name = fields.typed("name")["name"]
    if not is_branch(name):
        fields.errors["name"] = (
            "Write a name such as fix/date-parser: letters, digits, and - . _ / in between."
        )
    elif name in branch_names(context, project):
        fields.errors["name"] = "There is such a branch already."
    if fields.errors:
        return _branches(fields, project)
    add_branch(context, project, name)
    context.flash(f"The branch {name} has been created.")
    return context.redirect(f"{project.path}/branches")


@SITE.post("/~{owner}/{slug}/branches/delete", signed_in=True)
def delete_branch(context: RequestContext, owner: str, slug: str) -> Response:
    """Delete a branch that nothing needs."""
    project = managed(context, owner, slug, "Developer")
    name = find_branch(context, project, context.form.get("name", "") or "-")
    is_needed = context.row(
        "SELECT 1 FROM merge_requests WHERE project_id = ? AND source_branch = ? "
        "AND state = 'open'",
        project.id,
        name,
    )
    if name == project.branch:
        context.flash("The default branch cannot be deleted.", "error")
    elif is_needed:
        context.flash("An open merge request needs this branch; close it first.", "error")
    else:
        for table in ("files", "commits"):
            context.run(
                f"DELETE FROM {table} WHERE project_id = ? AND branch = ?", project.id, name
            )
        context.run("DELETE FROM branches WHERE project_id = ? AND name = ?", project.id, name)
        context.flash(f"The branch {name} has been deleted.")
    return context.redirect(f"{project.path}/branches")


def _branches(fields: ForgeFields, project: Project) -> Response:
    rows = fields.context.rows(
        "SELECT b.name, b.created_at, u.name AS author, u.username, "
        "(SELECT count(*) FROM commits c WHERE c.project_id = b.project_id AND c.branch = b.name) "
        "AS commits FROM branches b JOIN users u ON u.id = b.author_id WHERE b.project_id = ? "
        "ORDER BY b.name <> ?, b.created_at DESC, b.name",
        project.id,
        project.branch,
    )
    return fields.page("branches.html", project=project, rows=rows)
