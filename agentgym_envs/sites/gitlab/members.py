"""The members of a project: inviting, changing roles, removing."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from starlette.responses import Response

from agentgym_envs.sites.forms import choices_of
from agentgym_envs.sites.gitlab.access import (
    ROLES,
    Project,
    find_project,
    managed,
    of_project,
)
from agentgym_envs.sites.gitlab.fields import ForgeFields
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.web import RequestContext

GIVEN_ROLES = ROLES[:-1]
"""What members can be; there is one owner."""

_EMPTY = {"who": "", "role": "Developer", "expires_on": ""}


@SITE.get("/~{owner}/{slug}/members")
def member_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the members."""
    return _list(context, find_project(context, owner, slug), _EMPTY, {})


@SITE.post("/~{owner}/{slug}/members", signed_in=True)
def invite(context: RequestContext, owner: str, slug: str) -> Response:
    """Add a member by user name or e-mail address."""
    project = managed(context, owner, slug, "Maintainer")
    fields, row = _read(context)
    who = fields.values["who"] = context.field("who")
    who = who.lower().removeprefix("@")
    person = context.row("SELECT id, name FROM users WHERE username = ? OR email = ?", who, who)
    key = {"project_id": project.id, "user_id": None if person is None else person["id"]}
    if person is None:
        fields.errors["who"] = "There is no user with this user name or e-mail address."
    elif context.row("SELECT 1 FROM members WHERE project_id = ? AND user_id = ?", *key.values()):
        fields.errors["who"] = f"{person['name']} is a member already."
    if row["expires_on"] and row["expires_on"] <= context.now[:10]:
        fields.errors["expires_on"] = "This day must lie in the future."
    if fields.errors or person is None:
        return _list(context, project, fields.values, fields.errors)
    context.insert("members", **key, **row, joined_at=context.now)
    context.flash(f"{person['name']} is now a {row['role']}.")
    return context.redirect(f"{project.path}/members")


@SITE.get("/~{owner}/{slug}/members/{username}", signed_in=True)
def member_form(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Show the form for a member's role."""
    project = managed(context, owner, slug, "Maintainer")
    member = _member(context, project, username)
    values = {"role": member["role"], "expires_on": member["expires_on"] or ""}
    return _form(context, project, member, values, {})


@SITE.post("/~{owner}/{slug}/members/{username}", signed_in=True)
def change(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Change a member's role and the day on which it ends."""
    project = managed(context, owner, slug, "Maintainer")
    member = _member(context, project, username)
    fields, row = _read(context)
    if fields.errors:
        return _form(context, project, member, fields.values, fields.errors)
    context.run(
        "UPDATE members SET role = ?, expires_on = ? WHERE project_id = ? AND user_id = ?",
        *(*row.values(), project.id, member["id"]),
    )
    context.flash(f"{member['name']} is now a {row['role']}.")
    return context.redirect(f"{project.path}/members")


@SITE.post("/~{owner}/{slug}/members/{username}/remove", signed_in=True)
def remove(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Remove a member; everybody may leave by themselves."""
    project = find_project(context, owner, slug)
    is_self = context.user is not None and context.user["username"] == username
    if not is_self:
        project = managed(context, owner, slug, "Maintainer")
    member = _member(context, project, username)
    context.run(
        "DELETE FROM members WHERE project_id = ? AND user_id = ?", project.id, member["id"]
    )
    context.flash("You have left." if is_self else f"{member['name']} has been removed.")
    return context.redirect("/" if is_self else f"{project.path}/members")


def _member(context: RequestContext, project: Project, username: str) -> sqlite3.Row:
    """Return a member who is not the owner."""
    return context.find(
        "There is no such member.",
        "SELECT u.id, u.name, u.username, m.role, m.expires_on FROM members m "
        "JOIN users u ON u.id = m.user_id WHERE m.project_id = ? AND u.username = ? "
        "AND m.role <> 'Owner'",
        *(project.id, username),
    )


def _read(context: RequestContext) -> tuple[ForgeFields, dict[str, str | None]]:
    fields = ForgeFields(context)
    return fields, {
        "role": fields.choice("role", GIVEN_ROLES, "Choose a role."),
        "expires_on": fields.optional_day("expires_on"),
    }


def _list(
    context: RequestContext, project: Project, values: Mapping[str, str], errors: Mapping[str, str]
) -> Response:
    rows = context.rows(
        "SELECT u.name, u.username, m.role, m.expires_on, m.joined_at FROM members m "
        "JOIN users u ON u.id = m.user_id WHERE m.project_id = ? ORDER BY u.name",
        project.id,
    )
    return of_project(
        context, project, "members.html", 422 if errors else 200, rows=rows, values=values,
        errors=errors, roles=choices_of(GIVEN_ROLES),
    )  # fmt: skip


def _form(
    context: RequestContext, project: Project, member: sqlite3.Row, values: Mapping[str, str],
    errors: Mapping[str, str],
) -> Response:  # fmt: skip
    return of_project(
        context, project, "member.html", 422 if errors else 200, member=member, values=values,
        errors=errors, roles=choices_of(GIVEN_ROLES),
    )  # fmt: skip
