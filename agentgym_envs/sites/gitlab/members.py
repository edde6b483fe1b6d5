"""The members of a project: inviting, changing roles, removing."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.forms import as_options
from agentgym_envs.sites.gitlab.access import (
    ROLES,
    Project,
    find_project,
    managed,
)
from agentgym_envs.sites.gitlab.fields import ForgeFields
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.web import RequestContext

GIVEN_ROLES = ROLES[:-1]
"""Roles that a member can be given. There is one owner."""


@SITE.get("/~{owner}/{slug}/members")
def member_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the members."""
    return _list(ForgeFields(context, {"role": "Developer"}), find_project(context, owner, slug))


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
        return _list(fields, project)
    context.insert("members", **key, **row, joined_at=context.now)
    context.flash(f"{person['name']} is now a {row['role']}.")
    return context.redirect(f"{project.path}/members")


@SITE.get("/~{owner}/{slug}/members/{username}", signed_in=True)
def member_form(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Show the form for a member's role."""
    project = managed(context, owner, slug, "Maintainer")
    member = _member(context, project, username)
    values = {"role": member["role"], "expires_on": member["expires_on"] or ""}
    return _form(ForgeFields(context, values), project, member)


@SITE.post("/~{owner}/{slug}/members/{username}", signed_in=True)
def change(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Change a member's role and the day on which it ends."""
    project = managed(context, owner, slug, "Maintainer")
    member = _member(context, project, username)
    fields, row = _read(context)
    if fields.errors:
        return _form(fields, project, member)
    context.run(
        "UPDATE members SET role = ?, expires_on = ? WHERE project_id = ? AND user_id = ?",
        *(*row.values(), project.id, member["id"]),
    )
    context.flash(f"{member['name']} is now a {row['role']}.")
    return context.redirect(f"{project.path}/members")


@SITE.post("/~{owner}/{slug}/members/{username}/remove", signed_in=True)
def remove(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Remove a member. All members may leave by themselves."""
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


def _list(fields: ForgeFields, project: Project) -> Response:
    rows = fields.context.rows(
        "SELECT u.name, u.username, m.role, m.expires_on, m.joined_at FROM members m "
        "JOIN users u ON u.id = m.user_id WHERE m.project_id = ? ORDER BY u.name",
        project.id,
    )
    roles = as_options(GIVEN_ROLES)
    return fields.page("members.html", project=project, rows=rows, roles=roles)


def _form(fields: ForgeFields, project: Project, member: sqlite3.Row) -> Response:
    roles = as_options(GIVEN_ROLES)
    return fields.page("member.html", project=project, member=member, roles=roles)
