"""Issues: the list with its filters, one with its discussion, and changing them."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    VISIBLE_ISSUE,
    Project,
    chosen_id,
    find_project,
    person_choices,
    project_people,
)
from agentgym_envs.sites.gitlab.discussion import NONE, Kind, open_project
from agentgym_envs.sites.gitlab.fields import ForgeFields
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.web import RequestContext

PAGE_SIZE = 10
ISSUES = Kind(
    folder="issues",
    table="issues",
    key="issue_id",
    role="Reporter",
    columns="i.*, a.name AS author, a.username AS author_username, s.name AS assignee, "
    "s.username AS assignee_username, m.title AS milestone",
    joined="LEFT JOIN users s ON s.id = i.assignee_id "
    "LEFT JOIN milestones m ON m.id = i.milestone_id",
    states=("open", "closed"),
    orders={
        "newest": ("Newest", "i.created_at DESC, i.id DESC"),
        "oldest": ("Oldest", "i.created_at, i.id"),
        "due": ("Due first", "i.due_on IS NULL, i.due_on, i.id"),
        "closed": ("Recently closed", "i.closed_at IS NULL, i.closed_at DESC, i.id"),
    },
)


@SITE.get("/~{owner}/{slug}/issues")
def issue_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the issues that the filters leave."""
    project = find_project(context, owner, slug)
    listing = ISSUES.listing(context, project, PAGE_SIZE)
    listing.where(VISIBLE_ISSUE, *project.issue_rights)
    for field in ("assignee", "milestone"):
        if context.field(field) == NONE:
            listing.where(f"i.{field}_id IS NULL")
        elif context.field(field):
            listing.where(f"i.{field}_id = ?", context.number(field))
    if label := context.number("label"):
        labelled = "SELECT 1 FROM issue_labels x WHERE x.issue_id = i.id AND x.label_id = ?"
        listing.where(f"EXISTS ({labelled})", label)
    if author := context.field("author"):
        username = author.lower().removeprefix("@")
        listing.where("a.username = ? OR a.name = ? COLLATE NOCASE", username, author)
    rows, pages = listing.rows(ISSUES.columns, joined=ISSUES.joined)
    return context.render(
        "issues.html", project=project, rows=rows, pages=pages, states=ISSUES.choices,
        labels_of=_issue_labels(context, rows),
        labels=[("", "Any label"), *_choices(_labels(context, project))],
        milestones=[
            ("", "Any milestone"), (NONE, "No milestone"), *_choices(_milestones(context, project))
        ],
        assignees=[
            ("", "Anybody"), (NONE, "Nobody"), *_choices(project_people(context, project))
        ],
        orders=listing.sorting,
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/issues/{iid}")
def show(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show an issue with its discussion."""
    project = find_project(context, owner, slug)
    return _page(context, project, _find(context, project, iid), ForgeFields(context))


@SITE.get("/~{owner}/{slug}/new-issue", signed_in=True)
def new_form(context: RequestContext, owner: str, slug: str) -> Response:
    """Show an empty form."""
    fields = ForgeFields(context, {"title": context.field("title")})
    return _form(fields, open_project(context, owner, slug), None)


@SITE.post("/~{owner}/{slug}/new-issue", signed_in=True)
def create(context: RequestContext, owner: str, slug: str) -> Response:
    """Open an issue."""
    project = open_project(context, owner, slug)
    fields = _read(context)
    if fields.errors:
        return _form(fields, project, None)
    iid, issue = ISSUES.insert(context, project, title=fields.values["title"])
    _write(fields, project, issue, None)
    context.flash(f"Issue #{iid} has been created.")
    return context.redirect(ISSUES.path(project, iid))


@SITE.get("/~{owner}/{slug}/issues/{iid}/edit", signed_in=True)
def edit_form(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Show an issue in a form."""
    project, issue = _editable(context, owner, slug, iid)
    rows = context.rows("SELECT label_id FROM issue_labels WHERE issue_id = ?", issue["id"])
    values = dict(issue) | {
        "assignee": issue["assignee_id"] or "",
        "milestone": issue["milestone_id"] or "",
        "due_on": issue["due_on"] or "",
        "labels": [str(row["label_id"]) for row in rows],
    }
    return _form(ForgeFields(context, values), project, issue)


@SITE.post("/~{owner}/{slug}/issues/{iid}/edit", signed_in=True)
def save(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Change an issue."""
    project, issue = _editable(context, owner, slug, iid)
    fields = _read(context)
    if fields.errors:
        return _form(fields, project, issue)
    _write(fields, project, issue["id"], issue["assignee_id"])
    context.flash("The issue has been saved.")
    return context.redirect(ISSUES.path(project, issue["iid"]))


@SITE.post("/~{owner}/{slug}/issues/{iid}/state", signed_in=True)
def set_state(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Close an issue, or open it again."""
    project, issue = _editable(context, owner, slug, iid)
    if context.field("state") == "open":
        context.update("issues", issue["id"], state="open", closed_at=None)
        context.flash("The issue is open again.")
    else:
        context.update("issues", issue["id"], state="closed", closed_at=context.now)
        context.flash("The issue is closed.")
    return context.redirect(ISSUES.path(project, issue["iid"]))


@SITE.post("/~{owner}/{slug}/issues/{iid}/take", signed_in=True)
def take(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Assign an issue to oneself."""
    project, issue = _editable(context, owner, slug, iid)
    project.require("Reporter")
    context.update("issues", issue["id"], assignee_id=project.user_id)
    context.flash("The issue is yours now.")
    return context.redirect(ISSUES.path(project, issue["iid"]))


@SITE.post("/~{owner}/{slug}/issues/{iid}/comments", signed_in=True)
def comment(context: RequestContext, owner: str, slug: str, iid: str) -> Response:
    """Add a comment."""
    project = open_project(context, owner, slug)
    return ISSUES.comment(context, project, _find(context, project, iid), _page)


def _find(context: RequestContext, project: Project, iid: str) -> sqlite3.Row:
    """Return an issue that the visitor may see."""
    return ISSUES.find(context, project, iid, VISIBLE_ISSUE, *project.issue_rights)


def _editable(
    context: RequestContext, owner: str, slug: str, iid: str
) -> tuple[Project, sqlite3.Row]:
    project = find_project(context, owner, slug)
    issue = _find(context, project, iid)
    project.require("Reporter", unless=ISSUES.may_edit(project, issue))
    return project, issue


def _page(
    context: RequestContext, project: Project, issue: sqlite3.Row, comment: ForgeFields
) -> Response:
    notes, pages = ISSUES.notes(context, issue, 20)
    return comment.page(
        "issue.html", project=project, issue=issue, notes=notes, pages=pages,
        labels=_issue_labels(context, [issue]).get(issue["id"], []),
        may_edit=ISSUES.may_edit(project, issue),
    )  # fmt: skip


def _read(context: RequestContext) -> ForgeFields:
    fields = ForgeFields(context)
    fields.text("title", "a title")
    fields.prose("body")
    fields.optional_day("due_on")
    fields.typed("assignee", "milestone")
    fields.values["confidential"] = context.field("confidential") == "1"
    fields.values["labels"] = context.fields("labels")
    return fields


def _write(fields: ForgeFields, project: Project, issue: int, assignee_before: int | None) -> None:
    context, values = fields.context, fields.values
    context.update(
        "issues", issue, title=values["title"], body=values["body"],
        confidential=int(values["confidential"]),
    )  # fmt: skip
    # Who only reports may not plan: the form does not offer these fields to them.
    if not project.allows("Reporter"):
        return
    assignee = chosen_id(values["assignee"], project_people(context, project))
    milestone = chosen_id(values["milestone"], _milestones(context, project))
    context.update(
        "issues", issue, assignee_id=assignee, milestone_id=milestone,
        due_on=values["due_on"] or None,
    )  # fmt: skip
    context.run("DELETE FROM issue_labels WHERE issue_id = ?", issue)
    for label in _labels(context, project):
        if str(label["id"]) in values["labels"]:
            context.insert("issue_labels", issue_id=issue, label_id=label["id"])
    if assignee != assignee_before:
        ISSUES.ask(context, project, issue, assignee, "assigned")


def _labels(context: RequestContext, project: Project) -> list[sqlite3.Row]:
    return context.rows(
        "SELECT id, name FROM labels WHERE project_id = ? ORDER BY name", project.id
    )


def _milestones(context: RequestContext, project: Project) -> list[sqlite3.Row]:
    return context.rows(
        "SELECT id, title AS name FROM milestones WHERE project_id = ? ORDER BY title", project.id
    )


def _choices(rows: list[sqlite3.Row]) -> list[tuple[str, str]]:
    return [(str(row["id"]), row["name"]) for row in rows]


def _issue_labels(
    context: RequestContext, issues: list[sqlite3.Row]
) -> dict[int, list[sqlite3.Row]]:
    """Return the labels of each issue, by its id."""
    marks = ", ".join("?" * len(issues))
    labels: dict[int, list[sqlite3.Row]] = {}
    for row in context.rows(
        "SELECT x.issue_id, l.* FROM issue_labels x JOIN labels l ON l.id = x.label_id "
        f"WHERE x.issue_id IN ({marks}) ORDER BY l.name",
        *(issue["id"] for issue in issues),
    ):
        labels.setdefault(row["issue_id"], []).append(row)
    return labels


def _form(fields: ForgeFields, project: Project, issue: sqlite3.Row | None) -> Response:
    context = fields.context
    return fields.page(
        "issue_edit.html", project=project, issue=issue, labels=_labels(context, project),
        assignees=person_choices(project_people(context, project), "Nobody"),
        milestones=[("", "No milestone"), *_choices(_milestones(context, project))],
    )  # fmt: skip
