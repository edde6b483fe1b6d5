"""Merge requests: the list with its filters, one with its changes, and editing."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Mapping

from starlette.responses import Response

from agentgym_envs.sites.forms import as_options
from agentgym_envs.sites.gitlab.access import (
    Project,
    chosen_id,
    find_project,
    managed,
    person_choices,
    project_people,
    touch,
)
from agentgym_envs.sites.gitlab.discussion import Kind, open_project
from agentgym_envs.sites.gitlab.fields import ForgeFields
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import branch_files, branch_names
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 10
REQUESTS = Kind(
    folder="merges",
    table="merge_requests",
    key="merge_request_id",
    role="Developer",
    columns="i.*, a.name AS author, a.username AS author_username, s.name AS assignee, "
    "s.username AS assignee_username, w.name AS reviewer, w.username AS reviewer_username, "
    "(SELECT count(*) FROM approvals x WHERE x.merge_request_id = i.id) AS num_approvals",
    joined="LEFT JOIN users s ON s.id = i.assignee_id LEFT JOIN users w ON w.id = i.reviewer_id",
    states=("open", "merged", "closed"),
    orders={
        "newest": ("Newest", "i.created_at DESC, i.id DESC"),
        "oldest": ("Oldest", "i.created_at, i.id"),
        "finished": ("Recently finished", "i.finished_at IS NULL, i.finished_at DESC, i.id"),
    },
)
PEOPLE = (("assignee", "assigned"), ("reviewer", "review requested"))


@SITE.get("/~{owner}/{slug}/merges")
def request_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the merge requests that the filters leave."""
    project = find_project(context, owner, slug)
    listing = REQUESTS.listing(context, project, PAGE_SIZE)
    for field in ("author", "assignee", "reviewer"):
        listing.number(field, f"i.{field}_id")
    rows, pages = listing.rows(REQUESTS.columns, joined=REQUESTS.joined)
    members = person_choices(project_people(context, project), "Anybody")
    return context.render(
        "merges.html", project=project, rows=rows, pages=pages, states=REQUESTS.choices,
        members=members, orders=listing.sorting,
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/merges/{iid}")
def show(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show a merge request with its discussion."""
    project = find_project(context, owner, slug)
    request = REQUESTS.find(context, project, iid)
    return _page(context, project, request, ForgeFields(context))


@SITE.get("/~{owner}/{slug}/merges/{iid}/changes")
def changes(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show which lines an open merge request changes."""
    project = find_project(context, owner, slug)
    request = REQUESTS.find(context, project, iid)
    branches = branch_names(context, project)
    is_there = request["source_branch"] in branches and request["target_branch"] in branches
    files = _differences(context, project, request) if is_there else []
    return context.render("merge_changes.html", project=project, request=request, files=files)


@SITE.get("/~{owner}/{slug}/new-merge", signed_in=True)
def new_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show an empty form."""
    project = managed(context, owner, slug, "Developer")
    values = {"target": project.branch, "source": context.field("source")}
    return _form(ForgeFields(context, values), project, None)


@SITE.post("/~{owner}/{slug}/new-merge", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Open a merge request."""
    project = managed(context, owner, slug, "Developer")
    fields = _read(context)
    _read_branches(fields, project)
    values = fields.values
    if fields.errors:
        return _form(fields, project, None)
    iid, request = REQUESTS.insert(
        context, project, title=values["title"], body=values["body"],
        source_branch=values["source"], target_branch=values["target"],
    )  # fmt: skip
    _set_people(context, project, request, values, {})
    context.flash(f"Merge request !{iid} has been created.")
    return context.redirect(REQUESTS.path(project, iid))


@SITE.get("/~{owner}/{slug}/merges/{iid}/edit", signed_in=True)
def edit_form(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show a merge request in a form."""
    project, request = _editable(context, owner, slug, iid)
    people = {field: request[f"{field}_id"] or "" for field, _ in PEOPLE}
    return _form(ForgeFields(context, dict(request) | people), project, request)


@SITE.post("/~{owner}/{slug}/merges/{iid}/edit", signed_in=True)
def save(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Change a merge request."""
    project, request = _editable(context, owner, slug, iid)
    fields = _read(context)
    values = fields.values
    if fields.errors:
        return _form(fields, project, request)
    context.update("merge_requests", request["id"], title=values["title"], body=values["body"])
    before = {field: request[f"{field}_id"] for field, _ in PEOPLE}
    _set_people(context, project, request["id"], values, before)
    context.flash("The merge request has been saved.")
    return context.redirect(REQUESTS.path(project, request["iid"]))


@SITE.post("/~{owner}/{slug}/merges/{iid}/approve", signed_in=True)
def approve(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Approve a merge request, or take the approval back."""
    project = managed(context, owner, slug, "Developer")
    request = REQUESTS.find(context, project, iid)
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
    return context.redirect(REQUESTS.path(project, request["iid"]))


@SITE.post("/~{owner}/{slug}/merges/{iid}/merge", signed_in=True)
def merge(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Bring the commits and files of the source branch to the target branch."""
    project = managed(context, owner, slug, "Maintainer")
    request = REQUESTS.find(context, project, iid)
    source, target = request["source_branch"], request["target_branch"]
    branches = branch_names(context, project)
    if request["state"] != "open" or source not in branches or target not in branches:
        context.flash("This merge request cannot be merged.", "error")
        return context.redirect(REQUESTS.path(project, request["iid"]))
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
    context.update("merge_requests", request["id"], state="merged", finished_at=context.now)
    touch(context, project)
    context.flash(f"Merged into {target}.")
    return context.redirect(REQUESTS.path(project, request["iid"]))


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
        state, finished_at = ("closed", context.now) if is_closed else ("open", None)
        context.update("merge_requests", request["id"], state=state, finished_at=finished_at)
        context.flash("The merge request is closed." if is_closed else "It is open again.")
    return context.redirect(REQUESTS.path(project, request["iid"]))


@SITE.post("/~{owner}/{slug}/merges/{iid}/comments", signed_in=True)
def comment(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Add a comment."""
    project = open_project(context, owner, slug)
    return REQUESTS.comment(context, project, REQUESTS.find(context, project, iid), _page)


def _editable(
    context: RequestContext, owner: str, slug: str, iid: str
) -> tuple[Project, sqlite3.Row]:
    project = find_project(context, owner, slug)
    request = REQUESTS.find(context, project, iid)
    project.require("Developer", unless=REQUESTS.may_edit(project, request))
    return project, request


def _page(
    context: RequestContext, project: Project, request: sqlite3.Row, comment: ForgeFields
) -> Response:
    notes, _ = REQUESTS.notes(context, request, 100)
    commits = context.rows(
        "SELECT c.sha, c.message, c.created_at, u.name AS author FROM commits c "
        "JOIN users u ON u.id = c.author_id WHERE c.merge_request_id = ? "
        "OR (? = 'open' AND c.project_id = ? AND c.branch = ? AND c.branch <> ?) "
        "ORDER BY c.created_at LIMIT 20",
        request["id"], request["state"], project.id, request["source_branch"], project.branch,
    )  # fmt: skip
    approvals = context.rows(
        "SELECT u.id, u.name, u.username FROM approvals x JOIN users u ON u.id = x.user_id "
        "WHERE x.merge_request_id = ? ORDER BY u.name",
        request["id"],
    )
    return comment.page(
        "merge.html", project=project, request=request, notes=notes, commits=commits,
        approvals=approvals, may_edit=REQUESTS.may_edit(project, request),
        has_approved=any(row["id"] == project.user_id for row in approvals),
    )  # fmt: skip


def _differences(
    context: RequestContext, project: Project, request: sqlite3.Row
) -> list[tuple[str, list[tuple[str, str]]]]:
    """List the changed files with their added and removed lines."""
    old = {
        row["path"]: row["content"]
        for row in branch_files(context, project, request["target_branch"])
    }
    differences = []
    for row in branch_files(context, project, request["source_branch"]):
        before = old.get(row["path"], "")
        if before == row["content"]:
            continue
        lines = difflib.unified_diff(before.splitlines(), row["content"].splitlines(), n=0)
        kinds = {"+": "added", "-": "removed"}
        changed = [(kinds[line[0]], line[1:]) for line in list(lines)[2:] if line[0] in kinds]
        differences.append((row["path"], changed[:60]))
    return differences


def _read(context: RequestContext) -> ForgeFields:
    fields = ForgeFields(context)
    fields.text("title", "a title")
    fields.prose("body")
    fields.typed("source", "target", "assignee", "reviewer")
    return fields


def _read_branches(fields: ForgeFields, project: Project) -> None:
    branches = branch_names(fields.context, project)
    source = fields.choice("source", branches, "Choose a branch.")
    target = fields.choice("target", branches, "Choose a branch.")
    if "source" in fields.errors or "target" in fields.errors:
        return
    if source == project.branch:
        fields.errors["source"] = "The default branch cannot be merged away."
    elif source == target:
        fields.errors["source"] = "Choose another branch than the target."
    elif fields.context.row(
        "SELECT 1 FROM merge_requests WHERE project_id = ? AND source_branch = ? "
        "AND target_branch = ? AND state = 'open'",
        *(project.id, source, target),
    ):
        fields.errors["source"] = "There is an open merge request for this branch already."


def _set_people(
    context: RequestContext,
    project: Project,
    request: int,
    values: Mapping[str, str],
    before: Mapping[str, int | None],
) -> None:
    people = project_people(context, project)
    for field, action in PEOPLE:
        person = chosen_id(values[field], people)
        context.update("merge_requests", request, **{f"{field}_id": person})
        if person != before.get(field):
            REQUESTS.ask(context, project, request, person, action)


def _form(fields: ForgeFields, project: Project, request: sqlite3.Row | None) -> Response:
    branches = branch_names(fields.context, project)
    return fields.page(
        "merge_edit.html", project=project, request=request,
        sources=as_options(branches, "Choose a branch"), targets=as_options(branches),
        people=person_choices(project_people(fields.context, project), "Nobody"),
    )  # fmt: skip
