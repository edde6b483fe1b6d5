"""Changing files: edit one, add one; each change is a commit."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import Project, managed, of_project
from agentgym_envs.sites.gitlab.reading import (
    is_branch,
    is_path,
    text_error,
    title_error,
)
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import (
    add_branch,
    add_commit,
    branch_names,
    branch_of,
    file_of,
    files_of,
    write_file,
)
from agentgym_envs.sites.web import RequestContext

ROLE = "Developer"


@dataclass
class Draft:
    """What the form for a file holds."""

    path: str
    content: str
    message: str
    target: str


@SITE.get("/~{owner}/{slug}/edit/{path:path}", signed_in=True)
def edit_form(context: RequestContext, owner: str, slug: str, path: str) -> Response:
    """Show a file in a form."""
    project = managed(context, owner, slug, ROLE)
    branch = branch_of(context, project)
    file = file_of(context, project, branch, path)
    draft = Draft(path, file["content"], f"Update {path}", branch)
    return _form(context, project, branch, draft, {}, 200, is_new=False)


@SITE.post("/~{owner}/{slug}/edit/{path:path}", signed_in=True)
def save(context: RequestContext, owner: str, slug: str, path: str) -> Response:
    """Commit the changed file."""
    project = managed(context, owner, slug, ROLE)
    branch = branch_of(context, project)
    file_of(context, project, branch, path)
    return _commit(context, project, branch, _read(context, path), is_new=False)


@SITE.get("/~{owner}/{slug}/new-file", signed_in=True)
def new_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show an empty form for a file; `path` may name its folder."""
    project = managed(context, owner, slug, ROLE)
    branch = branch_of(context, project)
    draft = Draft(context.field("path"), "", "Add a file", branch)
    return _form(context, project, branch, draft, {}, 200, is_new=True)


@SITE.post("/~{owner}/{slug}/new-file", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Commit the new file."""
    project = managed(context, owner, slug, ROLE)
    branch = branch_of(context, project)
    return _commit(context, project, branch, _read(context, context.field("path")), is_new=True)


def _read(context: RequestContext, path: str) -> Draft:
    content = context.form.get("content", "").replace("\r\n", "\n")
    if content and not content.endswith("\n"):
        content += "\n"
    return Draft(path, content, context.field("message"), context.field("target"))


def _commit(
    context: RequestContext, project: Project, branch: str, draft: Draft, *, is_new: bool
) -> Response:
    errors = {
        "content": text_error(draft.content),
        "message": title_error(draft.message, "a commit message"),
        "target": "" if is_branch(draft.target) else "Enter the name of a branch.",
    }
    if is_new and not is_path(draft.path):
        errors["path"] = "Write a path such as docs/start.md: letters, digits, dots, - and _."
    elif is_new:
        paths = {row["path"] for row in files_of(context, project, branch)}
        if draft.path in paths:
            errors["path"] = "There is such a file already."
        elif any(path.startswith(f"{draft.path}/") for path in paths):
            errors["path"] = "There is a folder of this name."
    errors = {field: error for field, error in errors.items() if error}
    if errors:
        return _form(context, project, branch, draft, errors, 422, is_new=is_new)
    if draft.target not in branch_names(context, project):
        add_branch(context, project, draft.target)
    commit = add_commit(context, project, draft.target, draft.message)
    write_file(context, project, draft.target, draft.path, draft.content, commit)
    context.flash(f"Committed to {draft.target}.")
    query = "" if draft.target == project.branch else f"?branch={draft.target}"
    return context.redirect(f"{project.path}/file/{draft.path}{query}")


def _form(
    context: RequestContext, project: Project, branch: str, draft: Draft, errors: dict[str, str],
    status: int, *, is_new: bool,
) -> Response:  # fmt: skip
    return of_project(
        context, project, "edit_file.html", status, branch=branch, draft=draft, errors=errors,
        is_new=is_new,
    )  # fmt: skip
