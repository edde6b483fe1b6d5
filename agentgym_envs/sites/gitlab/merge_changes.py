"""Changing merge requests: new, edit, approve, merge, close, comment."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    Forbidden,
    Project,
    chosen_id,
    find_project,
    managed,
    of_project,
    people_of,
    person_choices,
    refusal,
    touch,
)
from agentgym_envs.sites.gitlab.merges import find_request, may_edit, request_page
from agentgym_envs.sites.gitlab.reading import text_error, title_error
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.todos import add_todo
from agentgym_envs.sites.gitlab.trees import branch_names
from agentgym_envs.sites.web import RequestContext

_FIELDS = ("title", "body", "source", "target", "assignee", "reviewer")
PEOPLE = (("assignee", "assigned"), ("reviewer", "review requested"))


@SITE.get("/~{owner}/{slug}/new-merge", signed_in=True)
def new_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show an empty form."""
    project = managed(context, owner, slug, "Developer")
    values = dict.fromkeys(_FIELDS, "") | {"target": project.branch}
    values["source"] = context.field("source")
    return _form(context, project, None, values, {}, 200)


@SITE.post("/~{owner}/{slug}/new-merge", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Open a merge request."""
    project = managed(context, owner, slug, "Developer")
    values = {field: context.field(field) for field in _FIELDS}
    errors = _errors(values) | _branch_errors(context, project, values)
    if errors:
        return _form(context, project, None, values, errors, 422)
    iid = context.value(
        "SELECT coalesce(max(iid), 0) + 1 FROM merge_requests WHERE project_id = ?", project.id
    )
    request = context.run(
        "INSERT INTO merge_requests (project_id, iid, title, body, author_id, source_branch, "
        "target_branch, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        project.id, iid, values["title"], values["body"], project.user_id, values["source"],
        values["target"], context.now,
    )  # fmt: skip
    _set_people(context, project, request, values, {})
    context.flash(f"Merge request !{iid} has been created.")
    return context.redirect(f"{project.path}/merges/{iid}")


@SITE.get("/~{owner}/{slug}/merges/{iid}/edit", signed_in=True)
def edit_form(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show a merge request in a form."""
    project, request = _editable(context, owner, slug, iid)
    values = {
        "title": request["title"],
        "body": request["body"],
        "assignee": str(request["assignee_id"] or ""),
        "reviewer": str(request["reviewer_id"] or ""),
    }
    return _form(context, project, request, values, {}, 200)


@SITE.post("/~{owner}/{slug}/merges/{iid}/edit", signed_in=True)
def save(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Change a merge request."""
    project, request = _editable(context, owner, slug, iid)
    values = {field: context.field(field) for field in _FIELDS}
    errors = _errors(values)
    if errors:
        return _form(context, project, request, values, errors, 422)
    context.run(
        "UPDATE merge_requests SET title = ?, body = ? WHERE id = ?",
        values["title"],
        values["body"],
        request["id"],
    )
    before = {field: request[f"{field}_id"] for field, _ in PEOPLE}
    _set_people(context, project, request["id"], values, before)
    context.flash("The merge request has been saved.")
    return context.redirect(f"{project.path}/merges/{request['iid']}")


@SITE.post("/~{owner}/{slug}/merges/{iid}/approve", signed_in=True)
def approve(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Approve a merge request, or take the approval back."""
    project = managed(context, owner, slug, "Developer")
    request = find_request(context, project, iid)
    if request["state"] != "open":
        context.flash("Only open merge requests can be approved.", "error")
    elif context.field("undo"):
        context.run(
            "DELETE FROM approvals WHERE merge_request_id = ? AND user_id = ?",
            request["id"],
            project.user_id,
        )
        context.flash("Your approval has been taken back.")
    else:
        context.run("INSERT OR IGNORE INTO approvals VALUES (?, ?)", request["id"], project.user_id)
        context.flash("You approved this merge request.")
    return context.redirect(f"{project.path}/merges/{request['iid']}")


@SITE.post("/~{owner}/{slug}/merges/{iid}/merge", signed_in=True)
def merge(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Bring the commits and files of the source branch to the target branch."""
    project = managed(context, owner, slug, "Maintainer")
    request = find_request(context, project, iid)
    source, target = request["source_branch"], request["target_branch"]
    branches = branch_names(context, project)
    if request["state"] != "open" or source not in branches or target not in branches:
        context.flash("This merge request cannot be merged.", "error")
        return context.redirect(f"{project.path}/merges/{request['iid']}")
    context.run(
        "DELETE FROM files WHERE project_id = ? AND branch = ? AND path IN "
        "(SELECT path FROM files WHERE project_id = ? AND branch = ?)",
        project.id, target, project.id, source,
    )  # fmt: skip
    context.run(
        "UPDATE files SET branch = ? WHERE project_id = ? AND branch = ?",
        target,
        project.id,
        source,
    )
    context.run(
        "UPDATE commits SET branch = ?, merge_request_id = ? WHERE project_id = ? AND branch = ?",
        target, request["id"], project.id, source,
    )  # fmt: skip
    context.run("DELETE FROM branches WHERE project_id = ? AND name = ?", project.id, source)
    context.run(
        "UPDATE merge_requests SET state = 'merged', finished_at = ? WHERE id = ?",
        context.now,
        request["id"],
    )
    touch(context, project)
    context.flash(f"Merged into {target}.")
    return context.redirect(f"{project.path}/merges/{request['iid']}")


@SITE.post("/~{owner}/{slug}/merges/{iid}/state", signed_in=True)
def set_state(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Close a merge request, or open it again."""
    project, request = _editable(context, owner, slug, iid)
    is_closed = context.field("state") != "open"
    if request["state"] == "merged":
        context.flash("This has been merged already.", "error")
    elif not is_closed and request["source_branch"] not in branch_names(context, project):
        context.flash("Its branch is gone, so it cannot be opened again.", "error")
    else:
        context.run(
            "UPDATE merge_requests SET state = ?, finished_at = ? WHERE id = ?",
            "closed" if is_closed else "open", context.now if is_closed else None, request["id"],
        )  # fmt: skip
        context.flash("The merge request is closed." if is_closed else "It is open again.")
    return context.redirect(f"{project.path}/merges/{request['iid']}")


@SITE.post("/~{owner}/{slug}/merges/{iid}/comments", signed_in=True)
def comment(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Add a comment."""
    project = find_project(context, owner, slug)
    if not project.is_open:
        raise Forbidden("This project is archived: it can be read, but not changed.")
    request = find_request(context, project, iid)
    text = context.field("body")
    error = text_error(text) if text else "Write something first."
    if error:
        return request_page(context, project, request, text=text, error=error)
    context.run(
        "INSERT INTO notes (merge_request_id, author_id, body, created_at) VALUES (?, ?, ?, ?)",
        request["id"], project.user_id, text, context.now,
    )  # fmt: skip
    context.flash("Your comment has been added.")
    return context.redirect(f"{project.path}/merges/{request['iid']}")


def _editable(
    context: RequestContext, owner: str, slug: str, iid: str
) -> tuple[Project, sqlite3.Row]:
    project = find_project(context, owner, slug)
    request = find_request(context, project, iid)
    if not may_edit(project, request):
        raise Forbidden(refusal(project, "Developer"))
    return project, request


def _errors(values: dict[str, str]) -> dict[str, str]:
    errors = {"title": title_error(values["title"]), "body": text_error(values["body"])}
    return {field: error for field, error in errors.items() if error}


def _branch_errors(
    context: RequestContext, project: Project, values: dict[str, str]
) -> dict[str, str]:
    branches = branch_names(context, project)
    errors = {
        field: "Choose a branch." for field in ("source", "target") if values[field] not in branches
    }
    if not errors and values["source"] == project.branch:
        errors["source"] = "The default branch cannot be merged away."
    if not errors and values["source"] == values["target"]:
        errors["source"] = "Choose another branch than the target."
    if not errors and context.row(
        "SELECT 1 FROM merge_requests WHERE project_id = ? AND source_branch = ? "
        "AND target_branch = ? AND state = 'open'",
        project.id, values["source"], values["target"],
    ):  # fmt: skip
        errors["source"] = "There is an open merge request for this branch already."
    return errors


def _set_people(
    context: RequestContext,
    project: Project,
    request: int,
    values: dict[str, str],
    before: dict[str, Any],
) -> None:
    people = people_of(context, project)
    for field, action in PEOPLE:
        person = chosen_id(values[field], people)
        context.run(f"UPDATE merge_requests SET {field}_id = ? WHERE id = ?", person, request)
        if person != before.get(field):
            add_todo(context, person, action, project_id=project.id, merge_request_id=request)


def _form(
    context: RequestContext, project: Project, request: sqlite3.Row | None, values: dict[str, str],
    errors: dict[str, str], status: int,
) -> Response:  # fmt: skip
    branches = [(name, name) for name in branch_names(context, project)]
    return of_project(
        context, project, "merge_edit.html", status, request=request, values=values, errors=errors,
        sources=[("", "Choose a branch"), *branches], targets=branches,
        people=person_choices(people_of(context, project), "Nobody"),
    )  # fmt: skip
